// Sessions, and the attempts of each on one scale of time: when the client waited, tried and was connected, and what cut it.

import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { run } from "./store.js";
import { html, Nothing } from "./ui.js";
import { count, cut, line, time } from "./text.js";

const MOST_SESSIONS = 40;
const MOST_ATTEMPTS = 60;

/** Which attempt is told in words: `session.run.attempt`. */
const opened = signal(null);

/** A step of 1, 2 or 5 that gives a scale four to eight marks. */
function step(span) {
  const rough = span / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
}

function label(ms) {
  if (ms === 0) return "0";
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(3))} s`;
  return `${Number((ms / 60_000).toPrecision(3))} m`;
}

/** Where the present is, in the time of the run's events. */
function present(current) {
  const status = current.status.value.value;
  const isMoving = current.link.value === "live" && !(status?.clock?.mode === "manual");
  const scale = status?.clock?.scale ?? 1;
  const open = (current.sessions.value.value ?? []).some((s) => s.attempts.some((a) => a.ended === null));
  return isMoving && open ? current.lastTime + (performance.now() - current.lastCame) * scale : current.lastTime;
}

const steps = (a) => a.steps.map((s) => `${line(s.request)} ${s.status ?? "cut"}`).join(", ");

const words = (a) =>
  a.ended ? `${line(a.ended.how)} by ${a.ended.by === "client" ? "the client" : line(a.ended.by).replace(/^fault:/, "rule ")}` : run.value.end.value ? "open at the end" : a.outcome === "connected" ? "connected" : "trying";

const kindOf = (a) => (a.ended === null ? "open" : a.ended.by === "client" ? "client" : a.ended.by.startsWith("fault:") ? "fault" : a.ended.by === "replay" ? "bad" : "server");

function Attempt({ session, attempt, span, now, faults }) {
  const key = `${session.session}.${session.run}.${attempt.n}`;
  const isOpen = opened.value === key;
  const part = (ms) => `${(100 * Math.min(span, Math.max(0, ms))) / span}%`;
  const width = (from, to) => `${(100 * Math.max(0, Math.min(span, to) - Math.max(0, from))) / span}%`;
  const end = attempt.ended?.t_ms ?? now;
  const isConnected = attempt.outcome === "connected";
  const ready = isConnected ? Math.min(end, attempt.steps.at(-1)?.t_ms ?? attempt.t_ms) : end;
  const waited = attempt.delay_ms ?? 0;
  const kind = kindOf(attempt);
  return html`<div class=${`attempt ${isOpen ? "opened" : ""}`}>
    <button type="button" class="lane" aria-expanded=${isOpen} onClick=${() => (opened.value = isOpen ? null : key)}
      aria-label=${`attempt ${attempt.n}, at ${time(attempt.t_ms)}${attempt.delay_ms === null ? "" : `, ${time(attempt.delay_ms)} after the end before it`}: ${steps(attempt)}; ${words(attempt)}`}>
      <span class="n">${attempt.n}</span>
      <span class="track">
        ${waited > 0 && html`<span class="wait" style=${{ left: part(attempt.t_ms - waited), width: width(attempt.t_ms - waited, attempt.t_ms) }}></span>`}
        <span class=${`try ${attempt.outcome ?? "open"}`} style=${{ left: part(attempt.t_ms), width: width(attempt.t_ms, ready) }}></span>
        ${isConnected && html`<span class=${`on ${kind}`} style=${{ left: part(ready), width: width(ready, end) }}></span>`}
        ${attempt.ended && html`<span class=${`stop ${kind}`} style=${{ left: part(end) }}>${kind === "client" ? "┤" : "✕"}</span>`}
        ${faults.map((f) => html`<span class="fired" style=${{ left: part(f.time) }} title=${f.summary}></span>`)}
      </span>
      <span class="says">${attempt.delay_ms === null ? "" : html`<em>+${time(attempt.delay_ms)}</em> `}${words(attempt)}</span>
    </button>
    ${isOpen && html`<dl class="more">
      <dt>began</dt><dd>${time(attempt.t_ms)}${attempt.delay_ms === null ? " (the first)" : `, ${time(attempt.delay_ms)} after the end before it`}</dd>
      <dt>steps</dt><dd>${attempt.steps.map((s) => html`<div>${line(s.request)} <b>${s.status ?? "cut"}</b>${s.transport ? ` over ${s.transport}` : ""} at ${time(s.t_ms)}${s.retry_after_ms === undefined ? "" : `, Retry-After ${time(s.retry_after_ms)}`}</div>`)}</dd>
      <dt>outcome</dt><dd>${attempt.outcome ?? "goes on"}</dd>
      ${attempt.ended && html`<dt>end</dt><dd>${time(attempt.ended.t_ms)}, by ${line(attempt.ended.by)}: ${line(attempt.ended.how)}${attempt.ended.reason ? ` (${line(attempt.ended.reason)})` : ""}</dd>`}
      ${faults.length > 0 && html`<dt>faults</dt><dd>${faults.map((f) => html`<div>${time(f.time)}: ${f.summary}</div>`)}</dd>`}
    </dl>`}
  </div>`;
}

function Session({ session, span, now, marks }) {
  const attempts = session.attempts.slice(-MOST_ATTEMPTS);
  const left = session.attempts.length - attempts.length;
  const own = marks.filter((f) => f.session === session.session && f.run === session.run);
  const counts = session.messages
    ? `${count(session.messages.to_server)} ↑ ${count(session.messages.to_client)} ↓`
    : session.isOld ? "" : `${count(session.matched)} matched`;
  const troubles = [["missing", session.missing], ["unexpected", session.unexpected], ["late", session.late]].filter(([, l]) => l?.length);
  return html`<article class="session">
    <header>
      <strong>session ${session.session}${session.run > 1 ? `, run ${session.run}` : ""}</strong>
      ${session.name && html`<span>“${cut(session.name, 60)}”</span>`}
      <span class="note">${cut(`${session.protocol} over ${session.transports.join(", ") || "nothing yet"}`, 80)}</span>
      <span class="note">${counts}</span>
      ${session.paused && html`<span class="pill warn">paused</span>`}
      ${session.finished ? html`<span class="pill good">finished</span>` : null}
      ${troubles.map(([what, texts]) => html`<span class="pill bad" title=${cut(texts.join("; "), 600)}>${texts.length} ${what}</span>`)}
    </header>
    ${left > 0 && html`<p class="hint">${count(left)} earlier attempts are in the report</p>`}
    ${attempts.map((attempt, i) => {
      const from = attempt.t_ms;
      const to = attempts[i + 1]?.t_ms ?? Infinity;
      return html`<${Attempt} key=${attempt.n} session=${session} attempt=${attempt} span=${span} now=${now} faults=${own.filter((f) => f.time >= from && f.time < to)} />`;
    })}
  </article>`;
}

export function Timeline() {
  const current = run.value;
  current.version.value;
  const sessions = current.sessions.value.value;
  const [, tick] = useState(0);
  const isLive = current.link.value === "live";
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, [isLive]);
  if (!sessions?.length) {
    return html`<section class="timeline" aria-label="sessions"><${Nothing}>${current.sessions.error.value?.message ?? "No client has come yet. Its attempts, and what cuts them, will be drawn here."}<//></section>`;
  }
  const now = present(current);
  const span = Math.max(1, now, ...sessions.flatMap((s) => s.attempts.map((a) => a.ended?.t_ms ?? a.t_ms))) * 1.02;
  const scale = step(span);
  const ticks = [];
  for (let at = 0; at <= span; at += scale) ticks.push(at);
  return html`<section class="timeline" aria-label="sessions">
    <div class="scale" aria-hidden="true"><span class="track">${ticks.map((at) => html`<span style=${{ left: `${(100 * at) / span}%` }}>${label(at)}</span>`)}</span></div>
    ${sessions.slice(0, MOST_SESSIONS).map((s) => html`<${Session} key=${s.id} session=${s} span=${span} now=${now} marks=${current.faultMarks} />`)}
    ${sessions.length > MOST_SESSIONS && html`<p class="hint">${count(sessions.length - MOST_SESSIONS)} more sessions are in the report</p>`}
    <p class="legend" aria-hidden="true"><span><i class="key wait"></i> waits</span><span><i class="key try"></i> tries</span><span><i class="key on"></i> connected</span>
      <span><i class="key fired"></i> fault</span><span><i class="stop fault">✕</i> cut</span><span><i class="stop client">┤</i> left</span></p>
  </section>`;
}
