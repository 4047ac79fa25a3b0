// Run by Jest, not by node:test: jest.test.js.
import { onTape, withReplay } from 'wiretape';
import { jest } from '@jest/globals';
import { ticks } from '../server.js';

const tape = process.env.TICKS_TAPE;

test('plays a tape', () => withReplay(tape, {}, async (server) => {
    expect(await ticks(server.url)).toEqual([1, 2, 3]);
    await server.finished();
}));

test('plays a tape as onTape does', onTape({ tape }, async (server) => {
    expect(await ticks(server.url)).toEqual([1, 2, 3]);
    await server.finished();
}));

test('fails where nobody comes', onTape({ tape }, () => {}));

jest.useFakeTimers({ advanceTimers: false });
test('waits in real time whatever clock the test has', () => withReplay(tape, {}, async (server) => {
    await expect(server.wait('fault', { timeout: 50 })).rejects.toThrow('waited 50 ms');
    await ticks(server.url);
    await server.finished();
}));
