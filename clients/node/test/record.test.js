// Recordings, and tests that make their tapes themselves.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { onTape, record, replay, withReplay, WiretapeError, WiretapeFailure } from 'wiretape';
import { clock, ticks } from './server.js';

let folder;
let upstream;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wiretape-record-'));
    upstream = await clock();
});
after(async () => {
    await upstream.close();
    await rm(folder, { recursive: true });
});
const at = (name) => join(folder, name);
// Each run says for itself what the machine's own environment would decide.
const here = (settings = {}) => ({ CI: '', WIRETAPE_RECORD: '', ...settings });

/** Runs what `onTape` makes, as a runner would. */
function run(options, body) {
    const made = onTape(options, body);
    assert.equal(made.length, 0, 'Jest would wait for `done` otherwise');
    return made({ name: 'a test' });
}

test('records what passes, and replays it', async () => {
    const recording = await record(upstream.url, at('first.tape'));
    assert.match(recording.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(await ticks(recording.url), [1, 2, 3]);
    assert.throws(() => recording.endpoint, /while recording there is no server\.endpoint/);
    assert.equal((await recording.close()).passed, true);
    await assert.rejects(record(upstream.url, at('first.tape')), /first\.tape is there already: remove it, or record with { force: true }/);
    const heard = await withReplay(at('first.tape'), {}, async (server) => {
        const all = await ticks(server.url);
        await server.finished();
        return all;
    });
    assert.deepEqual(heard, [1, 2, 3]);
});

test('takes a plan from beside the test, and keeps its reports where they are asked for', async () => {
    await writeFile(at('plan.json'), '{"rules":[{"name":"cut","fault":"reset after tick[2]"}]}');
    const options = { from: folder, cwd: folder, plans: 'plan.json', report: 'kept' };
    const report = await withReplay('first.tape', options, async (server) => {
        await assert.rejects(ticks(server.url), /terminated/);
        return server.stop();
    });
    assert.deepEqual(report.faults.map(({ rule }) => rule), ['cut']);
    assert.ok(existsSync(at('kept/report.txt')) && existsSync(at('kept/actual.tape')));
});

test('fails a recording of nothing', async () => {
    const recording = await record(upstream.url, at('nothing.tape'));
    await assert.rejects(recording.close(), (error) => error instanceof WiretapeFailure && /nothing\.tape was not recorded: .*no client came/.test(error.message));
    await assert.rejects(record('nonsense', at('nonsense.tape')), WiretapeError);
});

test('records a tape that is missing, and says to run again', async () => {
    const options = { tape: 'made/new.tape', from: folder, upstream: upstream.url, faults: 'reset after tick[2]', expect: 'delays(0s)', env: here() };
    await assert.rejects(run(options, async (server, { name }) => {
        assert.equal(name, 'a test');
        assert.equal(server.recording, true);
        await ticks(server.url);
        await server.wait('fault');
        await server.finished();
    }), (error) => error instanceof WiretapeFailure && /^new\.tape was recorded from .*, and nothing was judged: run again\.$/.test(error.message));
    assert.ok(existsSync(at('made/new.tape')));

    await run({ ...options, faults: [], expect: [] }, async (server) => {
        assert.equal(server.recording, false);
        assert.deepEqual(await ticks(server.url), [1, 2, 3]);
        await server.finished();
    });
});

test('tells what the test itself said while it was recorded', async () => {
    const options = { tape: at('told.tape'), upstream: upstream.url, env: here() };
    await assert.rejects(run(options, async (server) => {
        await ticks(server.url);
        throw new Error('there was no reconnect');
    }), ({ message, cause }) => /recorded .* run again\.\nWhile it was recorded the test ended with: there was no reconnect/.test(message) && cause.message === 'there was no reconnect');
});

test('records nothing on a build machine, and names the command', async () => {
    const missing = { tape: 'ci.tape', from: folder, upstream: upstream.url };
    const expected = ({ message }) => message.includes(`wiretape record --upstream ${upstream.url} --output ${at('ci.tape')}`) && /the record mode is 'none'/.test(message);
    await assert.rejects(run({ ...missing, env: here({ CI: 'true' }) }, () => {}), expected);
    await assert.rejects(run({ ...missing, record: 'none', env: here() }, () => {}), expected);
    await assert.rejects(run({ ...missing, upstream: undefined, env: here() }, () => {}), /names no upstream/);
    await assert.rejects(run({ ...missing, record: 'twice', env: here() }, () => {}), /the record mode is "twice": it is 'once', 'new-episodes', 'none', 'all'/);
    assert.equal(existsSync(at('ci.tape')), false);
});

test('records again when the environment says so', async () => {
    await writeFile(at('old.tape'), 'no tape\n');
    const options = { tape: 'old.tape', from: folder, upstream: upstream.url, record: 'none', env: here({ WIRETAPE_RECORD: 'all' }) };
    await assert.rejects(run(options, (server) => ticks(server.url)), /old\.tape was recorded/);
    await (await replay(at('old.tape'))).stop();
});
