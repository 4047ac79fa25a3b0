// What this page knows of a run: the rows of its list, kept here; everything else asked again when events say that it has changed.

import { batch, computed, effect, signal } from "@preact/signals";
import * as api from "./api.js";
import { cut, line, time } from "./text.js";

/** Rows that are kept: of a longer run the latest. */
export const MOST_ROWS = 120_000;
/** What is kept of an event's own text: a message of megabytes is shown by its beginning. */
const MOST_TEXT = 128 << 10;
/** Rows that a filter looks at before the page has its turn. */
const LOOKED_AT_ONCE = 4_000;

const word = (value) => (value === null || value === undefined ? "" : line(value));

/** What a row says, of an event that is no message. */
const told = {
  ready: (e) => `listening at ${word(e.url ?? e.proxy)}`,
  attempt: (e) => `attempt ${e.attempt}${e.delay_ms === null ? "" : `, ${time(e.delay_ms)} after the end before it`}`,
  connected: (e) => `attempt ${e.attempt} is connected over ${word(e.transport)}`,
  disconnected: (e) =>
    `attempt ${e.attempt} ended by ${word(e.by)}: ${word(e.how)}${e.reason ? ` (${word(e.reason)})` : ""}`,
  fault: (e) => `rule '${word(e.rule)}' fired: ${word(e.action)}${e.message ? ` at ${word(e.message)}` : ""}`,
  divergence: (e) => word(String(e.text).split("\n")[0].replace(/^wiretape: /, "")),
  finished: (e) => `session ${e.session} is played to its end`,
  mark: (e) => word(e.text),
  gap: (e) => `${e.lost} events were lost here: they came faster than they were read`,
  end: (e) => `${word(e.verdict)} (exit ${e.exit}): ${word(e.reason)}`,
};

function row(number, event, text, e) {
  const isMessage = event === "message";
  return {
    number,
    event,
    time: e.t_ms ?? 0,
    direction: isMessage ? e.d : "",
    connection: e.c ?? null,
    session: e.session ?? null,
    run: e.run ?? 1,
    attempt: e.attempt ?? null,
    type: isMessage ? e.type : event,
    target: isMessage ? e.target : null,
    role: isMessage ? e.role : event,
    summary: isMessage ? cut(e.summary, 400) : (told[event] ?? (() => ""))(e).slice(0, 1000),
    bytes: isMessage ? e.bytes : 0,
    transport: e.transport ?? null,
    protocol: e.protocol ?? null,
    text: text.length > MOST_TEXT ? text.slice(0, MOST_TEXT) : text,
    length: text.length,
  };
}

/** A list of the run's, asked again when something has changed, and never twice at a time. */
class Asked {
  constructor(path, pick, run, least) {
    this.value = signal(null);
    this.error = signal(null);
    this.path = path;
    this.pick = pick;
    this.run = run;
    this.least = this.first = least;
    this.timer = null;
    this.isAsking = false;
    this.isStale = false;
    this.isOver = false;
  }

  /** Asks soon; several calls are one request. */
  soon() {
    if (this.isAsking) this.isStale = true;
    else this.timer ??= setTimeout(() => this.now(), this.least);
  }

  async now() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.isOver) return;
    if (this.isAsking) {
      this.isStale = true;
      return;
    }
    this.isAsking = true;
    this.isStale = false;
    const began = performance.now();
    try {
      const value = this.pick(await api.get(this.run.path(this.path)));
      if (!this.isOver) batch(() => ((this.value.value = value), (this.error.value = null)));
    } catch (error) {
      if (!this.isOver) this.error.value = error;
    }
    this.isAsking = false;
    // An answer that costs the run time is not asked for more often than a tenth of that.
    this.least = Math.max(200, 10 * (performance.now() - began));
    if (this.isStale) this.soon();
  }

  /** What an answer has cost another process says nothing of this one. */
  anew() {
    this.least = this.first;
    clearTimeout(this.timer);
    this.timer = null;
    this.soon();
  }

  stop() {
    this.isOver = true;
    clearTimeout(this.timer);
  }
}

/** Rates: how many messages came in spans of equal length, which doubles when there are too many of them. */
class Rates {
  constructor() {
    this.clear();
  }

  clear() {
    this.span = 50;
    this.toServer = [];
    this.toClient = [];
  }

