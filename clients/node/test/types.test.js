// The types, by TypeScript's compiler where there is one (`tsc` on PATH).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('has types that a test can be written with', (t) => {
    const example = fileURLToPath(new URL('types.example.ts', import.meta.url));
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'node16', '--moduleResolution', 'node16'];
    const { error, status, stdout } = spawnSync('tsc', [...options, example], { encoding: 'utf8' });
    if (error?.code === 'ENOENT') return t.skip('the types were not checked: no tsc on PATH');
    assert.equal(status, 0, stdout);
});
