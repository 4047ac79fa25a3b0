// One person of a chat, with @microsoft/signalr under node: chat.js URL NAME LINES [--first] [--sse | --lp]
// [--skip-negotiation] [--reconnect [--speak-when-back]] [--stateful]. Says LINES (JSON array) one by one, each 300 ms after
// somebody else has spoken; --first begins. Leaves when all is said and answered. NODE_PATH names the folder with the package.
'use strict';
const signalR = require('@microsoft/signalr');

const [url, name, lines] = process.argv.slice(2);
const has = (flag) => process.argv.includes(flag);
const mine = JSON.parse(lines);
let said = 0;

const types = signalR.HttpTransportType;
const transport = has('--sse') ? types.ServerSentEvents : has('--lp') ? types.LongPolling : types.WebSockets;
const options = { transport, skipNegotiation: has('--skip-negotiation') };
let builder = new signalR.HubConnectionBuilder().withUrl(url, options).configureLogging(signalR.LogLevel.None);
if (has('--reconnect')) builder = builder.withAutomaticReconnect();
if (has('--stateful')) builder = builder.withStatefulReconnect();
const connection = builder.build();
const tell = (text) => console.log(`${name}: ${text}`);

async function say() {
    if (said === mine.length || connection.state !== signalR.HubConnectionState.Connected) return;
    said += 1;
    try {
        await connection.invoke('SendMessage', name, mine[said - 1]);
    } catch (error) {
        tell(`not said: ${error.message}`);
    }
}
async function leave() {
    await connection.stop();
    process.exit(0);
}
connection.on('Welcome', (text) => tell(`welcomed with ${text}`));
connection.on('ReceiveMessage', (user, text) => {
    tell(`${user} says ${text}`);
    if (user === name) return;
    setTimeout(() => (said < mine.length ? say() : leave()), 300);
});
connection.onreconnecting((error) => tell(`lost: ${error && error.message}`));
connection.onreconnected(() => {
    tell('back');
    if (has('--speak-when-back')) setTimeout(say, 500);
});
connection.onclose((error) => { if (error) { tell(`closed: ${error.message}`); process.exit(1); } });
connection.start().then(() => {
    tell('here');
    if (has('--first')) setTimeout(say, 300);
}, (error) => { tell(error.message); process.exit(1); });
