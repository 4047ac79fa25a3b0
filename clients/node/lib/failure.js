// The two kinds of errors: a verdict that is no pass, and a program that could not do its work.
import { AssertionError } from 'node:assert';
import { basename } from 'node:path';

/**
 * A run whose verdict is no pass, or an event that a test waited for and that did not come. It is an AssertionError, so
 * that every runner shows it as a failed assertion.
 */
export class WiretapeFailure extends AssertionError {
    /**
     * @param {string} message What went wrong, with the program's own words.
     * @param {import('../index.d.ts').Report | null} [report] The run's report, where the run has ended.
     * @param {{expected?: unknown, actual?: unknown}} [values] What a runner may show side by side.
     */
    constructor(message, report = null, { expected = 'pass', actual = report?.verdict } = {}) {
        super({ message, expected, actual, operator: 'wiretape' });
        this.name = 'WiretapeFailure';
        hide(this, 'report', report);
    }
}

/** Wiretape could not be used: no program, no tape, options that are not known, or a run that died before it was ready. */
export class WiretapeError extends Error {
    /**
     * @param {string} message A sentence that says what to do.
     * @param {{exitCode?: number | null, stderr?: string}} [ended] How the program ended, and what it said.
     */
    constructor(message, { exitCode = null, stderr = '' } = {}) {
        super(message);
        this.name = 'WiretapeError';
        this.exitCode = exitCode;
        this.stderr = stderr;
    }
}

/**
 * The failure that says what became of a run: the verdict, the reason, the program's own text, and how to repeat it.
 * @param {string} tape The tape's path.
 * @param {import('../index.d.ts').Report} report
 * @returns {WiretapeFailure}
 */
export function verdictFailure(tape, report) {
    const exit = report.exitCode === null ? 'killed' : `exit ${report.exitCode}`;
    const parts = [`${basename(tape)}: ${report.verdict} (${exit}): ${report.reason}`];
    if (report.stderr.trim()) parts.push(report.stderr.trim());
    parts.push(`repeat it: ${report.command}`);
    return new WiretapeFailure(parts.join('\n\n'), report);
}

/** Sets a member that runners do not print with the error: a report is long, and the message has what matters of it. */
export function hide(error, name, value) {
    Object.defineProperty(error, name, { value, configurable: true, writable: true });
}

/** A word as a shell takes it, quoted only where it has to be. */
export function quoted(word) {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
