// graphql-ws's or subscriptions-transport-ws's client under node: client_graphql.js URL SCRIPT. Starts the script's
// operations, stage after stage, those of a stage at once, and prints what the application observes, one JSON object a line.
// NODE_PATH names the folder with the packages. The script: {"protocol": "graphql-transport-ws" or "graphql-ws",
// "reorder": true (members the other way round), "reconnect": true, "stages": [[{"chain", "query", "operationName",
// "variables", "stop": items}]], "params": {…} (of the opening), "headers": {…}}.
'use strict';
const fs = require('fs');
const WebSocket = require('ws');

const [url, scriptFile] = process.argv.slice(2);
const script = JSON.parse(fs.readFileSync(scriptFile, 'utf8'));
const socketURL = url.replace(/^http/, 'ws');
const connectionParams = script.params ?? { client: 'interop' };
class Socket extends WebSocket {
    constructor(address, protocols) { super(address, protocols, { headers: script.headers }); }
}

function observe(chain, event, detail) {
    process.stdout.write(JSON.stringify({ chain, event, ...detail }) + '\n');
}
const messages = (errors) => errors.map((error) => error.message);

function modern() {
    const { createClient } = require('graphql-ws');
    const reordered = (key, value) => key === '' && value && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).reverse()) : value;
    const client = createClient({
        url: socketURL, webSocketImpl: Socket, lazy: false, onNonLazyError: () => {},
        connectionParams, jsonMessageReplacer: script.reorder ? reordered : undefined,
        retryAttempts: script.reconnect ? 5 : 0, shouldRetry: () => true,
        retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
        on: { connected: (_, __, again) => { if (again) observe('connection', 'reconnected'); } },
    });
    return {
        run: (operation, sink) => client.subscribe(operation, {
            next: (result) => sink.next(result),
            error: (error) => sink.error(Array.isArray(error) ? messages(error) : [error.reason || error.message || 'closed']),
            complete: () => sink.complete(),
        }),
        close: () => client.dispose(),
    };
}

function legacy() {
    const { SubscriptionClient } = require('subscriptions-transport-ws');
    const options = { reconnect: script.reconnect, connectionParams };
    const client = new SubscriptionClient(socketURL, options, Socket);
    client.onReconnected(() => observe('connection', 'reconnected'));
    return {
        run: (operation, sink) => client.request(operation).subscribe({
            next: (result) => sink.next(result),
            error: (error) => sink.error([error.message]),
            complete: () => sink.complete(),
        }).unsubscribe,
        close: () => client.close(true, true),
    };
}

function play(client, { chain, stop, ...operation }) {
    return new Promise((resolve) => {
        let count = 0;
        let over = false;
        const end = (event, detail) => {
            if (over) return;
            over = true;
            observe(chain, event, detail);
            resolve();
        };
        const cancel = client.run(operation, {
            next: (result) => {
                if (over) return;
                const { data, errors } = result;
                observe(chain, 'next', { data: data ?? null, errors: messages(errors ?? []) });
                count += 1;
                if (count === stop) {
                    end('stopped');
                    cancel();
                }
            },
            error: (errors) => end('error', { errors }),
            complete: () => end('complete'),
        });
    });
}

(async () => {
    const client = script.protocol === 'graphql-ws' ? legacy() : modern();
    for (const stage of script.stages) await Promise.all(stage.map((operation) => play(client, operation)));
    client.close();
    setTimeout(() => process.exit(0), 100);
})();
