// Asks the hosts as client_forward.py does: client_forward.js PLAIN SECURE. Node older than 24 has no proxies of its own: this asks
// the one of HTTPS_PROXY for a way by CONNECT or SOCKS 5, as the agents on npm do, and trusts whom NODE_EXTRA_CA_CERTS names.
const http = require("http"), net = require("net"), https = require("https"), tls = require("tls");
const [plain, secure] = process.argv.slice(2).map(text => new URL(text));
const proxy = process.env.HTTPS_PROXY && new URL(process.env.HTTPS_PROXY);

const read = answer => new Promise((done, failed) => {
    let text = "";
    answer.on("data", piece => (text += piece)).on("end", () => done(text)).on("error", failed);
});

const bySOCKS = proxy && proxy.protocol.startsWith("socks");

// A way to an origin through the proxy of SOCKS 5, which is given the name.
const tunnel = origin => new Promise((done, failed) => {
    const port = Number(origin.port || (origin.protocol == "https:" ? 443 : 80));
    const socket = net.connect(proxy.port, proxy.hostname, () => socket.write(Buffer.from([5, 1, 0])));
    socket.on("error", failed).once("data", () => {
        const name = Buffer.from(origin.hostname);
        socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])]));
        socket.once("data", told => {
            if (told[1] != 0) return failed(new Error(`SOCKS: ${told[1]}`));
            if (origin.protocol != "https:") return done(socket);
            const stream = tls.connect({ socket, servername: origin.hostname, ALPNProtocols: ["http/1.1"] }, () => done(stream));
            stream.on("error", failed);
        });
    });
});

const way = () => new Promise((done, failed) => {
    const name = `${secure.hostname}:${secure.port}`;
    const asked = http.request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: name });
    asked.on("connect", (answer, socket) => {
        if (answer.statusCode != 200) return failed(new Error(`CONNECT: ${answer.statusCode}`));
        const stream = tls.connect({ socket, servername: secure.hostname, ALPNProtocols: ["http/1.1"] }, () => done(stream));
        stream.on("error", failed);
    }).on("error", failed).end();
});

const ask = async (origin, path, method = "GET", body) => {
    const isTLS = origin.protocol == "https:";
    const options = { method, agent: false, headers: { Host: origin.host } };
    if (!proxy) Object.assign(options, { host: origin.hostname, port: origin.port, path });
    else if (bySOCKS) {
        const stream = await tunnel(origin);
        Object.assign(options, { path, agent: undefined, createConnection: () => stream });
    } else if (isTLS) {
        const stream = await way();
        Object.assign(options, { path, agent: undefined, createConnection: () => stream });
    } else Object.assign(options, { host: proxy.hostname, port: proxy.port, path: origin.origin + path });
    const answer = await new Promise((done, failed) =>
        (isTLS && !proxy ? https : http).request(options, done).on("error", failed).end(body));
    return read(answer);
};

(async () => {
    for (const path of ["/a?x=1", "/b", "/events"])
        for (const origin of [plain, secure]) console.log("get", (await ask(origin, path)).trim().split("\n").join(" | "));
    console.log("post", await ask(secure, "/post", "POST", "a body"));
})().catch(error => {
    console.log("error", error.message);
    process.exit(1);
});
