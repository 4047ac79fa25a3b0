// A replay that a test's client connects to.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Child } from './child.js';
import { WiretapeError, WiretapeFailure, hide, verdictFailure } from './failure.js';
import { matcher, milliseconds } from './events.js';
import { checkNames, limits, list, replayArguments, replayOptions } from './options.js';
import { findProgram } from './program.js';
import { readReport } from './report.js';
import { beside, firstFile, placesOf } from './tapes.js';

/**
 * Opens a replay of a tape: the server's part of a recorded session, for real clients, on a free port of loopback.
 * @param {string} tape The tape's path: beside `from`, else in the working folder, else under WIRETAPE_RECORDINGS.
 * @param {import('../index.d.ts').ReplayOptions} [options]
 * @returns {Promise<Replay>} It listens. Close it in every case: `withReplay` does.
 * @throws {WiretapeError} No program, no tape, an option that is not known, or a run that ends before it listens: the
 *     message has what the program said.
 */
export async function replay(tape, options = {}) {
    checkNames(options, replayOptions, 'replay');
    const time = limits(options);
    const env = { ...process.env, ...options.env };
    const places = await placesOf(tape, { ...options, env });
    const path = await firstFile(places);
    if (path === undefined) throw new WiretapeError(missingTape(tape, places));
    const program = await findProgram(options.bin, env);
    const folder = options.report === undefined ? await mkdtemp(join(tmpdir(), 'wiretape-')) : resolve(options.cwd ?? '.', options.report);
    const tidy = () => options.report === undefined ? rm(folder, { recursive: true, force: true }) : undefined;
    try {
        const plans = await beside(list(options.plans), options.from);
        const args = replayArguments(path, { ...options, plans });
        const reporting = ['--events', 'fd:3', '--report', `${folder}/`];
        const child = new Child(program, args, reporting, { cwd: options.cwd, env, events: 3, what: `the replay of ${basename(path)}` });
        return new Replay(path, child, await child.ready(time.start), { folder, tidy, time, allowUnfinished: options.allowUnfinished, addFrom: options.addFrom });
    } catch (error) {
        await tidy();
        throw error;
    }
}

/** The sentence about a tape that is nowhere, with the command that makes it. */
export function missingTape(tape, places, upstream = 'URL') {
    return `There is no tape ${tape}: looked for ${places.join(' and ')}. `
        + `Make it with: wiretape record --upstream ${upstream} --output ${places[0]}`;
}

/** A running replay. `replay` makes it. */
export class Replay {
    /** False: what the client talks to is a tape. In an `onTape` that records it is a `Recording`, where this is true. */
    recording = false;
    #child;
    #ready;
    #how;
    #report = null;
    #isJudged = false;

    constructor(tape, child, ready, how) {
        this.tape = tape;
        this.#child = child;
        this.#ready = ready;
        this.#how = how;
    }

