// One `wiretape` process: its events, what it says on standard error, and its end.
import { spawn } from 'node:child_process';
import { setTimeout, clearTimeout } from 'node:timers';
import { WiretapeError, quoted } from './failure.js';
import { EventLog } from './events.js';
import { opened, ended } from './open-runs.js';

// The program's text is kept up to this many characters, the last ones: a client that comes again for hours fills no memory.
const KEPT = 256 * 1024;

export class Child {
    log = new EventLog();
    stderr = '';
    /** How it ended: {code, signal}, once every pipe of it is read to its end. */
    exited;
    exit = null;
    /** A sentence, once a line of its events could not be read. */
    unreadable = null;
    #process;

    /**
     * Starts the program. Nothing of it keeps this process going but a wait for its events, which has a timer, or for its end.
     * @param {string} program Its path.
     * @param {string[]} args Its arguments, as one would type them to repeat the run.
     * @param {string[]} reporting Its further ones, which make it tell this process of the run.
     * @param {{cwd?: string, env: NodeJS.ProcessEnv, events: 1 | 3, what: string}} options `events`: the descriptor with lines of
     *     JSON; `what`: what is said of a run that was left open, such as "the replay of chat.tape.gz".
     */
    constructor(program, args, reporting, { cwd, env, events, what }) {
        this.command = ['wiretape', ...args].map(quoted).join(' ');
        this.what = what;
        const stdio = ['ignore', 'pipe', 'pipe', events === 3 ? 'pipe' : 'ignore'];
        this.#process = spawn(program, [...args, '--exit-with-parent', ...reporting], { cwd, env, stdio });
        this.#process.unref();
        this.exited = new Promise((resolve) => {
            this.#process.once('error', (error) => this.#over(resolve, null, null, `${program} cannot be started: ${error.message}`));
            this.#process.once('close', (code, signal) => this.#over(resolve, code, signal));
        });
        for (const stream of this.#process.stdio.slice(1)) {
            stream?.setEncoding('utf8').on('error', () => {}).unref();
            stream?.resume();
        }
        this.#process.stdio[2]?.on('data', (text) => { this.stderr = (this.stderr + text).slice(-KEPT); });
        this.#readLines(this.#process.stdio[events]);
        if (this.#process.pid !== undefined) opened(this);
    }

    get pid() {
        return this.#process.pid;
    }

    /**
     * The program's ready line.
     * @param {number} timeout Milliseconds.
     * @returns {Promise<object>} Rejects with WiretapeError, with what the program said, when it ends or the time is over before;
     *     it has ended then.
     */
    async ready(timeout) {
        try {
            return await this.log.until((events) => events.find(({ event }) => event === 'ready'), timeout, 'the program to listen');
        } catch {
            const isSlow = this.exit === null;
            if (isSlow) this.signal('SIGKILL');
            const { code } = await this.#gone();
            const why = isSlow ? `did not listen within ${timeout} ms and was killed` : this.#how();
            const parts = [`${this.what}: wiretape ${why}`, this.stderr.trim(), `it was: ${this.command}`];
            throw new WiretapeError(parts.filter(Boolean).join('\n\n'), { exitCode: code, stderr: this.stderr });
        }
    }

    /**
     * Ends it as Ctrl-C does, so that it writes its report, and kills it when that takes too long.
     * @param {number} timeout Milliseconds.
     * @param {'SIGINT' | 'SIGTERM'} [how] SIGTERM: what it would keep of a run that is well is not to be kept.
     * @returns {Promise<{code: number | null, signal: string | null, killed: boolean}>}
     */
    async end(timeout, how = 'SIGINT') {
        let killed = false;
        this.signal(how);
        const timer = setTimeout(() => {
            killed = true;
            this.signal('SIGKILL');
        }, timeout);
        const exit = await this.#gone();
        clearTimeout(timer);
        return { ...exit, killed };
    }

    /** Sends a signal, unless it has ended. */
    signal(name) {
        if (this.exit === null) this.#process.kill(name);
    }

    /** Its end. Whoever waits for it keeps this process going until it has come. */
    #gone() {
        if (this.exit === null) for (const handle of [this.#process, ...this.#process.stdio]) handle?.ref();
        return this.exited;
    }

    /** How it ended, for the middle of a sentence. */
    #how() {
        const { code, signal, failure } = this.exit;
        return failure ?? (signal ? `was ended by ${signal}` : `ended with exit code ${code}`);
    }

    #over(resolve, code, signal, failure = null) {
        if (this.exit !== null) return;
        this.exit = { code, signal, failure };
        ended(this);
        this.log.end(this.unreadable ?? `the run has ended: wiretape ${this.#how()}${this.stderr.trim() ? `\n\n${this.stderr.trim()}\n` : ''}`);
        resolve(this.exit);
    }

    /** Adds each whole line to the log. A last line without its end is one that the program was killed in. */
    #readLines(stream) {
        let rest = '';
        stream?.on('data', (text) => {
            const lines = (rest + text).split('\n');
            rest = lines.pop();
            for (const line of lines.filter(Boolean)) {
                try {
                    this.log.add(JSON.parse(line));
                } catch (error) {
                    this.unreadable ??= `an event of the program cannot be read (${error.message}): ${line.slice(0, 200)}`;
                    this.signal('SIGINT');
                }
            }
        });
    }
}
