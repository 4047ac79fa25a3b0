// Client programs on the real JavaScript libraries that come back by themselves: returning.js CLIENT URL OPTIONS, with
// OPTIONS in JSON; NODE_PATH names the folder with the packages. What it does and prints is that of returning.py.
'use strict';
const crypto = require('crypto');

const [name, url] = process.argv.slice(2);
const settings = JSON.parse(process.argv[4]);
const { want = 4, idle = 1.5, limit = 30, options = {} } = settings;
const socketURL = url.replace(/^http/, 'ws');
const say = (what, more) => process.stdout.write(JSON.stringify({ t: Date.now() / 1000, what, ...more }) + '\n');

const end = Date.now() + limit * 1000;
let count = 0;
let last = null;
let connections = 0;
let over = false;
const opened = () => { say('open'); count = 0; last = Date.now(); connections += 1; };
const lost = (why) => { say('lost', { why: String(why) }); last = null; };
const finished = (why) => { say('end', { why: String(why) }); over = true; };
const message = (content) => { say('message', { content }); count += 1; last = Date.now(); };
const isOver = () => over || count >= want || Date.now() > end || (last !== null && Date.now() - last > idle * 1000);

const clients = {
    signalr() {
        const { HubConnectionBuilder, LogLevel } = require('@microsoft/signalr');
        const transport = { ws: 1, sse: 2, lp: 4 }[settings.transport]; // none: the first one that works
        const builder = new HubConnectionBuilder().withUrl(url, { transport }).configureLogging(LogLevel.None);
        if (settings.delays) builder.withAutomaticReconnect(settings.delays);
        else if (!settings.stays) builder.withAutomaticReconnect();
        const hub = builder.build();
        Object.assign(hub, options);
        const ask = async () => {
            opened();
            const mine = connections;
            for (let i = 0; i < want && mine === connections && last !== null; i += 1) {
                hub.send('burst', 1, 'hi').catch(() => {});
                await new Promise((go) => setTimeout(go, 50));
            }
        };
        hub.on('ReceiveMessage', (...args) => message(args));
        hub.onreconnecting(lost);
        hub.onreconnected(ask);
        hub.onclose(finished);
        hub.start().then(ask, finished);
        return () => hub.stop();
    },
    graphql() {
        const { createClient } = require('graphql-ws');
        if (settings.delays) options.retryWait = (n) => new Promise((go) => setTimeout(go, settings.delays[n] ?? 0));
        const client = createClient({
            url: socketURL, webSocketImpl: require('ws'), ...options,
            on: { connected: opened, closed: ({ code }) => lost(code) },
        });
        client.subscribe({ query: `subscription { counter(to: ${want}, delayMs: 50) }` }, {
            next: (result) => message(result.data), error: (error) => finished(error.reason ?? error.message ?? error),
            complete: () => finished('complete'),
        });
        return () => client.dispose();
    },
    legacy() {
        const { SubscriptionClient } = require('subscriptions-transport-ws');
        const client = new SubscriptionClient(socketURL, { reconnect: true, ...options }, require('ws'));
        client.onConnected(opened);
        client.onReconnected(opened);
        client.onDisconnected(lost);
        client.request({ query: `subscription { counter(to: ${want}, delayMs: 50) }` }).subscribe({
            next: (result) => message(result.data), error: finished, complete: () => finished('complete'),
        });
        return () => client.close(true, true);
    },
    pusher() {
        const Pusher = require('pusher-js');
        const { hostname, port } = new URL(url);
        const signed = (text) => 'key:' + crypto.createHmac('sha256', 'secret').update(text).digest('hex');
        const client = new Pusher('key', {
            cluster: 'mt1', wsHost: hostname, wsPort: port, httpHost: hostname, httpPort: port, forceTLS: false,
            enabledTransports: [settings.transport ?? 'ws'], enableStats: false, ...options,
            channelAuthorization: {
                customHandler: ({ socketId, channelName }, done) => done(null, { auth: signed(`${socketId}:${channelName}`) }),
            },
        });
        client.connection.bind('connected', opened);
        client.connection.bind('state_change', ({ previous }) => { if (previous === 'connected') lost(previous); });
        const room = client.subscribe('private-room');
        room.bind('pusher:subscription_succeeded', () => room.trigger('client-count', { on: 'private-room', to: want }));
        room.bind('tick', message);
        return () => client.disconnect();
    },
};

const leave = clients[name]();
const watch = setInterval(async () => {
    if (!isOver()) return;
    clearInterval(watch);
    await Promise.race([leave(), new Promise((go) => setTimeout(go, 1000))]);
    say('left', { content: count >= want });
    setTimeout(() => process.exit(0), 100);
}, 20);
