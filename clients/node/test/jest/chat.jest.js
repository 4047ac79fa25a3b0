// Run by Jest, not by node:test: jest.test.js.
import { tapeTest, withReplay } from 'wiretape';
import { jest } from '@jest/globals';
import { ticks } from '../server.js';

const tape = process.env.TICKS_TAPE;

test('plays a tape', () => withReplay(tape, {}, async (server) => {
    expect(await ticks(server.url)).toEqual([1, 2, 3]);
    await server.finished();
}));

tapeTest(test, 'plays a tape that tapeTest found', { tape }, async (server) => {
    expect(await ticks(server.url)).toEqual([1, 2, 3]);
    await server.finished();
});

tapeTest(test, 'fails where nobody comes', { tape }, () => {});

jest.useFakeTimers({ advanceTimers: false });
test('waits in real time whatever clock the test has', () => withReplay(tape, {}, async (server) => {
    await expect(server.wait('fault', { timeout: 50 })).rejects.toThrow('waited 50 ms');
    await ticks(server.url);
    await server.finished();
}));
