// Uses every type as a test would. It is compiled, never run: types.test.js.
import { onTape, record, replay, withReplay, Replay, Report, WiretapeFailure } from 'wiretape';

async function uses(): Promise<void> {
    const server: Replay = await replay('chat.tape.gz', { faults: ['reset after ReceiveMessage[2]'], expect: 'delays(0s, 2s)', speed: 'instant', seed: 42 });
    const connected = await server.wait('connected', { attempt: 2, timeout: 5_000 });
    const transport: string = connected.transport;
    const lost = await server.wait((event) => event.event === 'disconnected' && event.how === 'reset');
    const said: string[] = server.received({ target: 'SendMessage' }).map(({ summary }) => summary);
    await server.finished({ sessions: 1 });
    const report: Report = await server.stop();
    const delays: (number | null)[] = report.attempts.map((attempt) => attempt.delay_ms);
    const length: number = await withReplay('chat.tape.gz', {}, async ({ url }) => url.length);
    const recording = await record({ chat: 'http://127.0.0.1:5000' }, 'chat.tape.gz', { force: true });
    await recording.close();
    const body: () => Promise<void> = onTape({ tape: 'chat.tape.gz', from: new URL('file:///'), upstream: 'http://127.0.0.1:5000', record: 'once' }, async (either) => {
        if (either.recording) return;
        await either.wait('fault');
        await either.quiet(500);
    });
    await body();
    try {
        await server.close();
    } catch (error) {
        if (error instanceof WiretapeFailure) void [error.report?.verdict, error.message];
    }
    void [transport, lost, said, delays, length];

    // @ts-expect-error An option that is misspelled.
    await replay('chat.tape.gz', { fault: 'reset after ReceiveMessage[2]' });
    // @ts-expect-error An event that there is not.
    await server.wait('conected');
    // @ts-expect-error A time limit is a number of milliseconds.
    await server.finished({ timeout: '5s' });
}
void uses;
