// The body of a test that plays against a tape, for every runner.
import { basename, dirname } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { WiretapeError, WiretapeFailure, quoted } from './failure.js';
import { checkNames, replayOptions, recordOptions, upstreamsOf } from './options.js';
import { missingTape, withReplay } from './replay.js';
import { record } from './record.js';
import { firstFile, placesOf } from './tapes.js';

const own = new Set(['tape', 'upstream', 'record']);
const modes = ['once', 'new-episodes', 'none', 'all'];

/**
 * Makes the body of a test that plays against a tape, for `test` of node:test, Jest or Vitest:
 *
 *     test('comes back after a reset', onTape({ tape: 'chat.tape.gz', from: import.meta.url, faults: '…' }, async (server) => { … }));
 *
 * Without a tape and with an `upstream` it records: the body runs against the real server behind Wiretape, without faults and
 * expectations, and the test fails with "recorded, run again", since nothing was judged. `record` says when: `once` (where there is no
 * tape; the default), `new-episodes` (that, and what a tape lacks is put behind it), `none` (never; the default where CI is set), `all` (each time). WIRETAPE_RECORD in the environment goes
 * before the option.
 * @param {import('../index.d.ts').TapeOptions} options Those of `replay`, and `tape`, `upstream`, `record`.
 * @param {(server: import('../index.d.ts').TestServer, context: any) => unknown} body `context` is what the runner gives.
 * @returns {(...given: any[]) => Promise<void>}
 */
export function onTape(options, body) {
    checkNames(options, new Set([...replayOptions, ...recordOptions, ...own]), 'onTape');
    // No named parameter: Jest would take one for its `done`, and Vitest for a list of fixtures.
    return async function () {
        await run(options, (server) => body(server, arguments[0]));
    };
}

async function run({ tape, upstream, record: wanted, ...options }, body) {
    const env = { ...process.env, ...options.env };
    const mode = modeOf(wanted, env);
    const places = await placesOf(tape, { ...options, env });
    const found = await firstFile(places);
    if (found !== undefined && (mode !== 'all' || upstream === undefined)) {
        if (mode !== 'new-episodes' || upstream === undefined) return withReplay(found, only(options, replayOptions), body);
        return added(upstream, found, only(options, replayOptions), body);
    }
    if (mode === 'none' || upstream === undefined) throw new WiretapeError(notRecorded(tape, places, upstream, mode));
    // The further arguments are those of a replay.
    return recorded(upstream, found ?? places[0], only({ ...options, args: undefined }, recordOptions), body);
}

/** What decides: the environment for a whole run, then the test, then whether this is a build machine. */
function modeOf(wanted, env) {
    const isCI = Boolean(env.CI) && env.CI !== 'false' && env.CI !== '0';
    const mode = env.WIRETAPE_RECORD || wanted || (isCI ? 'none' : 'once');
    if (modes.includes(mode)) return mode;
    throw new WiretapeError(`the record mode is ${JSON.stringify(mode)}: it is ${modes.map((one) => `'${one}'`).join(', ')}.`);
}

function notRecorded(tape, places, upstream, mode) {
    const urls = upstreamsOf(upstream ?? 'URL').map(quoted).join(' --upstream ');
    const why = upstream === undefined
        ? 'The test names no upstream that it could be recorded from.'
        : `It is not recorded here, since the record mode is '${mode}' (as it is where CI is set).`;
    return `${missingTape(tape, places, urls)}\n${why}`;
}

/** Replays what is there and records what the tape lacks. Fails when that was something: it was not judged. */
async function added(upstream, path, options, body) {
    let server;
    await withReplay(path, { ...options, addFrom: upstream }, (replay) => { server = replay; return body(replay); });
    const { appended } = await server.stop();
    if (appended === null) return;
    const text = `What ${basename(path)} lacked was recorded from ${upstreamsOf(upstream).join(', ')}, and was not judged: run again.`;
    throw new WiretapeFailure(text, null, { expected: 'replayed', actual: 'recorded' });
}

/** Records what the body does, and fails: nothing was judged. */
async function recorded(upstream, path, options, body) {
    await mkdir(dirname(path), { recursive: true });
    const server = await record(upstream, path, { ...options, force: true });
    let cause;
    try {
        await body(server);
    } catch (error) {
        cause = error;
    }
    await server.close().catch((error) => { error.cause ??= cause; throw error; });
    const lines = [`${basename(path)} was recorded from ${upstreamsOf(upstream).join(', ')}, and nothing was judged: run again.`];
    if (cause !== undefined) {
        lines.push(`While it was recorded the test ended with: ${cause?.message ?? cause}`);
        lines.push(`Look whether the tape is whole: wiretape inspect ${quoted(path)}`);
    }
    const failure = new WiretapeFailure(lines.join('\n'), null, { expected: 'replayed', actual: 'recorded' });
    if (cause !== undefined) failure.cause = cause;
    throw failure;
}

/** The options that one of the two, replay or record, has. */
function only(options, known) {
    return Object.fromEntries(Object.entries(options).filter(([name]) => known.has(name)));
}
