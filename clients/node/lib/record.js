// A recording that a test's client connects to.
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { Child } from './child.js';
import { WiretapeError, WiretapeFailure } from './failure.js';
import { checkNames, limits, recordArguments, recordOptions } from './options.js';
import { findProgram } from './program.js';
import { placesOf } from './tapes.js';

/**
 * Stands in front of a server and records what passes, until it is closed.
 * @param {string | URL | Record<string, string>} upstream The server's URL, or several by their names.
 * @param {string} tape Where the tape goes: beside `from`, else in the working folder.
 * @param {import('../index.d.ts').RecordOptions} [options]
 * @returns {Promise<Recording>} It listens.
 * @throws {WiretapeError} No program, a tape that is there already and no `force`, or a run that ends before it listens.
 */
export async function record(upstream, tape, options = {}) {
    checkNames(options, recordOptions, 'record');
    const time = limits(options);
    const env = { ...process.env, ...options.env };
    const [path] = await placesOf(tape, { ...options, env });
    if (!options.force && await access(path).then(() => true, () => false)) {
        throw new WiretapeError(`${path} is there already: remove it, or record with { force: true }.`);
    }
    const program = await findProgram(options.bin, env);
    const args = recordArguments(upstream, path, options);
    const child = new Child(program, args, ['--json'], { cwd: options.cwd, env, events: 1, what: `the recording of ${basename(path)}` });
    return new Recording(path, child, await child.ready(time.start), time);
}

/** A running recording. `record` makes it. */
export class Recording {
    /** True: what the client talks to is its real server, behind Wiretape. */
    recording = true;
    /** A recorder tells no events. */
    events = [];
    seed = null;
    #child;
    #ready;
    #time;
    #report = null;
    #isJudged = false;

    constructor(tape, child, ready, time) {
        this.tape = tape;
        this.#child = child;
        this.#ready = ready;
        this.#time = time;
    }

    /** Where it listens, in place of the server: http://127.0.0.1:41234 */
    get url() { return this.#ready.url; }
    /** Every listener by its upstream's name. */
    get urls() { return this.#ready.urls; }
    /** The program's process id. */
    get pid() { return this.#child.pid; }
    /** A recorder does not know which path clients will ask for. */
    get endpoint() { throw new WiretapeError(noPath('endpoint', '')); }
    /** A recorder does not know which path clients will ask for. */
    get ws() { throw new WiretapeError(noPath('ws', ".replace('http', 'ws')")); }

    /** Nothing is waited for: faults do not happen here, and the client's server answers when it answers. */
    async wait() { return undefined; }
    /** As `wait`. */
    async finished() { return []; }
    /** As `wait`. */
    received() { return []; }
    /** As `wait`. */
    async quiet() {}

    /**
     * Ends the recording and says what it came to, without judging it.
     * @returns {Promise<import('../index.d.ts').RecordReport>}
     */
    stop() {
        this.#report ??= this.#end();
        return this.#report;
    }

    /**
     * Ends the recording.
     * @returns {Promise<import('../index.d.ts').RecordReport>}
     * @throws {WiretapeFailure} Nothing was recorded that could be replayed, or the tape could not be written.
     */
    async close() {
        this.#isJudged = true;
        const report = await this.stop();
        if (!report.passed) {
            const parts = [`${basename(this.tape)} was not recorded: ${report.reason}`, report.stderr.trim()];
            throw new WiretapeFailure(parts.filter(Boolean).join('\n\n'), null, { actual: report.exitCode, expected: 0 });
        }
        return report;
    }

    async #end() {
        const { code, signal, killed } = await this.#child.end(this.#time.stop);
        const last = this.#child.log.all.findLast(({ event }) => event === 'end');
        const ending = killed
            ? `wiretape did not end within ${this.#time.stop} ms of SIGINT and was killed`
            : `wiretape ended with ${signal ?? `exit code ${code}`}`;
        return {
            passed: code === 0 && last !== undefined,
            exitCode: code,
            reason: last?.reason ?? ending,
            tape: this.tape,
            stderr: this.#child.stderr,
            command: this.#child.command,
        };
    }

    /** For `await using`: closes, unless the test has closed or stopped it itself. */
    async dispose() {
        if (!this.#isJudged && this.#report === null) await this.close();
    }
}

if (Symbol.asyncDispose) {
    Object.defineProperty(Recording.prototype, Symbol.asyncDispose, { value: Recording.prototype.dispose });
}

/** The sentence about an address whose path nobody knows yet. */
function noPath(name, change) {
    return `while recording there is no server.${name}, since the path is the client's to choose: `
        + `write \`\${server.url${change}}/path\`, which is right in a replay, too.`;
}