  add(time, direction) {
    let at = Math.floor(time / this.span);
    while (at >= 600) {
      this.halve(this.toServer);
      this.halve(this.toClient);
      this.span *= 2;
      at = Math.floor(time / this.span);
    }
    const of = direction === ">" ? this.toServer : this.toClient;
    of[at] = (of[at] ?? 0) + 1;
  }

  halve(of) {
    const half = [];
    of.forEach((n, i) => (half[i >> 1] = (half[i >> 1] ?? 0) + n));
    of.length = 0;
    half.forEach((n, i) => (of[i] = n));
  }
}

/** What events told of sessions and their attempts: for what was not answered before the run was over. */
class Told {
  constructor(rows) {
    this.sessions = new Map();
    for (const one of rows) {
      if (one.session === null) continue;
      if (one.event === "message") {
        this.session(one).protocol ??= one.protocol;
        continue;
      }
      if (!["attempt", "connected", "disconnected", "finished"].includes(one.event)) continue;
      const session = this.session(one);
      if (one.event === "finished") {
        session.finished = true;
        continue;
      }
      const e = JSON.parse(one.text);
      if (one.event === "attempt") {
        session.attempts.push({ n: e.attempt, t_ms: e.t_ms, delay_ms: e.delay_ms, outcome: null, steps: [], ended: null });
        continue;
      }
      const attempt = session.attempts.findLast((a) => a.n === e.attempt);
      if (one.event === "connected") {
        if (attempt) attempt.outcome = "connected";
        if (e.transport && !session.transports.includes(e.transport)) session.transports.push(e.transport);
      } else if (attempt) {
        attempt.outcome = attempt.outcome ?? e.outcome;
        attempt.ended = { t_ms: e.t_ms, by: e.by, how: e.how, reason: e.reason ?? undefined };
      }
    }
  }

  session(row) {
    const key = `${row.session}.${row.run}`;
    let session = this.sessions.get(key);
    if (!session) {
      session = { id: key, name: null, session: row.session, run: row.run, protocol: null, transports: [], finished: false, attempts: [] };
      this.sessions.set(key, session);
    }
    return session;
  }

  /** Sessions as they were answered, with what was told of them since, and those that only events told of. */
  completed(answered) {
    const found = answered.map((session) => {
      const key = `${session.session}.${session.run}`;
      const told = this.sessions.get(key);
      this.sessions.delete(key);
      if (!told) return { ...session, paused: null };
      const last = session.attempts.at(-1);
      const attempts = session.attempts.map((attempt) => {
        const later = attempt.ended === null && told.attempts.find((a) => a.n === attempt.n);
        return later ? { ...attempt, outcome: attempt.outcome ?? later.outcome, ended: later.ended } : attempt;
      });
      const more = told.attempts.filter((a) => a.n > (last?.n ?? 0));
      return {
        ...session,
        // Counts of an answer that was given before the end say nothing of the end.
        isOld: !last || last.ended === null || more.length > 0,
        paused: null,
        finished: session.finished || told.finished,
        attempts: [...attempts, ...more],
      };
    });
    const rest = [...this.sessions.values()].filter((session) => session.attempts.length > 0);
    return [...found, ...rest.map((session) => ({ ...session, isOld: true, protocol: session.protocol ?? "no message" }))];
  }
}

/** One run of the process, followed. */
export class Run {
  constructor(id) {
    this.id = id;
    /** `connecting`, `live`, `lost` (tried again by itself), `ended`. */
    this.link = signal("connecting");
    this.linkError = signal(null);
    this.end = signal(null);
    this.rows = [];
    /** Rows that were there before the first that is kept. */
    this.dropped = 0;
    /** Grows with what comes: who shows rows reads it. */
    this.version = signal(0);
    this.totals = signal({ toServer: 0, toClient: 0, bytes: 0, faults: 0, divergences: 0, lost: 0 });
    this.faultMarks = [];
    this.marks = [];
    this.labels = new Map();
    this.rates = new Rates();
    this.lastTime = 0;
    this.lastCame = performance.now();
    this.status = new Asked("/v1/status", (v) => v, this, 150);
    this.sessions = new Asked("/v1/sessions", (v) => v.sessions, this, 200);
    this.connections = new Asked("/v1/connections", (v) => v.connections, this, 200);
    this.faults = new Asked("/v1/faults", (v) => v, this, 150);
    this.report = new Asked("/v1/report", (v) => v, this, 500);
    this.asks = [this.status, this.sessions, this.connections, this.faults, this.report];
    this.filter = new Filter(this);
    this.after = 0;
    this.pending = [];
    this.isScheduled = false;
    this.stopped = new AbortController();
    this.clears();
    this.follow();
    for (const one of this.asks) one.now();
    this.beat = setInterval(() => {
      if (this.link.value === "live" && !document.hidden) for (const one of [this.status, this.connections]) one.soon();
    }, 2_000);
  }

