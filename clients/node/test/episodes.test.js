// What a tape lacks comes from the server and goes behind the tape: over event streams, WebSockets and long polls.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { onTape, replay, withReplay, WiretapeFailure } from 'wiretape';
import { client, clientTest, recordings } from './peers.js';
import { clock, ticks } from './server.js';

let folder;
before(async () => { folder = await mkdtemp(join(tmpdir(), 'wiretape-episodes-')); });
after(() => rm(folder, { recursive: true }));
const at = (name) => join(folder, name);
const env = { CI: '', WIRETAPE_RECORD: '', WIRETAPE_RECORD_MODE: '' };

/** Runs what `onTape` makes, as a runner would. */
const run = (options, body) => onTape({ speed: 'instant', env, record: 'new-episodes', ...options }, body)({});

test('adds a further stream and a request, and replays both without the server', async () => {
    const upstream = await clock();
    const options = { tape: at('clock.tape'), upstream: upstream.url };
    const more = async (server) => {
        assert.deepEqual([await ticks(server.url), await ticks(server.url)], [[1, 2, 3], [1, 2, 3]]);
        assert.deepEqual(await (await fetch(`${server.url}/hello`)).json(), { hello: 'world' });
    };
    await assert.rejects(run(options, ({ url }) => ticks(url)), /clock\.tape was recorded from .* run again/);
    const first = await readFile(at('clock.tape'));
    await run(options, ({ url }) => ticks(url));
    assert.deepEqual(await readFile(at('clock.tape')), first);
    // A test that fails leaves the tape.
    await assert.rejects(run(options, async (server) => { await more(server); throw new Error('something else'); }), /something else/);
    assert.deepEqual(await readFile(at('clock.tape')), first);
    await assert.rejects(run(options, more), (error) => error instanceof WiretapeFailure
        && /^What clock\.tape lacked was recorded from http.*, and was not judged: run again\.$/.test(error.message));
    await upstream.close();
    await run(options, more);
    await run({ ...options, record: 'none' }, more);
});

/** Says one line to the hub, and waits for what a chat of the recording has as its answer. */
async function visit(url, transport) {
    const signalR = client('@microsoft/signalr');
    const connection = new signalR.HubConnectionBuilder().withUrl(url, { transport }).configureLogging(signalR.LogLevel.None).build();
    const left = ['hello bob', 'fine, thanks', 'bye'];
    const heard = [];
    const through = new Promise((resolve) => {
        connection.onclose(resolve);
        connection.on('Welcome', () => {});
        connection.on('ReceiveMessage', (user, text) => {
            heard.push(text);
            if (user !== 'bob') return;
            if (text === 'bye') resolve();
            else connection.invoke('SendMessage', 'ada', left.shift()).catch(() => {});
        });
    });
    await connection.start();
    await through;
    await connection.stop();
    return heard;
}

for (const [name, number] of [['WebSockets', 1], ['ServerSentEvents', 2], ['LongPolling', 4]]) {
    clientTest(`adds a session over ${name}`, async () => {
        const tape = at(`${name}.tape.gz`);
        await copyFile(join(recordings, 'chat.tape.gz'), tape);
        // The server is a replay itself, which serves every transport.
        const upstream = await replay(join(recordings, 'chat.tape.gz'), { speed: 'instant', args: ['--when-exhausted', 'repeat', '--fresh-ids'] });
        const twice = async (server) => [await visit(server.endpoint, number), await visit(server.endpoint, number)];
        const report = await withReplay(tape, { speed: 'instant', addFrom: upstream.url, env }, async (server) => {
            const [first, second] = await twice(server);
            assert.equal(first.length, 7);
            assert.deepEqual(first, second);
            return server.stop();
        });
        assert.equal(report.passed, true, report.stderr);
        assert.ok(report.appended?.events > 0, report.stderr);
        await upstream.stop();
        const again = await withReplay(tape, { speed: 'instant', env }, async (server) => {
            const [first, second] = await twice(server);
            assert.deepEqual(first, second);
            await server.finished({ sessions: 2 });
            return server.stop();
        });
        assert.equal(again.sessions.length, 2, again.stderr);
        assert.equal(again.passed, true, again.stderr);
    });
}
