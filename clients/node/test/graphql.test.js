// A real graphql-ws client against a recording of graphql-ws.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { withReplay } from 'wiretape';
import { clientTest, recordings } from './peers.js';
import { graphQLUser } from './people.js';

const tape = join(recordings, 'graphql-transport-ws.tape.gz');

clientTest('plays recorded subscriptions to graphql-ws', async () => {
    await withReplay(tape, { speed: 'instant' }, async (server) => {
        const got = await graphQLUser(server.ws);
        assert.deepEqual(got.map(({ length }) => length), [6, 4, 3, 1, 1, 1, 1, 2, 1]);
        assert.equal((await server.finished()).length, 1);
        assert.equal(server.received({ type: 'subscribe' }).length, 9);
    });
});

clientTest('asks graphql-ws to subscribe again after a reset', async () => {
    const options = { speed: 'instant', faults: 'reset after next[5]', expect: ['resubscribes', 'single'], args: ['--on-reconnect', 'restart'] };
    await withReplay(tape, options, async (server) => {
        const got = await graphQLUser(server.ws);
        assert.equal(got.length, 9);
        await server.wait('connected', { attempt: 2 });
    });
});

clientTest('names the operation that differs from the tape', async () => {
    const other = ({ query, ...operation }) => ({ query: query.replace('a: 20', 'a: 21'), ...operation });
    const broken = withReplay(tape, { speed: 'instant', waitTimeout: 5_000 }, async (server) => {
        await Promise.race([graphQLUser(server.ws, other), server.wait('divergence')]);
    });
    await assert.rejects(broken, ({ message, report }) => report.exitCode === 2 && /received {2}subscribe mutation add .*\/payload\/query/.test(message));
});
