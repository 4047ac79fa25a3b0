// A client application on pusher-js: says what the script tells and prints what it observes, one JSON object a line.
//
//   node pusher.js URL SCRIPT [TRANSPORT]      TRANSPORT: ws, xhr_streaming, xhr_polling
'use strict';
const fs = require('fs');
const Pusher = require('pusher-js');

const [url, path, transport = 'ws'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const script = JSON.parse(fs.readFileSync(path, 'utf8'));
const say = (chain, what) => process.stdout.write(JSON.stringify({ chain, ...what }) + '\n');

const client = new Pusher('key', {
  cluster: 'mt1', wsHost: hostname, wsPort: port, httpHost: hostname, httpPort: port, forceTLS: false,
  enabledTransports: [transport], enableStats: false,
  channelAuthorization: { endpoint: `${url}/auth`, transport: 'ajax', params: { user: script.user, ...script.params }, headers: script.headers },
});
client.connection.bind('state_change', ({ current }) => {
  if (current === 'connected' || (current === 'connecting' && script.tellsStates)) say('connection', { state: current });
});
client.connection.bind('error', (error) => {
  const data = (error && error.data) || (error && error.error && error.error.data) || {};
  seen('error');
  if (data.message) say('errors', { code: data.code, message: data.message.replace(/[0-9]+\.[0-9]+/g, 'SOCKET') });
});

const counts = {};
const waiting = [];
function seen(name) {
  counts[name] = (counts[name] || 0) + 1;
  for (const wait of waiting.splice(0)) wait.done() ? wait.go() : waiting.push(wait);
}
client.bind_global((event, data) => { seen(event); });

function watch(channel) {
  channel.bind_global((event, data) => {
    const plain = event === 'pusher:subscription_succeeded' && data && data.members
      ? { count: data.count, members: data.members, me: data.myID } : data;
    say(channel.name, { event, data: plain === undefined ? null : plain });
    seen(`${channel.name} ${event}`);
  });
}

const steps = {
  subscribe: async ({ channel }) => watch(client.subscribe(channel)),
  unsubscribe: async ({ channel }) => client.unsubscribe(channel),
  trigger: async ({ channel, event, data }) => { client.channel(channel).trigger(event, data); },
  wait: ({ for: name, count = 1 }) => new Promise((go) => {
    const done = () => (counts[name] || 0) >= count;
    if (done()) go(); else waiting.push({ done, go });
  }),
  sleep: ({ ms }) => new Promise((go) => setTimeout(go, ms)),
};

const limit = setTimeout(() => { say('client', { hangs: script.steps[at], counts }); process.exit(3); }, 20000);
let at = 0;
(async () => {
  await new Promise((go) => client.connection.bind('connected', go));
  for (; at < script.steps.length; at += 1) await steps[script.steps[at].do](script.steps[at]);
  client.disconnect();
  clearTimeout(limit);
  setTimeout(() => process.exit(0), 50);
})();
