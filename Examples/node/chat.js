// A chat client over server-sent events. It knows nothing of Wiretape: it is what the tests in test/ are about.
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A person in a chat room. Emits 'message' for each message, in order and once, 'lost' when the connection is gone, 'back' when there is
 * one again, and 'closed' when it has given up.
 */
export class Chat extends EventEmitter {
    /** Every message so far: {id, from, text}. */
    messages = [];
    #url;
    #user;
    #delays;
    #silence;
    #stopping = new AbortController();

    /**
     * @param {string} url The room's: http://127.0.0.1:5000/rooms/lobby
     * @param {string} user
     * @param {{delays?: number[], silence?: number}} [options] Milliseconds: before each retry, after the last of which it gives up;
     *     and after how long without a word from the server, which says something every 15 s, the connection counts as lost.
     */
    constructor(url, user, { delays = [0, 500, 1000, 2000], silence = 30_000 } = {}) {
        super();
        this.#url = url;
        this.#user = user;
        this.#delays = delays;
        this.#silence = silence;
    }

    /** Begins to listen. */
    start() {
        this.#listen();
    }

    /** Leaves the room. */
    stop() {
        this.#stopping.abort();
    }

    /**
     * Says something to everybody.
     * @param {string} text
     */
    async say(text) {
        const body = JSON.stringify({ from: this.#user, text });
        const answer = await fetch(`${this.#url}/messages`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
        await answer.body?.cancel();
        if (!answer.ok) throw new Error(`the server refused the message: ${answer.status}`);
    }

    async #listen() {
        let failures = 0;
        while (!this.#stopping.signal.aborted) {
            const { wasOpen, retryAfter } = await this.#connection();
            if (this.#stopping.signal.aborted) return;
            if (wasOpen) {
                failures = 0;
                this.emit('lost');
            }
            if (failures === this.#delays.length) {
                this.emit('closed');
                return;
            }
            const delay = Math.max(this.#delays[failures], retryAfter);
            failures += 1;
            await sleep(delay, undefined, { signal: this.#stopping.signal }).catch(() => {});
        }
    }

    /** One connection, from its request to its end. `retryAfter`: what the server asked for, in milliseconds. */
    async #connection() {
        const silent = new AbortController();
        const alarm = setTimeout(() => silent.abort(), this.#silence);
        const headers = { Accept: 'text/event-stream' };
        if (this.messages.length > 0) headers['Last-Event-ID'] = String(this.messages.at(-1).id);
        let wasOpen = false;
        try {
            const answer = await fetch(`${this.#url}/messages`, { headers, signal: AbortSignal.any([silent.signal, this.#stopping.signal]) });
            if (answer.status !== 200) {
                await answer.body?.cancel();
                return { wasOpen, retryAfter: Number(answer.headers.get('Retry-After') ?? 0) * 1000 };
            }
            wasOpen = true;
            this.emit('back');
            let text = '';
            for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
                alarm.refresh();
                const events = (text + part).split('\n\n');
                text = events.pop();
                events.forEach((event) => this.#heard(event));
            }
        } catch {
            // However it ended: what counts is that it is over.
        } finally {
            clearTimeout(alarm);
        }
        return { wasOpen, retryAfter: 0 };
    }

    /** One event of the stream, or a comment. */
    #heard(event) {
        const fields = Object.fromEntries(event.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
        if (fields.data === undefined || (fields.event ?? 'message') !== 'message') return;
        const id = Number(fields.id);
        if (this.messages.some((message) => message.id === id)) return;
        const message = { id, ...JSON.parse(fields.data) };
        this.messages.push(message);
        this.emit('message', message);
    }
}
