// graphql-sse's client under node: client_graphql_sse.js URL SCRIPT. Each operation has a connection of its own; with
// "single": true in the script all share one. NODE_PATH names the folder with the package. Script and output are those of
// client_graphql.js.
'use strict';
const fs = require('fs');
const { createClient } = require('graphql-sse');

const [url, scriptFile] = process.argv.slice(2);
const script = JSON.parse(fs.readFileSync(scriptFile, 'utf8'));

function observe(chain, event, detail) {
    process.stdout.write(JSON.stringify({ chain, event, ...detail }) + '\n');
}
const messages = (errors) => errors.map((error) => error.message);

const client = createClient({
    url, singleConnection: Boolean(script.single), retryAttempts: script.reconnect ? 5 : 0,
    headers: script.headers,
    retry: () => new Promise((resolve) => setTimeout(resolve, 50)),
});

function play({ chain, stop, ...operation }) {
    return new Promise((resolve) => {
        let count = 0;
        let over = false;
        const end = (event, detail) => {
            if (over) return;
            over = true;
            observe(chain, event, detail);
            resolve();
        };
        const cancel = client.subscribe(operation, {
            next: ({ data, errors }) => {
                if (over) return;
                observe(chain, 'next', { data: data ?? null, errors: messages(errors ?? []) });
                count += 1;
                if (count === stop) {
                    end('stopped');
                    cancel();
                }
            },
            error: (error) => end('error', { errors: [error.message ?? String(error)] }),
            complete: () => end('complete'),
        });
    });
}

(async () => {
    for (const stage of script.stages) await Promise.all(stage.map(play));
    client.dispose();
    setTimeout(() => process.exit(0), 100);
})();
