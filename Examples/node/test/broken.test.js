// The chat client, broken in one habit at a time.
import { test } from 'node:test';
import { breaker } from './breaking.js';

const broken = breaker(test, 'chat.js', 'chat.test.js');

broken('says something else', 'shows what is said, and says what its user types', /\/text/, ['text });', 'text: text.toUpperCase() });']);

broken('waits before its first retry', 'comes back at once after a reset', /delays\(0s, 500ms, 1s, 2s, late=2s\) is not met/,
    ['[0, 500, 1000, 2000]', '[2500, 500, 1000, 2000]']);

broken('never waits longer', 'waits longer each time the server answers 503', /delays\(0s, 500ms, 1s, 2s, late=2s\) is not met/,
    ['this.#delays[failures]', 'this.#delays[0]']);

broken('does not read Retry-After', 'waits as long as the server asks', /honours\(retry-after\) is not met/, ["'Retry-After'", "'Retry-Before'"]);

broken('trusts silence', 'gives a silent connection up', /detects\(within=2s\) is not met/, ['silent.abort()', '{}']);

broken('takes every message for a new one', 'shows a message once that comes twice', /fine, thanks was asked once .* and came once more/,
    ['if (this.messages.some((message) => message.id === id)) return;', '']);

broken('forgets where it was', 'goes on behind the last message that it has', /Last-Event-ID/,
    ["headers['Last-Event-ID']", "headers['X-Event-ID']"]);

broken('counts a message before it has all of it', 'shows nothing of a message that was cut', /how are you\?/,
    ['text = events.pop();', 'text = events.pop();\n                this.seen = /id: (\\d+)/.exec(text)?.[1] ?? this.seen;'],
    ['this.messages.at(-1).id', '(this.seen ?? this.messages.at(-1).id)']);

broken('never gives up', 'gives up when the server stays away', /gives-up\(after=3\) is not met/,
    ['if (failures === this.#delays.length) {', 'if (failures === this.#delays.length) failures -= 1;\n            if (failures < 0) {']);

broken('tries once to come back', 'outlives a restart of the server', /still pending|aborted/,
    ['failures === this.#delays.length', 'failures === 1']);

broken('shows every event', 'leaves events alone that it does not know', /rain/,
    ["fields.data === undefined || (fields.event ?? 'message') !== 'message'", 'fields.data === undefined']);

broken('takes an end for a goodbye', 'comes back when the server hangs up', /still pending|aborted/,
    ['// However it ended: what counts is that it is over.', 'this.stop();']);
