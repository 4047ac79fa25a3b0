// The counters on graphql-ws, broken in one habit at a time.
import { breaker } from './breaking.js';
import { clientOf } from './installed.js';

const { test } = await clientOf('../graphql-counters.js', 'graphql-ws', 'ws');
const broken = breaker(test, 'graphql-counters.js', 'graphql-counters.test.js');

broken('never has enough', 'shows what is counted', /does nothing any more|finished/, ['if (seen.length === enough) leave();', 'if (seen.length === enough) resolve(seen);']);

broken('gives up when it loses its connection', 'subscribes again after a reset', /no session came back/, ['shouldRetry: () => true', 'shouldRetry: () => false']);

broken('never waits longer', 'waits longer each time the server answers 503', /delays\(0s, 500ms, 1s, 2s, late=2s\) is not met/, ['delays[retries]', 'delays[0]']);

broken('trusts silence', 'gives a silent connection up', /detects\(within=2s\) is not met/, ['this.#client.terminate()', '{}']);

broken('forgets on a new connection what it has shown', 'shows nothing again on a new connection', /deep-equal/,
    ['(seen.at(-1) ?? 0)', '(this.shown !== this.connections ? 0 : seen.at(-1) ?? 0)'],
    ['seen.push(data.counter);', 'seen.push(data.counter); this.shown = this.connections;'],
    ['closed: ({ code }) => {', 'closed: ({ code }) => {\n                    this.connections = (this.connections ?? 0) + 1;']);

broken('takes every result for a new one', 'shows once what comes twice', /deep-equal/, ['if (data.counter <= (seen.at(-1) ?? 0)) return;', '']);

broken('keeps its old token', 'shows a new token when the old one is refused', /the second/, ['if (code === 4403) this.#token = undefined;', '']);

broken('takes a refused connection for the end', 'outlives a restart of the server', /client message never came/, ['shouldRetry: () => true,', '']);

broken('never gives up', 'gives up when the server stays away', /gives-up\(after=3\) is not met/,
    ['retryAttempts: delays.length', 'retryAttempts: 100'], ['delays[retries]', 'delays[retries] ?? 200']);

broken('comes back although it is not wanted', 'stays away when it is not wanted', /stays-away\(after=close\(4401\)\) is not met/,
    ['error: reject,', 'error: (end) => { reject(end); this.again ??= this.#follow(operation, enough).catch(() => {}); },']);
