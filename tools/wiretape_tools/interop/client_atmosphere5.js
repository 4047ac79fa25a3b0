// Runs atmosphere.js 5 under node: client_atmosphere5.js URL TRANSPORT [KICK]. The client sends a message and receives the server's echo. If KICK is
// given, the client POSTs to it, and the server cuts the connection. Without KICK, `wiretape replay` cuts it as recorded. The client reconnects,
// sends a second message and receives its echo. NODE_PATH names the folder with the packages.
'use strict';
globalThis.WebSocket ??= require('ws').WebSocket;
globalThis.EventSource ??= require('eventsource5').EventSource;
const { Atmosphere } = require('atmosphere.js');

const [url, transport, kick] = process.argv.slice(2);
const atmosphere = new Atmosphere({ logLevel: 'silent' });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let observe = (chain, event, detail) => process.stdout.write(JSON.stringify({ chain, event, ...detail }) + '\n');

let heard = 0;
let waiting = [];
const happened = (what) => {
    waiting.filter((one) => one.what === what).forEach((one) => one.resolve());
    waiting = waiting.filter((one) => one.what !== what);
};
const wait = (what) => new Promise((resolve) => waiting.push({ what, resolve }));

(async () => {
    const opened = wait('open');
    const subscription = await atmosphere.subscribe({
        url, transport, fallbackTransport: transport, enableProtocol: true, trackMessageLength: true, reconnect: true,
        reconnectInterval: 200, maxReconnectOnClose: 5,
    }, {
        open() { observe('connection', 'open'); happened('open'); },
        reopen() { observe('connection', 'open again'); happened('reopen'); },
        message({ responseBody }) { heard += 1; observe('messages', 'message', { text: responseBody }); happened(`message ${heard}`); },
        close() { observe('connection', 'close'); happened('close'); },
        error() {},
    });
    await opened;
    // The first poll is the handshake. It is still open when the client reports "open".
    if (transport === 'long-polling') await pause(300);
    const first = wait('message 1');
    subscription.push('from the client: é');
    await first;
    const closed = wait('close');
    const again = wait('reopen');
    const second = wait('message 2');
    // A kick that comes between two polls cuts nothing, so it is repeated.
    let isClosed = false;
    closed.then(() => { isClosed = true; });
    while (kick && !isClosed) {
        await fetch(kick, { method: 'POST' });
        await pause(200);
    }
    await closed;
    if (transport === 'long-polling') await pause(600); else await again;
    subscription.push('once more');
    await second;
    observe = () => {};
    subscription.close();
    setTimeout(() => process.exit(0), 300);
})();
