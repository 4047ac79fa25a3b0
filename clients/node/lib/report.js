// What a run came to.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The report of a run that has ended. Only a run that ended by itself with exit code 0, with a report that says "pass", passed:
 * a program that was killed, or whose report is missing, has not.
 * @param {import('./child.js').Child} child
 * @param {{code: number | null, signal: string | null, killed: boolean}} exit
 * @param {{folder: string, time: {stop: number}, allowUnfinished?: boolean}} how `folder`: where the program wrote its reports.
 * @returns {Promise<import('../index.d.ts').Report>}
 */
export async function readReport(child, { code, signal, killed }, { folder, time, allowUnfinished = false }) {
    const raw = await readFile(join(folder, 'report.json'), 'utf8').then(JSON.parse, () => null);
    const last = child.log.all.findLast(({ event }) => event === 'end');
    const broken = brokenReason(child, { raw, last, code, signal, killed }, time.stop);
    const sessions = raw?.sessions ?? [];
    const unfinished = broken === null && code === 0 && !allowUnfinished ? sessions.filter(isUnderWay) : [];
    const seed = raw?.seed ?? null;
    return {
        passed: broken === null && code === 0 && raw.verdict === 'pass' && unfinished.length === 0,
        verdict: broken !== null ? 'failed' : unfinished.length > 0 ? 'unfinished' : raw.verdict,
        exitCode: code,
        reason: broken ?? (unfinished.length > 0 ? unfinishedReason(unfinished) : last.reason),
        sessions,
        attempts: sessions.flatMap(({ session, run, attempts }) => attempts.map((attempt) => ({ session, run, ...attempt }))),
        faults: raw?.faults ?? [],
        unfired: raw?.unfired ?? [],
        expectations: raw?.expectations ?? [],
        divergences: raw?.divergences ?? [],
        appended: raw?.appended ?? null,
        seed,
        raw,
        stderr: child.stderr,
        command: seed === null || child.command.includes(' --seed ') ? child.command : `${child.command} --seed ${seed}`,
    };
}

/**
 * A session that its client was in the middle of when the run ended. The program takes an interrupted run as one that somebody
 * looked at; here a test ended it, and what the client had still to say was seen by nobody.
 */
function isUnderWay({ finished, attempts }) {
    const last = attempts.at(-1);
    return !finished && last?.outcome === 'connected' && !last.ended;
}

function unfinishedReason(sessions) {
    const names = sessions.map(({ session, matched }) => `session ${session} (${matched} client messages matched)`).join(', ');
    return `the test ended while a client was in the middle of ${names}. `
        + 'Await server.finished() before, or permit it with { allowUnfinished: true }.';
}

/** Why a run has no verdict of its own, or null. */
function brokenReason(child, { raw, last, code, signal, killed }, stopTimeout) {
    if (killed) return `wiretape did not end within ${stopTimeout} ms of SIGINT and was killed`;
    if (signal !== null) return `wiretape was ended by ${signal}`;
    if (child.unreadable !== null) return child.unreadable;
    if (last === undefined) return `wiretape ended with exit code ${code} and told no verdict`;
    if (raw === null) return `${last.reason} (wiretape ended with exit code ${code} and left no report)`;
    return null;
}
