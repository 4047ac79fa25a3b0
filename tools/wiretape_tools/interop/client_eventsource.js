// Runs npm's eventsource under node: client_eventsource.js URL PACKAGE LAST [KICK]. It prints each event and stops at the event with id LAST. If
// KICK is given, the client POSTs to it after the third event, and the server cuts all connections. NODE_PATH names the folder with the package.
'use strict';
const [url, name, last, kick] = process.argv.slice(2);
const { EventSource } = require(name);

function observe(event, detail) {
    process.stdout.write(JSON.stringify({ chain: 'events', event, ...detail }) + '\n');
}

// eventsource 5 does not keep node alive while it waits to reconnect.
setInterval(() => {}, 1000);
const source = new EventSource(url);
let isOver = false;
const heard = ({ type, data, lastEventId }) => {
    if (isOver) return;
    observe(type, { data, id: lastEventId });
    if (lastEventId === '3' && kick) fetch(kick, { method: 'POST' });
    if (Number(lastEventId) < Number(last)) return;
    isOver = true;
    source.close();
    setTimeout(() => process.exit(0), 50);
};
source.addEventListener('open', () => process.stdout.write(JSON.stringify({ chain: 'connection', event: 'open' }) + '\n'));
source.addEventListener('message', heard);
source.addEventListener('fifth', heard);
