// The chat client on @microsoft/signalr, broken in one habit at a time.
import { breaker } from './breaking.js';
import { clientOf } from './installed.js';

const { test } = await clientOf('../signalr-chat.js', '@microsoft/signalr');
const broken = breaker(test, 'signalr-chat.js', 'signalr-chat.test.js');

broken('says something else', 'shows what is said, and says what its user types', /HELLO BOB/, ['this.#user, message.text)', 'this.#user, message.text.toUpperCase())']);

broken('waits before its first retry', 'comes back at once after a reset', /delays\(0s, 500ms, 1s, 2s, late=2s\) is not met/,
    ['[0, 500, 1000, 2000]', '[2500, 500, 1000, 2000]']);

broken('never waits longer', 'waits longer each time the server answers 503', /delays\(0s, 500ms, 1s, 2s, late=2s\) is not met/,
    ['delays[previousRetryCount] ?? null', 'delays[0]']);

broken('knows WebSockets alone', 'falls back where there are no WebSockets', /transports\(ws, sse\) is not met/,
    ['withUrl(url, credentials)', 'withUrl(url, { ...credentials, transport: 1 })']);

broken('trusts silence', 'gives a silent connection up', /detects\(within=2s\) is not met/, ['.withServerTimeout(silence)', '.withServerTimeout(600_000)']);

broken('shows the last message again on a new connection', 'hears everything once and in order', /deep-equal/,
    ["this.emit('message', who, text))", "this.emit('message', ...(this.last = [who, text])))"],
    ['onreconnected(() => this.#sayAll());', "onreconnected(() => this.#sayAll());\n        this.#connection.onreconnecting(() => this.emit('message', ...this.last));"]);

broken('forgets what was not acknowledged', 'says again what was not acknowledged', /keeps\(SendMessage\) is not met/,
    ['onreconnected(() => this.#sayAll())', 'onreconnected(() => this.#unacknowledged.clear())']);

broken('says all it ever said on a new connection', 'says nothing twice', /once\(SendMessage\) is not met/,
    ['() => this.#unacknowledged.delete(message)', '() => {}']);

broken('keeps its old token', 'shows a new token when the old one is refused', /the second/, ['this.#token = undefined;', '']);

broken('tries once to come back', 'outlives a restart of the server', /\+ 'closed'/, ['[0, 500, 1000, 2000]', '[0]']);

broken('never gives up', 'gives up when the server stays away', /gives-up\(after=3\) is not met/, ['?? null', '?? 200']);

broken('comes back although it is banned', 'stays away when it is banned', /stays-away\(after=status\(403\)\) is not met/, ["if (status === '403') return null;", '']);
