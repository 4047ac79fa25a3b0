// What goes wrong around a replay: nobody comes, nothing is there, programs that die or hang, runners that are killed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { replay, withReplay, WiretapeError, WiretapeFailure } from 'wiretape';
import { recordings } from './peers.js';

const tape = join(recordings, 'chat.tape.gz');
let folder;
before(async () => { folder = await mkdtemp(join(tmpdir(), 'wiretape-trouble-')); });
after(() => rm(folder, { recursive: true }));

/** A program of ours in place of wiretape. */
async function program(name, text) {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
    return path;
}

/** A node process with this script; the library's address is its first argument. */
function node(script) {
    const library = new URL('../index.js', import.meta.url).href;
    return spawn(process.execPath, ['--input-type=module', '-e', `const { replay } = await import(${JSON.stringify(library)});\n${script}`], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function textOf(stream) {
    let text = '';
    for await (const part of stream.setEncoding('utf8')) text += part;
    return text;
}

/** Whether a process still runs. One that has ended and that nobody has reaped does not. */
function isRunning(pid) {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout.trim() !== '' && !stdout.startsWith('Z');
}

/** Whether it has ended by then, in milliseconds from now. */
async function endsWithin(pid, limit) {
    const end = performance.now() + limit;
    while (isRunning(pid) && performance.now() < end) await new Promise(setImmediate);
    return !isRunning(pid);
}

test('fails a run that nobody took part in', async () => {
    await assert.rejects(withReplay(tape, {}, () => {}), (error) => {
        assert.ok(error instanceof WiretapeFailure);
        assert.equal(error.report.exitCode, 2);
        assert.match(error.message, /nobody came to chat\.tape\.gz: no session was claimed\. It listens for POST \/hub\/negotiate/);
        return true;
    });
    assert.equal((await withReplay(tape, { allowUnplayed: true }, (server) => server.stop())).passed, true);
});

test('names the places where a tape was looked for, and the command that makes it', async () => {
    const env = { WIRETAPE_RECORDINGS: '/nowhere' };
    await assert.rejects(replay('no.tape', { from: import.meta.url, env }), ({ message }) =>
        /test\/no\.tape and \/nowhere\/no\.tape/.test(message) && /wiretape record --upstream URL --output .*\/test\/no\.tape/.test(message));
    const server = await replay('chat.tape.gz', { from: import.meta.url, env: { WIRETAPE_RECORDINGS: recordings } });
    assert.equal(server.tape, tape);
    await server.stop();
});

test('names the places where the program was looked for', async () => {
    await assert.rejects(replay(tape, { bin: '/nowhere/wiretape' }), /the option 'bin' says \/nowhere\/wiretape, which is no program/);
    await assert.rejects(replay(tape, { env: { WIRETAPE_BIN: folder } }), /WIRETAPE_BIN says .*, which is no program/);
});

test('names the places where the program was looked for when none is set', async (t) => {
    const builds = await Promise.all(['release', 'debug'].map((kind) => readdir(new URL(`../../../.build/${kind}`, import.meta.url)).catch(() => [])));
    if (builds.flat().includes('wiretape')) return t.skip('this checkout has a build, which would be found');
    await assert.rejects(replay(tape, { env: { WIRETAPE_BIN: '', PATH: folder } }), ({ message }) =>
        /WIRETAPE_BIN \(not set\), .*\/clients\/node\/bin\/wiretape, wiretape on PATH \(1 folders\), .*\.build\/release\/wiretape, .*\.build\/debug\/wiretape/.test(message) && /tools\/build release/.test(message));
});

test('refuses options that it does not know', async () => {
    await assert.rejects(replay(tape, { fault: 'reset after ReceiveMessage[2]' }), /replay has no option 'fault'\. It has .*faults/);
    await assert.rejects(replay(tape, { args: ['--', 'true'] }), /args must not have '--'/);
    await assert.rejects(replay(tape, { args: ['--report=x'] }), /args must not have --report=x/);
    await assert.rejects(replay(tape, { speed: [1, 2] }), /'speed' takes one value, not 2/);
    await assert.rejects(replay(tape, { waitTimeout: '5s' }), /waitTimeout is "5s": it is a number of milliseconds/);
});

test('rejects with the words of a program that ends before it listens', async () => {
    const noTape = join(folder, 'bad.tape');
    await writeFile(noTape, 'hello\n');
    await assert.rejects(replay(noTape), (error) => {
        assert.ok(error instanceof WiretapeError);
        assert.equal(error.exitCode, 4);
        assert.match(error.message, /the replay of bad\.tape: wiretape ended with exit code 4[^]*is not a tape/);
        return true;
    });
    await assert.rejects(replay(tape, { faults: 'reset after ReceivMessage[2]' }), /exit code 5[^]*nearest is 'ReceiveMessage'/);
    await assert.rejects(replay(tape, { args: ['--nonsense'] }), /exit code 64[^]*--nonsense/);
    const dies = await program('dies', 'echo "the disk is on fire" >&2; exit 3');
    await assert.rejects(replay(tape, { bin: dies }), /ended with exit code 3[^]*the disk is on fire/);
});

test('kills a program that does not begin to listen', async () => {
    const sleeps = await program('sleeps', 'echo "let me think" >&2; exec sleep 60');
    await assert.rejects(replay(tape, { bin: sleeps, startTimeout: 200 }), /did not listen within 200 ms and was killed[^]*let me think/);
});

test('kills a program that does not end, and that is no pass', async () => {
    const stays = await program('stays', 'trap "" INT; echo \'{"v":1,"event":"ready","url":"http://127.0.0.1:1"}\' >&3; while :; do sleep 0.1; done');
    const server = await replay(tape, { bin: stays, stopTimeout: 200 });
    await assert.rejects(server.close(), /failed \(killed\): wiretape did not end within 200 ms of SIGINT and was killed/);
});

test('passes nothing that a program did not say', async () => {
    const silent = await program('silent', 'trap "exit 0" INT; echo \'{"v":1,"event":"ready","url":"http://127.0.0.1:1"}\' >&3; while :; do sleep 0.1; done');
    await assert.rejects(withReplay(tape, { bin: silent }, () => {}), /ended with exit code 0 and told no verdict/);
    const garbled = await program('garbled', 'trap "exit 0" INT; printf \'{"event":"ready"}\\n{"event":\\n\' >&3; while :; do sleep 0.1; done');
    await assert.rejects(withReplay(tape, { bin: garbled }, (server) => server.wait('end')), /an event of the program cannot be read/);
});

test('ends every wait when the program dies', async () => {
    const server = await replay(tape);
    const waits = [server.wait('connected', { timeout: 60_000 }), server.finished({ timeout: 60_000 })];
    process.kill(server.pid, 'SIGKILL');
    for (const wait of waits) await assert.rejects(wait, /the run has ended: wiretape was ended by SIGKILL/);
    await assert.rejects(server.close(), /failed \(killed\): wiretape was ended by SIGKILL/);
});

test('waits for quiet, but not for ever', async () => {
    const busy = await program('busy', 'trap "exit 0" INT; while :; do echo \'{"v":1,"event":"ready","url":"http://127.0.0.1:1"}\' >&3; sleep 0.05; done');
    const server = await replay(tape, { bin: busy });
    await assert.rejects(server.quiet(1_000, { timeout: 100 }), /waited 1100 ms for 1000 ms in which nothing happens/);
    await Promise.all([server.quiet(60_000), server.stop()]);
    await server.quiet(60_000);
});

test('leaves nothing behind', async () => {
    const usual = process.env.TMPDIR;
    process.env.TMPDIR = await mkdtemp(join(folder, 'tmp-'));
    try {
        const server = await replay(tape);
        assert.equal((await readdir(tmpdir())).length, 1);
        await server.stop();
        assert.equal(isRunning(server.pid), false);
        await assert.rejects(replay(tape, { args: ['--nonsense'] }));
        assert.deepEqual(await readdir(tmpdir()), []);
    } finally {
        if (usual === undefined) delete process.env.TMPDIR;
        else process.env.TMPDIR = usual;
    }
});

test('ends the program within 2 s when its runner is killed', async () => {
    const runner = node(`const server = await replay(${JSON.stringify(tape)}); console.log(server.pid); setInterval(() => {}, 1000);`);
    const [line] = await once(runner.stdout.setEncoding('utf8'), 'data');
    const pid = Number(line);
    assert.ok(isRunning(pid));
    runner.kill('SIGKILL');
    assert.ok(await endsWithin(pid, 2_000));
});

test('fails a runner that leaves a replay open, and does not keep it from ending', async () => {
    const runner = node(`const server = await replay(${JSON.stringify(tape)}); console.log(server.pid);`);
    const [told, pid, [code]] = await Promise.all([textOf(runner.stderr), textOf(runner.stdout), once(runner, 'close')]);
    assert.match(told, /the replay of chat\.tape\.gz was neither closed nor stopped: nobody has looked at its verdict/);
    assert.equal(code, 1);
    assert.ok(await endsWithin(Number(pid), 2_000));
});

test('does not keep a runner from ending when it is closed', async () => {
    const runner = node(`const server = await replay(${JSON.stringify(tape)}); await server.stop();`);
    const [code] = await once(runner, 'exit');
    assert.equal(code, 0);
});

test('closes for await using, where the runtime has it', async (t) => {
    if (!Symbol.asyncDispose) return t.skip('this node has no Symbol.asyncDispose');
    const server = await replay(tape);
    await assert.rejects(server[Symbol.asyncDispose](), /nobody came/);
    await server[Symbol.asyncDispose]();
});