  clears() {
    this.rows = [];
    this.dropped = 0;
    this.faultMarks = [];
    this.marks = [];
    this.labels.clear();
    this.rates.clear();
    this.lastTime = 0;
    this.totals.value = { toServer: 0, toClient: 0, bytes: 0, faults: 0, divergences: 0, lost: 0 };
    this.filter.restart();
    this.version.value++;
  }

  /** A path of the API, about this run. */
  path(path) {
    return `${path}${path.includes("?") ? "&" : "?"}run=${this.id}`;
  }

  stop() {
    this.stopped.abort();
    clearInterval(this.beat);
    for (const one of this.asks) one.stop();
    this.filter.stop();
  }

  // What comes.

  async follow() {
    let wait = 500;
    while (!this.stopped.signal.aborted) {
      const isNew = this.after === 0;
      try {
        // The process may be another one than before: then its events begin anew.
        const status = await api.get(this.path("/v1/status"));
        if (status.last_event < this.after || (this.pid !== undefined && this.pid !== status.pid)) {
          this.after = 0;
          this.end.value = null;
          this.clears();
        }
        this.pid = status.pid;
        await api.events(
          this.path(`/v1/events?after=${this.after}`),
          (id, event, data) => this.came(id, event, data),
          () => {
            wait = 500;
            this.link.value = "live";
            this.linkError.value = null;
            if (!isNew) this.askAll();
          },
          this.stopped.signal,
        );
        if (this.end.value || this.pending.some((p) => p.event === "end")) return (this.link.value = "ended");
        this.link.value = "lost";
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        if (error.status === 404) {
          this.linkError.value = error.message;
          return (this.link.value = "ended");
        }
        if (this.end.value) return (this.link.value = "ended");
        this.link.value = "lost";
        this.linkError.value = error.status === 0 || !error.status ? "the control API does not answer" : error.message;
        if (error.status === 401 || error.status === 403) await until(() => api.tokenWanted.value === null, this.stopped.signal);
      }
      await pause(wait, this.stopped.signal);
      wait = Math.min(5_000, wait * 1.6);
    }
  }

  askAll() {
    for (const one of this.asks) one.anew();
  }

  came(id, event, data) {
    if (id !== null) {
      if (id <= this.after) return;
      this.after = id;
    }
    let value;
    try {
      value = JSON.parse(data);
    } catch {
      return;
    }
    this.pending.push(row(id, event, data, value));
    if (event === "end") this.end.value = { verdict: value.verdict, exit: value.exit, reason: value.reason };
    if (this.isScheduled) return;
    this.isScheduled = true;
    // A page in the background draws nothing, and keeps what came all the same.
    if (document.hidden) setTimeout(() => this.take(), 250);
    else requestAnimationFrame(() => this.take());
  }

  take() {
    this.isScheduled = false;
    const came = this.pending;
    this.pending = [];
    const totals = { ...this.totals.value };
    const changed = new Set();
    for (const one of came) {
      this.lastTime = Math.max(this.lastTime, one.time);
      switch (one.event) {
        case "message":
          if (one.direction === ">") totals.toServer++;
          else totals.toClient++;
          totals.bytes += one.bytes;
          this.rates.add(one.time, one.direction);
          if (one.target && (this.labels.has(one.target) || this.labels.size < 200)) {
            this.labels.set(one.target, (this.labels.get(one.target) ?? 0) + 1);
          }
          break;
        case "fault":
          totals.faults++;
          if (this.faultMarks.length < 5_000) this.faultMarks.push(one);
          changed.add(this.faults).add(this.sessions).add(this.connections);
          break;
        case "divergence":
          totals.divergences++;
          break;
        case "mark":
          this.marks.push(one);
          break;
        case "gap":
          totals.lost += JSON.parse(one.text).lost ?? 0;
          break;
        case "attempt":
        case "connected":
        case "disconnected":
        case "finished":
        case "end":
          changed.add(this.sessions).add(this.connections).add(this.report);
          break;
      }
      this.rows.push(one);
    }
    this.lastCame = performance.now();
    if (this.rows.length > MOST_ROWS * 1.1) {
      const beyond = this.rows.length - MOST_ROWS;
      this.rows.splice(0, beyond);
      this.dropped += beyond;
    }
    changed.add(this.status).add(this.report);
    for (const one of changed) one.soon();
    batch(() => {
      this.totals.value = totals;
      this.version.value++;
      if (came.some((one) => one.event === "end")) this.settle();
    });
    this.filter.soon();
  }

