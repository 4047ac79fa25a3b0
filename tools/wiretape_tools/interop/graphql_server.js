// A GraphQL server under node: graphql_server.js PORT. On /graphql it speaks graphql-transport-ws (the library graphql-ws)
// and the older graphql-ws (subscriptions-transport-ws, with `ka` each second), as the client asks, and graphql-sse over HTTP.
// NODE_PATH names the folder with the packages. The schema is that of strawberry_server.py.
'use strict';
const http = require('http');
const { buildSchema, execute, subscribe } = require('graphql');
const { createHandler } = require('graphql-sse/lib/use/http');
const { useServer } = require('graphql-ws/use/ws');
const { SubscriptionServer } = require('subscriptions-transport-ws');
const { WebSocketServer } = require('ws');

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const schema = buildSchema(`
    type Query { hello(name: String = "wörld 🌍"): String! }
    type Mutation { add(a: Int!, b: Int!): Int! }
    type Subscription { counter(to: Int! = 5, delayMs: Int! = 100): Int!  failing: Int! }
`);
schema.getQueryType().getFields().hello.resolve = (_, { name }) => 'hello ' + name;
schema.getMutationType().getFields().add.resolve = (_, { a, b }) => a + b;
schema.getSubscriptionType().getFields().counter.subscribe = async function* (_, { to, delayMs }) {
    for (let i = 1; i <= to; i += 1) {
        yield { counter: i };
        await sleep(delayMs);
    }
};
schema.getSubscriptionType().getFields().failing.subscribe = async function* () {
    yield { failing: 1 };
    throw new Error('deliberate failure');
};

const server = http.createServer(createHandler({ schema }));
const modern = new WebSocketServer({ noServer: true });
useServer({ schema }, modern);
const legacy = new WebSocketServer({ noServer: true });
SubscriptionServer.create({ schema, execute, subscribe, keepAlive: 1000 }, legacy);
server.on('upgrade', (request, socket, head) => {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const chosen = offered.includes('graphql-transport-ws') ? modern : legacy;
    chosen.handleUpgrade(request, socket, head, (peer) => chosen.emit('connection', peer, request));
});
server.listen(Number(process.argv[2]), '127.0.0.1');
