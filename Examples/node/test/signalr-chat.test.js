// What the chat client on @microsoft/signalr does when its server or its network is not at its best.
import assert from 'node:assert/strict';
import { onTape } from 'wiretape';
import { clientOf } from './installed.js';
import { within } from './within.js';

const { Chat, test } = await clientOf('../signalr-chat.js', '@microsoft/signalr');

const hub = { tape: '../../../recordings/chat.tape.gz', from: import.meta.url, speed: 'instant' };
const answers = { 'hi ada': 'hello bob', 'how are you?': 'fine, thanks', 'see you tomorrow': 'bye' };
const everything = ['hi ada', 'hello bob', 'how are you?', 'fine, thanks', 'see you tomorrow', 'bye', 'bye'];

/** Joins as ada, who answers bob, and leaves behind `stay(end)`, where `end` comes when bob has said bye or the client has given up. Returns what ada heard. */
async function join(server, options, stay) {
    const chat = new Chat(server.endpoint, 'ada', options);
    const heard = [];
    const end = new Promise((resolve) => {
        chat.on('message', (who, text) => {
            heard.push(text);
            if (who === 'bob' && text === 'bye') resolve('bye');
            if (who === 'bob' && answers[text] !== undefined) chat.say(answers[text]);
        });
        chat.on('closed', () => resolve('closed'));
    });
    try {
        await chat.start();
        await stay(within(end));
    } finally {
        await chat.stop();
    }
    return heard;
}

/** The chat until bob has said bye. Returns what ada heard. */
async function visit(server, options) {
    const heard = await join(server, options, async (end) => assert.equal(await end, 'bye'));
    await server.finished();
    return heard;
}

test('shows what is said, and says what its user types', onTape(hub, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('comes back at once after a reset', onTape({
    ...hub,
    faults: 'reset after ReceiveMessage[3]',
    expect: ['delays(0s, 500ms, 1s, 2s, late=2s)', 'single'],
}, async (server) => {
    await visit(server);
}));

test('waits longer each time the server answers 503', onTape({
    ...hub,
    faults: ['reset after ReceiveMessage[3]', 'respond(503) on connect[retry=1..2]'],
    expect: 'delays(0s, 500ms, 1s, 2s, late=2s)',
}, async (server) => {
    await visit(server);
}));

test('falls back where there are no WebSockets', onTape({
    ...hub,
    faults: 'respond(403) on upgrade',
    expect: 'transports(ws, sse)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('gives a silent connection up', onTape({
    ...hub,
    faults: 'stall(both, 60s) after ReceiveMessage[3]',
    expect: 'detects(within=2s)',
    args: ['--keepalive', '200ms'],
}, async (server) => {
    assert.deepEqual(await visit(server, { silence: 1000 }), everything);
}));

test('hears everything once and in order', onTape({ ...hub, faults: 'disconnect after ReceiveMessage[4]' }, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('says again what was not acknowledged', onTape({
    ...hub,
    faults: 'reset before Completion[2]',
    expect: 'keeps(SendMessage)',
}, async (server) => {
    await visit(server);
}));

test('says nothing twice', onTape({ ...hub, faults: 'reset after Completion[1]', expect: 'once(SendMessage)' }, async (server) => {
    await visit(server);
}));

test('shows a new token when the old one is refused', onTape({
    ...hub,
    faults: ['reset after ReceiveMessage[3]', 'respond(401) on negotiate[retry=1]'],
}, async (server) => {
    const tokens = ['the first', 'the second', 'the third'];
    assert.deepEqual(await visit(server, { getToken: () => tokens.shift() }), everything);
    assert.deepEqual(tokens, ['the third']);
}));

test('outlives a restart of the server', onTape({
    ...hub,
    faults: 'outage(300ms) after ReceiveMessage[3]',
    expect: 'delays(0s, 500ms, late=2s)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('gives up when the server stays away', onTape({
    ...hub,
    faults: 'outage(60s) after ReceiveMessage[3]',
    expect: ['delays(0s, 100ms, 200ms, late=2s)', 'gives-up(after=3)'],
    allowUnfinished: true,
}, async (server) => {
    await join(server, { delays: [0, 100, 200] }, async (end) => assert.equal(await end, 'closed'));
    await server.quiet(1_000);
}));

test('stays away when it is banned', onTape({
    ...hub,
    faults: ['reset after ReceiveMessage[3]', 'respond(403) on negotiate[retry=1]'],
    expect: 'stays-away(after=status(403))',
    allowUnfinished: true,
}, async (server) => {
    await join(server, {}, async (end) => assert.equal(await end, 'closed'));
    await server.quiet(1_000);
}));
