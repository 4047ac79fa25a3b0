// Clients as applications write them, to be tested: ada of recordings/chat.tape.gz, and a user of recordings/graphql-transport-ws.tape.gz.
import { client } from './peers.js';

/**
 * Ada says her next line when bob has spoken. She is through when bob has said "bye", or when she has given up.
 * @param {string} url The hub's.
 * @param {{retries?: number[], says?: string[]}} [habits] Her delays in milliseconds before each retry (none: she stays away);
 *     and her lines.
 */
export function ada(url, { retries = [0, 2000], says = ['hello bob', 'fine, thanks', 'bye'] } = {}) {
    const signalR = client('@microsoft/signalr');
    let builder = new signalR.HubConnectionBuilder().withUrl(url).configureLogging(signalR.LogLevel.None);
    if (retries.length > 0) builder = builder.withAutomaticReconnect(retries);
    const connection = builder.build();
    const left = [...says];
    const heard = [];
    const through = new Promise((resolve) => {
        connection.on('ReceiveMessage', (user, text) => {
            heard.push(`${user}: ${text}`);
            if (user !== 'bob') return;
            if (text === 'bye') resolve();
            else if (left.length > 0) connection.invoke('SendMessage', 'ada', left.shift()).catch(() => {});
        });
        connection.onclose(() => resolve());
    });
    connection.on('Welcome', () => {});
    return { heard, through, start: () => connection.start(), stop: () => connection.stop() };
}

const count = 'subscription Count($to: Int!, $delayMs: Int!) { counter(to: $to, delayMs: $delayMs) }';
// What the recorded client asked for: the operations of a stage at once, stage after stage.
const stages = [
    [
        { query: count, operationName: 'Count', variables: { to: 6, delayMs: 40 } },
        { query: count, operationName: 'Count', variables: { to: 4, delayMs: 70 } },
        { query: 'subscription Long { counter(to: 1000, delayMs: 50) }', stop: 3 },
    ],
    [
        { query: 'query Hello($name: String!) { hello(name: $name) }', variables: { name: 'héllo "€" 😀' } },
        { query: '{ hello }' },
        { query: 'mutation { add(a: 20, b: 22) }' },
        { query: 'query Long($name: String!) { hello(name: $name) }', variables: { name: 'wörld '.repeat(2000) } },
    ],
    [{ query: 'subscription { failing }' }, { query: 'subscription { nosuchfield }' }],
];

/**
 * Does with graphql-ws what the recorded client did.
 * @param {string} url The WebSocket's.
 * @param {(operation: object) => object} [change] What it does otherwise.
 * @returns {Promise<unknown[][]>} What each operation got, in order.
 */
export async function graphQLUser(url, change = (operation) => operation) {
    const user = client('graphql-ws').createClient({
        url, webSocketImpl: client('ws'), lazy: false, onNonLazyError: () => {}, connectionParams: { client: 'interop' },
        retryAttempts: 5, shouldRetry: () => true, retryWait: () => Promise.resolve(),
    });
    const got = [];
    for (const stage of stages) got.push(...await Promise.all(stage.map((operation) => results(user, change(operation)))));
    await user.dispose();
    return got;
}

function results(user, { stop, ...operation }) {
    return new Promise((resolve) => {
        const seen = [];
        const cancel = user.subscribe(operation, {
            next: ({ data }) => {
                seen.push(data);
                if (seen.length === stop) {
                    resolve(seen);
                    cancel();
                }
            },
            error: () => resolve([...seen, 'error']),
            complete: () => resolve(seen),
        });
    });
}
