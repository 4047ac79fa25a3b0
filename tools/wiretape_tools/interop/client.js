// @microsoft/signalr under node: client.js URL SCRIPT. Does what the script says and prints what the application
// observes, one JSON object a line. NODE_PATH names the folder with the packages. The script's "connection" says how:
// {"transport": "ws" (any, if it is missing), "protocol": "json", "token": "…", "skip": true (negotiation),
// "reconnect": true, "stateful": true, "headers": {…}}.
'use strict';
const fs = require('fs');
const signalR = require('@microsoft/signalr');

const [url, scriptFile] = process.argv.slice(2);
const script = JSON.parse(fs.readFileSync(scriptFile, 'utf8'));
const seen = new Map();
const waiting = [];
const returning = [];

function observe(chain, event, detail) {
    process.stdout.write(JSON.stringify({ chain, event, ...detail }) + '\n');
}
function called(name, args) {
    observe(name, 'callback', { args });
    seen.set(name, (seen.get(name) ?? 0) + 1);
    for (const w of waiting) {
        if (w.name === name && seen.get(name) >= w.count) w.resolve();
    }
}
const value = (v) => (v === undefined ? null : v instanceof Uint8Array ? Array.from(v) : v);

const { transport, protocol, token, skip, reconnect, stateful, headers } = script.connection;
const options = { transport: { ws: 1, sse: 2, lp: 4 }[transport], skipNegotiation: skip, headers };
if (token) options.accessTokenFactory = () => token;
const builder = new signalR.HubConnectionBuilder().withUrl(url, options).configureLogging(signalR.LogLevel.None);
if (protocol === 'messagepack') {
    const { MessagePackHubProtocol } = require('@microsoft/signalr-protocol-msgpack');
    builder.withHubProtocol(new MessagePackHubProtocol());
}
if (reconnect) builder.withAutomaticReconnect();
if (stateful) builder.withStatefulReconnect();
const connection = builder.build();
for (const name of script.callbacks) connection.on(name, (...args) => called(name, args));
for (const [name, answer] of Object.entries(script.results)) {
    connection.on(name, (...args) => { called(name, args); return answer; });
}

connection.onreconnecting(() => observe('connection', 'reconnecting'));
connection.onreconnected(() => {
    observe('connection', 'reconnected');
    for (const resolve of returning) resolve();
});

const does = {
    async invoke(step) {
        try {
            observe(step.chain, 'result', { value: value(await connection.invoke(step.method, ...step.args)) });
        } catch (error) {
            observe(step.chain, 'error', { message: error.message });
        }
    },
    send: (step) => connection.send(step.method, ...step.args),
    wait: (step) => new Promise((resolve) => {
        if ((seen.get(step.callback) ?? 0) >= step.count) resolve();
        else waiting.push({ name: step.callback, count: step.count, resolve });
    }),
    stream: (step) => new Promise((resolve) => {
        let items = 0;
        const subscription = connection.stream(step.method, ...step.args).subscribe({
            next: (item) => {
                if (items === step.cancelAfter) return;
                observe(step.chain, 'item', { value: item });
                items += 1;
                if (items === step.cancelAfter) {
                    subscription.dispose();
                    resolve();
                }
            },
            complete: () => { observe(step.chain, 'completed'); resolve(); },
            error: (error) => { observe(step.chain, 'error', { message: error.message }); resolve(); },
        });
    }),
    async upload(step) {
        const subject = new signalR.Subject();
        const answer = connection.invoke(step.method, subject);
        for (const item of step.items) subject.next(item);
        subject.complete();
        observe(step.chain, 'result', { value: value(await answer) });
    },
    closed: () => closed,
    back: () => new Promise((resolve) => returning.push(resolve)),
    together: (step) => Promise.all(step.steps.map((s) => does[s.do](s))),
};

const closed = new Promise((resolve) => connection.onclose((error) => {
    observe('connection', 'closed', { error: error ? error.message : null });
    resolve();
}));

async function main() {
    await connection.start();
    observe('connection', 'opened');
    for (const step of script.steps) await does[step.do](step);
    await connection.stop();
    await closed;
}
main().then(() => process.exit(0), (error) => {
    observe('client', 'failed', { message: String(error && error.stack || error) });
    process.exit(1);
});
