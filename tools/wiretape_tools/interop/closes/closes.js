// Loaded before a client (NODE_OPTIONS=--require): prints each close event that its WebSockets see, as an observation of
// chain `socket`. The WebSocket of Node's packages is `ws`; pusher-js brings its own, which is seen where it reads the socket.
'use strict';
const Module = require('module');
const net = require('net');
const open = new Set();
const watched = new Set();

function seen(code, reason, clean) {
    process.stdout.write(JSON.stringify({ chain: 'socket', code, reason: String(reason), clean }) + '\n');
}
// Packages bring copies of `ws` of their own.
const load = Module._load;
Module._load = function (request, ...rest) {
    const loaded = load.call(this, request, ...rest);
    if (request === 'ws' && !watched.has(loaded)) watch(loaded);
    return loaded;
};
function watch(WebSocket) {
    watched.add(WebSocket);
    const emit = WebSocket.prototype.emit;
    WebSocket.prototype.emit = function (name, ...rest) {
        if (name === 'open') open.add(this);
        if (name === 'close' && open.delete(this)) {
            seen(rest[0], rest[1], Boolean(this._closeFrameReceived && this._closeFrameSent));
        }
        return emit.call(this, name, ...rest);
    };
}
// A client that leaves as soon as it has asked for the end does not hear the answer.
const exit = process.exit;
process.exit = (code) => {
    const end = Date.now() + 3000;
    const look = () => (open.size && Date.now() < end ? setTimeout(look, 5) : exit(code));
    look();
};
if (process.argv[1].endsWith('pusher.js')) {
    // A close frame without a mask at the end of what the server says, as one write: 0x88, its length, a code and a reason.
    const emit = net.Socket.prototype.emit;
    net.Socket.prototype.emit = function (name, ...rest) {
        if (name === 'data') {
            const bytes = rest[0];
            const at = bytes.lastIndexOf(0x88);
            if (at >= 0 && bytes.length === at + 2 + bytes[at + 1]) {
                const frame = bytes.subarray(at + 2);
                seen(frame.length ? frame.readUInt16BE(0) : null, frame.subarray(2), true);
            }
        }
        return emit.call(this, name, ...rest);
    };
}
