// The chat server that test/lobby.tape was recorded from: node server.js [PORT]. Bob speaks as soon as somebody listens, and answers.
import { createServer } from 'node:http';

const bob = ['hello', 'anybody here?', 'how are you?', 'see you tomorrow', 'bye'];

const server = createServer(async (request, response) => {
    if (request.url !== '/rooms/lobby/messages') {
        response.writeHead(404).end();
    } else if (request.method === 'POST') {
        request.resume().on('end', () => response.writeHead(202).end());
    } else {
        let id = Number(request.headers['last-event-id'] ?? 0);
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': welcome\n\n');
        const speaking = setInterval(() => {
            if (id === bob.length) return clearInterval(speaking);
            const text = bob[id];
            id += 1;
            response.write(`id: ${id}\ndata: ${JSON.stringify({ from: 'bob', text })}\n\n`);
        }, 100);
        const alive = setInterval(() => response.write(': still here\n\n'), 15_000);
        response.on('close', () => [speaking, alive].forEach(clearInterval));
    }
});
server.listen(Number(process.argv[2] ?? 5000), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
