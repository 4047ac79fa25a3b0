// The types of the package. They are written by hand and need no other types: test/types.example.ts is checked against them.

/** What every run takes. Times are milliseconds. */
export interface CommonOptions {
    /** Further arguments of the program, as on its command line: `['--transports', 'sse']`. */
    args?: string[];
    /** The program's working folder, in which it looks for wiretape.yaml. Default: that of this process. */
    cwd?: string;
    /** Variables of its environment, beside those of this process. */
    env?: Record<string, string>;
    /** The program. Default: WIRETAPE_BIN, the one that the package carries, `wiretape` on PATH, the builds of this checkout. */
    bin?: string;
    /** Where tapes and plans lie: `import.meta.url`, a file or a folder. Default: the working folder. */
    from?: string | URL;
    /** How long the program may take until it listens. Default: 30,000. */
    startTimeout?: number;
    /** How long it may take to end, before it is killed. Default: 15,000. */
    stopTimeout?: number;
}

/** Options of a replay. Those without a comment are the program's own: `wiretape replay --help`. */
export interface ReplayOptions extends CommonOptions {
    /** Fault rules: `'reset after ReceiveMessage[2]'`. */
    faults?: string | string[];
    /** Files with fault plans. */
    plans?: string | string[];
    /** Policies that every client is held to: `'delays(0s, 2s)'`. */
    expect?: string | string[];
    /** Places that may differ from the tape: `'Send:/arguments/0/sentAt'`. */
    ignore?: string | string[];
    /** Paths served from others: `'/v2/chat=/chat'`. */
    routes?: string | string[];
    /** 1 is as recorded, 10 ten times as fast, 'instant' without the recorded gaps. Default: 1. */
    speed?: number | 'instant';
    /** Repeats the random draws of an earlier run. */
    seed?: number;
    /** How long an awaited client message may stay away, in the program's spelling: '5s'. Default: '30s'. */
    patience?: string;
    onDivergence?: 'fail' | 'warn' | 'ignore' | 'stall';
    /** 'resume', 'lose:N', 'rewind:N', 'live', 'restart', 'next' or 'refuse'. */
    onReconnect?: string;
    /** How many times faster the client's clock runs. */
    timeScale?: number;
    /** How many clients may play the whole tape. */
    clients?: number;
    /** Passes a run that nobody took part in. */
    allowUnplayed?: boolean;
    /** Passes a run that ended while a client was in the middle of its session. */
    allowUnfinished?: boolean;
    /** A folder for the reports in every form and the actual tape. Default: a temporary one, which is removed. */
    report?: string;
    /**
     * The server that is asked for what the tape lacks. That is recorded and put behind the tape when body and run have ended well, and
     * `appended` of the report tells of it. Not in a run with rules.
     */
    addFrom?: string | URL | Record<string, string>;
    /** How long `wait` and `finished` wait where they are not told. Default: 10,000. */
    waitTimeout?: number;
}

/** Options of a recording. */
export interface RecordOptions extends CommonOptions {
    /** Writes over a tape that is there. */
    force?: boolean;
    /** Places where secrets stand besides the known ones, or 'off'. */
    redact?: string | string[];
    /** Places whose value stays on the tape although it would be redacted. */
    keep?: string | string[];
}

/** One thing that happened in a run. `t_ms` are milliseconds since the first thing that a client did. */
export type Event =
    | Happening<'ready', { url: string; urls: Record<string, string>; endpoint: string; ws: string; pid: number; seed: number }>
    | Happening<'attempt', OfAttempt & { retry: number; delay_ms: number | null }>
    | Happening<'connected', OfAttempt & { transport: string }>
    | Happening<'message', Message>
    | Happening<'fault', OfAttempt & { rule: string; action: string }>
    | Happening<'disconnected', OfAttempt & { outcome: string; by: string; how: string; reason: string | null }>
    | Happening<'divergence', { text: string }>
    | Happening<'finished', { session: number; run: number }>
    | Happening<'end', { verdict: string; exit: number; reason: string; command_exit: number | null }>;

/** An event by its name. */
export type EventOf<Name extends Event['event']> = Extract<Event, { event: Name }>;

type Happening<Name extends string, Members> = { v: 1; event: Name; t_ms: number } & Members;
interface OfAttempt { session: number; run: number; attempt: number }

/** A message of the client (`d` is '>') or of the server ('<'). */
export interface Message {
    c: number;
    session: number;
    run: number;
    d: '>' | '<';
    transport: string;
    protocol: string;
    type: string;
    role: string;
    chain: string | null;
    target: string | null;
    summary: string;
    bytes: number;
    sha256: string;
    fields: Record<string, any>;
}

/** One attempt of a client to connect. Times are milliseconds. */
export interface Attempt {
    session: number;
    run: number;
    n: number;
    t_ms: number;
    delay_ms: number | null;
    outcome: 'connected' | 'refused' | 'status' | 'handshake' | 'abandoned';
    steps: { request: string; status: number | null; transport: string | null; t_ms: number }[];
    ended?: { t_ms: number; by: string; how: string; reason?: string } | null;
}

/** What a run came to. Members of its lists are those of the program's report (docs/replay.md, docs/verdict.md). */
export interface Report {
    /** The one that decides: the program passed it, and no client was in the middle of its session. */
    passed: boolean;
    verdict: 'pass' | 'diverged' | 'failed' | 'unfinished' | (string & {});
    /** Null of a program that was ended by a signal. */
    exitCode: number | null;
    /** Why, in a sentence. */
    reason: string;
    sessions: Record<string, any>[];
    attempts: Attempt[];
    faults: Record<string, any>[];
    unfired: any[];
    expectations: { policy: string; session: number; met: boolean; judged: boolean; expected: string; actual: string; reason: string }[];
    divergences: string[];
    /** What the tape lacked and has now (`addFrom`); null: nothing was added. */
    appended: { events: number; connections: number } | null;
    seed: number | null;
    /** The program's report, or null where it left none. */
    raw: Record<string, any> | null;
    /** What the program said, the last 256 Ki characters of it. */
    stderr: string;
    /** The command that repeats the run. */
    command: string;
}