    /** Where it listens: http://127.0.0.1:41234 */
    get url() { return this.#ready.url; }
    /** `url` with the recorded path of the first session: http://127.0.0.1:41234/chat */
    get endpoint() { return this.#ready.endpoint; }
    /** `endpoint` for WebSockets: ws://127.0.0.1:41234/chat */
    get ws() { return this.#ready.ws; }
    /** Every listener by its name, of a tape with several upstreams or of named sessions. */
    get urls() { return this.#ready.urls; }
    /** The program's process id. */
    get pid() { return this.#child.pid; }
    /** The seed of this run's random draws; the option `seed` repeats them. */
    get seed() { return this.#ready.seed; }
    /** All events so far, in their order. */
    get events() { return [...this.#child.log.all]; }

    /**
     * Waits for an event: one that has come already, the first of them, else the next that comes.
     * @param {string | ((event: object) => boolean)} what The event's name, or a function that knows it.
     * @param {{timeout?: number} & Record<string, unknown>} [fields] `timeout` in milliseconds (the option `waitTimeout`,
     *     10,000); everything else are members of the event, compared by value: `{ attempt: 2 }`.
     * @returns {Promise<object>} The event.
     * @throws {WiretapeFailure} The time is over or the run has ended; the message lists what came.
     */
    wait(what, { timeout = this.#how.time.wait, ...fields } = {}) {
        const isIt = matcher(what, fields);
        const named = typeof what === 'function' ? 'an event that the given function knows' : `'${what}'`;
        const about = Object.keys(fields).length ? `${named} with ${JSON.stringify(fields)}` : named;
        return this.#child.log.until((events) => events.find(isIt), milliseconds('timeout', timeout), about);
    }

    /**
     * What clients have said so far, each message as an event.
     * @param {Record<string, unknown>} [fields] Members that it must have: `{ target: 'SendMessage' }`.
     * @returns {object[]} A client's message is here when the server has read it: wait for one to be sure.
     */
    received(fields = {}) {
        return this.#child.log.all.filter(matcher('message', { ...fields, d: '>' }));
    }

    /**
     * Waits until every session that a client has begun is played to its end.
     * @param {{timeout?: number, sessions?: number}} [options] Milliseconds; and how many sessions at least.
     * @returns {Promise<object[]>} Their `finished` events.
     * @throws {WiretapeFailure} A session has diverged and was ended for it, the time is over, or the run has ended.
     */
    finished({ timeout = this.#how.time.wait, sessions = 1 } = {}) {
        const find = (events) => {
            const divergence = events.find(({ event }) => event === 'divergence');
            if (divergence && events.some(({ event, by }) => event === 'disconnected' && by === 'replay')) {
                const values = { expected: 'finished', actual: 'diverged' };
                throw new WiretapeFailure(`the session cannot finish any more: ${divergence.text}`, null, values);
            }
            const begun = new Set(events.filter(({ event }) => event === 'attempt').map(keyOf));
            const done = events.filter(({ event }) => event === 'finished');
            const finished = new Set(done.map(keyOf));
            return finished.size >= sessions && [...begun].every((key) => finished.has(key)) ? done : undefined;
        };
        return this.#child.log.until(find, milliseconds('timeout', timeout), `${sessions} finished session${sessions === 1 ? '' : 's'}`);
    }

    /**
     * Waits until nothing has happened for so long: policies about a client that stays away (`gives-up`, `stays-away`) are judged only when
     * it has had the time to come back.
     * @param {number} span Milliseconds.
     * @param {{timeout?: number}} [options] Milliseconds beyond the span.
     * @returns {Promise<void>} Also when the run has ended: then nothing more happens.
     * @throws {WiretapeFailure} Something happened again and again until the time was over.
     */
    quiet(span, { timeout = this.#how.time.wait } = {}) {
        return this.#child.log.quiet(milliseconds('span', span), milliseconds('timeout', timeout));
    }

    /**
     * Ends the run and says what it came to, without judging it. A second call gives the same report.
     * @param {{failed?: boolean}} [options] Of a run that has failed nothing is put behind the tape (the option `addFrom`).
     * @returns {Promise<import('../index.d.ts').Report>}
     */
    stop({ failed = false } = {}) {
        this.#report ??= this.#end(failed);
        return this.#report;
    }

    /**
     * Ends the run and judges it.
     * @returns {Promise<import('../index.d.ts').Report>} Of a run that passed.
     * @throws {WiretapeFailure} for every other one, with the program's own text, which names what went wrong and where.
     */
    async close() {
        this.#isJudged = true;
        const report = await this.stop();
        if (!report.passed) throw verdictFailure(this.tape, report);
        return report;
    }

    async #end(failed) {
        const isKept = this.#how.addFrom === undefined || !failed && (this.#how.allowUnfinished || !this.#isUnderWay());
        const exit = await this.#child.end(this.#how.time.stop, isKept ? 'SIGINT' : 'SIGTERM');
        const report = await readReport(this.#child, exit, this.#how);
        await this.#how.tidy();
        return report;
    }

    /** Whether a client is in the middle of a session. */
    #isUnderWay() {
        const playing = new Set();
        const finished = new Set();
        for (const event of this.#child.log.all) {
            const key = keyOf(event);
            if (event.event === 'finished') finished.add(key);
            if (event.event === 'attempt' && !finished.has(key)) playing.add(key);
            else if (event.event === 'finished' || event.event === 'disconnected') playing.delete(key);
        }
        return playing.size > 0;
    }

    /** For `await using`: closes, unless the test has closed or stopped it itself. */
    async dispose() {
        if (!this.#isJudged && this.#report === null) await this.close();
    }
}

if (Symbol.asyncDispose) {
    Object.defineProperty(Replay.prototype, Symbol.asyncDispose, { value: Replay.prototype.dispose });
}

/** What a session is called among the runs of a tape. */
function keyOf({ session, run }) {
    return `${run} ${session}`;
}

/**
 * Opens a replay, hands it to `body`, and closes it in every case.
 * @template T
 * @param {string} tape
 * @param {import('../index.d.ts').ReplayOptions} options
 * @param {(server: Replay) => T | Promise<T>} body
 * @returns {Promise<T>} What `body` returned, when the run passed.
 * @throws What `body` threw, with the run's report as its `wiretape` and, unless the run passed, its failure as the `cause` (before
 *     a cause that it had); else the WiretapeFailure of a run that did not pass.
 */
export async function withReplay(tape, options, body) {
    const server = await replay(tape, options);
    let result;
    try {
        result = await body(server);
    } catch (error) {
        throw explained(error, server.tape, await server.stop({ failed: true }));
    }
    await server.close();
    return result;
}

/** The error of a test's body, with what the replay has to say about it before the cause that the error had. */
function explained(error, tape, report) {
    const told = error instanceof Error && Object.isExtensible(error) ? error : new Error(`the test threw ${String(error)}`, { cause: error });
    hide(told, 'wiretape', report);
    if (!report.passed) {
        const failure = verdictFailure(tape, report);
        if (told.cause !== undefined) failure.cause = told.cause;
        told.cause = failure;
    }
    return told;
}
