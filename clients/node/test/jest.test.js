// The library under Jest, where there is one (`jest` on PATH).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { record } from 'wiretape';
import { clock, ticks } from './server.js';

test('works under Jest', async (t) => {
    if (spawnSync('jest', ['--version']).error) return t.skip('Jest was not tried: no jest on PATH');
    const folder = await mkdtemp(join(tmpdir(), 'wiretape-jest-'));
    try {
        const upstream = await clock();
        const recording = await record(upstream.url, join(folder, 'ticks.tape'));
        await ticks(recording.url);
        await recording.close();
        await upstream.close();

        const root = fileURLToPath(new URL('..', import.meta.url));
        const config = JSON.stringify({ rootDir: root, testEnvironment: 'node', testMatch: ['**/test/jest/*.jest.js'], transform: {}, haste: { enableSymlinks: false } });
        const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules', TICKS_TAPE: join(folder, 'ticks.tape'), WIRETAPE_RECORD: '' };
        const { stderr } = spawnSync('jest', ['--json', '--config', config], { cwd: root, env, encoding: 'utf8' });
        assert.match(stderr, /Tests: +1 failed, 3 passed, 4 total/, stderr);
        assert.match(stderr, /fails where nobody comes[^]*ticks\.tape: diverged \(exit 2\): nobody came to ticks\.tape/);
    } finally {
        await rm(folder, { recursive: true });
    }
});
