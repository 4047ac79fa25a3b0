// What the program tells as it happens, and waiting for it without asking again and again.
import { setTimeout, clearTimeout } from 'node:timers'; // Not the globals: runners put fake clocks in their place.
import { isDeepStrictEqual } from 'node:util';
import { WiretapeError, WiretapeFailure } from './failure.js';

/**
 * Checks an event against what a test names.
 * @param {string | ((event: object) => boolean)} what An event's name, or a function that knows it.
 * @param {Record<string, unknown>} fields Members that it must have, compared by value.
 * @returns {(event: object) => boolean}
 */
export function matcher(what, fields) {
    const wanted = Object.entries(fields).filter(([, value]) => value !== undefined);
    const isIt = typeof what === 'function' ? what : (event) => event.event === what;
    return (event) => Boolean(isIt(event)) && wanted.every(([name, value]) => isDeepStrictEqual(event[name], value));
}

/** A time limit in milliseconds, or a sentence for what is none: a NaN would end every wait at once. */
export function milliseconds(name, value) {
    if (typeof value === 'number' && value >= 0 && value <= 2 ** 31 - 1) return value;
    throw new WiretapeError(`${name} is ${JSON.stringify(value)}: it is a number of milliseconds, from 0 to ${2 ** 31 - 1}.`);
}

/** The events of one run in their order. */
export class EventLog {
    /** All events so far. */
    all = [];
    #waiting = new Set();
    #ended = null;

    /** Adds an event and tells those who wait for it. */
    add(event) {
        this.all.push(event);
        for (const waiter of [...this.#waiting]) waiter.look();
    }

    /** No event will come any more: whoever still waits is told why. */
    end(reason) {
        this.#ended = reason;
        for (const waiter of [...this.#waiting]) waiter.look();
    }

    /**
     * Waits until `find` has an answer for the events so far. It is asked at once and after every event.
     * @template T
     * @param {(events: object[]) => T | undefined} find What to look for; what it throws rejects the wait.
     * @param {number} timeout Milliseconds.
     * @param {string} what For the message when it does not come: "waited 5000 ms for …".
     * @returns {Promise<T>} Rejects with WiretapeFailure when the time is over or the run has ended before.
     */
    until(find, timeout, what) {
        return new Promise((resolve, reject) => {
            const over = (settle, value) => {
                clearTimeout(timer);
                this.#waiting.delete(waiter);
                settle(value);
            };
            const fail = (why) => over(reject, new WiretapeFailure(`${why}\n${this.#soFar()}`, null, { expected: what, actual: undefined }));
            const waiter = {
                look: () => {
                    try {
                        const found = find(this.all);
                        if (found !== undefined) over(resolve, found);
                        else if (this.#ended !== null) fail(`waited for ${what}, but ${this.#ended}`);
                    } catch (error) {
                        over(reject, error);
                    }
                },
            };
            // This timer alone keeps the process going while somebody waits: everything else here is unreferenced.
            const timer = setTimeout(() => fail(`waited ${timeout} ms for ${what}, and it did not come`), timeout);
            this.#waiting.add(waiter);
            waiter.look();
        });
    }

    /** Waits until nothing was added for `span` milliseconds, or until nothing will be; `timeout` is how much longer it may take. */
    quiet(span, timeout) {
        return new Promise((resolve, reject) => {
            const over = (settle, value) => {
                clearTimeout(still);
                clearTimeout(limit);
                this.#waiting.delete(waiter);
                settle(value);
            };
            const waiter = { look: () => this.#ended === null ? still.refresh() : over(resolve) };
            const still = setTimeout(() => over(resolve), span);
            const limit = setTimeout(
                () => over(reject, new WiretapeFailure(`waited ${span + timeout} ms for ${span} ms in which nothing happens\n${this.#soFar()}`)),
                span + timeout,
            );
            this.#waiting.add(waiter);
            waiter.look();
        });
    }

    /** The last events, one a line. */
    #soFar() {
        const lines = this.all.slice(-12).map(describe);
        const earlier = this.all.length - lines.length;
        return [`what came, ${this.all.length} events:`, ...(earlier > 0 ? [`  … ${earlier} before these`] : []), ...lines].join('\n');
    }
}

/** One event as a line for people. */
function describe({ v, event, t_ms: time, ...rest }) {
    const text = event === 'message' ? `${rest.d} ${rest.summary}` : JSON.stringify(rest);
    return `  ${(time ?? 0).toFixed(1)} ms ${event} ${text.length > 160 ? `${text.slice(0, 160)}…` : text}`;
}
