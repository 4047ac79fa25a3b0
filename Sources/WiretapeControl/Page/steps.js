// Steps and time: sessions that are held, the clients' clock, marks.

import * as api from "./api.js";
import { attempt, run } from "./store.js";
import { Entry, html, Nothing, Section } from "./ui.js";
import { stamp, time } from "./text.js";

async function step(id, what, body = {}) {
  await api.post(run.value.path(`/v1/sessions/${encodeURIComponent(id)}/${what}`), body);
  run.value.sessions.now();
}

const open = () => (run.value?.sessions.value.value ?? []).filter((s) => !s.finished);

/** By keys: the first session that is not over. */
export function stepFirst() {
  const one = open().find((s) => s.paused) ?? open()[0];
  if (one) attempt(null, () => step(one.id, "advance", { by: 1 }));
}

export function pauseFirst() {
  const one = open()[0];
  if (one) attempt(one.paused ? `session ${one.id} runs` : `session ${one.id} is held`, () => step(one.id, one.paused ? "resume" : "pause"));
}

function Steps({ session }) {
  const id = session.id;
  const labels = [...run.value.labels.keys()].slice(0, 40);
  return html`<li class="stepped">
    <div class="line">
      <strong>session ${id}</strong>
      <span class=${`pill ${session.finished ? "good" : session.paused ? "warn" : "calm"}`}>${session.finished ? "finished" : session.paused ? "held" : "runs"}</span>
      <span class="push"></span>
      ${session.paused
        ? html`<button type="button" onClick=${() => attempt(null, () => step(id, "advance", { by: 1 }))} title="one message leaves (s)">Step</button>
            <button type="button" onClick=${() => attempt(null, () => step(id, "advance", { by: 10 }))}>10</button>
            <button type="button" class="primary" onClick=${() => attempt(null, () => step(id, "resume"))} title="(p)">Resume</button>`
        : html`<button type="button" onClick=${() => attempt(null, () => step(id, "pause"))} title="nothing of the tape leaves (p)">Pause</button>`}
    </div>
    ${session.paused && html`<${Entry} id=${`until-${id}`} label="Let go until" button="Go" placeholder="ReceiveMessage[3]" list="labels" onEnter=${(text) => step(id, "advance", { until: text })} />
      <datalist id="labels">${labels.map((l) => html`<option value=${l} />`)}</datalist>`}
  </li>`;
}

function Clock() {
  const clock = run.value.status.value.value?.clock;
  if (!clock) return html`<${Section} title="Clock"><${Nothing}>Live traffic has the clock of the real server.<//><//>`;
  const change = async (body) => {
    await api.post(run.value.path("/v1/clock"), body);
    run.value.status.now();
  };
  const isManual = clock.mode === "manual";
  return html`<${Section} title="The client's clock" note=${clock.scale === 1 ? "" : `${clock.scale} times as fast`}>
    <div class="line">
      <span class="clock">${stamp(clock.t_ms)}</span>
      <span class=${`pill ${isManual ? "warn" : "calm"}`}>${isManual ? "stands" : "runs"}</span>
      <span class="push"></span>
      <button type="button" class=${isManual ? "primary" : ""} onClick=${() => attempt(null, () => change({ mode: isManual ? "running" : "manual" }))}>${isManual ? "Let it run" : "Stop it"}</button>
    </div>
    ${isManual && html`<${Entry} id="advance" label="Move it by" button="Move" placeholder="2s" onEnter=${(text) => change({ advance: text })}>
      <div class="chips">${["100ms", "1s", "2s", "10s", "30s"].map((d) => html`<button type="button" class="small" onClick=${() => attempt(null, () => change({ advance: d }))}>+${d}</button>`)}</div>
    <//>`}
  <//>`;
}

function Marks() {
  run.value.version.value;
  const marks = run.value.marks.slice(-50).reverse();
  return html`<${Section} title="Marks">
    <${Entry} id="mark" label="A line on the tape of the run, and in its events" button="Mark" placeholder="the user pressed send"
      onEnter=${async (text) => { await api.post(run.value.path("/v1/marks"), { text }); }} />
    ${marks.length > 0 && html`<ul class="marks">${marks.map((m) => html`<li key=${m.number}><span class="note">${time(m.time)}</span> <bdi>${m.summary}</bdi></li>`)}</ul>`}
  <//>`;
}

export function StepsAndTime() {
  const sessions = run.value.sessions.value.value ?? [];
  const isReplay = run.value.status.value.value?.kind === "replay";
  return html`
    <${Section} title="Steps" note="nothing of a session's tape leaves while it is held">
      ${!isReplay ? html`<${Nothing}>Only a replay has steps.<//>`
        : sessions.length === 0 ? html`<${Nothing}>No client has begun a session. <code>--speed step</code> holds each from its beginning.<//>`
        : html`<ul class="plain">${sessions.slice(0, 50).map((s) => html`<${Steps} key=${s.id} session=${s} />`)}</ul>`}
    <//>
    <${Clock} /><${Marks} />`;
}
