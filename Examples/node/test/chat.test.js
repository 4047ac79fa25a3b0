// What the chat client does when its server or its network is not at its best.
import assert from 'node:assert/strict';
import { on, once } from 'node:events';
import { test } from 'node:test';
import { onTape } from 'wiretape';
import { Chat } from '../chat.js';

// Recorded from server.js. Without the tape the first run records it again; WIRETAPE_RECORD=all does so in any case.
const lobby = { tape: 'lobby.tape', from: import.meta.url, upstream: 'http://127.0.0.1:5000', speed: 'instant' };
// No test waits longer than this for a client that does nothing any more.
const patience = () => ({ signal: AbortSignal.timeout(10_000) });
const everything = ['hello', 'anybody here?', 'how are you?', 'see you tomorrow', 'bye'];

/** Joins the lobby as ada, and leaves it whatever `stay` does there. */
async function join(server, options, stay) {
    const chat = new Chat(`${server.url}/rooms/lobby`, 'ada', options);
    chat.start();
    try {
        return await stay(chat);
    } finally {
        chat.stop();
    }
}

/** Answers bob and stays until he has said bye. Returns what ada was shown. */
function visit(server, options) {
    return join(server, options, async (chat) => {
        for await (const [{ text }] of on(chat, 'message', patience())) {
            if (text === 'how are you?') await chat.say('fine, thanks');
            if (text === 'bye') break;
        }
        await server.finished();
        return chat.messages.map(({ text }) => text);
    });
}

test('shows what is said, and says what its user types', onTape(lobby, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('comes back at once after a reset', onTape({
    ...lobby,
    faults: 'reset after message[2]',
    expect: 'delays(0s, 500ms, 1s, 2s, late=2s)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('waits longer each time the server answers 503', onTape({
    ...lobby,
    faults: ['reset after message[2]', 'respond(503) on connect[retry=1..2]'],
    expect: 'delays(0s, 500ms, 1s, 2s, late=2s)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('waits as long as the server asks', onTape({
    ...lobby,
    faults: ['reset after message[2]', 'respond(503, Retry-After=1) on connect[retry=1]'],
    expect: 'honours(retry-after)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('gives a silent connection up', onTape({
    ...lobby,
    faults: 'stall(both, 60s) after message[2]',
    expect: 'detects(within=2s)',
}, async (server) => {
    assert.deepEqual(await visit(server, { silence: 400 }), everything);
}));

test('shows a message once that comes twice', onTape({ ...lobby, faults: 'duplicate on message[3]' }, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('goes on behind the last message that it has', onTape({
    ...lobby,
    faults: ['reset after message[3]', 'delay(1ms) on connect[header.Last-Event-ID=3]'],
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('shows nothing of a message that was cut', onTape({ ...lobby, faults: 'truncate(20) + reset on message[3]' }, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('gives up when the server stays away', onTape({
    ...lobby,
    faults: 'outage(60s) after message[1]',
    expect: ['delays(0s, 100ms, 200ms, late=2s)', 'gives-up(after=3)'],
    allowUnfinished: true,
}, async (server) => {
    await join(server, { delays: [0, 100, 200] }, (chat) => once(chat, 'closed', patience()));
    await server.quiet(1_000);
}));

test('outlives a restart of the server', onTape({
    ...lobby,
    faults: 'outage(300ms) after message[2]',
    expect: 'delays(0s, 500ms, late=2s)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('leaves events alone that it does not know', onTape({
    ...lobby,
    faults: String.raw`inject("event: weather\nid: 99\ndata: {\"from\":\"bob\",\"text\":\"rain\"}\n\n") after message[2]`,
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));

test('comes back when the server hangs up', onTape({
    ...lobby,
    faults: 'disconnect after message[3]',
    expect: 'delays(0s, late=2s)',
}, async (server) => {
    assert.deepEqual(await visit(server), everything);
}));
