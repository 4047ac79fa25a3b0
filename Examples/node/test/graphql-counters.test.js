// What the counters on graphql-ws do when their server or their network is not at its best.
import assert from 'node:assert/strict';
import { onTape } from 'wiretape';
import { clientOf } from './installed.js';
import { within } from './within.js';

const { Counters, test } = await clientOf('../graphql-counters.js', 'graphql-ws', 'ws');

const feed = { tape: '../../../recordings/graphql-gql.tape.gz', from: import.meta.url };
const counted = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4], [1, 2, 3]];

/** Two counters to their ends, and the beginning of a long one; what was shown of each. */
function count(server, options) {
    const counters = new Counters(server.ws, options);
    return within(Promise.all([counters.count(6, 40), counters.count(4, 70), counters.begin(3)]));
}

test('shows what is counted', onTape({ ...feed, expect: 'finished' }, async (server) => {
    assert.deepEqual(await count(server), counted);
}));

test('subscribes again after a reset', onTape({
    ...feed,
    faults: 'reset after next[5]',
    expect: ['delays(0s, 500ms, 1s, 2s, late=2s)', 'resubscribes', 'single'],
}, async (server) => {
    assert.deepEqual(await count(server), counted);
}));

test('waits longer each time the server answers 503', onTape({
    ...feed,
    faults: ['reset after next[5]', 'respond(503) on connect[retry=1..2]'],
    expect: 'delays(0s, 500ms, 1s, 2s, late=2s)',
}, async (server) => {
    assert.deepEqual(await count(server), counted);
}));

test('gives a silent connection up', onTape({
    ...feed,
    faults: 'stall(both, 60s) after next[5]',
    expect: 'detects(within=2s)',
}, async (server) => {
    assert.deepEqual(await count(server, { ping: 400 }), counted);
}));

test('shows nothing again on a new connection', onTape({ ...feed, faults: 'disconnect after next[8]', onReconnect: 'rewind:3' }, async (server) => {
    assert.deepEqual(await count(server), counted);
}));

test('shows once what comes twice', onTape({ ...feed, faults: 'duplicate on next[6]' }, async (server) => {
    assert.deepEqual(await count(server), counted);
}));

test('shows a new token when the old one is refused', onTape({
    ...feed,
    faults: 'close(4403, "Forbidden") after next[5]',
    expect: 'delays(0s, late=2s)',
}, async (server) => {
    const tokens = ['the first', 'the second', 'the third'];
    assert.deepEqual(await count(server, { getToken: () => tokens.shift() }), counted);
    assert.deepEqual(tokens, ['the third']);
}));

test('outlives a restart of the server', onTape({
    ...feed,
    faults: 'outage(300ms, cut=1001) after next[5]',
    expect: 'delays(0s, 500ms, late=2s)',
}, async (server) => {
    assert.deepEqual(await count(server), counted);
}));

test('gives up when the server stays away', onTape({
    ...feed,
    faults: 'outage(60s) after next[5]',
    expect: ['delays(0s, 100ms, 200ms, late=2s)', 'gives-up(after=3)'],
    allowUnfinished: true,
}, async (server) => {
    await assert.rejects(count(server, { delays: [0, 100, 200] }), ({ message }) => /ECONNREFUSED|ECONNRESET|hang up/.test(message));
    await server.quiet(1_000);
}));

test('stays away when it is not wanted', onTape({
    ...feed,
    faults: 'close(4401, "Unauthorized") after next[5]',
    expect: 'stays-away(after=close(4401))',
    allowUnfinished: true,
}, async (server) => {
    await assert.rejects(count(server), { code: 4401 });
    await server.quiet(1_000);
}));
