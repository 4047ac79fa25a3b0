// A small server to record: a clock that ticks three times over server-sent events, and a plain answer.
import { createServer } from 'node:http';
import { once } from 'node:events';

/** Starts it on a free port of loopback: {url, close}. */
export async function clock() {
    const server = createServer((request, response) => {
        if (request.url === '/hello') {
            response.end('{"hello":"world"}');
            return;
        }
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        for (const n of [1, 2, 3]) response.write(`event: tick\nid: ${n}\ndata: {"n":${n}}\n\n`);
        response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
        url: `http://127.0.0.1:${server.address().port}`,
        close: () => new Promise((resolve) => {
            server.closeAllConnections();
            server.close(resolve);
        }),
    };
}

/** What the clock said: the data of its events. */
export async function ticks(url) {
    const answer = await fetch(`${url}/ticks`, { headers: { Accept: 'text/event-stream' } });
    return (await answer.text()).split('\n').filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice(6)).n);
}
