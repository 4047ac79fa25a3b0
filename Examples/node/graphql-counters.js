// Counters of a GraphQL server, followed with graphql-ws. It knows nothing of Wiretape: it is what test/graphql-counters.test.js is about.
//
// graphql-ws itself subscribes again on a new connection, and ends for good at codes that say so (4400, 4401, 4409 …). It takes a refused
// connection for the end as well, and an unanswered ping for nothing at all; results that come again are shown again. All of that is done
// otherwise here.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

const count = 'subscription Count($to: Int!, $delayMs: Int!) { counter(to: $to, delayMs: $delayMs) }';
const long = 'subscription Long { counter(to: 1000, delayMs: 50) }';

/** Several counters over one connection, which is there as long as one of them goes on. */
export class Counters {
    #client;
    #token;

    /**
     * @param {string} url The server's, as a WebSocket's.
     * @param {{delays?: number[], ping?: number, getToken?: () => string}} [options] Milliseconds: before each retry, after the last of
     *     which it gives up; and between pings, half of which an answer may take. `getToken` is asked for a token, and for another one when
     *     the server does not take the last any more.
     */
    constructor(url, { delays = [0, 500, 1000, 2000], ping = 10_000, getToken } = {}) {
        let unanswered;
        this.#client = createClient({
            url,
            webSocketImpl: WebSocket,
            connectionParams: () => (getToken === undefined ? {} : { token: (this.#token ??= getToken()) }),
            retryAttempts: delays.length,
            retryWait: (retries) => sleep(delays[retries]),
            // What came instead of a connection is no close event, and else would be the end.
            shouldRetry: () => true,
            keepAlive: ping,
            on: {
                ping: (received) => { if (!received) unanswered = setTimeout(() => this.#client.terminate(), ping / 2); },
                pong: (received) => { if (received) clearTimeout(unanswered); },
                closed: ({ code }) => {
                    clearTimeout(unanswered);
                    if (code === 4403) this.#token = undefined;
                },
            },
        });
    }

    /**
     * Follows a counter to its end.
     * @param {number} to
     * @param {number} delayMs
     * @returns {Promise<number[]>} Its numbers, each once and in order. Rejects when the server refuses, or cannot be reached any more.
     */
    count(to, delayMs) {
        return this.#follow({ query: count, operationName: 'Count', variables: { to, delayMs } });
    }

    /**
     * Follows a long counter, and leaves it.
     * @param {number} enough
     * @returns {Promise<number[]>} Its first numbers.
     */
    begin(enough) {
        return this.#follow({ query: long }, enough);
    }

    #follow(operation, enough) {
        const seen = [];
        return new Promise((resolve, reject) => {
            const leave = this.#client.subscribe(operation, {
                next: ({ data }) => {
                    // The number is what tells a result that comes again from a new one.
                    if (data.counter <= (seen.at(-1) ?? 0)) return;
                    seen.push(data.counter);
                    if (seen.length === enough) leave();
                },
                error: reject,
                complete: () => resolve(seen),
            });
        });
    }
}