/** What a recording came to. */
export interface RecordReport {
    passed: boolean;
    exitCode: number | null;
    reason: string;
    /** The tape's path. */
    tape: string;
    stderr: string;
    command: string;
}

/** A running replay. `replay` makes it. */
export class Replay {
    private constructor();
    /** The tape's path. */
    readonly tape: string;
    /** False: what the client talks to is a tape. */
    readonly recording: false;
    /** Where it listens: `http://127.0.0.1:41234`. */
    readonly url: string;
    /** `url` with the recorded path of the first session. */
    readonly endpoint: string;
    /** `endpoint` for WebSockets. */
    readonly ws: string;
    /** Every listener by its name. */
    readonly urls: Record<string, string>;
    readonly pid: number;
    readonly seed: number;
    /** All events so far. */
    readonly events: Event[];
    /**
     * The first event of that name, or that the function knows: one that has come, else the next that comes. Fields are members that
     * it must have. Rejects with WiretapeFailure when the time (milliseconds) is over or the run has ended.
     */
    wait<Name extends Event['event']>(name: Name, fields?: { timeout?: number } & Partial<EventOf<Name>>): Promise<EventOf<Name>>;
    wait(predicate: (event: Event) => unknown, fields?: { timeout?: number }): Promise<Event>;
    /** What clients have said so far, as far as the server has read it. */
    received(fields?: Partial<Message>): EventOf<'message'>[];
    /**
     * Waits until every session that was begun is played to its end, and at least so many. The server has heard and said everything
     * then; what it said last may still be on its way to the client.
     */
    finished(options?: { timeout?: number; sessions?: number }): Promise<EventOf<'finished'>[]>;
    /** Waits until nothing has happened for so many milliseconds, or the run has ended; `timeout` is how much longer it may take. */
    quiet(span: number, options?: { timeout?: number }): Promise<void>;
    /** Ends the run and does not judge it. Of a run that has `failed` nothing is put behind the tape (`addFrom`). */
    stop(options?: { failed?: boolean }): Promise<Report>;
    /** Ends the run; rejects with WiretapeFailure unless it passed. */
    close(): Promise<Report>;
    /** As `close`, unless the run was closed or stopped. `[Symbol.asyncDispose]` is this, where the runtime has it. */
    dispose(): Promise<void>;
}

/** A running recording. `record` makes it. Its waits end at once: nothing is judged while a tape is made. */
export class Recording {
    private constructor();
    readonly tape: string;
    /** True: what the client talks to is its real server. */
    readonly recording: true;
    readonly url: string;
    /** Throws: the path is the client's to choose. */
    readonly endpoint: string;
    /** Throws: the path is the client's to choose. */
    readonly ws: string;
    readonly urls: Record<string, string>;
    readonly pid: number;
    readonly seed: null;
    readonly events: Event[];
    wait(what: string | ((event: Event) => unknown), fields?: Record<string, unknown>): Promise<any>;
    received(fields?: Partial<Message>): EventOf<'message'>[];
    finished(options?: { timeout?: number; sessions?: number }): Promise<EventOf<'finished'>[]>;
    quiet(span: number, options?: { timeout?: number }): Promise<void>;
    /** Ends the recording and does not judge it. */
    stop(): Promise<RecordReport>;
    /** Ends the recording; rejects with WiretapeFailure where nothing was recorded that could be replayed. */
    close(): Promise<RecordReport>;
    dispose(): Promise<void>;
}

/** What the body of an `onTape` gets. */
export type TestServer = Replay | Recording;

/** Options of an `onTape`. */
export interface TapeOptions extends ReplayOptions, Pick<RecordOptions, 'redact' | 'keep'> {
    /** The tape's path. */
    tape: string;
    /** The server that a missing tape is recorded from: a URL, or several by their names. */
    upstream?: string | URL | Record<string, string>;
    /**
     * When: 'once' where there is no tape (the default), 'new-episodes' that, and what the tape lacks, 'none' never (the default where CI
     * is set), 'all' each time.
     */
    record?: 'once' | 'new-episodes' | 'none' | 'all';
}

/** A verdict that is no pass, or an event that did not come. It is an AssertionError of node:assert. */
export class WiretapeFailure extends Error {
    readonly code: 'ERR_ASSERTION';
    readonly report: Report | null;
    readonly expected: unknown;
    readonly actual: unknown;
}

/** Wiretape could not be used: no program, no tape, unknown options, or a run that ended before it listened. */
export class WiretapeError extends Error {
    readonly exitCode: number | null;
    readonly stderr: string;
}

/** Opens a replay of a tape on a free port of loopback. Close it in every case. */
export function replay(tape: string, options?: ReplayOptions): Promise<Replay>;

/** Opens a replay, hands it to the body, and closes it in every case. An error of the body has the report as `wiretape`. */
export function withReplay<T>(tape: string, options: ReplayOptions, body: (server: Replay) => T | Promise<T>): Promise<T>;

/** Records what passes between clients and a server, until it is closed. */
export function record(upstream: string | URL | Record<string, string>, tape: string, options?: RecordOptions): Promise<Recording>;

/** Makes the body of a test that plays against a tape, for `test` of node:test, Jest or Vitest. `context` is what the runner gives. */
export function onTape(options: TapeOptions, body: (server: TestServer, context: any) => unknown): (...given: any[]) => Promise<void>;
