// The options of replays and recordings, and the command lines that they make.
import { WiretapeError } from './failure.js';
import { milliseconds } from './events.js';

/** A value or a list of them, as a list. */
export function list(value) {
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? value : [value];
}

// The program's options that have a name here, and those of them that may be given several times.
const replayWords = {
    faults: '--fault', plans: '--faults', expect: '--expect', ignore: '--ignore', routes: '--route',
    speed: '--speed', seed: '--seed', patience: '--patience', onDivergence: '--on-divergence', onReconnect: '--on-reconnect',
    timeScale: '--time-scale', clients: '--clients',
};
const recordWords = { redact: '--redact', keep: '--keep' };
const repeatable = new Set(['faults', 'plans', 'expect', 'ignore', 'routes', 'redact', 'keep']);

// What every run knows, beside the words above.
const common = ['args', 'cwd', 'env', 'bin', 'from', 'startTimeout', 'stopTimeout'];
const replayOnly = ['allowUnplayed', 'allowUnfinished', 'report', 'waitTimeout', 'addFrom'];
const recordOnly = ['force'];

export const replayOptions = new Set([...Object.keys(replayWords), ...common, ...replayOnly]);
export const recordOptions = new Set([...Object.keys(recordWords), ...common, ...recordOnly]);

/**
 * Refuses options that nobody reads: `fault` for `faults` would run a test without its faults, and that would be green.
 * @param {object} options
 * @param {Set<string>} known
 * @param {string} whose For the sentence: "replay".
 */
export function checkNames(options, known, whose) {
    const unknown = Object.keys(options).filter((name) => !known.has(name));
    if (unknown.length === 0) return;
    throw new WiretapeError(`${whose} has no option ${unknown.map((name) => `'${name}'`).join(', ')}. It has ${[...known].sort().join(', ')}.`);
}

/** The time limits of a run in milliseconds, those that are not given at their defaults. */
export function limits({ startTimeout = 30_000, stopTimeout = 15_000, waitTimeout = 10_000 }) {
    return {
        start: milliseconds('startTimeout', startTimeout),
        stop: milliseconds('stopTimeout', stopTimeout),
        wait: milliseconds('waitTimeout', waitTimeout),
    };
}

/** The arguments of `wiretape replay` that the options mean, as one would type them. */
export function replayArguments(tape, options) {
    return [...played(tape, options.addFrom), ...spelled(options, replayWords), ...(options.allowUnplayed ? ['--allow-unplayed'] : []), ...further(options)];
}

/** A replay, or one that puts what its tape lacks behind it. */
function played(tape, addFrom) {
    if (addFrom === undefined) return ['replay', tape];
    return ['auto', tape, '--record-mode', 'new-episodes', ...upstreamsOf(addFrom).flatMap((url) => ['--upstream', url])];
}

/** Upstreams as `--upstream` takes them, from a URL or from an object of URLs by their names. */
export function upstreamsOf(upstream) {
    if (typeof upstream !== 'object' || upstream instanceof URL) return [String(upstream)];
    return Object.entries(upstream).map(([name, url]) => `${name}=${url}`);
}

/** The arguments of `wiretape record`, as one would type them. `upstream` is a URL, or an object of URLs by their names. */
export function recordArguments(upstream, tape, options) {
    return [
        'record', '--output', tape, ...upstreamsOf(upstream).flatMap((url) => ['--upstream', url]),
        ...(options.force ? ['--force'] : []), ...spelled(options, recordWords), ...further(options),
    ];
}

function spelled(options, words) {
    return Object.entries(words).flatMap(([name, word]) => {
        const values = list(options[name]);
        if (values.length > 1 && !repeatable.has(name)) throw new WiretapeError(`the option '${name}' takes one value, not ${values.length}.`);
        return values.flatMap((value) => [word, String(value)]);
    });
}

// Options of this library that the program must not be given a second time, by their names on the command line.
const ours = ['--events', '--exit-with-parent', '--report', '--json', '--output', '--'];

function further({ args }) {
    const taken = list(args).map(String).find((word) => ours.some((own) => word === own || word.startsWith(`${own}=`) && own !== '--'));
    if (taken === '--') throw new WiretapeError("args must not have '--': the client of a test is the test itself, not a command behind --.");
    if (taken !== undefined) throw new WiretapeError(`args must not have ${taken}: the library sets it.`);
    return list(args).map(String);
}
