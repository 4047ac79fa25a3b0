// Runs @apollo/client 4 under node: client_apollo_defer.js URL SHAPE. It sends a query with @defer and prints each result that the application
// receives. SHAPE is the shape of incremental delivery: current (incrementalSpec=v0.2) or older (deferSpec=20220824). NODE_PATH names the folder
// with the package.
'use strict';
const { ApolloClient, HttpLink, InMemoryCache, gql } = require('@apollo/client/core');
const { Defer20220824Handler, GraphQL17Alpha9Handler } = require('@apollo/client/incremental');

const [url, shape] = process.argv.slice(2);
const client = new ApolloClient({
    link: new HttpLink({ uri: url }), cache: new InMemoryCache(),
    incrementalHandler: shape === 'current' ? new GraphQL17Alpha9Handler() : new Defer20220824Handler(),
});

function observe(event, detail) {
    process.stdout.write(JSON.stringify({ chain: 'query', event, ...detail }) + '\n');
}

const query = gql`query Box { fast box { name ... @defer(label: "later") { parts { name } } } }`;
client.watchQuery({ query }).subscribe({
    next({ data, dataState, error }) {
        if (dataState === 'empty') return;
        observe('result', { state: dataState, data, error: error?.message ?? null });
        // An open keep-alive connection would keep node running.
        if (dataState === 'complete') setTimeout(() => process.exit(0), 50);
    },
    error: (error) => observe('error', { message: error.message }),
});