  /** The run is over and answers no more: what its last events told is put into what it had answered before them. */
  settle() {
    for (const one of this.asks) one.stop();
    const fired = new Map();
    for (const one of this.rows) {
      if (one.event !== "fault") continue;
      const { rule } = JSON.parse(one.text);
      fired.set(rule, (fired.get(rule) ?? 0) + 1);
    }
    this.connections.value.value = [];
    const told = new Told(this.rows);
    this.sessions.value.value = told.completed(this.sessions.value.value ?? []);
    const list = this.faults.value.value;
    if (list) {
      const rules = list.rules.map((rule) => ({ ...rule, fired: Math.max(rule.fired, fired.get(rule.name) ?? 0) }));
      this.faults.value.value = { ...list, rules };
    }
  }

  /** The row at a place that counts those that are kept no more, too. */
  at(place) {
    return this.rows[place - this.dropped];
  }
}

const pause = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

const until = (isSo, signal) =>
  new Promise((done) => {
    const dispose = effect(() => {
      if (isSo()) setTimeout(() => (dispose(), done()));
    });
    signal.addEventListener("abort", () => (dispose(), done()), { once: true });
  });

/** Which rows are shown. Selectors are judged by the API, as rules and `wait` have them; texts here. */
class Filter {
  constructor(run) {
    this.run = run;
    this.text = signal("");
    /** `text` or `selector`. */
    this.kind = signal("text");
    this.direction = signal("all");
    this.keepalives = signal(false);
    this.events = signal(true);
    this.session = signal("");
    this.error = signal(null);
    /** What else is to be said of it. */
    this.note = signal(null);
    /** Places of rows; null: all rows are shown. */
    this.places = null;
    this.shown = signal(0);
    /** Grows whenever the rows that are shown are others. */
    this.version = signal(0);
    this.generation = 0;
    this.isLooking = false;
    this.dispose = effect(() => {
      for (const one of [this.text, this.kind, this.direction, this.keepalives, this.events, this.session]) one.value;
      this.restart();
    });
  }

  get isActive() {
    return (
      this.text.peek().trim() !== "" || this.direction.peek() !== "all" || !this.keepalives.peek() ||
      !this.events.peek() || this.session.peek() !== ""
    );
  }

