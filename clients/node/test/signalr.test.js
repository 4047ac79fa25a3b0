// A real @microsoft/signalr client against a recording of ASP.NET Core.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { replay, withReplay, WiretapeFailure } from 'wiretape';
import { clientTest, recordings } from './peers.js';
import { ada } from './people.js';

const tape = join(recordings, 'chat.tape.gz');
const cut = { speed: 'instant', faults: 'reset after ReceiveMessage[2]' };

/** Plays ada to the end, or to where the server ends it. */
async function chat(server, habits) {
    const person = ada(server.endpoint, habits);
    await person.start();
    await person.through;
    await person.stop();
    return person.heard;
}

clientTest('plays a recorded session to a client and passes', async () => {
    const server = await replay(tape, { speed: 'instant' });
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(server.endpoint, `${server.url}/hub`);
    assert.equal(server.ws, server.endpoint.replace('http', 'ws'));
    assert.deepEqual(server.urls, { main: server.url });
    const heard = await chat(server);
    assert.equal(heard.length, 7);
    await server.finished();
    assert.deepEqual(server.received({ target: 'SendMessage' }).map(({ fields }) => fields.arguments[1]), ['hello bob', 'fine, thanks', 'bye']);
    const report = await server.close();
    assert.equal(report.verdict, 'pass');
    assert.equal(report.exitCode, 0);
    assert.equal(report.seed, server.seed);
    assert.equal(report.sessions.length, 1);
    assert.equal(report.raw.sessions[0].matched, report.sessions[0].matched);
    assert.deepEqual(await server.stop(), report);
});

clientTest('resets a connection and judges the reconnect', async () => {
    const report = await withReplay(tape, { ...cut, expect: ['delays(0s, 2s, late=2s)', 'single'] }, async (server) => {
        const person = ada(server.endpoint);
        await person.start();
        const fault = await server.wait('fault');
        assert.equal(fault.action, 'reset');
        await server.wait('connected', { attempt: 2 });
        const lost = await server.wait(({ event, how }) => event === 'disconnected' && how === 'reset');
        assert.equal(lost.attempt, 1);
        await person.through;
        await server.finished();
        await person.stop();
        return server.stop();
    });
    assert.deepEqual(report.attempts.map(({ session, n, outcome }) => [session, n, outcome]), [[1, 1, 'connected'], [1, 2, 'connected']]);
    assert.equal(report.faults.length, 1);
    assert.ok(report.expectations.every(({ met }) => met));
});

clientTest('names the attempt of a client that comes back at the wrong time', async () => {
    const broken = withReplay(tape, { ...cut, expect: 'delays(0s, 2s)' }, (server) => chat(server, { retries: [1500] }));
    await assert.rejects(broken, (error) => {
        assert.ok(error instanceof WiretapeFailure && error instanceof assert.AssertionError);
        assert.equal(error.report.exitCode, 5);
        assert.match(error.message, /chat\.tape\.gz: failed \(exit 5\): .*delays\(0s, 2s\).*attempt 2/s);
        assert.match(error.message, /repeat it: wiretape replay /);
        return true;
    });
});

clientTest('names the client that never comes back', async () => {
    const broken = withReplay(tape, { ...cut, expect: 'delays(0s, 2s)', timeScale: 100 }, (server) => chat(server, { retries: [] }));
    await assert.rejects(broken, /diverged \(exit 2\)|failed \(exit 5\)/);
});

clientTest('shows what a client says otherwise beside the tape', async () => {
    const broken = withReplay(tape, { speed: 'instant' }, (server) => chat(server, { says: ['hello bobby'], retries: [] }));
    await assert.rejects(broken, ({ message, report }) => {
        assert.equal(report.exitCode, 2);
        assert.match(message, /recorded {2}Invocation SendMessage\("ada", "hello bob"\)/);
        assert.match(message, /received {2}Invocation SendMessage\("ada", "hello bobby"\)/);
        assert.equal(report.divergences.length, 1);
        return true;
    });
});

clientTest('ends the wait for a session that has diverged at once', async () => {
    const server = await replay(tape, { speed: 'instant' });
    const person = ada(server.endpoint, { says: ['hello bobby'], retries: [] });
    await person.start();
    await assert.rejects(server.finished({ timeout: 60_000 }), /cannot finish any more: .*diverged at client message/);
    await person.stop();
    assert.equal((await server.stop()).verdict, 'diverged');
});

clientTest('lets an error of the test go on, with the verdict as its cause', async () => {
    const reason = new Error('no paint');
    const mine = new Error('the heading is not red', { cause: reason });
    const broken = withReplay(tape, { speed: 'instant' }, async (server) => {
        await ada(server.endpoint, { says: [] }).start();
        await server.wait('connected');
        throw mine;
    });
    await assert.rejects(broken, (error) => {
        assert.equal(error, mine);
        assert.equal(error.wiretape.verdict, 'unfinished');
        assert.match(error.cause.message, /in the middle of session 1/);
        assert.equal(error.cause.cause, reason);
        return true;
    });
});

clientTest('adds nothing to an error of the test where the replay passed', async () => {
    const mine = new Error('the heading is not red');
    const broken = withReplay(tape, { speed: 'instant' }, async (server) => {
        await chat(server);
        await server.finished();
        throw mine;
    });
    await assert.rejects(broken, (error) => error === mine && error.cause === undefined && error.wiretape.passed);
});

clientTest('lists what came when a wait is in vain', async () => {
    const server = await replay(tape, { speed: 'instant' });
    await chat(server);
    await assert.rejects(server.wait('fault', { timeout: 50, rule: 'x' }), /waited 50 ms for 'fault' with {"rule":"x"}[^]*events:[^]*SendMessage/);
    const late = assert.rejects(server.wait('fault'), /but the run has ended: wiretape ended with exit code 0/);
    await server.close();
    await late;
    assert.equal((await server.wait('connected')).attempt, 1, 'what has come can be asked for when the run is over');
});

clientTest('runs eight replays at once', async () => {
    const heard = await Promise.all(Array.from({ length: 8 }, () => withReplay(tape, { ...cut, expect: 'delays(0s, late=2s)' }, (server) => chat(server))));
    assert.deepEqual(heard.map(({ length }) => length), Array(8).fill(7));
});

clientTest('fails a test that ends in the middle of a session, unless it permits that', async () => {
    const options = { speed: 'instant' };
    const meet = async (server) => {
        await ada(server.endpoint, { retries: [], says: [] }).start();
        await server.wait('message', { target: 'ReceiveMessage' });
    };
    await assert.rejects(withReplay(tape, options, meet), ({ message, report }) => report.exitCode === 0 && /unfinished .*in the middle of session 1 .*Await server\.finished/.test(message));
    await withReplay(tape, { ...options, allowUnfinished: true }, meet);
});

clientTest('repeats the draws of a seed', async () => {
    const report = await withReplay(tape, { speed: 'instant', seed: 42 }, async (server) => {
        assert.equal(server.seed, 42);
        await chat(server);
        return server.stop();
    });
    assert.equal(report.seed, 42);
});
