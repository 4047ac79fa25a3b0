// Breaks a client in one habit at a time, and sees that the test of that habit fails: a test that cannot fail tests nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

/**
 * Makes `broken(habit, name, reason, ...changes)` for one client: a test that passes when a client that does one thing otherwise fails the
 * test `name`, which the client as it is passes. `reason` is what that test has to say, and `changes` are pairs: a text of the client, which
 * is there, and what stands in its place.
 * @param {(name: string, body: () => void) => unknown} test The runner's.
 * @param {string} client Its file in the project.
 * @param {string} tests The file of its tests in `test/`.
 */
export function breaker(test, client, tests) {
    const copy = join(mkdtempSync(join(tmpdir(), 'wiretape-broken-')), 'chat');
    cpSync(project, copy, { recursive: true });
    after(() => rmSync(join(copy, '..'), { recursive: true }));
    const source = readFileSync(join(project, client), 'utf8');

    /** Runs one test on the client as it is written in `text`. */
    function run(text, name) {
        writeFileSync(join(copy, client), text);
        const { NODE_TEST_CONTEXT, ...env } = process.env; // Else node would take it for a part of this very run.
        // Tapes beyond the project are found as from where it stands.
        env.WIRETAPE_RECORDINGS = join(project, 'test');
        const args = ['--test', '--test-reporter=spec', `--test-name-pattern=^${name}$`, join(copy, 'test', tests)];
        return spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8', timeout: 60_000 });
    }

    return function broken(habit, name, reason, ...changes) {
        test(`a client that ${habit} fails '${name}'`, () => {
            const good = run(source, name);
            assert.equal(good.status, 0, `the good client fails:\n${good.stdout}`);
            assert.match(good.stdout, new RegExp(`✔ ${name}`));
            let text = source;
            for (const [from, to] of changes) {
                assert.ok(text.includes(from), `${client} has no '${from}' any more`);
                text = text.replaceAll(from, to);
            }
            const { status, stdout } = run(text, name);
            assert.equal(status, 1, stdout);
            assert.match(stdout, new RegExp(`✖ ${name}`));
            assert.match(stdout, reason);
        });
    };
}