  restart() {
    this.generation++;
    this.seen = this.run.dropped;
    this.places = this.isActive ? [] : null;
    this.numbers = new Set();
    this.asked = { after: 0, counted: 0 };
    this.error.value = null;
    this.note.value = null;
    this.isLooking = false;
    this.tell();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), this.kind.peek() === "selector" ? 250 : 0);
  }

  soon() {
    if (this.places === null) return this.tell();
    if (!this.isLooking) this.look();
  }

  tell() {
    if (this.places && this.places.length && this.places[0] < this.run.dropped) {
      let gone = 0;
      while (gone < this.places.length && this.places[gone] < this.run.dropped) gone++;
      this.places.splice(0, gone);
    }
    this.shown.value = this.places ? this.places.length : this.run.rows.length;
    this.version.value = this.version.peek() + 1;
  }

  /** The place of the n-th row that is shown. */
  place(n) {
    return this.places ? this.places[n] : this.run.dropped + n;
  }

  async look() {
    const generation = this.generation;
    if (this.places === null || this.isLooking) return;
    this.isLooking = true;
    const isSelector = this.kind.peek() === "selector" && this.text.peek().trim() !== "";
    try {
      if (isSelector && !(await this.ask(generation))) return;
      await this.sift(generation, isSelector);
    } catch (error) {
      if (generation === this.generation) this.error.value = error.message;
    } finally {
      if (generation === this.generation) this.isLooking = false;
    }
    // What came while it looked.
    if (generation === this.generation && !this.error.peek() && this.seen < this.run.dropped + this.run.rows.length) {
      this.timer = setTimeout(() => this.look(), 60);
    }
  }

  /** Which of the run's messages the selector means, up to the last that has come here. */
  async ask(generation) {
    const last = this.run.rows.at(-1)?.number ?? 0;
    while (this.asked.after < last) {
      const query = new URLSearchParams({ where: this.text.peek().trim(), after: this.asked.after, counted: this.asked.counted });
      const found = await api.get(this.run.path(`/v1/messages?${query}`));
      if (generation !== this.generation) return false;
      for (const number of found.numbers) this.numbers.add(number);
      const first = this.run.rows.find((r) => r.number !== null)?.number ?? 0;
      if (this.asked.after === 0 && found.oldest > Math.max(1, first)) {
        this.note.value = `messages before number ${found.oldest} are kept by the run no more, and were not looked at`;
      }
      if (found.next === this.asked.after) break;
      this.asked = { after: found.next, counted: found.counted };
      if (!found.more) break;
    }
    if (this.run.rows.length === 0) {
      // A selector that is none is told before anything has come.
      await api.get(this.run.path(`/v1/messages?${new URLSearchParams({ where: this.text.peek().trim() })}`));
    }
    return generation === this.generation;
  }

  async sift(generation, isSelector) {
    const text = isSelector ? "" : this.text.peek().trim().toLowerCase();
    const direction = this.direction.peek();
    const keepalives = this.keepalives.peek();
    const events = this.events.peek();
    const session = this.session.peek();
    const end = isSelector ? this.asked.after : Infinity;
    for (;;) {
      const until = Math.min(this.run.dropped + this.run.rows.length, Math.max(this.seen, this.run.dropped) + LOOKED_AT_ONCE);
      let place = Math.max(this.seen, this.run.dropped);
      for (; place < until; place++) {
        const one = this.run.at(place);
        const isMessage = one.event === "message";
        if (isSelector && one.number !== null && one.number > end) break;
        if (isMessage ? direction !== "all" && one.direction !== direction : !events) continue;
        if (isMessage && !keepalives && one.role === "keepalive") continue;
        if (session !== "" && String(one.session ?? "") !== session) continue;
        if (isSelector) {
          if (!this.numbers.has(one.number)) continue;
        } else if (text !== "" && !one.summary.toLowerCase().includes(text) && !one.text.toLowerCase().includes(text)) {
          continue;
        }
        this.places.push(place);
      }
      this.seen = place;
      this.tell();
      if (place < until || place >= this.run.dropped + this.run.rows.length) return;
      await new Promise((done) => setTimeout(done));
      if (generation !== this.generation) return;
    }
  }

  stop() {
    this.generation++;
    clearTimeout(this.timer);
    this.dispose();
  }
}

// The process.

export const runs = signal([]);
export const run = signal(null);
export const isEnded = computed(() => run.value?.link.value === "ended");

/** Looks which runs there are, and follows the first when none is. */
export async function lookAround() {
  try {
    const [replays, recordings] = await Promise.all([api.get("/v1/replays"), api.get("/v1/recordings")]);
    const all = [...replays.runs, ...recordings.runs].sort((a, b) => a.id - b.id);
    if (JSON.stringify(all) !== JSON.stringify(runs.peek())) runs.value = all;
    if (run.peek() === null && all.length) follow(all[0].id);
    return null;
  } catch (error) {
    return error;
  }
}

export function follow(id) {
  run.peek()?.stop();
  run.value = new Run(id);
}

// What is said to the person.

export const toasts = signal([]);
let nextToast = 1;

export function say(text, kind = "good") {
  const id = nextToast++;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind }];
  setTimeout(() => dismiss(id), kind === "bad" ? 9_000 : 3_000);
}

export const dismiss = (id) => (toasts.value = toasts.value.filter((t) => t.id !== id));

/** Does something and says what came of it: the API's own words when it was refused. */
export async function attempt(what, work) {
  try {
    const result = await work();
    if (what) say(what);
    return result ?? true;
  } catch (error) {
    say(error.message, "bad");
    return null;
  }
}
