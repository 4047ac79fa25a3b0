// The chat client on @microsoft/signalr. It knows nothing of Wiretape: it is what test/signalr-chat.test.js is about.
//
// Of @microsoft/signalr itself are the delays, the silence that it bears, and the fallback from WebSockets to event streams and long polling.
// It neither repeats what had no answer when the connection was lost, nor asks for another token when a negotiation is refused: both are done here.
import { EventEmitter } from 'node:events';
import { HubConnectionBuilder, HubConnectionState, LogLevel } from '@microsoft/signalr';

/**
 * A person in the chat. Emits 'message' (who, text) for each message, in order and once, and 'closed' when it has given up or was sent away.
 */
export class Chat extends EventEmitter {
    #connection;
    #user;
    #token;
    #unacknowledged = new Set();

    /**
     * @param {string} url The hub's.
     * @param {string} user
     * @param {{delays?: number[], silence?: number, getToken?: () => string}} [options] Milliseconds: before each retry, after the last of
     *     which it gives up; and after how long without a word from the server the connection counts as lost. `getToken` is asked for a
     *     token, and for another one when the server has refused the last.
     */
    constructor(url, user, { delays = [0, 500, 1000, 2000], silence = 30_000, getToken } = {}) {
        super();
        this.#user = user;
        const credentials = getToken === undefined ? {} : { accessTokenFactory: () => (this.#token ??= getToken()) };
        const policy = {
            nextRetryDelayInMilliseconds: ({ previousRetryCount, retryReason }) => {
                // Why a negotiation failed is told in words alone.
                const [, status] = /Status code '(\d+)'/.exec(retryReason.message) ?? [];
                if (status === '403') return null;
                if (status === '401') this.#token = undefined;
                return delays[previousRetryCount] ?? null;
            },
        };
        this.#connection = new HubConnectionBuilder()
            .withUrl(url, credentials)
            .withAutomaticReconnect(policy)
            .withServerTimeout(silence)
            .configureLogging(LogLevel.None)
            .build();
        this.#connection.on('ReceiveMessage', (who, text) => this.emit('message', who, text));
        this.#connection.on('Welcome', () => {});
        this.#connection.onreconnected(() => this.#sayAll());
        this.#connection.onclose(() => this.emit('closed'));
    }

    /** Connects. Rejects when that fails: a first connection is not tried again. */
    async start() {
        await this.#connection.start();
        this.#sayAll();
    }

    /** Leaves the chat. */
    stop() {
        return this.#connection.stop();
    }

    /**
     * Says something to everybody: on this connection, and again on the next one when the server does not acknowledge it here.
     * @param {string} text
     */
    say(text) {
        const message = { text };
        this.#unacknowledged.add(message);
        // Messages may come before the connection calls itself connected. What is said to them waits for that, else it would be said twice.
        if (this.#connection.state === HubConnectionState.Connected) this.#send(message);
    }

    #sayAll() {
        this.#unacknowledged.forEach((message) => this.#send(message));
    }

    #send(message) {
        // It fails with the connection; what is on the list by then is said again.
        this.#connection.invoke('SendMessage', this.#user, message.text).then(() => this.#unacknowledged.delete(message), () => {});
    }
}
