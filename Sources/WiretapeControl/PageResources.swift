// swift-format-ignore-file
// Written by tools/embed-page from the files of the folder Page: change those.

/// The files of the web page, byte for byte.
package enum PageResources {
    /// By their paths below the folder.
    package static let files: [(path: String, text: String)] = [
        ("api.js", ###"""
// The control API, as this page asks it. The token stays in this tab's session storage and goes out as a header, never in an address.

import { signal } from "@preact/signals";

const TOKEN = "wiretape.token";

function stored() {
  try {
    return sessionStorage.getItem(TOKEN) ?? "";
  } catch {
    return "";
  }
}

let token = stored();

/** What the API wants before it answers: null, or a sentence for the form that asks for the token. */
export const tokenWanted = signal(null);

export function setToken(text) {
  token = text;
  try {
    if (text) sessionStorage.setItem(TOKEN, text);
    else sessionStorage.removeItem(TOKEN);
  } catch {
    // A browser without storage asks again after a reload.
  }
  tokenWanted.value = null;
}

export const hasToken = () => token !== "";

/** Why a request was not done: the API's own sentence. */
export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

function headers(extra) {
  return token ? { ...extra, Authorization: `Bearer ${token}` } : { ...extra };
}

async function refusal(answer) {
  let text = `${answer.status} ${answer.statusText}`;
  try {
    text = JSON.parse(await answer.text()).error ?? text;
  } catch {
    // An answer that is none of the API's.
  }
  if (answer.status === 401 || (answer.status === 403 && text.includes("not the token"))) {
    tokenWanted.value = answer.status === 401 ? "" : "This is not the token of this control API.";
  }
  return new Refused(answer.status, text);
}

async function asked(path, options) {
  try {
    return await fetch(path, { cache: "no-store", credentials: "omit", redirect: "error", ...options });
  } catch (error) {
    if (error?.name === "AbortError") throw error;
    throw new Refused(0, "the control API does not answer");
  }
}

/** Asks for JSON. */
export async function call(method, path, body, signal) {
  const answer = await asked(path, {
    method,
    signal,
    headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
    body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
  });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

export const get = (path, signal) => call("GET", path, undefined, signal);
export const post = (path, body = {}) => call("POST", path, body);

/** Asks for a file. */
export async function file(path) {
  const answer = await asked(path, { headers: headers() });
  if (!answer.ok) throw await refusal(answer);
  return answer.blob();
}

/** How long nothing may come on a stream of events: the API says every 15 s that it is there. */
const SILENCE = 45_000;

/**
 * Reads a stream of server-sent events until it ends: EventSource could send no token.
 * @param onEvent gets (id or null, event, data)
 */
export async function events(path, onEvent, opened, signal) {
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop);
  let watch = setTimeout(stop, SILENCE);
  try {
    const answer = await asked(path, { headers: headers({ Accept: "text/event-stream" }), signal: own.signal });
    if (!answer.ok) throw await refusal(answer);
    opened();
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(stop, SILENCE);
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        let id = null;
        let name = "message";
        let data = "";
        for (const field of part.split("\n")) {
          if (field.startsWith("data: ")) data += field.slice(6);
          else if (field.startsWith("event: ")) name = field.slice(7);
          else if (field.startsWith("id: ")) id = Number(field.slice(4));
        }
        if (data) onEvent(id, name, data);
      }
    }
  } finally {
    clearTimeout(watch);
    signal.removeEventListener("abort", stop);
    own.abort();
  }
}

"""###),
        ("connections.js", ###"""
// Live connections, and what can be done to one.

import { useState } from "preact/hooks";
import { signal } from "@preact/signals";
import * as api from "./api.js";
import { attempt, run } from "./store.js";
import { Entry, html, Nothing, Section } from "./ui.js";
import { cut } from "./text.js";

const chosen = signal(null);

/** Acts on a connection; throws in the API's own words. */
async function act(id, what, body = {}) {
  await api.post(run.value.path(`/v1/connections/${id}/${what}`), body);
  run.value.connections.soon();
}

const done = (id, what, body) => attempt(`connection ${id}: ${what}`, () => act(id, what, body));

function Acts({ one }) {
  const [kind, setKind] = useState("message");
  const [code, setCode] = useState("1012");
  const [side, setSide] = useState("both");
  const [span, setSpan] = useState("");
  const id = one.id;
  function inject(text) {
    if (kind !== "message") return act(id, "inject", { [kind]: text });
    let message;
    try {
      message = JSON.parse(text);
    } catch (error) {
      throw new Error(`the message is no JSON: ${error.message}`);
    }
    return act(id, "inject", { message });
  }
  return html`<div class="acts">
    <div class="chips">
      <button type="button" class="danger" onClick=${() => done(id, "reset")} title="RST, once what was said before has arrived">Reset</button>
      <button type="button" class="danger" onClick=${() => done(id, "disconnect")} title="FIN, without a close frame">Disconnect</button>
      ${one.stalled && html`<button type="button" class="primary" onClick=${() => done(id, "resume")}>Resume</button>`}
    </div>
    <form class="line" onSubmit=${(e) => (e.preventDefault(), done(id, "close", { code: Number(code) }))}>
      <label for="code">Close frame</label>
      <input id="code" class="short" inputmode="numeric" list="codes" value=${code} onInput=${(e) => setCode(e.target.value)} />
      <datalist id="codes">${["1000", "1001", "1006", "1011", "1012", "1013", "4001"].map((c) => html`<option value=${c} />`)}</datalist>
      <button type="submit" class="danger">Close</button>
    </form>
    <form class="line" onSubmit=${(e) => (e.preventDefault(), done(id, "stall", { side, ...(span.trim() ? { for: span.trim() } : {}) }))}>
      <label for="side">Go silent</label>
      <select id="side" value=${side} onChange=${(e) => setSide(e.target.value)}><option value="both">both</option><option value="reads">reads</option><option value="writes">writes</option></select>
      <input class="short" aria-label="for how long" placeholder="for 5s" value=${span} onInput=${(e) => setSpan(e.target.value)} />
      <button type="submit" class="danger">Stall</button>
    </form>
    <${Entry} id="inject" label="Inject, to the client" button="Send" onEnter=${inject}
      placeholder=${kind === "message" ? '{"type":1,"target":"Notice","arguments":["hi"]}' : kind === "text" ? "any text" : "00ff"}>
      <div class="choice" role="group" aria-label="what is injected">${[["message", "JSON message"], ["text", "text"], ["hex", "hex"]].map(([k, t]) => html`<button type="button" aria-pressed=${kind === k} onClick=${() => setKind(k)}>${t}</button>`)}</div>
    <//>
  </div>`;
}

export function Connections() {
  const list = run.value.connections.value.value ?? [];
  return html`<${Section} title="Live connections" note=${list.length ? String(list.length) : ""}>
    ${list.length === 0 && html`<${Nothing}>No client is connected.<//>`}
    <ul class="connections">${list.slice(0, 200).map((one) => {
      const isOpen = chosen.value === one.id || list.length === 1;
      return html`<li key=${one.id} class=${isOpen ? "opened" : ""}>
        <button type="button" class="row-button" aria-expanded=${isOpen} onClick=${() => (chosen.value = chosen.value === one.id ? null : one.id)}>
          <strong>#${one.id}</strong>
          <span>${one.session === null ? "no session" : `session ${one.session}${one.run > 1 ? `.${one.run}` : ""}`}</span>
          <span class="note">${one.transport ?? ""}</span>
          <span class="note push">${one.from ? cut(one.from, 60) : ""}</span>
          ${one.stalled && html`<span class="pill warn">silent</span>`}
        </button>
        ${isOpen && html`<${Acts} one=${one} />`}
      </li>`;
    })}</ul>
    ${list.length > 200 && html`<p class="hint">${list.length - 200} more</p>`}
  <//>`;
}

"""###),
        ("icon.svg", ###"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/><circle cx="10.5" cy="14" r="5" fill="none" stroke="#fff" stroke-width="2.4"/><circle cx="21.5" cy="14" r="5" fill="none" stroke="#fff" stroke-width="2.4"/><path d="M10.5 19h11" stroke="#fff" stroke-width="2.4"/><path d="M6 25.5h7l2-3 2.5 5 2-2H26" fill="none" stroke="#fbbf24" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>

"""###),
        ("index.html", ###"""
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Wiretape</title>
<link rel="icon" href="page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page/uplot.css">
<link rel="stylesheet" href="page/page.css">
<script type="importmap">{"imports":{"preact":"./page/preact.js","preact/hooks":"./page/preact-hooks.js","htm":"./page/htm.js","@preact/signals":"./page/signals.js","@preact/signals-core":"./page/signals-core.js","uplot":"./page/uplot.js"}}</script>
<script type="module" src="page/main.js"></script>
</head>
<body>
<div id="app"><p class="boot">Loading …</p></div>
<noscript><p class="boot">This page needs JavaScript. Programs use the control API behind it: docs/control.md has examples for curl.</p></noscript>
</body>
</html>

"""###),
        ("main.js", ###"""
// The page as a whole: who may see it, what stands where, and its keys.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import * as api from "./api.js";
import { attempt, dismiss, follow, lookAround, run, runs, say, toasts } from "./store.js";
import { html, narrow, panel, show } from "./ui.js";
import { follows, Messages, move, selected } from "./messages.js";
import { Timeline } from "./timeline.js";
import { Rules } from "./rules.js";
import { Connections } from "./connections.js";
import { pauseFirst, stepFirst, StepsAndTime } from "./steps.js";
import { kindOf, Verdict } from "./verdict.js";
import { Rates } from "./rates.js";
import { count, line, stamp } from "./text.js";

const trouble = signal(null);
const helps = signal(false);

// Light and dark: the system's choice, or the person's in this browser.

function theme() {
  try {
    return localStorage.getItem("wiretape.theme") ?? "";
  } catch {
    return "";
  }
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("wiretape.theme", name);
  } catch {
    // It lasts as long as the page then.
  }
}

function otherTheme() {
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  setTheme(now === "dark" ? "light" : "dark");
}

document.documentElement.dataset.theme = theme();

function TokenForm({ why }) {
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  async function submit(event) {
    event.preventDefault();
    api.setToken(field.current.value.trim());
    await begin();
  }
  return html`<div class="veil"><form class="card" onSubmit=${submit} aria-label="token">
    <h2>${why ? "Another token" : "This API has a token"}</h2>
    <p>${why || "Whoever started Wiretape set it with --control-token. It stays in this tab and goes nowhere else."}</p>
    <label for="token">Token</label>
    <input id="token" ref=${field} type="password" autocomplete="off" required minlength="8" aria-invalid=${why !== ""} />
    <button type="submit" class="primary">Open</button>
  </form></div>`;
}

const panels = {
  messages: ["Messages", () => html`<${Messages} />`],
  timeline: ["Sessions", () => html`<${Timeline} />`],
  rules: ["Rules", () => html`<${Rules} />`],
  connections: ["Connections", () => html`<${Connections} />`],
  steps: ["Steps", () => html`<${StepsAndTime} />`],
  verdict: ["Verdict", () => html`<${Verdict} />`],
  rates: ["Rates", () => html`<${Rates} />`],
};
const sides = ["rules", "connections", "steps", "verdict", "rates"];

function badge(name) {
  const current = run.value;
  if (name === "rules") return current.faults.value.value?.rules.length || "";
  if (name === "connections") return current.connections.value.value?.length || "";
  if (name === "messages") return current.totals.value.toServer + current.totals.value.toClient || "";
  if (name === "timeline") return current.sessions.value.value?.length || "";
  return "";
}

const compact = (n) => (typeof n === "number" && n >= 10_000 ? `${Math.floor(n / 1000)}k` : n);

function Tabs({ names, chosen, onChoose, label }) {
  function keys(event) {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    const next = names[(names.indexOf(chosen) + by + names.length) % names.length];
    onChoose(next);
    event.currentTarget.querySelector(`[data-name="${next}"]`)?.focus();
  }
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${keys}>
    ${names.map((name) => html`<button type="button" role="tab" key=${name} data-name=${name} aria-selected=${chosen === name} tabindex=${chosen === name ? 0 : -1} onClick=${() => onChoose(name)}>
      ${panels[name][0]}${badge(name) !== "" && html`<span class="badge">${compact(badge(name))}</span>`}</button>`)}
  </div>`;
}

const links = { connecting: ["warn", "connecting"], live: ["good", "live"], lost: ["bad", "reconnecting"], ended: ["calm", "ended"] };

function Head() {
  const current = run.value;
  const status = current.status.value.value;
  const report = current.report.value.value;
  const end = current.end.value;
  const [kind, text] = links[current.link.value];
  const word = end?.verdict ?? report?.verdict;
  const address = status?.endpoint ?? status?.url ?? status?.proxy;
  async function endRun() {
    if (!confirm(`End run ${current.id}? Its clients are cut off.`)) return;
    const path = status?.kind === "replay" ? "replays" : "recordings";
    if (await attempt(`run ${current.id} has ended`, () => api.call("DELETE", `/v1/${path}/${current.id}`))) {
      await lookAround();
      follow(1);
    }
  }
  return html`<header class="head">
    <img src="page/icon.svg" alt="" width="24" height="24" />
    <h1>Wiretape</h1>
    ${runs.value.length > 1
      ? html`<select aria-label="run" class="runs" value=${String(current.id)} onChange=${(e) => follow(Number(e.target.value))}>${runs.value.map((r) => html`<option value=${String(r.id)}>${r.kind} ${r.id}</option>`)}</select>`
      : html`<span class="note">${status?.kind ?? ""}</span>`}
    ${current.id !== 1 && !end && html`<button type="button" class="small" onClick=${endRun}>End run</button>`}
    ${address && html`<button type="button" class="address" title="copy the address for your client" onClick=${() => navigator.clipboard?.writeText(address).then(() => say("copied"), () => say("the browser does not let this page copy", "bad"))}>${line(address)}</button>`}
    <span class="push"></span>
    ${status?.clock && !end && html`<span class="note clock" title="the client's clock">${stamp(status.clock.t_ms)}${status.clock.mode === "manual" ? " (stands)" : ""}</span>`}
    ${word && html`<button type="button" class=${`pill ${kindOf(word)}`} title="the verdict so far" onClick=${() => show("verdict")}>${word}${end ? "" : " so far"}</button>`}
    <span class=${`pill ${kind}`} role="status" title=${current.linkError.value ?? "the stream of events"}>${text}</span>
    <button type="button" class="icon" title="light or dark" aria-label="light or dark" onClick=${otherTheme}>◐</button>
    <button type="button" class="icon" title="keys (?)" aria-label="keys" onClick=${() => (helps.value = true)}>?</button>
  </header>`;
}

function Banner() {
  const current = run.value;
  const totals = current.totals.value;
  const end = current.end.value;
  if (end) {
    return html`<p class=${`banner ${kindOf(end.verdict)}`} role="status"><strong>${line(end.verdict)} (exit ${end.exit})</strong> <bdi>${line(String(end.reason)).slice(0, 600)}</bdi></p>`;
  }
  if (current.link.value === "lost") return html`<p class="banner bad" role="alert">The connection to Wiretape is lost (${line(current.linkError.value ?? "the stream ended")}). Trying again; what happens meanwhile is fetched then, as far as it is kept.</p>`;
  if (current.link.value === "ended") return html`<p class="banner warn" role="status">This run is gone: ${line(current.linkError.value ?? "its events have ended")}.</p>`;
  if (totals.lost) return html`<p class="banner warn" role="status">${count(totals.lost)} events were lost: they came faster than they were read, or before this page was open.</p>`;
  return null;
}

const keys = [["/", "filter"], ["j k ↓ ↑", "next and previous row"], ["g G", "first and last row"], ["f", "follow the latest"], ["Esc", "close what is open"], ["r", "add a rule"], ["s", "let one message leave"],
  ["p", "hold or resume the first session"], ["m", "mark this moment"], ["1 … 7", "panels"], ["?", "these keys"]];

function Help() {
  const box = useRef(null);
  useEffect(() => box.current.querySelector("button").focus(), []);
  return html`<div class="veil" onClick=${(e) => e.target === e.currentTarget && (helps.value = false)}><div class="card" role="dialog" aria-modal="true" aria-label="keys" ref=${box}>
    <h2>Keys</h2><dl class="keys">${keys.map(([k, what]) => html`<dt>${k.split(" ").map((one) => (one === "…" ? "… " : html`<kbd>${one}</kbd> `))}</dt><dd>${what}</dd>`)}</dl>
    <p class="note">This page brings preact, htm and uPlot: <a href="page/licences.txt" target="_blank" rel="noreferrer">their licences</a>.</p>
    <button type="button" class="primary" onClick=${() => (helps.value = false)}>Close</button></div></div>`;
}

const focus = (name, id) => (show(name), setTimeout(() => document.getElementById(id)?.focus()));

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !run.value) return;
  const isTyping = event.target.closest?.("input, textarea, select");
  if (event.key === "Escape") {
    if (helps.value) helps.value = false;
    else if (isTyping) event.target.blur();
    else selected.value = null;
    return;
  }
  if (isTyping || helps.value) return;
  const filter = run.value.filter;
  const isOnTab = event.target.closest?.("[role=tablist]");
  const names = Object.keys(panels);
  const does = {
    "/": () => focus("messages", "find"),
    "?": () => (helps.value = true),
    j: () => move(1), k: () => move(-1),
    ArrowDown: () => move(1), ArrowUp: () => move(-1),
    PageDown: () => move(20), PageUp: () => move(-20),
    g: () => move(-Infinity), G: () => move(Infinity), Home: () => move(-Infinity), End: () => move(Infinity),
    f: () => (follows.value = !follows.value),
    r: () => focus("rules", "rule"),
    m: () => focus("steps", "mark"),
    s: stepFirst,
    p: pauseFirst,
  }[event.key] ?? (/^[1-7]$/.test(event.key) ? () => show(names[Number(event.key) - 1]) : null);
  const isScroll = /^(Arrow|Page|Home|End)/.test(event.key);
  // Arrows and the like belong to what has the focus, unless that is the list or nothing.
  if (!does || (isScroll && (isOnTab || !(event.target === document.body || event.target.closest?.("#messages")) || !filter))) return;
  event.preventDefault();
  does();
}

function useIsNarrow() {
  const query = matchMedia("(max-width: 820px)");
  const [is, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return is;
}

function Work() {
  const isNarrow = useIsNarrow();
  const key = run.value.id;
  if (isNarrow) {
    return html`<${Tabs} names=${Object.keys(panels)} chosen=${narrow.value} onChoose=${show} label="panels" />
      <main class="one" key=${`${key}-${narrow.value}`}>${panels[narrow.value][1]()}</main>`;
  }
  return html`<main class="wide" key=${key}>
    <div class="left"><${Timeline} /><${Messages} /></div>
    <div class="side"><${Tabs} names=${sides} chosen=${panel.value} onChoose=${show} label="panels" />
      <div class="panel" role="tabpanel" key=${panel.value}>${panels[panel.value][1]()}</div></div>
  </main>`;
}

function App() {
  const wanted = api.tokenWanted.value;
  if (run.value === null) {
    if (wanted !== null) return html`<${TokenForm} why=${wanted} />`;
    return html`<p class="boot">${trouble.value ? `${line(trouble.value)} — trying again …` : "Loading …"}</p>`;
  }
  return html`<div class="app"><${Head} /><${Banner} /><${Work} />
    ${wanted !== null && html`<${TokenForm} why=${wanted} />`}
    ${helps.value && html`<${Help} />`}
    <div class="toasts" role="status" aria-live="polite">${toasts.value.map((t) => html`<button type="button" key=${t.id} class=${`toast ${t.kind}`} onClick=${() => dismiss(t.id)}><bdi>${line(t.text)}</bdi></button>`)}</div></div>`;
}

let timer = null;

/** Looks for runs now, and again every few seconds: others may make further ones. */
async function begin() {
  clearTimeout(timer);
  const error = await lookAround();
  trouble.value = error?.message ?? null;
  if (error && (error.status === 401 || error.status === 403) && api.tokenWanted.value !== null) return;
  timer = setTimeout(begin, run.value ? 3_000 : 1_000);
}

addEventListener("keydown", pressed);
const app = document.getElementById("app");
app.textContent = "";
render(html`<${App} />`, app);
begin();

"""###),
        ("messages.js", ###"""
// The list of messages, of which only the rows in view are there, and what one of them says.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { run, say } from "./store.js";
import { html, Nothing, show } from "./ui.js";
import { block, bytes, count, cut, line, selectorWord, stamp, time } from "./text.js";

const ROW = 26;
const BEYOND = 12;

/** The number of the row that is looked at; its event's own, or its place. */
export const selected = signal(null);
export const follows = signal(true);
/** A rule that was begun elsewhere, for the form of rules. */
export const begun = signal("");

/** Moves the selection by rows, by -Infinity to the first one; from nothing to the first or the last one. */
export function move(by) {
  const filter = run.value?.filter;
  if (!filter || !filter.shown.value) return;
  const total = filter.shown.value;
  const now = selected.value === null ? -1 : indexOf(filter, selected.value);
  const aim = now >= 0 || !Number.isFinite(by) ? now + by : by > 0 ? 0 : total - 1;
  const next = Math.min(total - 1, Math.max(0, aim));
  follows.value = false;
  selected.value = filter.place(next);
}

function indexOf(filter, place) {
  if (!filter.places) return place - filter.run.dropped;
  let low = 0;
  let high = filter.places.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (filter.places[middle] === place) return middle;
    if (filter.places[middle] < place) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

const sign = { ">": "↑", "<": "↓" };
const said = { ">": "client says", "<": "server says" };

function Row({ one, place, index, isSelected }) {
  const isMessage = one.event === "message";
  const kind = isMessage ? (one.direction === ">" ? "up" : "down") : `event ${one.event}`;
  return html`<div class=${`row ${kind} ${one.role === "keepalive" ? "faint" : ""} ${isSelected ? "selected" : ""}`}
    role="option" id=${`row-${place}`} aria-selected=${isSelected} style=${{ top: `${index * ROW}px` }}
    onClick=${() => ((selected.value = isSelected ? null : place), (follows.value = false))}>
    <span class="at">${stamp(one.time)}</span>
    <span class="dir" aria-label=${isMessage ? said[one.direction] : one.event}>${isMessage ? sign[one.direction] : "●"}</span>
    <span class="who" title="session and connection">${one.session === null ? "" : `${one.session}${one.run > 1 ? `.${one.run}` : ""}`}</span>
    <span class="type">${cut(one.type, 40)}</span>
    <bdi class="summary">${one.summary}</bdi>
    <span class="size">${isMessage ? bytes(one.bytes) : ""}</span>
  </div>`;
}

function List() {
  const current = run.value;
  const filter = current.filter;
  filter.version.value;
  const total = filter.shown.value;
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, height: 400 });

  useLayoutEffect(() => {
    const element = box.current;
    const watch = new ResizeObserver(() => box.current && setView({ top: element.scrollTop, height: element.clientHeight }));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  // The end stays in view as long as it is followed.
  useLayoutEffect(() => {
    if (follows.value) box.current.scrollTop = total * ROW;
  });

  // What is selected by keys is brought into view.
  const chosen = selected.value === null ? -1 : indexOf(filter, selected.value);
  useLayoutEffect(() => {
    if (chosen < 0 || follows.value) return;
    const element = box.current;
    const top = chosen * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
  }, [chosen]);

  // Following only ever scrolls down: whoever scrolls up looks at something else, and who is at the end again follows.
  const seen = useRef({ top: 0, total: 0 });
  function scrolled() {
    const top = box.current.scrollTop;
    const before = seen.current;
    seen.current = { top, total };
    setView({ top, height: box.current.clientHeight });
    if (total < before.total) return;
    if (follows.value) {
      if (top < before.top - 1) follows.value = false;
    } else if (top > before.top && top + box.current.clientHeight >= total * ROW - 1) follows.value = true;
  }

  const first = Math.max(0, Math.floor((follows.value ? Math.max(0, total * ROW - view.height) : view.top) / ROW) - BEYOND);
  const last = Math.min(total, first + Math.ceil(view.height / ROW) + 2 * BEYOND);
  const rows = [];
  for (let i = first; i < last; i++) {
    const place = filter.place(i);
    const one = current.at(place);
    if (one) rows.push(html`<${Row} key=${place} one=${one} place=${place} index=${i} isSelected=${place === selected.value} />`);
  }
  return html`<div class="list" ref=${box} onScroll=${scrolled} tabindex="0" role="listbox" aria-label="messages" id="messages"
    aria-activedescendant=${selected.value === null ? undefined : `row-${selected.value}`}>
    <div class="all" style=${{ height: `${total * ROW}px` }}>${rows}</div>
    ${total === 0 && html`<${Nothing}>${current.rows.length ? "No row fits this filter." : "Nothing has happened yet. Point your client at the address above."}<//>`}
  </div>`;
}

const directions = [["all", "↑↓", "both directions"], [">", "↑", "what the client says"], ["<", "↓", "what the server says"]];

function FilterBar() {
  const filter = run.value.filter;
  const sessions = run.value.sessions.value.value ?? [];
  const kind = filter.kind.value;
  return html`<div class="filter" role="search">
    <div class="find">
      <select aria-label="what is looked for" value=${kind} onChange=${(e) => (filter.kind.value = e.target.value)}>
        <option value="text">Text</option><option value="selector">Selector</option>
      </select>
      <input id="find" type="search" spellcheck=${false} autocomplete="off" aria-label="filter" value=${filter.text.value}
        placeholder=${kind === "text" ? "any text in a row  ( / )" : "ReceiveMessage[3]  or  message[direction=toServer]"}
        aria-invalid=${filter.error.value !== null} onInput=${(e) => (filter.text.value = e.target.value)} />
    </div>
    <div class="choice" role="group" aria-label="direction">
      ${directions.map(([value, text, title]) => html`<button type="button" title=${title} aria-label=${title}
        aria-pressed=${filter.direction.value === value} onClick=${() => (filter.direction.value = value)}>${text}</button>`)}
    </div>
    ${sessions.length > 1 && html`<select aria-label="session" value=${filter.session.value} onChange=${(e) => (filter.session.value = e.target.value)}>
      <option value="">all sessions</option>
      ${[...new Set(sessions.map((s) => s.session))].slice(0, 500).map((n) => html`<option value=${String(n)}>session ${n}</option>`)}
    </select>`}
    <label class="check"><input type="checkbox" checked=${filter.events.value} onChange=${(e) => (filter.events.value = e.target.checked)} />events</label>
    <label class="check"><input type="checkbox" checked=${filter.keepalives.value} onChange=${(e) => (filter.keepalives.value = e.target.checked)} />pings</label>
    <span class="push note">${count(filter.shown.value)} ${filter.shown.value === 1 ? "row" : "rows"}</span>
    <button type="button" class="small" aria-pressed=${follows.value} title="keep the latest in view (f)"
      onClick=${() => (follows.value = !follows.value)}>${follows.value ? "Following" : "Follow"}</button>
  </div>
  ${filter.error.value && html`<p class="error" role="alert">${filter.error.value}</p>`}
  ${filter.note.value && html`<p class="hint">${filter.note.value}</p>`}`;
}

// What a message says.

const MOST_STRING = 600;
const MOST_MEMBERS = 100;
const MOST_DEPTH = 6;

/** A text of any length, by its beginning until somebody wants more. */
function LongText({ text }) {
  const [most, setMost] = useState(MOST_STRING);
  if (text.length <= most) return html`<span class="s">"${line(text)}"</span>`;
  return html`<span class="s">"${line(text.slice(0, most))}…</span> <button type="button" class="link"
    onClick=${() => setMost(most === MOST_STRING ? 20_000 : most * 4)}>${count(text.length)} characters, show more</button>`;
}

function Value({ value, depth }) {
  if (value === null) return html`<span class="k">null</span>`;
  if (typeof value === "string") return html`<${LongText} text=${value} />`;
  if (typeof value !== "object") return html`<span class="n">${String(value)}</span>`;
  return html`<${Tree} value=${value} depth=${depth} />`;
}

function Tree({ value, depth }) {
  const isList = Array.isArray(value);
  const names = isList ? null : Object.keys(value);
  const size = isList ? value.length : names.length;
  const [isOpen, setOpen] = useState(depth < MOST_DEPTH && (depth === 0 || size <= 40));
  const [most, setMost] = useState(MOST_MEMBERS);
  if (size === 0) return html`<span class="p">${isList ? "[]" : "{}"}</span>`;
  const fold = html`<button type="button" class="fold" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${isOpen ? "▾" : "▸"}</button>`;
  if (!isOpen) return html`${fold}<span class="p">${isList ? `[ ${count(size)} ]` : `{ ${count(size)} }`}</span>`;
  const items = [];
  for (let i = 0; i < Math.min(size, most); i++) {
    const name = isList ? i : names[i];
    items.push(html`<li><span class=${isList ? "i" : "m"}>${isList ? i : cut(name, 120)}</span><span class="p">: </span><${Value} value=${value[name]} depth=${depth + 1} /></li>`);
  }
  return html`${fold}<span class="p">${isList ? "[" : "{"}</span><ul class="tree">${items}
    ${size > most && html`<li><button type="button" class="link" onClick=${() => setMost(most * 10)}>${count(size - most)} more</button></li>`}
    </ul><span class="p">${isList ? "]" : "}"}</span>`;
}

function parsed(one) {
  if (one.length > one.text.length) return null;
  try {
    return JSON.parse(one.text);
  } catch {
    return null;
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    say("the browser does not let this page copy", "bad");
  }
}

function begin(rule) {
  begun.value = rule;
  show("rules");
  setTimeout(() => document.getElementById("rule")?.focus());
}

function Detail() {
  const place = selected.value;
  run.value.version.value;
  const one = place === null ? null : run.value.at(place);
  if (!one) return null;
  const value = parsed(one);
  const isMessage = one.event === "message";
  const label = selectorWord(one.target ?? one.type);
  const facts = isMessage
    ? [["type", one.type], ["target", one.target], ["chain", value?.chain], ["role", one.role], ["session", one.session === null ? "none" : `${one.session}${one.run > 1 ? `, run ${one.run}` : ""}`],
       ["connection", one.connection], ["carried by", [one.protocol, one.transport].filter(Boolean).join(" over ")], ["size", `${count(one.bytes)} bytes`], ["sha256", value?.sha256], ["event", one.number]]
    : [["event", `${one.event}${one.number === null ? "" : `, number ${one.number}`}`], ["session", one.session], ["attempt", one.attempt]];
  return html`<aside class="detail" aria-label="the selected row">
    <header>
      <strong class=${isMessage ? (one.direction === ">" ? "up" : "down") : ""}>${isMessage ? `${sign[one.direction]} ${said[one.direction]}` : one.event}</strong>
      <span class="note">${time(one.time)}</span>
      <span class="push"></span>
      <button type="button" class="small" onClick=${() => copy(value ? JSON.stringify(value.fields ?? value, null, 2) : one.text)}>Copy</button>
      <button type="button" class="small" aria-label="close" title="close (Esc)" onClick=${() => (selected.value = null)}>✕</button>
    </header>
    <div class="body">
      <p class="whole"><bdi>${block(one.event === "divergence" && value ? String(value.text).slice(0, 4000) : one.summary)}</bdi></p>
      <dl>${facts.filter(([, v]) => v !== null && v !== undefined && v !== "").map(([k, v]) => html`<dt>${k}</dt><dd>${cut(String(v), 200)}</dd>`)}</dl>
      ${isMessage && html`<p class="make"><span class="note">A rule here:</span>
        ${["reset after", "drop on", "delay(1s) on", "duplicate on"].map((w) => html`<button type="button" class="small" onClick=${() => begin(`${w} ${label}`)}>${w}</button>`)}</p>`}
      <div class="fields">
        ${value ? html`<${Value} value=${isMessage ? value.fields : without(value)} depth=${0} />`
          : html`<p class="hint">This event has ${count(one.length)} characters; its beginning:</p><pre>${block(one.text.slice(0, 20_000))}</pre>`}
      </div>
    </div>
  </aside>`;
}

function without(value) {
  const { v: _v, event: _event, t_ms: _time, ...rest } = value;
  return rest;
}

export function Messages() {
  useEffect(() => () => (selected.value = null), [run.value]);
  return html`<section class="messages" aria-label="messages">
    <${FilterBar} />
    <div class=${`split ${selected.value === null ? "" : "both"}`}><${List} key=${run.value.id} /><${Detail} key=${selected.value} /></div>
  </section>`;
}

"""###),
        ("page.css", ###"""
/* One set of names for colours, twice: light and dark. */
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #ffffff; --sunken: #f0f2f5; --line: #dfe3e8; --text: #17202b; --faint: #5d6875; --accent: #0f766e; --accent-ink: #ffffff; --accent-soft: #d8f1ee;
  --up: #7c3aed; --up-soft: #7c3aed1c; --down: #0b66c3; --down-soft: #0b66c31a; --good: #15803d; --good-soft: #dcf5e4; --bad: #b91c1c; --bad-soft: #fde4e4; --warn: #92580a; --warn-soft: #fdf0d3; --calm-soft: #e6eaef;
  --fault: #d9480f; --shadow: 0 1px 2px #0f172a12, 0 4px 16px #0f172a0a; --row: #0f766e12;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] {
  color-scheme: dark;
  --ground: #0e1319; --card: #161c24; --sunken: #10161d; --line: #29323d; --text: #e3e9f0; --faint: #97a3b1; --accent: #2dd4bf; --accent-ink: #05231f; --accent-soft: #123d39;
  --up: #b794f6; --up-soft: #b794f622; --down: #6db3f8; --down-soft: #6db3f822; --good: #5fd38a; --good-soft: #12361f; --bad: #ff8f8f; --bad-soft: #451a1c; --warn: #f2c063; --warn-soft: #40300f; --calm-soft: #252e39;
  --fault: #ff9457; --shadow: 0 1px 2px #0006; --row: #2dd4bf14;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    --ground: #0e1319; --card: #161c24; --sunken: #10161d; --line: #29323d; --text: #e3e9f0; --faint: #97a3b1; --accent: #2dd4bf; --accent-ink: #05231f; --accent-soft: #123d39;
    --up: #b794f6; --up-soft: #b794f622; --down: #6db3f8; --down-soft: #6db3f822; --good: #5fd38a; --good-soft: #12361f; --bad: #ff8f8f; --bad-soft: #451a1c; --warn: #f2c063; --warn-soft: #40300f; --calm-soft: #252e39;
    --fault: #ff9457; --shadow: 0 1px 2px #0006; --row: #2dd4bf14;
  }
}

* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { background: var(--ground); color: var(--text); font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100%; }
#app, .app { height: 100%; }
.app { display: flex; flex-direction: column; }
h1, h2, h3, p, dl, dd, ul, pre { margin: 0; }
ul { padding: 0; list-style: none; }
h1 { font-size: 16px; letter-spacing: -.01em; }
h2 { font-size: 18px; }
h3 { font-size: 13px; font-weight: 650; }
code, pre, .list, kbd, .mono, .clock, .address, .error { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
code, pre, .error { font-size: 12.5px; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; }
.boot { padding: 48px 24px; text-align: center; color: var(--faint); }
.push { margin-left: auto; }
.note { color: var(--faint); font-size: 12.5px; }
.hint { color: var(--faint); font-size: 12.5px; }
.nothing { color: var(--faint); padding: 12px 0; }
.up { color: var(--up); } .down { color: var(--down); }

/* What is pressed and filled in. */
button, input, select, textarea { font: inherit; color: inherit; }
button { border: 1px solid var(--line); background: var(--card); border-radius: 7px; padding: 4px 11px; cursor: pointer; white-space: nowrap; min-height: 30px; }
button:hover { border-color: var(--faint); }
button:disabled { opacity: .55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); font-weight: 600; }
button.danger { color: var(--bad); }
button.danger:hover { background: var(--bad-soft); border-color: var(--bad); }
button.small { padding: 1px 8px; min-height: 24px; font-size: 12.5px; }
button.link { border: 0; background: none; padding: 0; min-height: 0; color: var(--accent); text-decoration: underline; font-size: 12.5px; }
button.icon { border-color: transparent; background: none; padding: 2px 8px; font-size: 15px; }
button[aria-pressed="true"] { background: var(--accent-soft); border-color: var(--accent); }
input[type="text"], input[type="search"], input[type="password"], input.short, select, textarea { border: 1px solid var(--line); background: var(--card); border-radius: 7px; padding: 4px 9px; min-height: 30px; min-width: 0; }
input[type="text"], input[type="search"], textarea { font-family: ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12.5px; }
input::placeholder { color: var(--faint); opacity: .85; }
input.short { width: 84px; }
textarea { width: 100%; resize: vertical; }
[aria-invalid="true"] { border-color: var(--bad) !important; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.line { display: flex; gap: 7px; align-items: center; flex-wrap: wrap; }
.entry .line { flex-wrap: nowrap; }
.line > input[type="text"] { flex: 1 1 120px; }
.chips { display: flex; gap: 6px; flex-wrap: wrap; }
.choice { display: inline-flex; }
.choice button { border-radius: 0; margin-left: -1px; }
.choice button:first-child { border-radius: 7px 0 0 7px; margin-left: 0; }
.choice button:last-child { border-radius: 0 7px 7px 0; }
.check { display: inline-flex; gap: 5px; align-items: center; white-space: nowrap; font-size: 13px; }
.check input { accent-color: var(--accent); margin: 0; }
.entry { display: grid; gap: 6px; }
.entry > label, .plan label { font-size: 12.5px; color: var(--faint); }
.error { color: var(--bad); background: var(--bad-soft); border-radius: 7px; padding: 6px 9px; white-space: pre-wrap; }
.pill { display: inline-flex; align-items: center; border: 0; border-radius: 99px; padding: 1px 9px; font-size: 12px; font-weight: 600; min-height: 22px; white-space: nowrap; background: var(--calm-soft); color: var(--text); }
.pill.good { background: var(--good-soft); color: var(--good); }
.pill.bad { background: var(--bad-soft); color: var(--bad); }
.pill.warn { background: var(--warn-soft); color: var(--warn); }
.badge { margin-left: 6px; border-radius: 99px; padding: 0 6px; font-size: 11px; background: var(--calm-soft); font-variant-numeric: tabular-nums; }
kbd { border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 5px; padding: 0 6px; font-size: 12px; background: var(--sunken); }

/* Head and frame. */
.head { display: flex; align-items: center; gap: 10px; padding: 8px 14px; background: var(--card); border-bottom: 1px solid var(--line); min-height: 48px; }
.head .address { border: 0; background: var(--sunken); font-size: 12.5px; overflow: hidden; text-overflow: ellipsis; flex: 0 1 auto; min-width: 60px; }
.head img { flex: none; }
.clock { font-variant-numeric: tabular-nums; }
.banner { padding: 7px 14px; font-size: 13px; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.banner.good { background: var(--good-soft); color: var(--good); } .banner.bad { background: var(--bad-soft); color: var(--bad); } .banner.warn { background: var(--warn-soft); color: var(--warn); }
main { flex: 1; min-height: 0; }
main.wide { display: grid; grid-template-columns: minmax(0, 1fr) minmax(330px, 400px); }
.left { display: flex; flex-direction: column; min-width: 0; min-height: 0; }
.side { display: flex; flex-direction: column; min-height: 0; min-width: 0; border-left: 1px solid var(--line); background: var(--card); }
.panel { overflow: auto; flex: 1; min-height: 0; }
main.one { overflow: auto; background: var(--card); display: flex; flex-direction: column; min-width: 0; }
.tabs { display: flex; overflow-x: auto; border-bottom: 1px solid var(--line); background: var(--card); padding: 0 6px; flex: none; scrollbar-width: none; }
.tabs button { border: 0; background: none; border-radius: 0; padding: 9px 10px; color: var(--faint); border-bottom: 2px solid transparent; flex: none; }
.tabs button:hover { color: var(--text); }
.tabs button[aria-selected="true"] { color: var(--text); font-weight: 600; border-bottom-color: var(--accent); }
.tabs button:focus-visible { outline-offset: -3px; }
.block { padding: 14px; border-bottom: 1px solid var(--line); display: grid; gap: 10px; }
.block:last-child { border-bottom: 0; }
.block > button { justify-self: start; }
.block > header { display: flex; align-items: baseline; gap: 8px; flex-wrap: wrap; }
.block > header .push { display: inline-flex; gap: 6px; }
.block > header .note { overflow-wrap: anywhere; }

/* Sessions. */
.timeline { padding: 8px 14px 10px; background: var(--card); border-bottom: 1px solid var(--line); overflow: auto; max-height: 42vh; flex: none; min-height: 84px; }
main.one .timeline { max-height: none; border: 0; flex: 1; }
.scale { display: grid; grid-template-columns: 26px minmax(0, 1fr) 250px; height: 18px; font-size: 11px; color: var(--faint); }
.scale .track { grid-column: 2; position: relative; background: none; height: 18px; }
.scale .track span { position: absolute; transform: translateX(-50%); white-space: nowrap; font-variant-numeric: tabular-nums; }
.scale .track span:first-child { transform: none; }
.session > header { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; padding: 5px 0 2px; }
.lane { display: grid; grid-template-columns: 26px minmax(0, 1fr) 250px; align-items: center; width: 100%; text-align: left; border: 0; background: none; padding: 0; min-height: 23px; border-radius: 5px; }
.lane:hover { background: var(--row); }
.lane .n { color: var(--faint); font-size: 12px; font-variant-numeric: tabular-nums; padding-left: 4px; }
.lane .says { font-size: 12px; color: var(--faint); padding-left: 10px; overflow: hidden; text-overflow: ellipsis; }
.lane .says em { font-style: normal; color: var(--text); font-variant-numeric: tabular-nums; }
.track { position: relative; height: 18px; background: linear-gradient(var(--line), var(--line)) 0 50% / 100% 1px no-repeat; }
.track > span { position: absolute; top: 50%; }
.wait { height: 0; border-top: 2px dotted var(--faint); transform: translateY(-50%); }
.try { height: 3px; min-width: 2px; background: var(--faint); transform: translateY(-50%); }
.try.status, .try.refused, .try.handshake, .try.timeout { background: var(--bad); }
.on { height: 10px; min-width: 3px; background: var(--accent); border-radius: 2px; transform: translateY(-50%); opacity: .85; }
.on.open { border-radius: 2px 99px 99px 2px; }
.stop { transform: translate(-50%, -50%); font-size: 12px; font-weight: 700; line-height: 1; color: var(--faint); }
.stop.fault { color: var(--fault); } .stop.bad { color: var(--bad); } .stop.server { color: var(--text); }
.fired { width: 0; height: 0; border: 5px solid transparent; border-top: 7px solid var(--fault); transform: translate(-50%, -11px); }
.more { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 12px; padding: 4px 8px 8px 30px; font-size: 12.5px; }
dt { color: var(--faint); }
.more dd, .detail dd { overflow-wrap: anywhere; }
.legend { display: flex; align-items: center; gap: 2px 14px; font-size: 11.5px; color: var(--faint); padding-top: 8px; flex-wrap: wrap; }
.legend > span { display: inline-flex; align-items: center; gap: 6px; }
.legend .key { width: 22px; transform: none; }
.legend .key.fired { width: 0; margin-top: 6px; }
.legend .stop { transform: none; font-style: normal; }

/* Messages. */
.messages { flex: 1; min-height: 0; display: flex; flex-direction: column; background: var(--card); min-width: 0; }
.filter { display: flex; gap: 8px; align-items: center; padding: 8px 14px; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
.find { display: flex; flex: 1 1 260px; min-width: 0; }
.find select { border-radius: 7px 0 0 7px; border-right: 0; }
.find input { flex: 1; border-radius: 0 7px 7px 0; }
.messages > .error, .messages > .hint { margin: 6px 14px; }
.split { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(0, 1fr); }
.split.both { grid-template-columns: minmax(0, 1fr) minmax(280px, 42%); }
.list { overflow: auto; position: relative; min-height: 0; font-size: 12.5px; contain: strict; }
.list:focus-visible { outline-offset: -2px; }
.list .nothing { padding: 24px 14px; position: absolute; top: 0; font-family: system-ui, sans-serif; font-size: 14px; }
.all { position: relative; }
.row { position: absolute; left: 0; right: 0; height: 26px; display: grid; grid-template-columns: 84px 20px 34px 128px minmax(0, 1fr) 64px; gap: 8px; align-items: center; padding: 0 14px; cursor: default; white-space: nowrap; }
.row > * { overflow: hidden; text-overflow: ellipsis; }
.row:hover { background: var(--row); }
.row.selected { background: var(--accent-soft); }
.row .at, .row .size { text-align: right; color: var(--faint); font-variant-numeric: tabular-nums; }
.row .who { color: var(--faint); text-align: right; }
.row .dir { text-align: center; font-weight: 700; }
.row.up .dir, .row.up .type { color: var(--up); } .row.down .dir, .row.down .type { color: var(--down); }
.row.up, .row.down { color: var(--text); }
.row.faint { opacity: .62; }
.row.event { color: var(--faint); background: var(--sunken); }
.row.event .dir { font-size: 9px; }
.row.event.fault, .row.event.fault .type { color: var(--fault); }
.row.event.divergence, .row.event.gap { color: var(--bad); }
.row.event.finished, .row.event.connected { color: var(--good); }
.row.event.mark { color: var(--warn); }
.row.event.selected { background: var(--accent-soft); }
.both .row { grid-template-columns: 84px 20px minmax(0, 1fr); }
.both .row .type, .both .row .who, .both .row .size { display: none; }
.detail { border-left: 1px solid var(--line); min-width: 0; min-height: 0; display: flex; flex-direction: column; }
.detail > header { display: flex; gap: 8px; align-items: center; padding: 7px 12px; border-bottom: 1px solid var(--line); }
.detail .body { overflow: auto; padding: 12px; display: grid; gap: 12px; align-content: start; }
.detail dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; font-size: 12.5px; }
.whole { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: 12.5px; white-space: pre-wrap; overflow-wrap: anywhere; }
.make { display: flex; gap: 6px; flex-wrap: wrap; align-items: center; }
.fields { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: 12.5px; background: var(--sunken); border: 1px solid var(--line); border-radius: 8px; padding: 9px 11px; overflow-wrap: anywhere; }
.tree { padding-left: 17px; border-left: 1px solid var(--line); margin-left: 5px; }
.fold { border: 0; background: none; padding: 0 4px 0 0; min-height: 0; color: var(--faint); font-size: 11px; }
.fields .m { color: var(--accent); } .fields .i, .fields .p { color: var(--faint); } .fields .s { color: var(--good); white-space: pre-wrap; } .fields .n, .fields .k { color: var(--up); }

/* The side. */
.rules { display: grid; gap: 8px; }
.rule { border: 1px solid var(--line); border-radius: 9px; padding: 7px 9px; display: grid; gap: 4px; }
.rule .line { flex-wrap: nowrap; }
.rule code { flex: 1; min-width: 0; }
.rule .times { font-variant-numeric: tabular-nums; font-size: 12.5px; color: var(--faint); font-weight: 600; padding: 0 4px; border-radius: 5px; }
.rule.has-fired .times { color: var(--fault); animation: flash 1.2s ease-out; }
@keyframes flash { from { background: var(--fault); color: var(--card); } }
.plan summary, details summary { cursor: pointer; color: var(--faint); font-size: 13px; }
.plan form { display: grid; gap: 8px; padding-top: 8px; justify-items: start; }
.connections { display: grid; gap: 8px; }
.connections > li { border: 1px solid var(--line); border-radius: 9px; }
.connections > li.opened { border-color: var(--faint); }
.row-button { display: flex; gap: 9px; align-items: baseline; width: 100%; border: 0; background: none; text-align: left; padding: 7px 10px; overflow: hidden; }
.row-button .push { overflow: hidden; text-overflow: ellipsis; }
.acts { display: grid; gap: 11px; padding: 8px 10px 12px; border-top: 1px solid var(--line); }
.acts form.line { flex-wrap: nowrap; }
.acts form.line input, .acts form.line select { flex: 1 1 60px; width: 60px; }
.acts form.line label { min-width: 76px; font-size: 12.5px; color: var(--faint); }
.acts form.line button { margin-left: auto; }
.plain { display: grid; gap: 10px; }
.stepped { display: grid; gap: 8px; }
.block > .line .clock { font-size: 18px; }
.marks { display: grid; gap: 3px; font-size: 13px; }
.verdict { font-size: 20px; font-weight: 700; }
.verdict.good { color: var(--good); } .verdict.bad { color: var(--bad); }
.reasons { display: grid; gap: 6px; }
.reasons pre, details pre { background: var(--sunken); border: 1px solid var(--line); border-radius: 8px; padding: 8px 10px; margin-top: 6px; }
details pre { white-space: pre; overflow-x: auto; }
.policy { border: 1px solid var(--line); border-radius: 9px; padding: 8px 10px; display: grid; gap: 8px; }
.judgement { display: grid; gap: 4px; justify-items: start; }
.judgement dl, .totals { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 12px; font-size: 13px; }
.judgement dd { overflow-wrap: anywhere; }
.totals dd { font-variant-numeric: tabular-nums; }
.plot { min-height: 190px; min-width: 0; overflow: hidden; }

/* Above all. */
.veil { position: fixed; inset: 0; background: #0b1016b3; display: grid; place-items: center; padding: 16px; z-index: 10; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 22px; width: min(420px, 100%); display: grid; gap: 12px; box-shadow: var(--shadow); max-height: 100%; overflow: auto; }
.card .primary { justify-self: end; }
.keys { display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px; }
.toasts { position: fixed; bottom: 14px; left: 14px; right: 14px; display: grid; gap: 8px; justify-items: center; pointer-events: none; z-index: 11; }
.toast { pointer-events: auto; white-space: pre-wrap; text-align: left; max-width: 640px; box-shadow: var(--shadow); overflow-wrap: anywhere; }
.toast.good { background: var(--good-soft); color: var(--good); border-color: transparent; }
.toast.bad { background: var(--bad-soft); color: var(--bad); border-color: transparent; }

@media (max-width: 1180px) {
  .split.both { grid-template-columns: minmax(0, 1fr); grid-template-rows: minmax(120px, 1fr) minmax(0, 1fr); }
  .split.both .both .row { grid-template-columns: 84px 20px minmax(0, 1fr); }
.both .row .type, .both .row .who, .both .row .size { display: none; }
.detail { border-left: 0; border-top: 1px solid var(--line); }
}
@media (max-width: 820px) {
  .head { gap: 8px; padding: 6px 10px; flex-wrap: wrap; }
  .head h1, .head .clock { display: none; }
  .head .address { order: 9; flex: 1 0 100%; text-align: left; }
  .filter { padding: 8px 10px; }
  .row, .both .row { grid-template-columns: 62px 14px minmax(0, 1fr); padding: 0 10px; gap: 6px; }
  .row .who, .row .size, .row .type { display: none; }
  .filter .push { margin-left: 0; }
  .timeline { padding: 8px 10px; }
  .scale, .lane { grid-template-columns: 22px minmax(0, 1fr) 112px; }
  .block { padding: 12px 10px; }
  .entry .line button { min-height: 34px; }
  button, input, select { min-height: 34px; }
  input[type="text"], input[type="search"], textarea { font-size: 16px; }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }

"""###),
        ("rates.js", ###"""
// How many messages passed, over the time of the run.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { run } from "./store.js";
import { html, Section } from "./ui.js";
import { bytes, count, time } from "./text.js";

function data(rates) {
  const size = Math.max(rates.toServer.length, rates.toClient.length, 2);
  const times = [];
  const up = [];
  const down = [];
  for (let i = 0; i < size; i++) {
    times.push((i * rates.span) / 1000);
    up.push(((rates.toServer[i] ?? 0) * 1000) / rates.span);
    down.push(((rates.toClient[i] ?? 0) * 1000) / rates.span);
  }
  return [times, up, down];
}

function Plot() {
  const box = useRef(null);
  const plot = useRef(null);
  const current = run.value;
  const version = current.version.value;
  useEffect(() => {
    const style = getComputedStyle(box.current);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "11px system-ui" };
    const made = new uPlot({
      width: box.current.clientWidth, height: 190, scales: { x: { time: false } }, legend: { show: false }, cursor: { y: false },
      axes: [{ ...axis, values: (_, v) => v.map((s) => `${s}s`) }, { ...axis, size: 52, values: (_, v) => v.map((n) => `${n}/s`) }],
      series: [{}, { stroke: colour("--up"), width: 1.5, fill: colour("--up-soft") }, { stroke: colour("--down"), width: 1.5, fill: colour("--down-soft") }],
    }, data(current.rates), box.current);
    plot.current = made;
    const watch = new ResizeObserver(() => box.current && made.setSize({ width: box.current.clientWidth, height: 190 }));
    watch.observe(box.current);
    return () => (watch.disconnect(), made.destroy(), (plot.current = null));
  }, [current]);
  useEffect(() => {
    const timer = setTimeout(() => plot.current?.setData(data(current.rates)), 100);
    return () => clearTimeout(timer);
  }, [version]);
  return html`<div class="plot" ref=${box} role="img" aria-label="messages a second, of the client and of the server"></div>`;
}

export function Rates() {
  const totals = run.value.totals.value;
  run.value.version.value;
  const span = run.value.lastTime / 1000;
  const each = (n) => (span > 0 ? `${count(n / span)}/s` : "");
  return html`<${Section} title="Rates" note="messages a second of the client's time">
    <${Plot} />
    <dl class="totals">
      <dt><span class="up">↑</span> client says</dt><dd>${count(totals.toServer)} <span class="note">${each(totals.toServer)}</span></dd>
      <dt><span class="down">↓</span> server says</dt><dd>${count(totals.toClient)} <span class="note">${each(totals.toClient)}</span></dd>
      <dt>bytes</dt><dd>${bytes(totals.bytes)}</dd>
      <dt>time</dt><dd>${time(run.value.lastTime)}</dd>
      <dt>faults</dt><dd>${count(totals.faults)}</dd>
      <dt>divergences</dt><dd>${count(totals.divergences)}</dd>
      ${totals.lost > 0 && html`<dt>events lost</dt><dd>${count(totals.lost)}</dd>`}
    </dl>
  <//>`;
}

"""###),
        ("rules.js", ###"""
// The rules of the run: how often each has fired, and other ones.

import { useRef, useState } from "preact/hooks";
import * as api from "./api.js";
import { attempt, run } from "./store.js";
import { begun } from "./messages.js";
import { html, Nothing, Section } from "./ui.js";
import { line, selectorWord } from "./text.js";

const words = ["reset after", "close(1012) after", "disconnect after", "drop on", "delay(2s) on", "duplicate on", "stall(both, 30s) after", "truncate(2) + reset on"];
const others = ["respond(503) on connect[retry=1..2]", "refuse on accept[2..4]", "outage(3s) since run=5s", "respond(401) on negotiate", "mute after handshake", "throttle(20kB/s) on accept", "downgrade(ws) on connect[1]"];

const path = (name) => run.value.path(`/v1/faults/${encodeURIComponent(name)}`);

/** Takes the answer for what the rules are now. */
async function changed(answer) {
  run.value.faults.now();
  run.value.status.soon();
  return answer;
}

function Rule({ rule }) {
  const [isEdited, setEdited] = useState(false);
  const [error, setError] = useState(null);
  const field = useRef(null);
  async function save(event) {
    event.preventDefault();
    try {
      const text = field.current.value.trim();
      // A rule without a name of its own is called by its text: another text is another rule.
      if (rule.name !== rule.fault) await api.call("PUT", path(rule.name), { fault: text, optional: rule.optional });
      else if (text !== rule.fault) {
        await api.post(run.value.path("/v1/faults"), { fault: text, optional: rule.optional });
        await api.call("DELETE", path(rule.name));
      }
      await changed();
      setEdited(false);
      setError(null);
    } catch (failure) {
      setError(failure.message);
    }
  }
  return html`<li class=${`rule ${rule.fired ? "has-fired" : ""}`}>
    ${isEdited
      ? html`<form onSubmit=${save} class="line"><input ref=${field} type="text" defaultValue=${rule.fault} aria-label="the rule" spellcheck=${false} onKeyDown=${(e) => e.key === "Escape" && (e.stopPropagation(), setEdited(false))} />
          <button type="submit" class="primary">Save</button><button type="button" onClick=${() => setEdited(false)}>Cancel</button></form>`
      : html`<div class="line">
          <code><bdi>${line(rule.fault)}</bdi></code>
          <span class="times" key=${rule.fired} title="how often it has fired" aria-label=${`fired ${rule.fired} times`}>${rule.fired}×</span>
          <button type="button" class="small" onClick=${() => setEdited(true)}>Edit</button>
          <button type="button" class="small" aria-label=${`remove ${rule.name}`} title="remove"
            onClick=${() => attempt("removed", () => api.call("DELETE", path(rule.name)).then(changed))}>✕</button>
        </div>`}
    ${!isEdited && (rule.name !== rule.fault || rule.optional) && html`<p class="note">${rule.name !== rule.fault ? line(rule.name) : ""}${rule.optional ? " (optional)" : ""}</p>`}
    ${error && html`<p class="error" role="alert">${error}</p>`}
  </li>`;
}

function Add() {
  const [error, setError] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const text = begun.value;
  async function submit(event) {
    event.preventDefault();
    if (!text.trim() || isBusy) return;
    setBusy(true);
    try {
      await changed(await api.post(run.value.path("/v1/faults"), { fault: text.trim() }));
      begun.value = "";
      setError(null);
    } catch (failure) {
      setError(failure.message);
    }
    setBusy(false);
  }
  const labels = [...run.value.labels.keys()].slice(0, 40);
  return html`<form class="entry" onSubmit=${submit}>
    <label for="rule">Add a rule</label>
    <div class="line">
      <input id="rule" type="text" value=${text} placeholder="reset after ReceiveMessage[3]" list="rules-known" spellcheck=${false} autocomplete="off"
        autocapitalize="off" aria-invalid=${error !== null} onInput=${(e) => ((begun.value = e.target.value), setError(null))} />
      <button type="submit" class="primary" disabled=${isBusy}>Add</button>
    </div>
    <datalist id="rules-known">
      ${labels.slice(0, 12).flatMap((l) => words.map((w) => html`<option value=${`${w} ${selectorWord(l)}`} />`))}
      ${others.map((o) => html`<option value=${o} />`)}
    </datalist>
    ${error ? html`<p class="error" role="alert">${error}</p>` : html`<p class="hint">WHAT after, before or on WHICH: a message's label, or <code>connect</code>, <code>upgrade</code>, <code>message</code> … (<code>wiretape help faults</code>)</p>`}
    <div class="chips">${words.slice(0, 5).map((w) => html`<button type="button" class="small"
      onClick=${() => ((begun.value = `${w} ${text.includes(" ") ? text.split(" ").slice(-1)[0] : selectorWord(labels[0] ?? "message")}`), document.getElementById("rule").focus())}>${w.split(" ")[0]}</button>`)}</div>
  </form>`;
}

function Plan({ rules }) {
  const field = useRef(null);
  const [error, setError] = useState(null);
  async function submit(event) {
    event.preventDefault();
    const text = field.current.value.trim();
    // A plan in JSON, or a rule a line.
    const body = /^[[{"]/.test(text) ? text : JSON.stringify({ rules: text.split("\n").map((l) => l.trim()).filter(Boolean) });
    try {
      await changed(await api.call("PUT", run.value.path("/v1/faults"), body));
      setError(null);
    } catch (failure) {
      setError(failure.message);
    }
  }
  return html`<details class="plan"><summary>Replace the whole plan</summary>
    <form onSubmit=${submit}>
      <label for="plan">A rule a line, or a plan in JSON. It is taken as a whole or not at all; counters begin at 0.</label>
      <textarea id="plan" ref=${field} rows="5" spellcheck=${false} defaultValue=${rules.map((r) => r.fault).join("\n")}></textarea>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <button type="submit" class="primary">Replace</button>
    </form></details>`;
}

export function Rules() {
  const list = run.value.faults.value.value;
  const rules = list?.rules ?? [];
  return html`<${Section} title="Rules" note=${list?.seed !== null && list?.seed !== undefined ? `seed ${list.seed}` : ""}
    actions=${rules.length > 0 && html`<button type="button" class="small" title="all counters at 0"
      onClick=${() => attempt("all counters are at 0", () => api.post(run.value.path("/v1/faults/reset")).then(changed))}>Reset counters</button>
      <button type="button" class="small" onClick=${() => attempt("all rules are removed", () => api.call("DELETE", run.value.path("/v1/faults")).then(changed))}>Remove all</button>`}>
    <${Add} />
    ${rules.length ? html`<ul class="rules">${rules.map((r) => html`<${Rule} key=${r.name} rule=${r} />`)}</ul>` : html`<${Nothing}>No rule: nothing is broken on purpose.<//>`}
    <${Plan} key=${rules.map((r) => r.fault).join("\n")} rules=${rules} />
  <//>`;
}

"""###),
        ("steps.js", ###"""
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

"""###),
        ("store.js", ###"""
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
    this.least = least;
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
    for (const one of this.asks) one.soon();
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
    const ends = new Map();
    const finished = new Set();
    const fired = new Map();
    for (const one of this.rows) {
      const key = `${one.session}.${one.run}`;
      if (one.event === "finished") finished.add(key);
      if (one.event === "disconnected") ends.set(key, JSON.parse(one.text));
      if (one.event === "fault") {
        const { rule } = JSON.parse(one.text);
        fired.set(rule, (fired.get(rule) ?? 0) + 1);
      }
    }
    this.connections.value.value = [];
    const sessions = this.sessions.value.value ?? [];
    this.sessions.value.value = sessions.map((session) => {
      const key = `${session.session}.${session.run}`;
      const last = session.attempts.at(-1);
      const end = ends.get(key);
      const isOpen = last && last.ended === null;
      const ended = isOpen && end ? { t_ms: end.t_ms, by: end.by, how: end.how, reason: end.reason ?? undefined } : null;
      return {
        ...session,
        // Counts of an answer that was given before the end say nothing of the end.
        isOld: isOpen,
        paused: null,
        finished: session.finished || finished.has(key),
        attempts: ended ? [...session.attempts.slice(0, -1), { ...last, outcome: last.outcome ?? end.outcome, ended }] : session.attempts,
      };
    });
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

"""###),
        ("text.js", ###"""
// Text that came from outside, made fit to be looked at. The page never turns text into markup: it all goes into text nodes.

/** Controls and the marks that turn the direction of writing, as their numbers: what is shown is what is there. */
const harmful = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const spelled = (c) => `\\u{${c.charCodeAt(0).toString(16)}}`;

/** One line of text. */
export const line = (text) => String(text).replace(harmful, spelled);

/** Text of several lines: line feeds and tabs stay. */
export const block = (text) => String(text).replace(harmful, (c) => (c === "\n" || c === "\t" ? c : spelled(c)));

/** The beginning of a text, and how long it is where it goes on. */
export function cut(text, most) {
  if (text.length <= most) return line(text);
  return `${line(text.slice(0, most))} … (${count(text.length)} characters)`;
}

export const count = (number) => Math.round(number).toLocaleString("en-US");

export const bytes = (number) =>
  number < 1000 ? `${number} B` : number < 1e6 ? `${(number / 1000).toFixed(1)} kB` : `${(number / 1e6).toFixed(1)} MB`;

/** Milliseconds as people read them: 12.3 ms, 4.56 s, 2 m 03 s. */
export function time(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return `${ms.toFixed(1)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} m ${String(Math.floor((ms % 60_000) / 1000)).padStart(2, "0")} s`;
}

/** The moment of a row: always of one width. */
export function stamp(ms) {
  const seconds = Math.floor(ms / 1000);
  const rest = String(Math.floor(ms % 1000)).padStart(3, "0");
  if (seconds < 60) return `${seconds}.${rest}`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}.${rest}`;
}

/** A word of the selector language as it has to stand there. */
export const selectorWord = (word) =>
  /^[A-Za-z_][A-Za-z0-9_.:/-]*$/.test(word) ? word : `"${word.replace(/[\\"]/g, (c) => "\\" + c)}"`;

"""###),
        ("timeline.js", ###"""
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

"""###),
        ("ui.js", ###"""
// Parts that every panel is made of.

import { h } from "preact";
import { useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import htm from "htm";

export const html = htm.bind(h);

/** The panel that is shown where there is room for one, and at the side where there is room for more. */
export const panel = signal("rules");
/** On a narrow screen: the panel that has it. */
export const narrow = signal("messages");

export function show(name) {
  narrow.value = name;
  if (name !== "messages" && name !== "timeline") panel.value = name;
}

/** A form that does something, says when it is refused, and is emptied when it was done. */
export function Entry({ label, button, placeholder, list, id, onEnter, children, value, hint }) {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const field = useRef(null);
  async function submit(event) {
    event.preventDefault();
    const text = field.current.value.trim();
    if (!text || busy) return;
    setBusy(true);
    try {
      await onEnter(text);
      setError(null);
      if (field.current) field.current.value = "";
    } catch (failure) {
      setError(failure.message);
    }
    setBusy(false);
  }
  return html`<form class="entry" onSubmit=${submit}>
    <label for=${id}>${label}</label>
    <div class="line">
      <input id=${id} ref=${field} type="text" placeholder=${placeholder} list=${list} autocomplete="off" spellcheck=${false}
        autocapitalize="off" aria-invalid=${error !== null} aria-describedby=${error ? `${id}-error` : undefined}
        defaultValue=${value} onInput=${() => error && setError(null)} />
      <button type="submit" class="primary" disabled=${busy}>${button}</button>
    </div>
    ${error && html`<p class="error" role="alert" id=${`${id}-error`}>${error}</p>`}
    ${hint && !error && html`<p class="hint">${hint}</p>`}
    ${children}
  </form>`;
}

export function Section({ title, note, actions, children }) {
  return html`<section class="block">
    <header><h3>${title}</h3>${note && html`<span class="note">${note}</span>`}<span class="push">${actions}</span></header>
    ${children}
  </section>`;
}

export const Pill = ({ kind, children, title }) => html`<span class=${`pill ${kind}`} title=${title}>${children}</span>`;

export const Nothing = ({ children }) => html`<p class="nothing">${children}</p>`;

"""###),
        ("vendor/LICENSE-htm", ###"""

                                 Apache License
                           Version 2.0, January 2004
                        http://www.apache.org/licenses/

   TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION

   1. Definitions.

      "License" shall mean the terms and conditions for use, reproduction,
      and distribution as defined by Sections 1 through 9 of this document.

      "Licensor" shall mean the copyright owner or entity authorized by
      the copyright owner that is granting the License.

      "Legal Entity" shall mean the union of the acting entity and all
      other entities that control, are controlled by, or are under common
      control with that entity. For the purposes of this definition,
      "control" means (i) the power, direct or indirect, to cause the
      direction or management of such entity, whether by contract or
      otherwise, or (ii) ownership of fifty percent (50%) or more of the
      outstanding shares, or (iii) beneficial ownership of such entity.

      "You" (or "Your") shall mean an individual or Legal Entity
      exercising permissions granted by this License.

      "Source" form shall mean the preferred form for making modifications,
      including but not limited to software source code, documentation
      source, and configuration files.

      "Object" form shall mean any form resulting from mechanical
      transformation or translation of a Source form, including but
      not limited to compiled object code, generated documentation,
      and conversions to other media types.

      "Work" shall mean the work of authorship, whether in Source or
      Object form, made available under the License, as indicated by a
      copyright notice that is included in or attached to the work
      (an example is provided in the Appendix below).

      "Derivative Works" shall mean any work, whether in Source or Object
      form, that is based on (or derived from) the Work and for which the
      editorial revisions, annotations, elaborations, or other modifications
      represent, as a whole, an original work of authorship. For the purposes
      of this License, Derivative Works shall not include works that remain
      separable from, or merely link (or bind by name) to the interfaces of,
      the Work and Derivative Works thereof.

      "Contribution" shall mean any work of authorship, including
      the original version of the Work and any modifications or additions
      to that Work or Derivative Works thereof, that is intentionally
      submitted to Licensor for inclusion in the Work by the copyright owner
      or by an individual or Legal Entity authorized to submit on behalf of
      the copyright owner. For the purposes of this definition, "submitted"
      means any form of electronic, verbal, or written communication sent
      to the Licensor or its representatives, including but not limited to
      communication on electronic mailing lists, source code control systems,
      and issue tracking systems that are managed by, or on behalf of, the
      Licensor for the purpose of discussing and improving the Work, but
      excluding communication that is conspicuously marked or otherwise
      designated in writing by the copyright owner as "Not a Contribution."

      "Contributor" shall mean Licensor and any individual or Legal Entity
      on behalf of whom a Contribution has been received by Licensor and
      subsequently incorporated within the Work.

   2. Grant of Copyright License. Subject to the terms and conditions of
      this License, each Contributor hereby grants to You a perpetual,
      worldwide, non-exclusive, no-charge, royalty-free, irrevocable
      copyright license to reproduce, prepare Derivative Works of,
      publicly display, publicly perform, sublicense, and distribute the
      Work and such Derivative Works in Source or Object form.

   3. Grant of Patent License. Subject to the terms and conditions of
      this License, each Contributor hereby grants to You a perpetual,
      worldwide, non-exclusive, no-charge, royalty-free, irrevocable
      (except as stated in this section) patent license to make, have made,
      use, offer to sell, sell, import, and otherwise transfer the Work,
      where such license applies only to those patent claims licensable
      by such Contributor that are necessarily infringed by their
      Contribution(s) alone or by combination of their Contribution(s)
      with the Work to which such Contribution(s) was submitted. If You
      institute patent litigation against any entity (including a
      cross-claim or counterclaim in a lawsuit) alleging that the Work
      or a Contribution incorporated within the Work constitutes direct
      or contributory patent infringement, then any patent licenses
      granted to You under this License for that Work shall terminate
      as of the date such litigation is filed.

   4. Redistribution. You may reproduce and distribute copies of the
      Work or Derivative Works thereof in any medium, with or without
      modifications, and in Source or Object form, provided that You
      meet the following conditions:

      (a) You must give any other recipients of the Work or
          Derivative Works a copy of this License; and

      (b) You must cause any modified files to carry prominent notices
          stating that You changed the files; and

      (c) You must retain, in the Source form of any Derivative Works
          that You distribute, all copyright, patent, trademark, and
          attribution notices from the Source form of the Work,
          excluding those notices that do not pertain to any part of
          the Derivative Works; and

      (d) If the Work includes a "NOTICE" text file as part of its
          distribution, then any Derivative Works that You distribute must
          include a readable copy of the attribution notices contained
          within such NOTICE file, excluding those notices that do not
          pertain to any part of the Derivative Works, in at least one
          of the following places: within a NOTICE text file distributed
          as part of the Derivative Works; within the Source form or
          documentation, if provided along with the Derivative Works; or,
          within a display generated by the Derivative Works, if and
          wherever such third-party notices normally appear. The contents
          of the NOTICE file are for informational purposes only and
          do not modify the License. You may add Your own attribution
          notices within Derivative Works that You distribute, alongside
          or as an addendum to the NOTICE text from the Work, provided
          that such additional attribution notices cannot be construed
          as modifying the License.

      You may add Your own copyright statement to Your modifications and
      may provide additional or different license terms and conditions
      for use, reproduction, or distribution of Your modifications, or
      for any such Derivative Works as a whole, provided Your use,
      reproduction, and distribution of the Work otherwise complies with
      the conditions stated in this License.

   5. Submission of Contributions. Unless You explicitly state otherwise,
      any Contribution intentionally submitted for inclusion in the Work
      by You to the Licensor shall be under the terms and conditions of
      this License, without any additional terms or conditions.
      Notwithstanding the above, nothing herein shall supersede or modify
      the terms of any separate license agreement you may have executed
      with Licensor regarding such Contributions.

   6. Trademarks. This License does not grant permission to use the trade
      names, trademarks, service marks, or product names of the Licensor,
      except as required for reasonable and customary use in describing the
      origin of the Work and reproducing the content of the NOTICE file.

   7. Disclaimer of Warranty. Unless required by applicable law or
      agreed to in writing, Licensor provides the Work (and each
      Contributor provides its Contributions) on an "AS IS" BASIS,
      WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or
      implied, including, without limitation, any warranties or conditions
      of TITLE, NON-INFRINGEMENT, MERCHANTABILITY, or FITNESS FOR A
      PARTICULAR PURPOSE. You are solely responsible for determining the
      appropriateness of using or redistributing the Work and assume any
      risks associated with Your exercise of permissions under this License.

   8. Limitation of Liability. In no event and under no legal theory,
      whether in tort (including negligence), contract, or otherwise,
      unless required by applicable law (such as deliberate and grossly
      negligent acts) or agreed to in writing, shall any Contributor be
      liable to You for damages, including any direct, indirect, special,
      incidental, or consequential damages of any character arising as a
      result of this License or out of the use or inability to use the
      Work (including but not limited to damages for loss of goodwill,
      work stoppage, computer failure or malfunction, or any and all
      other commercial damages or losses), even if such Contributor
      has been advised of the possibility of such damages.

   9. Accepting Warranty or Additional Liability. While redistributing
      the Work or Derivative Works thereof, You may choose to offer,
      and charge a fee for, acceptance of support, warranty, indemnity,
      or other liability obligations and/or rights consistent with this
      License. However, in accepting such obligations, You may act only
      on Your own behalf and on Your sole responsibility, not on behalf
      of any other Contributor, and only if You agree to indemnify,
      defend, and hold each Contributor harmless for any liability
      incurred by, or claims asserted against, such Contributor by reason
      of your accepting any such warranty or additional liability.

   END OF TERMS AND CONDITIONS

   APPENDIX: How to apply the Apache License to your work.

      To apply the Apache License to your work, attach the following
      boilerplate notice, with the fields enclosed by brackets "[]"
      replaced with your own identifying information. (Don't include
      the brackets!)  The text should be enclosed in the appropriate
      comment syntax for the file format. We also recommend that a
      file or class name and description of purpose be included on the
      same "printed page" as the copyright notice for easier
      identification within third-party archives.

   Copyright 2018 Google Inc.

   Licensed under the Apache License, Version 2.0 (the "License");
   you may not use this file except in compliance with the License.
   You may obtain a copy of the License at

       http://www.apache.org/licenses/LICENSE-2.0

   Unless required by applicable law or agreed to in writing, software
   distributed under the License is distributed on an "AS IS" BASIS,
   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
   See the License for the specific language governing permissions and
   limitations under the License.
"""###),
        ("vendor/LICENSE-preact", ###"""
The MIT License (MIT)

Copyright (c) 2015-present Jason Miller

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

"""###),
        ("vendor/LICENSE-preact-signals", ###"""
The MIT License (MIT)

Copyright (c) 2022-present Preact Team

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

"""###),
        ("vendor/LICENSE-preact-signals-core", ###"""
The MIT License (MIT)

Copyright (c) 2022-present Preact Team

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

"""###),
        ("vendor/LICENSE-uplot", ###"""
The MIT License (MIT)

Copyright (c) 2022 Leon Sorokin

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
"""###),
        ("vendor/NOTICE.md", ###"""
# Licences of what the page brings

Files of this folder are unmodified builds from npm. They are in the program, which serves them to the browser.

| file | package | version | licence |
|---|---|---|---|
| `preact.js`, `preact-hooks.js` | preact | 11.2.0 | MIT, `LICENSE-preact` |
| `htm.js` | htm | 3.1.1 | Apache-2.0, `LICENSE-htm` |
| `signals.js` | @preact/signals | 2.11.4 | MIT, `LICENSE-preact-signals` |
| `signals-core.js` | @preact/signals-core | 1.14.5 | MIT, `LICENSE-preact-signals-core` |
| `uplot.js`, `uplot.css` | uplot | 1.6.32 | MIT, `LICENSE-uplot` |

"""###),
        ("vendor/htm.js", ###"""
var n=function(t,s,r,e){var u;s[0]=0;for(var h=1;h<s.length;h++){var p=s[h++],a=s[h]?(s[0]|=p?1:2,r[s[h++]]):s[++h];3===p?e[0]=a:4===p?e[1]=Object.assign(e[1]||{},a):5===p?(e[1]=e[1]||{})[s[++h]]=a:6===p?e[1][s[++h]]+=a+"":p?(u=t.apply(a,n(t,a,r,["",null])),e.push(u),a[0]?s[0]|=2:(s[h-2]=0,s[h]=u)):e.push(a)}return e},t=new Map;export default function(s){var r=t.get(this);return r||(r=new Map,t.set(this,r)),(r=n(this,r.get(s)||(r.set(s,r=function(n){for(var t,s,r=1,e="",u="",h=[0],p=function(n){1===r&&(n||(e=e.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?h.push(0,n,e):3===r&&(n||e)?(h.push(3,n,e),r=2):2===r&&"..."===e&&n?h.push(4,n,0):2===r&&e&&!n?h.push(5,0,!0,e):r>=5&&((e||!n&&5===r)&&(h.push(r,0,e,s),r=6),n&&(h.push(r,n,0,s),r=6)),e=""},a=0;a<n.length;a++){a&&(1===r&&p(),p(a));for(var l=0;l<n[a].length;l++)t=n[a][l],1===r?"<"===t?(p(),h=[h],r=3):e+=t:4===r?"--"===e&&">"===t?(r=1,e=""):e=t+e[0]:u?t===u?u="":e+=t:'"'===t||"'"===t?u=t:">"===t?(p(),r=1):r&&("="===t?(r=5,s=e,e=""):"/"===t&&(r<5||">"===n[a][l+1])?(p(),3===r&&(h=h[0]),r=h,(h=h[0]).push(2,0,r),r=0):" "===t||"\t"===t||"\n"===t||"\r"===t?(p(),r=2):e+=t),3===r&&"!--"===e&&(r=4,h=h[0])}return p(),h}(s)),r),arguments,[])).length>1?r:r[0]}

"""###),
        ("vendor/preact-hooks.js", ###"""
import{options as n}from"preact";var t,r,u,i,o=Object.is,f=0,c=[],e=[],a=n,v=a.__b,l=a.__r,m=a.diffed,h=a.__c,s=a.unmount,p=a.__;function y(n,t){a.__h&&a.__h(r,n,f||t),f=0;var u=r.__H||(r.__H={__:[],__h:[]});return n>=u.__.length&&u.__.push({}),u.__[n]}function d(n){return f=1,_(G,n)}function _(n,u,i){var f=y(t++,2);if(f.t=n,!f.__c&&(f.__=[i?i(u):G(void 0,u),function(n){var t=(f.__N||f.__)[0],r=f.t(t,n);o(t,r)||(f.__N=[r,f.__[1]],f.__c.setState({}))}],f.__c=r,!r.__f)){r.__f=!0;var c=r.shouldComponentUpdate;r.shouldComponentUpdate=function(n,t,r){var u=this.__H;if(!u)return!0;var i=!1,f=this.props!=n;if(u.__.some(function(n){n.__N&&(i=!0,o(n.__[0],n.__N[0])||(f=!0))}),c){var e=c.call(this,n,t,r);return i?e||f:e}return!i||f}}return f.__}function A(n,u){var i=y(t++,3);!a.__s&&E(i.__H,u)&&(i.__P=!0,i.__=n,i.u=u,r.__H.__h.push(i))}function F(n,u){var i=y(t++,4);!a.__s&&E(i.__H,u)&&(i.__P=!1,i.__=n,i.u=u,r.__h.push(i))}function T(n){return f=5,w(function(){return{current:n}},[])}function q(n,t,r){f=6,F(function(){if("function"==typeof n){var r=n(t());return function(){n(null),"function"==typeof r&&r()}}if(n)return n.current=t(),function(){return n.current=null}},null==r?r:r.concat(n))}function w(n,r){var u=y(t++,7);return E(u.__H,r)&&(u.__=n(),u.__H=r),u.__}function b(n,t){return f=8,w(function(){return n},t)}function j(n){var u=r.context[n.__c],i=y(t++,9);return i.c=n,u?(null==i.__&&(i.__=!0,u.sub(r)),u.props.value):n.__}function x(n,t){a.useDebugValue&&a.useDebugValue(t?t(n):n)}function O(n){var u=y(t++,10),i=d();return u.__=n,r.componentDidCatch||(r.componentDidCatch=function(n,t){u.__&&u.__(n,t),i[1](n)}),[i[0],function(){return i[1]()}]}function P(){var n=y(t++,11);if(!n.__){for(var u=r.__v;!u.__m&&u.__;)u=u.__;var i=u.__m||(u.__m=[0,0]);n.__="P"+i[0]+"-"+i[1]++}return n.__}function g(){var n;do{for(;n=e.shift();)try{C(n)}catch(t){a.__e(t,{__:(n=n.__P)&&n.__v})}for(;n=c.shift();){var t=n.__H;if(n.__P&&t)try{t.__h.some(C),t.__h.some(D),t.__h=[]}catch(r){t.__h=[],a.__e(r,n.__v)}}}while(e.length)}a.__b=function(n){r=null,v&&v(n)},a.__=function(n,t){n&&t.__k&&t.__k.__m&&(n.__m=t.__k.__m),p&&p(n,t)},a.__r=function(n){l&&l(n),t=0;var i=(r=n.__c).__H;i&&(u==r?r.__h=[]:(i.__h.some(C),i.__h.some(D),t=0),i.__h=[],i.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),u=r},a.diffed=function(n){m&&m(n);var t=n.__c;t&&t.__H&&(t.__H.__h.length&&B(c.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),u=r=null},a.__c=function(n,t){t.some(function(n){try{n.__h.some(C),n.__h=n.__h.filter(function(n){return!n.__||D(n)})}catch(t){n.__h=[function(){throw t}]}}),h&&h(n,t)},a.unmount=function(n){s&&s(n);var t,r,u=n.__c;u&&u.__H&&(u.__H.__.some(function(u){try{if(u.__P&&u.__c){if(void 0===r){for(r=n.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}u.__P=r,B(e.push(u))}else C(u)}catch(n){t=n}}),u.__H=void 0,t&&a.__e(t,u.__v))};var k="function"==typeof requestAnimationFrame;function z(n){var t,r=function(){clearTimeout(u),k&&cancelAnimationFrame(t),setTimeout(n)},u=setTimeout(r,35);k&&(t=requestAnimationFrame(r))}function B(n){1!=n&&i==a.requestAnimationFrame||((i=a.requestAnimationFrame)||z)(g)}function C(n){var t=r,u=n.__c;"function"==typeof u&&(n.__c=void 0,u()),r=t}function D(n){var t=r;n.__c=n.__(),r=t}function E(n,t){return!n||n.length!=t.length||t.some(function(t,r){return!o(t,n[r])})}function G(n,t){return"function"==typeof t?t(n):t}export{b as useCallback,j as useContext,x as useDebugValue,A as useEffect,O as useErrorBoundary,P as useId,q as useImperativeHandle,F as useLayoutEffect,w as useMemo,_ as useReducer,T as useRef,d as useState};


"""###),
        ("vendor/preact.js", ###"""
var n,t,r,u,i,f,o,e,l,c,a,s,h=Symbol.for("pv"),p={},y=[],v=/^m(i|n|o|s|text|space)$/,w=Array.isArray,d=y.slice,_=Object.assign;function g(n){n&&n.parentNode&&n.remove()}function k(n,t,r){var u,i,f,o={},e=arguments.length;for(f in t)"key"==f?u=t[f]:"ref"==f&&"function"!=typeof n?i=t[f]:o[f]=t[f];return e>2&&(o.children=e>3?d.call(arguments,2):r),m(n,o,u,i,null)}function b(n,t,r){var u,i,f,o=_({},n.props),e=arguments.length;for(f in t)"key"==f?u=t[f]:"ref"==f&&"function"!=typeof n.type?i=t[f]:o[f]=t[f];return e>2&&(o.children=e>3?d.call(arguments,2):r),m(n.type,o,void 0!==u?u:n.key,void 0!==i?i:n.ref,null)}function m(r,u,i,f,o){var e={type:r,props:u,key:i,ref:f,__k:null,__:null,__b:0,__e:null,__c:null,constructor:h,__v:o||++t,__i:-1,__u:0};return!o&&n.vnode&&n.vnode(e),e}function M(){return{current:null}}function $(n){return n.children}function x(n,t){this.props=n,this.context=t,this.__g=0}function S(n,t){if(null==t)return n.__&&S(n.__,n.__i+1);for(var r;t<n.__k.length;t++)if((r=n.__k[t])&&r.__e)return r.__e;return"function"!=typeof n.type||n.props.__P?null:S(n)}function C(t){var r,u=t.__v,i=u.__e,f=[],o=[],e=t.__P;e&&((r=_({constructor:h},u)).__v=u.__v+1,n.vnode&&n.vnode(r),z(e,r,u,t.__n,e.namespaceURI,32&u.__u?[i]:null,f,i||S(u),32&u.__u,o),r.__v=u.__v,r.__.__k[r.__i]=r,E(f,r,o),u.__=u.__e=null,r.__e!=i&&j(r))}function j(n){if((n=n.__)&&n.__c&&!n.props.__P)return n.__e=null,n.__k.some(function(t){return t&&(n.__e=t.__e)}),j(n)}function L(t){(8&t.__g||(t.__g|=8,u.push(t),f++))&&i==n.debounceRendering||((i=n.debounceRendering)||queueMicrotask)(H)}function H(){try{for(var n,t=1;u.length;)u.length>t&&u.sort(o),n=u.shift(),t=u.length,8&n.__g&&C(n)}finally{(f=u.length)&&(i||queueMicrotask)(H)}}function I(n,t,r,u,i,f,o,e,l,c,a){var s,h,v,w,d,_,g=u.__k||y,k=t.length;for(l=q(r,t,g,l,k),s=0;s<k;s++)null!=(v=r.__k[s])&&(h=~v.__i&&g[v.__i]||p,v.__i=s,_=z(n,v,h,i,f,o,e,l,c,a),w=v.__e,(h.ref!=v.ref||8&h.__u)&&(h.ref&&G(h.ref,null,v,h),v.ref&&a.push(v.ref,v.__c||w,v)),d=d||w,4&v.__u?(l=A(v,l,n,!h.__v),h.__e&&(h.__e=null)):"function"==typeof v.type&&void 0!==_?l=_:w&&(l=w.nextSibling),v.__u&=-21);return r.__e=d,l}function q(n,t,r,u,i){var f,o,e,l,c,a,s,p,y,v=r.length,d=v,_=0,g=0,k=n.__k=Array(i);for(f=0;f<i;f++)null!=(o=t[f])&&"boolean"!=typeof o&&"function"!=typeof o?("object"!=typeof o||o.constructor===String?o=k[f]=m(null,o):w(o)?o=k[f]=m($,{children:o}):o.constructor===h&&o.__b?o=k[f]=m(o.type,o.props,o.key,o.ref,o.__v):k[f]=o,l=f+_,o.__=n,o.__b=n.__b+1,e=null,~(c=o.__i=P(o,r,l,d))&&(d--,(e=r[c])&&(e.__u|=2)),e&&e.__v?(o.__u|=16,c==l-1?_--:c==l+1?_++:c!=l&&(c>l?_--:_++,g=1)):(~c||(i>v?_--:i<v&&_++),"function"!=typeof o.type&&(o.__u|=4))):k[f]=null;if(g){for(a=[],s=[],f=0;f<i;f++)if((o=k[f])&&16&o.__u){for(_=0,p=a.length;_<p;)a[y=_+p>>1]<o.__i?_=y+1:p=y;a[_]=o.__i,s[f]=_+1}for(_=a.length;f--;)s[f]&&(s[f]==_?_--:k[f].__u|=4)}if(d)for(f=0;f<v;f++)!(e=r[f])||2&e.__u||(e.__e==u&&(u=S(e)),J(e,e));return u}function A(n,t,r,u){var i,f,o,e;if("function"==typeof n.type){if(n.props.__P)return t;if(i=n.__k)for(f=0;f<i.length;f++)i[f]&&(i[f].__=n,t=A(i[f],t,r,!1));return t}for(t&&!t.parentNode&&(t=S(n))&&!t.parentNode&&(t=null),o=n.__e,e=t;e&&8==e.nodeType;)e=e.nextSibling;for(o!=e&&(!u&&r.moveBefore&&o.parentNode?r.moveBefore(o,t):r.insertBefore(o,t||null)),t=o;(t=t&&t.nextSibling)&&8==t.nodeType&&!t.data.startsWith("$s"););return t}function O(n,t){return t=t||[],null!=n&&"boolean"!=typeof n&&(w(n)?n.some(function(n){O(n,t)}):t.push(n)),t}function P(n,t,r,u){var i,f=n.key,o=n.type,e=t[r],l=e&&!(2&e.__u);if(null===e&&null==f||l&&f==e.key&&o==e.type)return r;if(u>(l?1:0)){for(i=r-1;i>=0;i--)if((e=t[i])&&!(2&e.__u)&&f==e.key&&o==e.type)return i;for(i=r+1;i<t.length;i++)if((e=t[i])&&!(2&e.__u)&&f==e.key&&o==e.type)return i}return-1}function T(n,t,r){null==r&&(r=""),"-"==t[0]?n.setProperty(t,r):n[t]=r}function N(n,t,r,u,i){var f,o;if("style"==t)if("string"==typeof r)n.style.cssText=r;else{if("string"==typeof u&&(n.style.cssText=u=""),u)for(t in u)r&&t in r||T(n.style,t);if(r)for(t in r)u&&r[t]==u[t]||T(n.style,t,r[t])}else if("o"==t[0]&&"n"==t[1])"function"!=typeof r&&(r=null),"function"!=typeof u&&(u=null),(n.__e||(n.__e={}))[t]=r,r&&u||(o=a[t]||(a[t]=V(t)),(n.__a||(n.__a={}))[t]=c,f=t!=(t=t.replace(l,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),r?n.addEventListener(t,o,f):n.removeEventListener(t,o,f));else{if("http://www.w3.org/2000/svg"==i)t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if("width"!=t&&"height"!=t&&"href"!=t&&"list"!=t&&"form"!=t&&"tabIndex"!=t&&"download"!=t&&"rowSpan"!=t&&"colSpan"!=t&&"role"!=t&&"popover"!=t&&t in n)try{return void(n[t]=null==r?"":r)}catch(n){}if("function"==typeof r)return;null==r||!1===r&&"-"!=t[4]?n.removeAttribute(t):n.setAttribute(t,"popover"==t&&1==r?"":r)}}function V(t){return function(r){var u=this.__e;if(u){if(u=u[t],null==r[e])r[e]=c++;else if(r[e]<this.__a[t])return;return u(n.event?n.event(r):r)}}}function z(t,r,u,i,f,o,e,l,c,a){var s,p,v,d,k,b,m,M,C,j,L,H,q,A,O,P,T,N,V=r.type;if(r.constructor!==h)return null;128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&(r.__u|=c,p=o=[],8==s.nodeType?l=B(s,o):o.push(s),l=o[0]||l),(s=n.__b)&&s(r);n:if("function"==typeof V){v=e.length;try{if(M=r.props,C=(s=V.prototype)&&s.render,j=(s=V.contextType)&&i[s.__c],L=s?j?j.props.value:s.__:i,(d=u.__c)?(r.__c=d,2&d.__g&&(d.__g|=1)):(C?r.__c=d=new V(M,L):(r.__c=d=new x(M,L),d.constructor=V,d.render=K),j&&j.sub(d),d.state||(d.state={}),d.__n=i,d.__g|=8,d.__h=[],d.__k=[]),C&&(d.__s||(d.__s=d.state),V.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=_({},d.__s)),_(d.__s,V.getDerivedStateFromProps(M,d.__s)))),k=d.props,b=d.state,d.__v=r,u.__c){if(M!==k&&C&&!V.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(M,L),r.__v==u.__v&&!(8&d.__g)||!(4&d.__g)&&d.shouldComponentUpdate&&!1===d.shouldComponentUpdate(M,d.__s,L)){r.__v!=u.__v&&(d.props=M,d.state=d.__s,d.__g&=-9),r.__e=u.__e,r.__k=u.__k,r.__k.some(function(n){n&&(n.__=r)}),y.push.apply(d.__h,d.__k),d.__k=[],d.__h.length&&e.push(d),l=S(u);break n}d.componentWillUpdate&&d.componentWillUpdate(M,d.__s,L),C&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(k,b,m)})}else C&&!V.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),C&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=L,d.props=M,d.__P=t,d.__g&=-5,H=n.__r,q=C?25:0;do{d.__g&=-9,H&&H(r),s=d.render(d.props,d.state=d.__s,d.context)}while(8&d.__g&&++q<25);C&&(y.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(i=_({},i,d.getChildContext())),C&&u.__c&&d.getSnapshotBeforeUpdate&&(m=d.getSnapshotBeforeUpdate(k,b)),A=s&&s.type===$&&null==s.key?s.props.children:s,M.__P&&(s=l,f=(t=M.__P).namespaceURI,c=o=null,u.props&&u.props.__P!=t&&(u.__k.some(function(n){n&&J(n,n)}),u.__k=null),l=u.__k?S(u,0):null),l=I(t,w(A)?A:[A],r,u,i,f,o,e,l,c,a),M.__P&&(r.__e=null,l=s),r.__u&=-161,p&&p.some(g),d.__h.length&&e.push(d),1&d.__g&&(d.__g&=-4)}catch(t){if(e.length=v,r.__v=null,c||o)if(t&&t.then){if(r.__u|=128|c,o){for(~(T=o.indexOf(l||void 0))||(T=o.length);(N=o[T-1])&&8==N.nodeType;)T--;for(;T<o.length;T++)if(N=o[T])if(o[T]=null,O){if(N==P)break}else{if(8!=N.nodeType)break;N.data.startsWith("$s")&&(P=B(O=N))}}if(!O){for(;l&&8==l.nodeType&&l.nextSibling;)l=l.nextSibling;O=l}(s=B(O=r.__c.__z||(r.__c.__z=O)))?(r.__e=O,l=s):r.__e=l,l=l&&l.nextSibling}else o&&o.some(g);else r.__e=u.__e;r.__k||(r.__k=u.__k||[]),t&&t.then||D(r),n.__e(t,r,u)}}else l=r.__e=F(u.__e,r,u,i,f,o,e,c,a,t);return(s=n.diffed)&&s(r),l}function B(n,t){if(n&&8==n.nodeType&&n.data.startsWith("$s"))for(var r=1;n=n.nextSibling;){if(8==n.nodeType)if(n.data.startsWith("$s"))r++;else if(n.data.startsWith("/$s")&&!--r)return n;t&&t.push(n)}}function D(n){n&&(n.__c&&(n.__c.__g|=4),n.__k&&n.__k.some(D))}function E(t,r,u){for(var i=0;i<u.length;)G(u[i++],u[i++],u[i++]);n.__c&&n.__c(r,t),t.some(function(r){try{t=r.__h,r.__h=[],t.some(function(n){n.call(r)})}catch(t){n.__e(t,r.__v)}})}function F(t,r,u,i,f,o,e,l,c,a){var s,h,y,_,k,b,m,M,$=u.props||p,x=r.props,C=r.type;if("svg"==C?f="http://www.w3.org/2000/svg":"math"==C?f="http://www.w3.org/1998/Math/MathML":f||(f="http://www.w3.org/1999/xhtml"),o)for(s=0;s<o.length;s++)if((k=o[s])&&(C?k.localName==C:3==k.nodeType)){t=k,o[s]=null;break}if(!t){if(M=a.ownerDocument||document,!C)return M.createTextNode(x);t=M.createElementNS(f,C,x.is?x:a),l&&(n.__m&&n.__m(r,o),l=!1),o=null}if(C){if(a="template"==C&&t.content||t,o="textarea"==C&&null!=x.defaultValue?null:o&&d.call(a.childNodes),!l&&o)for($={},s=0;s<t.attributes.length;s++)$[(k=t.attributes[s]).name]=k.value;for(s in $)k=$[s],"dangerouslySetInnerHTML"==s?y=k:"children"==s||s in x||"value"==s&&"defaultValue"in x||"checked"==s&&"defaultChecked"in x||N(t,s,null,k,f);for(s in x)k=x[s],"children"==s?_=k:"dangerouslySetInnerHTML"==s?h=k:"value"==s?b=k:"checked"==s?m=k:l&&"function"!=typeof k||$[s]===k||N(t,s,k,$[s],f);h?(l||y&&(h.__html==y.__html||h.__html==t.innerHTML)||(t.innerHTML=h.__html),r.__k=[]):(y&&(t.textContent=""),("foreignObject"==C||"http://www.w3.org/1998/Math/MathML"==f&&v.test(C))&&(f="http://www.w3.org/1999/xhtml"),I(a,w(_)?_:[_],r,u,i,f,o,e,o?o[0]:u.__k&&S(u,0),l,c),o&&o.some(g)),l&&"textarea"!=C||(s="value","progress"==C&&null==b?t.removeAttribute(s):null==b||b===t[s]&&("progress"!=C||b)||N(t,s,b,$[s],f),s="checked",null!=m&&m!=t[s]&&N(t,s,m,$[s],f))}else $===x||l&&t.data==x||(t.data=x);return t}function G(t,r,u,i){try{"function"==typeof t?r?r.__x=t(r)||1:i&&(i=i.__c||i.__e)&&(r=i.__x)&&(i.__x=null,"function"==typeof r?r():t(null)):t.current=r}catch(t){n.__e(t,u)}}function J(t,r,u){var i,f,o,e;if(n.unmount&&n.unmount(t),!(i=t.ref)||i.current&&i.current!=t.__e||G(i,null,r,t),i=t.__c){if(i.componentWillUnmount)try{i.componentWillUnmount()}catch(t){n.__e(t,r)}i.__P=i.__n=null}if(i=t.__k)for(e=0;e<i.length;e++)i[e]&&J(i[e],r,"function"!=typeof t.type||u&&!t.props.__P);!u&&(i=t.__c)&&(i=i.__z)&&(f=B(i,o=[]))&&(i==t.__e&&o.some(g),g(f),g(i)),u||g(t.__e),t.__e=t.__c=t.__=null}function K(n,t,r){return this.constructor(n,r)}function Q(t,r){var u,i,f,o;n.__&&n.__(t,r),9==r.nodeType&&(r=r.documentElement),i=(u=t&&32&t.__u)?null:r.__k,r.__k=m($,{children:[t]}),f=[],o=[],z(r,r.__k,i||p,p,r.namespaceURI,i?null:r.firstChild?d.call(r.childNodes):null,f,i?i.__e:r.firstChild,u,o),E(f,r.__k,o),r.__k.props.children=null}function R(n,t){n&&"object"==typeof n&&(n.__u|=32),Q(n,t)}function U(n){function t(n){var r,u;return this.getChildContext||(r=new Set,(u={})[t.__c]=this,this.getChildContext=function(){return u},this.shouldComponentUpdate=function(n){this.props.value!=n.value&&r.forEach(function(n){n.__g|=4,L(n)})},this.sub=function(n){r.add(n);var t=n.componentWillUnmount;n.componentWillUnmount=function(){r.delete(n),t&&t.call(n)}}),n.children}return t.__c="__cC"+s++,t.__=n,t.Provider=(t.Consumer=function(n,t){return n.children(t)}).contextType=t,t}function W(n){return n.children}function X(n,t){return m(W,{__P:t,children:n})}n={__e:function(n,t,r,u){for(var i,o,e;t=t.__;)if((i=t.__c)&&!(1&i.__g)){i.__g|=4;try{if((e=(o=i.constructor)&&o.getDerivedStateFromError)&&i.setState(o.getDerivedStateFromError(n)),i.componentDidCatch&&(i.componentDidCatch(n,u||{}),e=1),e&&8&i.__g)return void(i.__g|=2)}catch(t){n=t}}throw f=0,n}},t=0,r=function(n){return null!=n&&n.constructor===h},x.prototype.setState=function(n,t){var r=this.__s;r&&r!=this.state||(r=this.__s=_({},this.state)),"function"==typeof n&&(n=n(_({},r),this.props)),n&&(_(r,n),this.__v&&(t&&this.__k.push(t),L(this)))},x.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.push(n),L(this))},x.prototype.render=$,u=[],f=0,o=function(n,t){return n.__v.__b-t.__v.__b},e=Symbol(),l=/(PointerCapture)$|Capture$/i,c=0,a={},s=0;export{x as Component,$ as Fragment,b as cloneElement,U as createContext,k as createElement,X as createPortal,M as createRef,k as h,R as hydrate,r as isValidElement,n as options,Q as render,O as toChildArray};


"""###),
        ("vendor/signals-core.js", ###"""
const t=Symbol.for("preact-signals");function i(){if(e>1){e--;return}let t,i=!1;!function(){let t=h;h=void 0;while(void 0!==t){const i=t.S;if(i.v===t.v)for(let n=i.t;void 0!==n;n=n.x)if(n.i===t.i)n.i=i.i;t=t.o}}();while(void 0!==r){let n=r;r=void 0;c++;while(void 0!==n){const o=n.u;n.u=void 0;n.f&=-3;if(!(8&n.f)&&w(n))try{n.c()}catch(n){if(!i){t=n;i=!0}}n=o}}c=0;e--;if(i)throw t}function n(t){if(e>0)return t();d=++u;e++;try{return t()}finally{i()}}let o,s,r;function f(t){const i=o,n=s;o=void 0;s=void 0;try{return t()}finally{o=i;s=n}}let h,e=0,c=0,u=0,d=0,v=0;function l(t){if(void 0===o)return;let i=t.n;if(void 0===i||i.t!==o){i={i:0,S:t,p:o.s,n:void 0,t:o,e:void 0,x:void 0,r:i};if(void 0!==o.s)o.s.n=i;o.s=i;t.n=i;if(32&o.f)t.S(i);return i}else if(-1===i.i){i.i=0;if(void 0!==i.n){i.n.p=i.p;if(void 0!==i.p)i.p.n=i.n;i.p=o.s;i.n=void 0;o.s.n=i;o.s=i}return i}}function y(t,i){this.v=t;this.i=0;this.n=void 0;this.t=void 0;this.l=0;this.W=null==i?void 0:i.watched;this.Z=null==i?void 0:i.unwatched;this.name=null==i?void 0:i.name}y.prototype.brand=t;y.prototype.h=function(){return!0};y.prototype.S=function(t){const i=this.t;if(i!==t&&void 0===t.e){t.x=i;this.t=t;if(void 0!==i)i.e=t;else f(()=>{var t;null==(t=this.W)||t.call(this)})}};y.prototype.U=function(t){if(void 0!==this.t){const i=t.e,n=t.x;if(void 0!==i){i.x=n;t.e=void 0}if(void 0!==n){n.e=i;t.x=void 0}if(t===this.t){this.t=n;if(void 0===n)f(()=>{var t;null==(t=this.Z)||t.call(this)})}}};y.prototype.subscribe=function(t){return x(()=>{const i=this.value;f(()=>t(i))},{name:"sub"})};y.prototype.valueOf=function(){return this.value};y.prototype.toString=function(){return this.value+""};y.prototype.toJSON=function(){return this.value};y.prototype.peek=function(){return f(()=>this.value)};Object.defineProperty(y.prototype,"value",{get(){const t=l(this);if(void 0!==t)t.i=this.i;return this.v},set(t){if(t!==this.v){if(c>100)throw new Error("Cycle detected");!function(t){if(0!==e&&0===c)if(t.l!==d){t.l=d;h={S:t,v:t.v,i:t.i,o:h}}}(this);this.v=t;this.i++;v++;e++;try{for(let t=this.t;void 0!==t;t=t.x)t.t.N()}finally{i()}}}});function a(t,i){return new y(t,i)}function w(t){for(let i=t.s;void 0!==i;i=i.n)if(i.S.i!==i.i||!i.S.h()||i.S.i!==i.i)return!0;return!1}function b(t){for(let i=t.s;void 0!==i;i=i.n){const n=i.S.n;if(void 0!==n)i.r=n;i.S.n=i;i.i=-1;if(void 0===i.n){t.s=i;break}}}function _(t){let i,n=t.s;while(void 0!==n){const t=n.p;if(-1===n.i){n.S.U(n);if(void 0!==t)t.n=n.n;if(void 0!==n.n)n.n.p=t}else i=n;n.S.n=n.r;if(void 0!==n.r)n.r=void 0;n=t}t.s=i}function j(t,i){y.call(this,void 0,i);this.x=t;this.s=void 0;this.g=v-1;this.f=4}j.prototype=new y;j.prototype.h=function(){this.f&=-3;if(1&this.f)return!1;if(32==(36&this.f))return!0;this.f&=-5;if(this.g===v)return!0;this.g=v;this.f|=1;if(this.i>0&&!w(this)){this.f&=-2;return!0}const t=o;try{b(this);o=this;const t=this.x();if(16&this.f||this.v!==t||0===this.i){this.v=t;this.f&=-17;this.i++}}catch(t){this.v=t;this.f|=16;this.i++}o=t;_(this);this.f&=-2;return!0};j.prototype.S=function(t){if(void 0===this.t){this.f|=36;for(let t=this.s;void 0!==t;t=t.n)t.S.S(t)}y.prototype.S.call(this,t)};j.prototype.U=function(t){if(void 0!==this.t){y.prototype.U.call(this,t);if(void 0===this.t){this.f&=-33;for(let t=this.s;void 0!==t;t=t.n)t.S.U(t)}}};j.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(let t=this.t;void 0!==t;t=t.x)t.t.N()}};Object.defineProperty(j.prototype,"value",{get(){if(1&this.f)throw new Error("Cycle detected");const t=l(this);this.h();if(void 0!==t)t.i=this.i;if(16&this.f)throw this.v;return this.v}});function O(t,i){return new j(t,i)}function p(t){const n=t.j;t.j=void 0;if("function"==typeof n){e++;const s=o;o=void 0;try{n()}catch(i){t.f&=-2;t.f|=8;g(t);throw i}finally{o=s;i()}}}function g(t){for(let i=t.s;void 0!==i;i=i.n)i.S.U(i);t.x=void 0;t.s=void 0;p(t)}function S(t){if(o!==this)throw new Error("Out-of-order effect");_(this);o=t;this.f&=-2;try{if(8&this.f)g(this)}finally{i()}}function m(t,i){this.x=t;this.j=void 0;this.s=void 0;this.u=void 0;this.f=32;this.name=null==i?void 0:i.name;if(s)s.push(this)}m.prototype.c=function(){const t=this.S();try{if(8&this.f)return;if(void 0===this.x)return;const i=this.x();if("function"==typeof i)this.j=i}finally{t()}};m.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1;this.f&=-9;p(this);b(this);e++;const t=o;o=this;return S.bind(this,t)};m.prototype.N=function(){if(!(2&this.f)){this.f|=2;this.u=r;r=this}};m.prototype.d=function(){this.f|=8;if(!(1&this.f))g(this)};m.prototype.dispose=function(){this.d()};function x(t,i){const n=new m(t,i);try{n.c()}catch(t){n.d();throw t}const o=n.d.bind(n);o[Symbol.dispose]=o;return o}function E(t){return function(...i){return n(()=>f(()=>t.apply(this,i)))}}const C=(t,i)=>{i.push(t);const n="[object Object]"===Object.prototype.toString.call(t),o=Object.create(null);for(let s=t;s&&s!==Object.prototype;s=n&&Object.getPrototypeOf(s)){const n=Object.getOwnPropertyDescriptors(s);for(const r in n){if(o[r])continue;o[r]=!0;const f=n[r].value;if("function"==typeof f){if("constructor"!==r)t[r]=E(f)}else if(s===t&&"object"==typeof f&&null!==f&&!("brand"in f)&&i.indexOf(f)<0)C(f,i)}}};function k(t){return function(...i){let o,r;const f=function(){let t=s;s=[];return function(){let i=s;if(s&&t)t=t.concat(s);s=t;return i}}();try{r=t(...i)}catch(t){const i=s;s=void 0;if(i)try{n(()=>{for(let t=0;t<i.length;t++)try{i[t].dispose()}catch(t){}})}catch(t){}throw t}finally{o=f()}C(r,[]);r[Symbol.dispose]=E(function(){if(o)for(let t=0;t<o.length;t++)o[t].dispose();o=void 0});return r}}export{j as Computed,m as Effect,y as Signal,E as action,n as batch,O as computed,k as createModel,x as effect,a as signal,f as untracked};

"""###),
        ("vendor/signals.js", ###"""
import{createElement as t,Fragment as i,Component as n,options as e,isValidElement as o}from"preact";import{useMemo as f,useRef as r,useEffect as u}from"preact/hooks";import{effect as c,Signal as s,computed as l,signal as a,batch as h}from"@preact/signals-core";export{Signal,action,batch,computed,createModel,effect,signal,untracked}from"@preact/signals-core";const d="undefined"!=typeof window&&!!window.__PREACT_SIGNALS_DEVTOOLS__;let p,m,v,_=[],g=[];c(function(){p=this.N})();function b(t,i){e[t]=i.bind(null,e[t]||(()=>{}))}function y(t){if(v){const t=v;v=void 0;t()}v=t&&t.S()}function w({data:t}){const i=useSignal(t);i.name="ReactiveDom";i.value=t;const[n,e]=f(()=>{let t=this,n=this.__v;while(n=n.__)if(n.__c){n.__c.__$f|=4;break}const e=l(()=>{let t=i.value.value;return 0===t?0:!0===t?"":t||""}),f=l(()=>!Array.isArray(e.value)&&!o(e.value)),r=c(function(){this.N=M;if(f.value){const i=e.value;if(t.__v&&t.__v.__e&&3===t.__v.__e.nodeType)t.__v.__e.data=i}}),u=this.__$u.d;this.__$u.d=function(){r();u.call(this)};return[f,e]},[]);return n.value?e.peek():e.value}w.displayName="ReactiveTextNode";Object.defineProperties(s.prototype,{constructor:{configurable:!0,value:t(i,null).constructor},type:{configurable:!0,value:w},props:{configurable:!0,get(){const t=this;return{data:{get value(){return t.value}}}}},__b:{configurable:!0,value:1}});b("__b",(t,i)=>{y();m=void 0;if("string"==typeof i.type){let t,n=i.props;for(let e in n){if("children"===e)continue;let o=n[e];if(o instanceof s){if(!t)i.__np=t={};t[e]=o;n[e]=o.peek()}}}t(i)});b("__r",(t,n)=>{t(n);if(n.type!==i){y();let t,i=n.__c;if(i){i.__$f&=-2;t=i.__$u;if(void 0===t)i.__$u=t=function(t,i){let n;c(function(){n=this},{name:i});n.c=t;return n}(function(t){return function(){var i;if(d)null==(i=this.y)||i.call(this);t.__$f|=1;t.setState({})}}(i),"function"==typeof n.type?n.type.displayName||n.type.name:"")}m=i;y(t)}});b("__e",(t,i,n,e)=>{y();m=void 0;t(i,n,e)});b("diffed",(t,i)=>{y();m=void 0;let n;if("string"==typeof i.type&&(n=i.__e)){let t=i.__np,e=i.props,o=n.U;if(o)for(let i in o){let n=o[i];if(!(void 0===n||t&&i in t)){n.d();o[i]=void 0}}if(t){if(!o){o={};n.U=o}for(let i in t){let f=o[i],r=t[i];if(void 0===f){f=k(n,i,r,e);o[i]=f}else f.o(r,e)}}}t(i)});function k(t,i,n,e){const o=i in t&&void 0===t.ownerSVGElement,f=a(n);return{o:(t,i)=>{f.value=t;e=i},d:c(function(){this.N=M;const n=f.value.value;if(e[i]!==n){e[i]=n;if(o)t[i]=n;else if(null!=n&&(!1!==n||"-"===i[4]))t.setAttribute(i,n);else t.removeAttribute(i)}})}}b("unmount",(t,i)=>{if("string"==typeof i.type){let t=i.__e;if(t){const i=t.U;if(i){t.U=void 0;for(let t in i){let n=i[t];if(n)n.d()}}}let n=i.__np;if(n){let t=i.props;for(let i in n)t[i]=n[i]}i.__np=void 0}else{let t=i.__c;if(t){t.__$f|=8;const i=t.__$u;if(i){t.__$u=void 0;i.d()}}}t(i)});b("__h",(t,i,n,e)=>{if(e<3)i.__$f|=2;t(i,n,e)});n.prototype.shouldComponentUpdate=function(t,i){if(this.__R)return!0;const n=this.__$u,e=n&&void 0!==n.s;for(let t in i)return!0;if(this.__f||"boolean"==typeof this.u&&!0===this.u){const t=2&this.__$f;if(!(e||t||4&this.__$f))return!0;if(1&this.__$f)return!0}else{if(!(e||4&this.__$f))return!0;if(3&this.__$f)return!0}for(let i in t)if("__source"!==i&&t[i]!==this.props[i])return!0;for(let i in this.props)if(!(i in t))return!0;return!1};function useSignal(t,i){return f(()=>a(t,i),[])}function useComputed(t,i){const n=r(t);n.current=t;m.__$f|=4;return f(()=>l(()=>n.current(),i),[])}const q="undefined"==typeof requestAnimationFrame?setTimeout:function(t){const i=()=>{clearTimeout(n);cancelAnimationFrame(e);t()},n=setTimeout(i,35),e=requestAnimationFrame(i)},A=t=>{queueMicrotask(()=>{queueMicrotask(t)})};function T(){h(()=>{let t;while(t=_.shift())p.call(t)})}function x(){if(1===_.push(this))(e.requestAnimationFrame||q)(T)}function F(){h(()=>{let t;while(t=g.shift())p.call(t)})}function M(){if(1===g.push(this))(e.requestAnimationFrame||A)(F)}function useSignalEffect(t,i){const n=r(t);n.current=t;const e=m;u(()=>c(function(){this.N=x;if(!(e&&8&e.__$f))return n.current()},i),[])}function R(t){const i=f(()=>t(),[]);u(()=>i[Symbol.dispose],[i]);return i}export{useComputed,R as useModel,useSignal,useSignalEffect};

"""###),
        ("vendor/uplot.css", ###"""
.uplot, .uplot *, .uplot *::before, .uplot *::after {box-sizing: border-box;}.uplot {font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji";line-height: 1.5;width: min-content;}.u-title {text-align: center;font-size: 18px;font-weight: bold;}.u-wrap {position: relative;user-select: none;}.u-over, .u-under {position: absolute;}.u-under {overflow: hidden;}.uplot canvas {display: block;position: relative;width: 100%;height: 100%;}.u-axis {position: absolute;}.u-legend {font-size: 14px;margin: auto;text-align: center;}.u-inline {display: block;}.u-inline * {display: inline-block;}.u-inline tr {margin-right: 16px;}.u-legend th {font-weight: 600;}.u-legend th > * {vertical-align: middle;display: inline-block;}.u-legend .u-marker {width: 1em;height: 1em;margin-right: 4px;background-clip: padding-box !important;}.u-inline.u-live th::after {content: ":";vertical-align: middle;}.u-inline:not(.u-live) .u-value {display: none;}.u-series > * {padding: 4px;}.u-series th {cursor: pointer;}.u-legend .u-off > * {opacity: 0.3;}.u-select {background: rgba(0,0,0,0.07);position: absolute;pointer-events: none;}.u-cursor-x, .u-cursor-y {position: absolute;left: 0;top: 0;pointer-events: none;will-change: transform;}.u-hz .u-cursor-x, .u-vt .u-cursor-y {height: 100%;border-right: 1px dashed #607D8B;}.u-hz .u-cursor-y, .u-vt .u-cursor-x {width: 100%;border-bottom: 1px dashed #607D8B;}.u-cursor-pt {position: absolute;top: 0;left: 0;border-radius: 50%;border: 0 solid;pointer-events: none;will-change: transform;/*this has to be !important since we set inline "background" shorthand */background-clip: padding-box !important;}.u-axis.u-off, .u-select.u-off, .u-cursor-x.u-off, .u-cursor-y.u-off, .u-cursor-pt.u-off {display: none;}
"""###),
        ("vendor/uplot.js", ###"""
/**
* Copyright (c) 2025, Leon Sorokin
* All rights reserved. (MIT Licensed)
*
* uPlot.js (μPlot)
* A small, fast chart for time series, lines, areas, ohlc & bars
* https://github.com/leeoniya/uPlot (v1.6.32)
*/

const FEAT_TIME          = true;

const pre = "u-";

const UPLOT          =       "uplot";
const ORI_HZ         = pre + "hz";
const ORI_VT         = pre + "vt";
const TITLE          = pre + "title";
const WRAP           = pre + "wrap";
const UNDER          = pre + "under";
const OVER           = pre + "over";
const AXIS           = pre + "axis";
const OFF            = pre + "off";
const SELECT         = pre + "select";
const CURSOR_X       = pre + "cursor-x";
const CURSOR_Y       = pre + "cursor-y";
const CURSOR_PT      = pre + "cursor-pt";
const LEGEND         = pre + "legend";
const LEGEND_LIVE    = pre + "live";
const LEGEND_INLINE  = pre + "inline";
const LEGEND_SERIES  = pre + "series";
const LEGEND_MARKER  = pre + "marker";
const LEGEND_LABEL   = pre + "label";
const LEGEND_VALUE   = pre + "value";

const WIDTH       = "width";
const HEIGHT      = "height";
const TOP         = "top";
const BOTTOM      = "bottom";
const LEFT        = "left";
const RIGHT       = "right";
const hexBlack    = "#000";
const transparent = hexBlack + "0";

const mousemove   = "mousemove";
const mousedown   = "mousedown";
const mouseup     = "mouseup";
const mouseenter  = "mouseenter";
const mouseleave  = "mouseleave";
const dblclick    = "dblclick";
const resize      = "resize";
const scroll      = "scroll";

const change      = "change";
const dppxchange  = "dppxchange";

const LEGEND_DISP = "--";

const domEnv = typeof window != 'undefined';

const doc = domEnv ? document  : null;
const win = domEnv ? window    : null;
const nav = domEnv ? navigator : null;

let pxRatio;

//export const canHover = domEnv && !win.matchMedia('(hover: none)').matches;

let query;

function setPxRatio() {
	let _pxRatio = devicePixelRatio;

	// during print preview, Chrome fires off these dppx queries even without changes
	if (pxRatio != _pxRatio) {
		pxRatio = _pxRatio;

		query && off(change, query, setPxRatio);
		query = matchMedia(`(min-resolution: ${pxRatio - 0.001}dppx) and (max-resolution: ${pxRatio + 0.001}dppx)`);
		on(change, query, setPxRatio);

		win.dispatchEvent(new CustomEvent(dppxchange));
	}
}

function addClass(el, c) {
	if (c != null) {
		let cl = el.classList;
		!cl.contains(c) && cl.add(c);
	}
}

function remClass(el, c) {
	let cl = el.classList;
	cl.contains(c) && cl.remove(c);
}

function setStylePx(el, name, value) {
	el.style[name] = value + "px";
}

function placeTag(tag, cls, targ, refEl) {
	let el = doc.createElement(tag);

	if (cls != null)
		addClass(el, cls);

	if (targ != null)
		targ.insertBefore(el, refEl);

	return el;
}

function placeDiv(cls, targ) {
	return placeTag("div", cls, targ);
}

const xformCache = new WeakMap();

function elTrans(el, xPos, yPos, xMax, yMax) {
	let xform = "translate(" + xPos + "px," + yPos + "px)";
	let xformOld = xformCache.get(el);

	if (xform != xformOld) {
		el.style.transform = xform;
		xformCache.set(el, xform);

		if (xPos < 0 || yPos < 0 || xPos > xMax || yPos > yMax)
			addClass(el, OFF);
		else
			remClass(el, OFF);
	}
}

const colorCache = new WeakMap();

function elColor(el, background, borderColor) {
	let newColor = background + borderColor;
	let oldColor = colorCache.get(el);

	if (newColor != oldColor) {
		colorCache.set(el, newColor);
		el.style.background = background;
		el.style.borderColor = borderColor;
	}
}

const sizeCache = new WeakMap();

function elSize(el, newWid, newHgt, centered) {
	let newSize = newWid + "" + newHgt;
	let oldSize = sizeCache.get(el);

	if (newSize != oldSize) {
		sizeCache.set(el, newSize);
		el.style.height = newHgt + "px";
		el.style.width = newWid + "px";
		el.style.marginLeft = centered ? -newWid/2 + "px" : 0;
		el.style.marginTop = centered ? -newHgt/2 + "px" : 0;
	}
}

const evOpts = {passive: true};
const evOpts2 = {...evOpts, capture: true};

function on(ev, el, cb, capt) {
	el.addEventListener(ev, cb, capt ? evOpts2 : evOpts);
}

function off(ev, el, cb, capt) {
	el.removeEventListener(ev, cb, evOpts);
}

domEnv && setPxRatio();

// binary search for index of closest value
function closestIdx(num, arr, lo, hi) {
	let mid;
	lo = lo || 0;
	hi = hi || arr.length - 1;
	let bitwise = hi <= 2147483647;

	while (hi - lo > 1) {
		mid = bitwise ? (lo + hi) >> 1 : floor((lo + hi) / 2);

		if (arr[mid] < num)
			lo = mid;
		else
			hi = mid;
	}

	if (num - arr[lo] <= arr[hi] - num)
		return lo;

	return hi;
}

function makeIndexOfs(predicate) {
	 let indexOfs = (data, _i0, _i1) => {
		let i0 = -1;
		let i1 = -1;

		for (let i = _i0; i <= _i1; i++) {
			if (predicate(data[i])) {
				i0 = i;
				break;
			}
		}

		for (let i = _i1; i >= _i0; i--) {
			if (predicate(data[i])) {
				i1 = i;
				break;
			}
		}

		return [i0, i1];
	 };

	 return indexOfs;
}

const notNullish = v => v != null;
const isPositive = v => v != null && v > 0;

const nonNullIdxs = makeIndexOfs(notNullish);
const positiveIdxs = makeIndexOfs(isPositive);

function getMinMax(data, _i0, _i1, sorted = 0, log = false) {
//	console.log("getMinMax()");

	let getEdgeIdxs = log ? positiveIdxs : nonNullIdxs;
	let predicate = log ? isPositive : notNullish;

	[_i0, _i1] = getEdgeIdxs(data, _i0, _i1);

	let _min = data[_i0];
	let _max = data[_i0];

	if (_i0 > -1) {
		if (sorted == 1) {
			_min = data[_i0];
			_max = data[_i1];
		}
		else if (sorted == -1) {
			_min = data[_i1];
			_max = data[_i0];
		}
		else {
			for (let i = _i0; i <= _i1; i++) {
				let v = data[i];

				if (predicate(v)) {
					if (v < _min)
						_min = v;
					else if (v > _max)
						_max = v;
				}
			}
		}
	}

	return [_min ?? inf, _max ?? -inf]; // todo: fix to return nulls
}

function rangeLog(min, max, base, fullMags) {
	let minSign = sign(min);
	let maxSign = sign(max);

	if (min == max) {
		if (minSign == -1) {
			min *= base;
			max /= base;
		}
		else {
			min /= base;
			max *= base;
		}
	}

	let logFn = base == 10 ? log10 : log2;

	let growMinAbs = minSign == 1 ? floor : ceil;
	let growMaxAbs = maxSign == 1 ? ceil : floor;

	let minExp = growMinAbs(logFn(abs(min)));
	let maxExp = growMaxAbs(logFn(abs(max)));

	let minIncr = pow(base, minExp);
	let maxIncr = pow(base, maxExp);

	// fix values like Math.pow(10, -5) === 0.000009999999999999999
	if (base == 10) {
		if (minExp < 0)
			minIncr = roundDec(minIncr, -minExp);
		if (maxExp < 0)
			maxIncr = roundDec(maxIncr, -maxExp);
	}

	if (fullMags || base == 2) {
		min = minIncr * minSign;
		max = maxIncr * maxSign;
	}
	else {
		min = incrRoundDn(min, minIncr);
		max = incrRoundUp(max, maxIncr);
	}

	return [min, max];
}

function rangeAsinh(min, max, base, fullMags) {
	let minMax = rangeLog(min, max, base, fullMags);

	if (min == 0)
		minMax[0] = 0;

	if (max == 0)
		minMax[1] = 0;

	return minMax;
}

const rangePad = 0.1;

const autoRangePart = {
	mode: 3,
	pad: rangePad,
};

const _eqRangePart = {
	pad:  0,
	soft: null,
	mode: 0,
};

const _eqRange = {
	min: _eqRangePart,
	max: _eqRangePart,
};

// this ensures that non-temporal/numeric y-axes get multiple-snapped padding added above/below
// TODO: also account for incrs when snapping to ensure top of axis gets a tick & value
function rangeNum(_min, _max, mult, extra) {
	if (isObj(mult))
		return _rangeNum(_min, _max, mult);

	_eqRangePart.pad  = mult;
	_eqRangePart.soft = extra ? 0 : null;
	_eqRangePart.mode = extra ? 3 : 0;

	return _rangeNum(_min, _max, _eqRange);
}

// nullish coalesce
function ifNull(lh, rh) {
	return lh == null ? rh : lh;
}

// checks if given index range in an array contains a non-null value
// aka a range-bounded Array.some()
function hasData(data, idx0, idx1) {
	idx0 = ifNull(idx0, 0);
	idx1 = ifNull(idx1, data.length - 1);

	while (idx0 <= idx1) {
		if (data[idx0] != null)
			return true;
		idx0++;
	}

	return false;
}

function _rangeNum(_min, _max, cfg) {
	let cmin = cfg.min;
	let cmax = cfg.max;

	let padMin = ifNull(cmin.pad, 0);
	let padMax = ifNull(cmax.pad, 0);

	let hardMin = ifNull(cmin.hard, -inf);
	let hardMax = ifNull(cmax.hard,  inf);

	let softMin = ifNull(cmin.soft,  inf);
	let softMax = ifNull(cmax.soft, -inf);

	let softMinMode = ifNull(cmin.mode, 0);
	let softMaxMode = ifNull(cmax.mode, 0);

	let delta = _max - _min;
	let deltaMag = log10(delta);

	let scalarMax = max(abs(_min), abs(_max));
	let scalarMag = log10(scalarMax);

	let scalarMagDelta = abs(scalarMag - deltaMag);

	// this handles situations like 89.7, 89.69999999999999
	// by assuming 0.001x deltas are precision errors
//	if (delta > 0 && delta < abs(_max) / 1e3)
//		delta = 0;

	// treat data as flat if delta is less than 1e-24
	// or range is 11+ orders of magnitude below raw values, e.g. 99999999.99999996 - 100000000.00000004
	if (delta < 1e-24 || scalarMagDelta > 10) {
		delta = 0;

		// if soft mode is 2 and all vals are flat at 0, avoid the 0.1 * 1e3 fallback
		// this prevents 0,0,0 from ranging to -100,100 when softMin/softMax are -1,1
		if (_min == 0 || _max == 0) {
			delta = 1e-24;

			if (softMinMode == 2 && softMin != inf)
				padMin = 0;

			if (softMaxMode == 2 && softMax != -inf)
				padMax = 0;
		}
	}

	let nonZeroDelta = delta || scalarMax || 1e3;
	let mag          = log10(nonZeroDelta);
	let base         = pow(10, floor(mag));

	let _padMin  = nonZeroDelta * (delta == 0 ? (_min == 0 ? .1 : 1) : padMin);
	let _newMin  = roundDec(incrRoundDn(_min - _padMin, base/10), 24);
	let _softMin = _min >= softMin && (softMinMode == 1 || softMinMode == 3 && _newMin <= softMin || softMinMode == 2 && _newMin >= softMin) ? softMin : inf;
	let minLim   = max(hardMin, _newMin < _softMin && _min >= _softMin ? _softMin : min(_softMin, _newMin));

	let _padMax  = nonZeroDelta * (delta == 0 ? (_max == 0 ? .1 : 1) : padMax);
	let _newMax  = roundDec(incrRoundUp(_max + _padMax, base/10), 24);
	let _softMax = _max <= softMax && (softMaxMode == 1 || softMaxMode == 3 && _newMax >= softMax || softMaxMode == 2 && _newMax <= softMax) ? softMax : -inf;
	let maxLim   = min(hardMax, _newMax > _softMax && _max <= _softMax ? _softMax : max(_softMax, _newMax));

	if (minLim == maxLim && minLim == 0)
		maxLim = 100;

	return [minLim, maxLim];
}

// alternative: https://stackoverflow.com/a/2254896
const numFormatter = new Intl.NumberFormat(domEnv ? nav.language : 'en-US');
const fmtNum = val => numFormatter.format(val);

const M = Math;

const PI = M.PI;
const abs = M.abs;
const floor = M.floor;
const round = M.round;
const ceil = M.ceil;
const min = M.min;
const max = M.max;
const pow = M.pow;
const sign = M.sign;
const log10 = M.log10;
const log2 = M.log2;
// TODO: seems like this needs to match asinh impl if the passed v is tweaked?
const sinh =  (v, linthresh = 1) => M.sinh(v) * linthresh;
const asinh = (v, linthresh = 1) => M.asinh(v / linthresh);

const inf = Infinity;

function numIntDigits(x) {
	return (log10((x ^ (x >> 31)) - (x >> 31)) | 0) + 1;
}

function clamp(num, _min, _max) {
	return min(max(num, _min), _max);
}

function isFn(v) {
	return typeof v == "function";
}

function fnOrSelf(v) {
	return isFn(v) ? v : () => v;
}

const noop = () => {};

// note: these identity fns may get deoptimized if reused for different arg types
// a TS version would enforce they stay monotyped and require making variants
const retArg0 = _0 => _0;

const retArg1 = (_0, _1) => _1;

const retNull = _ => null;

const retTrue = _ => true;

const retEq = (a, b) => a == b;

const regex6 = /\.\d*?(?=9{6,}|0{6,})/gm;

// e.g. 17999.204999999998 -> 17999.205
const fixFloat = val => {
	if (isInt(val) || fixedDec.has(val))
		return val;

	const str = `${val}`;

	const match = str.match(regex6);

	if (match == null)
		return val;

	let len = match[0].length - 1;

	// e.g. 1.0000000000000001e-24
	if (str.indexOf('e-') != -1) {
		let [num, exp] = str.split('e');
		return +`${fixFloat(num)}e${exp}`;
	}

	return roundDec(val, len);
};

function incrRound(num, incr) {
	return fixFloat(roundDec(fixFloat(num/incr))*incr);
}

function incrRoundUp(num, incr) {
	return fixFloat(ceil(fixFloat(num/incr))*incr);
}

function incrRoundDn(num, incr) {
	return fixFloat(floor(fixFloat(num/incr))*incr);
}

// https://stackoverflow.com/a/48764436
// rounds half away from zero
function roundDec(val, dec = 0) {
	if (isInt(val))
		return val;
//	else if (dec == 0)
//		return round(val);

	let p = 10 ** dec;
	let n = (val * p) * (1 + Number.EPSILON);
	return round(n) / p;
}

const fixedDec = new Map();

function guessDec(num) {
	return ((""+num).split(".")[1] || "").length;
}

function genIncrs(base, minExp, maxExp, mults) {
	let incrs = [];

	let multDec = mults.map(guessDec);

	for (let exp = minExp; exp < maxExp; exp++) {
		let expa = abs(exp);
		let mag = roundDec(pow(base, exp), expa);

		for (let i = 0; i < mults.length; i++) {
			let _incr = base == 10 ? +`${mults[i]}e${exp}` : mults[i] * mag;
			let dec = (exp >= 0 ? 0 : expa) + (exp >= multDec[i] ? 0 : multDec[i]);
			let incr = base == 10 ? _incr : roundDec(_incr, dec);
			incrs.push(incr);
			fixedDec.set(incr, dec);
		}
	}

	return incrs;
}

//export const assign = Object.assign;

const EMPTY_OBJ = {};
const EMPTY_ARR = [];

const nullNullTuple = [null, null];

const isArr = Array.isArray;
const isInt = Number.isInteger;
const isUndef = v => v === void 0;

function isStr(v) {
	return typeof v == 'string';
}

function isObj(v) {
	let is = false;

	if (v != null) {
		let c = v.constructor;
		is = c == null || c == Object;
	}

	return is;
}

function fastIsObj(v) {
	return v != null && typeof v == 'object';
}

const TypedArray = Object.getPrototypeOf(Uint8Array);

const __proto__ = "__proto__";

function copy(o, _isObj = isObj) {
	let out;

	if (isArr(o)) {
		let val = o.find(v => v != null);

		if (isArr(val) || _isObj(val)) {
			out = Array(o.length);
			for (let i = 0; i < o.length; i++)
				out[i] = copy(o[i], _isObj);
		}
		else
			out = o.slice();
	}
	else if (o instanceof TypedArray) // also (ArrayBuffer.isView(o) && !(o instanceof DataView))
		out = o.slice();
	else if (_isObj(o)) {
		out = {};
		for (let k in o) {
			if (k != __proto__)
				out[k] = copy(o[k], _isObj);
		}
	}
	else
		out = o;

	return out;
}

function assign(targ) {
	let args = arguments;

	for (let i = 1; i < args.length; i++) {
		let src = args[i];

		for (let key in src) {
			if (key != __proto__) {
				if (isObj(targ[key]))
					assign(targ[key], copy(src[key]));
				else
					targ[key] = copy(src[key]);
			}
		}
	}

	return targ;
}

// nullModes
const NULL_REMOVE = 0;  // nulls are converted to undefined (e.g. for spanGaps: true)
const NULL_RETAIN = 1;  // nulls are retained, with alignment artifacts set to undefined (default)
const NULL_EXPAND = 2;  // nulls are expanded to include any adjacent alignment artifacts

// sets undefined values to nulls when adjacent to existing nulls (minesweeper)
function nullExpand(yVals, nullIdxs, alignedLen) {
	for (let i = 0, xi, lastNullIdx = -1; i < nullIdxs.length; i++) {
		let nullIdx = nullIdxs[i];

		if (nullIdx > lastNullIdx) {
			xi = nullIdx - 1;
			while (xi >= 0 && yVals[xi] == null)
				yVals[xi--] = null;

			xi = nullIdx + 1;
			while (xi < alignedLen && yVals[xi] == null)
				yVals[lastNullIdx = xi++] = null;
		}
	}
}

// nullModes is a tables-matched array indicating how to treat nulls in each series
// output is sorted ASC on the joined field (table[0]) and duplicate join values are collapsed
function join(tables, nullModes) {
	if (allHeadersSame(tables)) {
	//	console.log('cheap join!');

		let table = tables[0].slice();

		for (let i = 1; i < tables.length; i++)
			table.push(...tables[i].slice(1));

		if (!isAsc(table[0]))
			table = sortCols(table);

		return table;
	}

	let xVals = new Set();

	for (let ti = 0; ti < tables.length; ti++) {
		let t = tables[ti];
		let xs = t[0];
		let len = xs.length;

		for (let i = 0; i < len; i++)
			xVals.add(xs[i]);
	}

	let data = [Array.from(xVals).sort((a, b) => a - b)];

	let alignedLen = data[0].length;

	let xIdxs = new Map();

	for (let i = 0; i < alignedLen; i++)
		xIdxs.set(data[0][i], i);

	for (let ti = 0; ti < tables.length; ti++) {
		let t = tables[ti];
		let xs = t[0];

		for (let si = 1; si < t.length; si++) {
			let ys = t[si];

			let yVals = Array(alignedLen).fill(undefined);

			let nullMode = nullModes ? nullModes[ti][si] : NULL_RETAIN;

			let nullIdxs = [];

			for (let i = 0; i < ys.length; i++) {
				let yVal = ys[i];
				let alignedIdx = xIdxs.get(xs[i]);

				if (yVal === null) {
					if (nullMode != NULL_REMOVE) {
						yVals[alignedIdx] = yVal;

						if (nullMode == NULL_EXPAND)
							nullIdxs.push(alignedIdx);
					}
				}
				else
					yVals[alignedIdx] = yVal;
			}

			nullExpand(yVals, nullIdxs, alignedLen);

			data.push(yVals);
		}
	}

	return data;
}

const microTask = typeof queueMicrotask == "undefined" ? fn => Promise.resolve().then(fn) : queueMicrotask;

// TODO: https://github.com/dy/sort-ids (~2x faster for 1e5+ arrays)
function sortCols(table) {
	let head = table[0];
	let rlen = head.length;

	let idxs = Array(rlen);
	for (let i = 0; i < idxs.length; i++)
		idxs[i] = i;

	idxs.sort((i0, i1) => head[i0] - head[i1]);

	let table2 = [];
	for (let i = 0; i < table.length; i++) {
		let row = table[i];
		let row2 = Array(rlen);

		for (let j = 0; j < rlen; j++)
			row2[j] = row[idxs[j]];

		table2.push(row2);
	}

	return table2;
}

// test if we can do cheap join (all join fields same)
function allHeadersSame(tables) {
	let vals0 = tables[0][0];
	let len0 = vals0.length;

	for (let i = 1; i < tables.length; i++) {
		let vals1 = tables[i][0];

		if (vals1.length != len0)
			return false;

		if (vals1 != vals0) {
			for (let j = 0; j < len0; j++) {
				if (vals1[j] != vals0[j])
					return false;
			}
		}
	}

	return true;
}

function isAsc(vals, samples = 100) {
	const len = vals.length;

	// empty or single value
	if (len <= 1)
		return true;

	// skip leading & trailing nullish
	let firstIdx = 0;
	let lastIdx = len - 1;

	while (firstIdx <= lastIdx && vals[firstIdx] == null)
		firstIdx++;

	while (lastIdx >= firstIdx && vals[lastIdx] == null)
		lastIdx--;

	// all nullish or one value surrounded by nullish
	if (lastIdx <= firstIdx)
		return true;

	const stride = max(1, floor((lastIdx - firstIdx + 1) / samples));

	for (let prevVal = vals[firstIdx], i = firstIdx + stride; i <= lastIdx; i += stride) {
		const v = vals[i];

		if (v != null) {
			if (v <= prevVal)
				return false;

			prevVal = v;
		}
	}

	return true;
}

const months = [
	"January",
	"February",
	"March",
	"April",
	"May",
	"June",
	"July",
	"August",
	"September",
	"October",
	"November",
	"December",
];

const days = [
	"Sunday",
	"Monday",
	"Tuesday",
	"Wednesday",
	"Thursday",
	"Friday",
	"Saturday",
];

function slice3(str) {
	return str.slice(0, 3);
}

const days3 = days.map(slice3);

const months3 = months.map(slice3);

const engNames = {
	MMMM: months,
	MMM:  months3,
	WWWW: days,
	WWW:  days3,
};

function zeroPad2(int) {
	return (int < 10 ? '0' : '') + int;
}

function zeroPad3(int) {
	return (int < 10 ? '00' : int < 100 ? '0' : '') + int;
}

/*
function suffix(int) {
	let mod10 = int % 10;

	return int + (
		mod10 == 1 && int != 11 ? "st" :
		mod10 == 2 && int != 12 ? "nd" :
		mod10 == 3 && int != 13 ? "rd" : "th"
	);
}
*/

const subs = {
	// 2019
	YYYY:	d => d.getFullYear(),
	// 19
	YY:		d => (d.getFullYear()+'').slice(2),
	// July
	MMMM:	(d, names) => names.MMMM[d.getMonth()],
	// Jul
	MMM:	(d, names) => names.MMM[d.getMonth()],
	// 07
	MM:		d => zeroPad2(d.getMonth()+1),
	// 7
	M:		d => d.getMonth()+1,
	// 09
	DD:		d => zeroPad2(d.getDate()),
	// 9
	D:		d => d.getDate(),
	// Monday
	WWWW:	(d, names) => names.WWWW[d.getDay()],
	// Mon
	WWW:	(d, names) => names.WWW[d.getDay()],
	// 03
	HH:		d => zeroPad2(d.getHours()),
	// 3
	H:		d => d.getHours(),
	// 9 (12hr, unpadded)
	h:		d => {let h = d.getHours(); return h == 0 ? 12 : h > 12 ? h - 12 : h;},
	// AM
	AA:		d => d.getHours() >= 12 ? 'PM' : 'AM',
	// am
	aa:		d => d.getHours() >= 12 ? 'pm' : 'am',
	// a
	a:		d => d.getHours() >= 12 ? 'p' : 'a',
	// 09
	mm:		d => zeroPad2(d.getMinutes()),
	// 9
	m:		d => d.getMinutes(),
	// 09
	ss:		d => zeroPad2(d.getSeconds()),
	// 9
	s:		d => d.getSeconds(),
	// 374
	fff:	d => zeroPad3(d.getMilliseconds()),
};

function fmtDate(tpl, names) {
	names = names || engNames;
	let parts = [];

	let R = /\{([a-z]+)\}|[^{]+/gi, m;

	while (m = R.exec(tpl))
		parts.push(m[0][0] == '{' ? subs[m[1]] : m[0]);

	return d => {
		let out = '';

		for (let i = 0; i < parts.length; i++)
			out += typeof parts[i] == "string" ? parts[i] : parts[i](d, names);

		return out;
	}
}

const localTz = new Intl.DateTimeFormat().resolvedOptions().timeZone;

// https://stackoverflow.com/questions/15141762/how-to-initialize-a-javascript-date-to-a-particular-time-zone/53652131#53652131
function tzDate(date, tz) {
	let date2;

	// perf optimization
	if (tz == 'UTC' || tz == 'Etc/UTC')
		date2 = new Date(+date + date.getTimezoneOffset() * 6e4);
	else if (tz == localTz)
		date2 = date;
	else {
		date2 = new Date(date.toLocaleString('en-US', {timeZone: tz}));
		date2.setMilliseconds(date.getMilliseconds());
	}

	return date2;
}

//export const series = [];

// default formatters:

const onlyWhole = v => v % 1 == 0;

const allMults = [1,2,2.5,5];

// ...0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5
const decIncrs = genIncrs(10, -32, 0, allMults);

// 1, 2, 2.5, 5, 10, 20, 25, 50...
const oneIncrs = genIncrs(10, 0, 32, allMults);

// 1, 2,      5, 10, 20, 25, 50...
const wholeIncrs = oneIncrs.filter(onlyWhole);

const numIncrs = decIncrs.concat(oneIncrs);

const NL = "\n";

const yyyy    = "{YYYY}";
const NLyyyy  = NL + yyyy;
const md      = "{M}/{D}";
const NLmd    = NL + md;
const NLmdyy  = NLmd + "/{YY}";

const aa      = "{aa}";
const hmm     = "{h}:{mm}";
const hmmaa   = hmm + aa;
const NLhmmaa = NL + hmmaa;
const ss      = ":{ss}";

const _ = null;

function genTimeStuffs(ms) {
	let	s  = ms * 1e3,
		m  = s  * 60,
		h  = m  * 60,
		d  = h  * 24,
		mo = d  * 30,
		y  = d  * 365;

	// min of 1e-3 prevents setting a temporal x ticks too small since Date objects cannot advance ticks smaller than 1ms
	let subSecIncrs = ms == 1 ? genIncrs(10, 0, 3, allMults).filter(onlyWhole) : genIncrs(10, -3, 0, allMults);

	let timeIncrs = subSecIncrs.concat([
		// minute divisors (# of secs)
		s,
		s * 5,
		s * 10,
		s * 15,
		s * 30,
		// hour divisors (# of mins)
		m,
		m * 5,
		m * 10,
		m * 15,
		m * 30,
		// day divisors (# of hrs)
		h,
		h * 2,
		h * 3,
		h * 4,
		h * 6,
		h * 8,
		h * 12,
		// month divisors TODO: need more?
		d,
		d * 2,
		d * 3,
		d * 4,
		d * 5,
		d * 6,
		d * 7,
		d * 8,
		d * 9,
		d * 10,
		d * 15,
		// year divisors (# months, approx)
		mo,
		mo * 2,
		mo * 3,
		mo * 4,
		mo * 6,
		// century divisors
		y,
		y * 2,
		y * 5,
		y * 10,
		y * 25,
		y * 50,
		y * 100,
	]);

	// [0]:   minimum num secs in the tick incr
	// [1]:   default tick format
	// [2-7]: rollover tick formats
	// [8]:   mode: 0: replace [1] -> [2-7], 1: concat [1] + [2-7]
	const _timeAxisStamps = [
	//   tick incr    default          year                    month   day                   hour    min       sec   mode
		[y,           yyyy,            _,                      _,      _,                    _,      _,        _,       1],
		[d * 28,      "{MMM}",         NLyyyy,                 _,      _,                    _,      _,        _,       1],
		[d,           md,              NLyyyy,                 _,      _,                    _,      _,        _,       1],
		[h,           "{h}" + aa,      NLmdyy,                 _,      NLmd,                 _,      _,        _,       1],
		[m,           hmmaa,           NLmdyy,                 _,      NLmd,                 _,      _,        _,       1],
		[s,           ss,              NLmdyy + " " + hmmaa,   _,      NLmd + " " + hmmaa,   _,      NLhmmaa,  _,       1],
		[ms,          ss + ".{fff}",   NLmdyy + " " + hmmaa,   _,      NLmd + " " + hmmaa,   _,      NLhmmaa,  _,       1],
	];

	// the ensures that axis ticks, values & grid are aligned to logical temporal breakpoints and not an arbitrary timestamp
	// https://www.timeanddate.com/time/dst/
	// https://www.timeanddate.com/time/dst/2019.html
	// https://www.epochconverter.com/timezones
	function timeAxisSplits(tzDate) {
		return (self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace) => {
			let splits = [];
			let isYr = foundIncr >= y;
			let isMo = foundIncr >= mo && foundIncr < y;

			// get the timezone-adjusted date
			let minDate = tzDate(scaleMin);
			let minDateTs = roundDec(minDate * ms, 3);

			// get ts of 12am (this lands us at or before the original scaleMin)
			let minMin = mkDate(minDate.getFullYear(), isYr ? 0 : minDate.getMonth(), isMo || isYr ? 1 : minDate.getDate());
			let minMinTs = roundDec(minMin * ms, 3);

			if (isMo || isYr) {
				let moIncr = isMo ? foundIncr / mo : 0;
				let yrIncr = isYr ? foundIncr / y  : 0;
			//	let tzOffset = scaleMin - minDateTs;		// needed?
				let split = minDateTs == minMinTs ? minDateTs : roundDec(mkDate(minMin.getFullYear() + yrIncr, minMin.getMonth() + moIncr, 1) * ms, 3);
				let splitDate = new Date(round(split / ms));
				let baseYear = splitDate.getFullYear();
				let baseMonth = splitDate.getMonth();

				for (let i = 0; split <= scaleMax; i++) {
					let next = mkDate(baseYear + yrIncr * i, baseMonth + moIncr * i, 1);
					let offs = next - tzDate(roundDec(next * ms, 3));

					split = roundDec((+next + offs) * ms, 3);

					if (split <= scaleMax)
						splits.push(split);
				}
			}
			else {
				let incr0 = foundIncr >= d ? d : foundIncr;
				let tzOffset = floor(scaleMin) - floor(minDateTs);
				let split = minMinTs + tzOffset + incrRoundUp(minDateTs - minMinTs, incr0);
				splits.push(split);

				let date0 = tzDate(split);

				let prevHour = date0.getHours() + (date0.getMinutes() / m) + (date0.getSeconds() / h);
				let incrHours = foundIncr / h;

				let minSpace = self.axes[axisIdx]._space;
				let pctSpace = foundSpace / minSpace;

				while (1) {
					split = roundDec(split + foundIncr, ms == 1 ? 0 : 3);

					if (split > scaleMax)
						break;

					if (incrHours > 1) {
						let expectedHour = floor(roundDec(prevHour + incrHours, 6)) % 24;
						let splitDate = tzDate(split);
						let actualHour = splitDate.getHours();

						let dstShift = actualHour - expectedHour;

						if (dstShift > 1)
							dstShift = -1;

						split -= dstShift * h;

						prevHour = (prevHour + incrHours) % 24;

						// add a tick only if it's further than 70% of the min allowed label spacing
						let prevSplit = splits[splits.length - 1];
						let pctIncr = roundDec((split - prevSplit) / foundIncr, 3);

						if (pctIncr * pctSpace >= .7)
							splits.push(split);
					}
					else
						splits.push(split);
				}
			}

			return splits;
		}
	}

	return [
		timeIncrs,
		_timeAxisStamps,
		timeAxisSplits,
	];
}

const [ timeIncrsMs, _timeAxisStampsMs, timeAxisSplitsMs ] = genTimeStuffs(1);
const [ timeIncrsS,  _timeAxisStampsS,  timeAxisSplitsS  ] = genTimeStuffs(1e-3);

// base 2
genIncrs(2, -53, 53, [1]);

/*
console.log({
	decIncrs,
	oneIncrs,
	wholeIncrs,
	numIncrs,
	timeIncrs,
	fixedDec,
});
*/

function timeAxisStamps(stampCfg, fmtDate) {
	return stampCfg.map(s => s.map((v, i) =>
		i == 0 || i == 8 || v == null ? v : fmtDate(i == 1 || s[8] == 0 ? v : s[1] + v)
	));
}

// TODO: will need to accept spaces[] and pull incr into the loop when grid will be non-uniform, eg for log scales.
// currently we ignore this for months since they're *nearly* uniform and the added complexity is not worth it
function timeAxisVals(tzDate, stamps) {
	return (self, splits, axisIdx, foundSpace, foundIncr) => {
		let s = stamps.find(s => foundIncr >= s[0]) || stamps[stamps.length - 1];

		// these track boundaries when a full label is needed again
		let prevYear;
		let prevMnth;
		let prevDate;
		let prevHour;
		let prevMins;
		let prevSecs;

		return splits.map(split => {
			let date = tzDate(split);

			let newYear = date.getFullYear();
			let newMnth = date.getMonth();
			let newDate = date.getDate();
			let newHour = date.getHours();
			let newMins = date.getMinutes();
			let newSecs = date.getSeconds();

			let stamp = (
				newYear != prevYear && s[2] ||
				newMnth != prevMnth && s[3] ||
				newDate != prevDate && s[4] ||
				newHour != prevHour && s[5] ||
				newMins != prevMins && s[6] ||
				newSecs != prevSecs && s[7] ||
				                       s[1]
			);

			prevYear = newYear;
			prevMnth = newMnth;
			prevDate = newDate;
			prevHour = newHour;
			prevMins = newMins;
			prevSecs = newSecs;

			return stamp(date);
		});
	}
}

// for when axis.values is defined as a static fmtDate template string
function timeAxisVal(tzDate, dateTpl) {
	let stamp = fmtDate(dateTpl);
	return (self, splits, axisIdx, foundSpace, foundIncr) => splits.map(split => stamp(tzDate(split)));
}

function mkDate(y, m, d) {
	return new Date(y, m, d);
}

function timeSeriesStamp(stampCfg, fmtDate) {
	return fmtDate(stampCfg);
}
const _timeSeriesStamp = '{YYYY}-{MM}-{DD} {h}:{mm}{aa}';

function timeSeriesVal(tzDate, stamp) {
	return (self, val, seriesIdx, dataIdx) => dataIdx == null ? LEGEND_DISP : stamp(tzDate(val));
}

function legendStroke(self, seriesIdx) {
	let s = self.series[seriesIdx];
	return s.width ? s.stroke(self, seriesIdx) : s.points.width ? s.points.stroke(self, seriesIdx) : null;
}

function legendFill(self, seriesIdx) {
	return self.series[seriesIdx].fill(self, seriesIdx);
}

const legendOpts = {
	show: true,
	live: true,
	isolate: false,
	mount: noop,
	markers: {
		show: true,
		width: 2,
		stroke: legendStroke,
		fill: legendFill,
		dash: "solid",
	},
	idx: null,
	idxs: null,
	values: [],
};

function cursorPointShow(self, si) {
	let o = self.cursor.points;

	let pt = placeDiv();

	let size = o.size(self, si);
	setStylePx(pt, WIDTH, size);
	setStylePx(pt, HEIGHT, size);

	let mar = size / -2;
	setStylePx(pt, "marginLeft", mar);
	setStylePx(pt, "marginTop", mar);

	let width = o.width(self, si, size);
	width && setStylePx(pt, "borderWidth", width);

	return pt;
}

function cursorPointFill(self, si) {
	let sp = self.series[si].points;
	return sp._fill || sp._stroke;
}

function cursorPointStroke(self, si) {
	let sp = self.series[si].points;
	return sp._stroke || sp._fill;
}

function cursorPointSize(self, si) {
	let sp = self.series[si].points;
	return sp.size;
}

const moveTuple = [0,0];

function cursorMove(self, mouseLeft1, mouseTop1) {
	moveTuple[0] = mouseLeft1;
	moveTuple[1] = mouseTop1;
	return moveTuple;
}

function filtBtn0(self, targ, handle, onlyTarg = true) {
	return e => {
		e.button == 0 && (!onlyTarg || e.target == targ) && handle(e);
	};
}

function filtTarg(self, targ, handle, onlyTarg = true) {
	return e => {
		(!onlyTarg || e.target == targ) && handle(e);
	};
}

const cursorOpts = {
	show: true,
	x: true,
	y: true,
	lock: false,
	move: cursorMove,
	points: {
		one:    false,
		show:   cursorPointShow,
		size:   cursorPointSize,
		width:  0,
		stroke: cursorPointStroke,
		fill:   cursorPointFill,
	},

	bind: {
		mousedown:   filtBtn0,
		mouseup:     filtBtn0,
		click:       filtBtn0, // legend clicks, not .u-over clicks
		dblclick:    filtBtn0,

		mousemove:   filtTarg,
		mouseleave:  filtTarg,
		mouseenter:  filtTarg,
	},

	drag: {
		setScale: true,
		x: true,
		y: false,
		dist: 0,
		uni: null,
		click: (self, e) => {
		//	e.preventDefault();
			e.stopPropagation();
			e.stopImmediatePropagation();
		},
		_x: false,
		_y: false,
	},

	focus: {
		dist: (self, seriesIdx, dataIdx, valPos, curPos) => valPos - curPos,
		prox: -1,
		bias: 0,
	},

	hover: {
		skip: [void 0],
		prox: null,
		bias: 0,
	},

	left: -10,
	top: -10,
	idx: null,
	dataIdx: null,
	idxs: null,

	event: null,
};

const axisLines = {
	show: true,
	stroke: "rgba(0,0,0,0.07)",
	width: 2,
//	dash: [],
};

const grid = assign({}, axisLines, {
	filter: retArg1,
});

const ticks = assign({}, grid, {
	size: 10,
});

const border = assign({}, axisLines, {
	show: false,
});

const font      = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"';
const labelFont = "bold " + font;
const lineGap = 1.5;	// font-size multiplier

const xAxisOpts = {
	show: true,
	scale: "x",
	stroke: hexBlack,
	space: 50,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont,
	side: 2,
//	class: "x-vals",
//	incrs: timeIncrs,
//	values: timeVals,
//	filter: retArg1,
	grid,
	ticks,
	border,
	font,
	lineGap,
	rotate: 0,
};

const numSeriesLabel = "Value";
const timeSeriesLabel = "Time";

const xSeriesOpts = {
	show: true,
	scale: "x",
	auto: false,
	sorted: 1,
//	label: "Time",
//	value: v => stamp(new Date(v * 1e3)),

	// internal caches
	min: inf,
	max: -inf,
	idxs: [],
};

function numAxisVals(self, splits, axisIdx, foundSpace, foundIncr) {
	return splits.map(v => v == null ? "" : fmtNum(v));
}

function numAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
	let splits = [];

	let numDec = fixedDec.get(foundIncr) || 0;

	scaleMin = forceMin ? scaleMin : roundDec(incrRoundUp(scaleMin, foundIncr), numDec);

	for (let val = scaleMin; val <= scaleMax; val = roundDec(val + foundIncr, numDec))
		splits.push(Object.is(val, -0) ? 0 : val);		// coalesces -0

	return splits;
}

// this doesnt work for sin, which needs to come off from 0 independently in pos and neg dirs
function logAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
	const splits = [];

	const logBase = self.scales[self.axes[axisIdx].scale].log;

	const logFn = logBase == 10 ? log10 : log2;

	const exp = floor(logFn(scaleMin));

	foundIncr = pow(logBase, exp);

	// boo: 10 ** -24 === 1.0000000000000001e-24
	// this grabs the proper 1e-24 one
	if (logBase == 10)
		foundIncr = numIncrs[closestIdx(foundIncr, numIncrs)];

	let split = scaleMin;
	let nextMagIncr = foundIncr * logBase;

	if (logBase == 10)
		nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];

	do {
		splits.push(split);
		split = split + foundIncr;

		if (logBase == 10 && !fixedDec.has(split))
			split = roundDec(split, fixedDec.get(foundIncr));

		if (split >= nextMagIncr) {
			foundIncr = split;
			nextMagIncr = foundIncr * logBase;

			if (logBase == 10)
				nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
		}
	} while (split <= scaleMax);

	return splits;
}

function asinhAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
	let sc = self.scales[self.axes[axisIdx].scale];

	let linthresh = sc.asinh;

	let posSplits = scaleMax > linthresh ? logAxisSplits(self, axisIdx, max(linthresh, scaleMin), scaleMax, foundIncr) : [linthresh];
	let zero = scaleMax >= 0 && scaleMin <= 0 ? [0] : [];
	let negSplits = scaleMin < -linthresh ? logAxisSplits(self, axisIdx, max(linthresh, -scaleMax), -scaleMin, foundIncr): [linthresh];

	return negSplits.reverse().map(v => -v).concat(zero, posSplits);
}

const RE_ALL   = /./;
const RE_12357 = /[12357]/;
const RE_125   = /[125]/;
const RE_1     = /1/;

const _filt = (splits, distr, re, keepMod) => splits.map((v, i) => ((distr == 4 && v == 0) || i % keepMod == 0 && re.test(v.toExponential()[v < 0 ? 1 : 0])) ? v : null);

function log10AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
	let axis = self.axes[axisIdx];
	let scaleKey = axis.scale;
	let sc = self.scales[scaleKey];

//	if (sc.distr == 3 && sc.log == 2)
//		return splits;

	let valToPos = self.valToPos;

	let minSpace = axis._space;

	let _10 = valToPos(10, scaleKey);

	let re = (
		valToPos(9, scaleKey) - _10 >= minSpace ? RE_ALL :
		valToPos(7, scaleKey) - _10 >= minSpace ? RE_12357 :
		valToPos(5, scaleKey) - _10 >= minSpace ? RE_125 :
		RE_1
	);

	if (re == RE_1) {
		let magSpace = abs(valToPos(1, scaleKey) - _10);

		if (magSpace < minSpace)
			return _filt(splits.slice().reverse(), sc.distr, re, ceil(minSpace / magSpace)).reverse(); // max->min skip
	}

	return _filt(splits, sc.distr, re, 1);
}

function log2AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
	let axis = self.axes[axisIdx];
	let scaleKey = axis.scale;
	let minSpace = axis._space;
	let valToPos = self.valToPos;

	let magSpace = abs(valToPos(1, scaleKey) - valToPos(2, scaleKey));

	if (magSpace < minSpace)
		return _filt(splits.slice().reverse(), 3, RE_ALL, ceil(minSpace / magSpace)).reverse(); // max->min skip

	return splits;
}

function numSeriesVal(self, val, seriesIdx, dataIdx) {
	return dataIdx == null ? LEGEND_DISP : val == null ? "" : fmtNum(val);
}

const yAxisOpts = {
	show: true,
	scale: "y",
	stroke: hexBlack,
	space: 30,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont,
	side: 3,
//	class: "y-vals",
//	incrs: numIncrs,
//	values: (vals, space) => vals,
//	filter: retArg1,
	grid,
	ticks,
	border,
	font,
	lineGap,
	rotate: 0,
};

// takes stroke width
function ptDia(width, mult) {
	let dia = 3 + (width || 1) * 2;
	return roundDec(dia * mult, 3);
}

function seriesPointsShow(self, si) {
	let { scale, idxs } = self.series[0];
	let xData = self._data[0];
	let p0 = self.valToPos(xData[idxs[0]], scale, true);
	let p1 = self.valToPos(xData[idxs[1]], scale, true);
	let dim = abs(p1 - p0);

	let s = self.series[si];
//	const dia = ptDia(s.width, pxRatio);
	let maxPts = dim / (s.points.space * pxRatio);
	return idxs[1] - idxs[0] <= maxPts;
}

const facet = {
	scale: null,
	auto: true,
	sorted: 0,

	// internal caches
	min: inf,
	max: -inf,
};

const gaps = (self, seriesIdx, idx0, idx1, nullGaps) => nullGaps;

const xySeriesOpts = {
	show: true,
	auto: true,
	sorted: 0,
	gaps,
	alpha: 1,
	facets: [
		assign({}, facet, {scale: 'x'}),
		assign({}, facet, {scale: 'y'}),
	],
};

const ySeriesOpts = {
	scale: "y",
	auto: true,
	sorted: 0,
	show: true,
	spanGaps: false,
	gaps,
	alpha: 1,
	points: {
		show: seriesPointsShow,
		filter: null,
	//  paths:
	//	stroke: "#000",
	//	fill: "#fff",
	//	width: 1,
	//	size: 10,
	},
//	label: "Value",
//	value: v => v,
	values: null,

	// internal caches
	min: inf,
	max: -inf,
	idxs: [],

	path: null,
	clip: null,
};

function clampScale(self, val, scaleMin, scaleMax, scaleKey) {
/*
	if (val < 0) {
		let cssHgt = self.bbox.height / pxRatio;
		let absPos = self.valToPos(abs(val), scaleKey);
		let fromBtm = cssHgt - absPos;
		return self.posToVal(cssHgt + fromBtm, scaleKey);
	}
*/
	return scaleMin / 10;
}

const xScaleOpts = {
	time: FEAT_TIME,
	auto: true,
	distr: 1,
	log: 10,
	asinh: 1,
	min: null,
	max: null,
	dir: 1,
	ori: 0,
};

const yScaleOpts = assign({}, xScaleOpts, {
	time: false,
	ori: 1,
});

const syncs = {};

function _sync(key, opts) {
	let s = syncs[key];

	if (!s) {
		s = {
			key,
			plots: [],
			sub(plot) {
				s.plots.push(plot);
			},
			unsub(plot) {
				s.plots = s.plots.filter(c => c != plot);
			},
			pub(type, self, x, y, w, h, i) {
				for (let j = 0; j < s.plots.length; j++)
					s.plots[j] != self && s.plots[j].pub(type, self, x, y, w, h, i);
			},
		};

		if (key != null)
			syncs[key] = s;
	}

	return s;
}

const BAND_CLIP_FILL   = 1 << 0;
const BAND_CLIP_STROKE = 1 << 1;

function orient(u, seriesIdx, cb) {
	const mode = u.mode;
	const series = u.series[seriesIdx];
	const data = mode == 2 ? u._data[seriesIdx] : u._data;
	const scales = u.scales;
	const bbox   = u.bbox;

	let dx = data[0],
		dy = mode == 2 ? data[1] : data[seriesIdx],
		sx = mode == 2 ? scales[series.facets[0].scale] : scales[u.series[0].scale],
		sy = mode == 2 ? scales[series.facets[1].scale] : scales[series.scale],
		l = bbox.left,
		t = bbox.top,
		w = bbox.width,
		h = bbox.height,
		H = u.valToPosH,
		V = u.valToPosV;

	return (sx.ori == 0
		? cb(
			series,
			dx,
			dy,
			sx,
			sy,
			H,
			V,
			l,
			t,
			w,
			h,
			moveToH,
			lineToH,
			rectH,
			arcH,
			bezierCurveToH,
		)
		: cb(
			series,
			dx,
			dy,
			sx,
			sy,
			V,
			H,
			t,
			l,
			h,
			w,
			moveToV,
			lineToV,
			rectV,
			arcV,
			bezierCurveToV,
		)
	);
}

function bandFillClipDirs(self, seriesIdx) {
	let fillDir = 0;

	// 2 bits, -1 | 1
	let clipDirs = 0;

	let bands = ifNull(self.bands, EMPTY_ARR);

	for (let i = 0; i < bands.length; i++) {
		let b = bands[i];

		// is a "from" band edge
		if (b.series[0] == seriesIdx)
			fillDir = b.dir;
		// is a "to" band edge
		else if (b.series[1] == seriesIdx) {
			if (b.dir == 1)
				clipDirs |= 1;
			else
				clipDirs |= 2;
		}
	}

	return [
		fillDir,
		(
			clipDirs == 1 ? -1 : // neg only
			clipDirs == 2 ?  1 : // pos only
			clipDirs == 3 ?  2 : // both
			                 0   // neither
		)
	];
}

function seriesFillTo(self, seriesIdx, dataMin, dataMax, bandFillDir) {
	let mode = self.mode;
	let series = self.series[seriesIdx];
	let scaleKey = mode == 2 ? series.facets[1].scale : series.scale;
	let scale = self.scales[scaleKey];

	return (
		bandFillDir == -1 ? scale.min :
		bandFillDir ==  1 ? scale.max :
		scale.distr ==  3 ? (
			scale.dir == 1 ? scale.min :
			scale.max
		) : 0
	);
}

// creates inverted band clip path (from stroke path -> yMax || yMin)
// clipDir is always inverse of fillDir
// default clip dir is upwards (1), since default band fill is downwards/fillBelowTo (-1) (highIdx -> lowIdx)
function clipBandLine(self, seriesIdx, idx0, idx1, strokePath, clipDir) {
	return orient(self, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
		let pxRound = series.pxRound;

		const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
		const lineTo = scaleX.ori == 0 ? lineToH : lineToV;

		let frIdx, toIdx;

		if (dir == 1) {
			frIdx = idx0;
			toIdx = idx1;
		}
		else {
			frIdx = idx1;
			toIdx = idx0;
		}

		// path start
		let x0 = pxRound(valToPosX(dataX[frIdx], scaleX, xDim, xOff));
		let y0 = pxRound(valToPosY(dataY[frIdx], scaleY, yDim, yOff));
		// path end x
		let x1 = pxRound(valToPosX(dataX[toIdx], scaleX, xDim, xOff));
		// upper or lower y limit
		let yLimit = pxRound(valToPosY(clipDir == 1 ? scaleY.max : scaleY.min, scaleY, yDim, yOff));

		let clip = new Path2D(strokePath);

		lineTo(clip, x1, yLimit);
		lineTo(clip, x0, yLimit);
		lineTo(clip, x0, y0);

		return clip;
	});
}

function clipGaps(gaps, ori, plotLft, plotTop, plotWid, plotHgt) {
	let clip = null;

	// create clip path (invert gaps and non-gaps)
	if (gaps.length > 0) {
		clip = new Path2D();

		const rect = ori == 0 ? rectH : rectV;

		let prevGapEnd = plotLft;

		for (let i = 0; i < gaps.length; i++) {
			let g = gaps[i];

			if (g[1] > g[0]) {
				let w = g[0] - prevGapEnd;

				w > 0 && rect(clip, prevGapEnd, plotTop, w, plotTop + plotHgt);

				prevGapEnd = g[1];
			}
		}

		let w = plotLft + plotWid - prevGapEnd;

		// hack to ensure we expand the clip enough to avoid cutting off strokes at edges
		let maxStrokeWidth = 10;

		w > 0 && rect(clip, prevGapEnd, plotTop - maxStrokeWidth / 2, w, plotTop + plotHgt + maxStrokeWidth);
	}

	return clip;
}

function addGap(gaps, fromX, toX) {
	let prevGap = gaps[gaps.length - 1];

	if (prevGap && prevGap[0] == fromX)			// TODO: gaps must be encoded at stroke widths?
		prevGap[1] = toX;
	else
		gaps.push([fromX, toX]);
}

function findGaps(xs, ys, idx0, idx1, dir, pixelForX, align) {
	let gaps = [];
	let len = xs.length;

	for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
		let yVal = ys[i];

		if (yVal === null) {
			let fr = i, to = i;

			if (dir == 1) {
				while (++i <= idx1 && ys[i] === null)
					to = i;
			}
			else {
				while (--i >= idx0 && ys[i] === null)
					to = i;
			}

			let frPx = pixelForX(xs[fr]);
			let toPx = to == fr ? frPx : pixelForX(xs[to]);

			// if value adjacent to edge null is same pixel, then it's partially
			// filled and gap should start at next pixel
			let fri2 = fr - dir;
			let frPx2 = align <= 0 && fri2 >= 0 && fri2 < len ? pixelForX(xs[fri2]) : frPx;
		//	if (frPx2 == frPx)
		//		frPx++;
		//	else
				frPx = frPx2;

			let toi2 = to + dir;
			let toPx2 = align >= 0 && toi2 >= 0 && toi2 < len ? pixelForX(xs[toi2]) : toPx;
		//	if (toPx2 == toPx)
		//		toPx--;
		//	else
				toPx = toPx2;

			if (toPx >= frPx)
				gaps.push([frPx, toPx]); // addGap
		}
	}

	return gaps;
}

function pxRoundGen(pxAlign) {
	return pxAlign == 0 ? retArg0 : pxAlign == 1 ? round : v => incrRound(v, pxAlign);
}

/*
// inefficient linear interpolation that does bi-directinal scans on each call
export function costlyLerp(i, idx0, idx1, _dirX, dataY) {
	let prevNonNull = nonNullIdx(dataY, _dirX == 1 ? idx0 : idx1, i, -_dirX);
	let nextNonNull = nonNullIdx(dataY, i, _dirX == 1 ? idx1 : idx0,  _dirX);

	let prevVal = dataY[prevNonNull];
	let nextVal = dataY[nextNonNull];

	return prevVal + (i - prevNonNull) / (nextNonNull - prevNonNull) * (nextVal - prevVal);
}
*/

function rect(ori) {
	let moveTo = ori == 0 ?
		moveToH :
		moveToV;

	let arcTo = ori == 0 ?
		(p, x1, y1, x2, y2, r) => { p.arcTo(x1, y1, x2, y2, r); } :
		(p, y1, x1, y2, x2, r) => { p.arcTo(x1, y1, x2, y2, r); };

	let rect = ori == 0 ?
		(p, x, y, w, h) => { p.rect(x, y, w, h); } :
		(p, y, x, h, w) => { p.rect(x, y, w, h); };

	// TODO (pending better browser support): https://developer.mozilla.org/en-US/docs/Web/API/CanvasRenderingContext2D/roundRect
	return (p, x, y, w, h, endRad = 0, baseRad = 0) => {
		if (endRad == 0 && baseRad == 0)
			rect(p, x, y, w, h);
		else {
			endRad  = min(endRad,  w / 2, h / 2);
			baseRad = min(baseRad, w / 2, h / 2);

			// adapted from https://stackoverflow.com/questions/1255512/how-to-draw-a-rounded-rectangle-using-html-canvas/7838871#7838871
			moveTo(p, x + endRad, y);
			arcTo(p, x + w, y, x + w, y + h, endRad);
			arcTo(p, x + w, y + h, x, y + h, baseRad);
			arcTo(p, x, y + h, x, y, baseRad);
			arcTo(p, x, y, x + w, y, endRad);
			p.closePath();
		}
	};
}

// orientation-inverting canvas functions
const moveToH = (p, x, y) => { p.moveTo(x, y); };
const moveToV = (p, y, x) => { p.moveTo(x, y); };
const lineToH = (p, x, y) => { p.lineTo(x, y); };
const lineToV = (p, y, x) => { p.lineTo(x, y); };
const rectH = rect(0);
const rectV = rect(1);
const arcH = (p, x, y, r, startAngle, endAngle) => { p.arc(x, y, r, startAngle, endAngle); };
const arcV = (p, y, x, r, startAngle, endAngle) => { p.arc(x, y, r, startAngle, endAngle); };
const bezierCurveToH = (p, bp1x, bp1y, bp2x, bp2y, p2x, p2y) => { p.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y); };
const bezierCurveToV = (p, bp1y, bp1x, bp2y, bp2x, p2y, p2x) => { p.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y); };

// TODO: drawWrap(seriesIdx, drawPoints) (save, restore, translate, clip)
function points(opts) {
	return (u, seriesIdx, idx0, idx1, filtIdxs) => {
	//	log("drawPoints()", arguments);

		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			let { pxRound, points } = series;

			let moveTo, arc;

			if (scaleX.ori == 0) {
				moveTo = moveToH;
				arc = arcH;
			}
			else {
				moveTo = moveToV;
				arc = arcV;
			}

			const width = roundDec(points.width * pxRatio, 3);

			let rad = (points.size - points.width) / 2 * pxRatio;
			let dia = roundDec(rad * 2, 3);

			let fill = new Path2D();
			let clip = new Path2D();

			let { left: lft, top: top, width: wid, height: hgt } = u.bbox;

			rectH(clip,
				lft - dia,
				top - dia,
				wid + dia * 2,
				hgt + dia * 2,
			);

			const drawPoint = pi => {
				if (dataY[pi] != null) {
					let x = pxRound(valToPosX(dataX[pi], scaleX, xDim, xOff));
					let y = pxRound(valToPosY(dataY[pi], scaleY, yDim, yOff));

					moveTo(fill, x + rad, y);
					arc(fill, x, y, rad, 0, PI * 2);
				}
			};

			if (filtIdxs)
				filtIdxs.forEach(drawPoint);
			else {
				for (let pi = idx0; pi <= idx1; pi++)
					drawPoint(pi);
			}

			return {
				stroke: width > 0 ? fill : null,
				fill,
				clip,
				flags: BAND_CLIP_FILL | BAND_CLIP_STROKE,
			};
		});
	};
}

function _drawAcc(lineTo) {
	return (stroke, accX, minY, maxY, inY, outY) => {
		if (minY != maxY) {
			if (inY != minY && outY != minY)
				lineTo(stroke, accX, minY);
			if (inY != maxY && outY != maxY)
				lineTo(stroke, accX, maxY);

			lineTo(stroke, accX, outY);
		}
	};
}

const drawAccH = _drawAcc(lineToH);
const drawAccV = _drawAcc(lineToV);

function linear(opts) {
	const alignGaps = ifNull(opts?.alignGaps, 0);

	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			[idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);

			let pxRound = series.pxRound;

			let pixelForX = val => pxRound(valToPosX(val, scaleX, xDim, xOff));
			let pixelForY = val => pxRound(valToPosY(val, scaleY, yDim, yOff));

			let lineTo, drawAcc;

			if (scaleX.ori == 0) {
				lineTo = lineToH;
				drawAcc = drawAccH;
			}
			else {
				lineTo = lineToV;
				drawAcc = drawAccV;
			}

			const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);

			const _paths = {stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL};
			const stroke = _paths.stroke;

			let hasGap = false;

			// decimate when number of points >= 4x available pixels
			const decimate = idx1 - idx0 >= xDim * 4;

			if (decimate) {
				let xForPixel = pos => u.posToVal(pos, scaleX.key, true);

				let minY = null,
					maxY = null,
					inY, outY, drawnAtX;

				let accX = pixelForX(dataX[dir == 1 ? idx0 : idx1]);

				let idx0px = pixelForX(dataX[idx0]);
				let idx1px = pixelForX(dataX[idx1]);

				// tracks limit of current x bucket to avoid having to get x pixel for every x value
				let nextAccXVal = xForPixel(dir == 1 ? idx0px + 1 : idx1px - 1);

				for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
					let xVal = dataX[i];
					let reuseAccX = dir == 1 ? (xVal < nextAccXVal) : (xVal > nextAccXVal);
					let x = reuseAccX ? accX :  pixelForX(xVal);

					let yVal = dataY[i];

					if (x == accX) {
						if (yVal != null) {
							outY = yVal;

							if (minY == null) {
								lineTo(stroke, x, pixelForY(outY));
								inY = minY = maxY = outY;
							} else {
								if (outY < minY)
									minY = outY;
								else if (outY > maxY)
									maxY = outY;
							}
						}
						else {
							if (yVal === null)
								hasGap = true;
						}
					}
					else {
						if (minY != null)
							drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));

						if (yVal != null) {
							outY = yVal;
							lineTo(stroke, x, pixelForY(outY));
							minY = maxY = inY = outY;
						}
						else {
							minY = maxY = null;

							if (yVal === null)
								hasGap = true;
						}

						accX = x;
						nextAccXVal = xForPixel(accX + dir);
					}
				}

				if (minY != null && minY != maxY && drawnAtX != accX)
					drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
			}
			else {
				for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
					let yVal = dataY[i];

					if (yVal === null)
						hasGap = true;
					else if (yVal != null)
						lineTo(stroke, pixelForX(dataX[i]), pixelForY(yVal));
				}
			}

			let [ bandFillDir, bandClipDir ] = bandFillClipDirs(u, seriesIdx);

			if (series.fill != null || bandFillDir != 0) {
				let fill = _paths.fill = new Path2D(stroke);

				let fillToVal = series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir);
				let fillToY = pixelForY(fillToVal);

				let frX = pixelForX(dataX[idx0]);
				let toX = pixelForX(dataX[idx1]);

				if (dir == -1)
					[toX, frX] = [frX, toX];

				lineTo(fill, toX, fillToY);
				lineTo(fill, frX, fillToY);
			}

			if (!series.spanGaps) { // skip in mode: 2?
			//	console.time('gaps');
				let gaps = [];

				hasGap && gaps.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));

			//	console.timeEnd('gaps');

			//	console.log('gaps', JSON.stringify(gaps));

				_paths.gaps = gaps = series.gaps(u, seriesIdx, idx0, idx1, gaps);

				_paths.clip = clipGaps(gaps, scaleX.ori, xOff, yOff, xDim, yDim);
			}

			if (bandClipDir != 0) {
				_paths.band = bandClipDir == 2 ? [
					clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1),
					clipBandLine(u, seriesIdx, idx0, idx1, stroke,  1),
				] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
			}

			return _paths;
		});
	};
}

// BUG: align: -1 behaves like align: 1 when scale.dir: -1
function stepped(opts) {
	const align = ifNull(opts.align, 1);
	// whether to draw ascenders/descenders at null/gap bondaries
	const ascDesc = ifNull(opts.ascDesc, false);
	const alignGaps = ifNull(opts.alignGaps, 0);
	const extend = ifNull(opts.extend, false);

	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			[idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);

			let pxRound = series.pxRound;

			let { left, width } = u.bbox;

			let pixelForX = val => pxRound(valToPosX(val, scaleX, xDim, xOff));
			let pixelForY = val => pxRound(valToPosY(val, scaleY, yDim, yOff));

			let lineTo = scaleX.ori == 0 ? lineToH : lineToV;

			const _paths = {stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL};
			const stroke = _paths.stroke;

			const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);

			let prevYPos  = pixelForY(dataY[dir == 1 ? idx0 : idx1]);
			let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
			let prevXPos = firstXPos;

			let firstXPosExt = firstXPos;

			if (extend && align == -1) {
				firstXPosExt = left;
				lineTo(stroke, firstXPosExt, prevYPos);
			}

			lineTo(stroke, firstXPos, prevYPos);

			for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
				let yVal1 = dataY[i];

				if (yVal1 == null)
					continue;

				let x1 = pixelForX(dataX[i]);
				let y1 = pixelForY(yVal1);

				if (align == 1)
					lineTo(stroke, x1, prevYPos);
				else
					lineTo(stroke, prevXPos, y1);

				lineTo(stroke, x1, y1);

				prevYPos = y1;
				prevXPos = x1;
			}

			let prevXPosExt = prevXPos;

			if (extend && align == 1) {
				prevXPosExt = left + width;
				lineTo(stroke, prevXPosExt, prevYPos);
			}

			let [ bandFillDir, bandClipDir ] = bandFillClipDirs(u, seriesIdx);

			if (series.fill != null || bandFillDir != 0) {
				let fill = _paths.fill = new Path2D(stroke);

				let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir);
				let fillToY = pixelForY(fillTo);

				lineTo(fill, prevXPosExt, fillToY);
				lineTo(fill, firstXPosExt, fillToY);
			}

			if (!series.spanGaps) {
			//	console.time('gaps');
				let gaps = [];

				gaps.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));

			//	console.timeEnd('gaps');

			//	console.log('gaps', JSON.stringify(gaps));

				// expand/contract clips for ascenders/descenders
				let halfStroke = (series.width * pxRatio) / 2;
				let startsOffset = (ascDesc || align ==  1) ?  halfStroke : -halfStroke;
				let endsOffset   = (ascDesc || align == -1) ? -halfStroke :  halfStroke;

				gaps.forEach(g => {
					g[0] += startsOffset;
					g[1] += endsOffset;
				});

				_paths.gaps = gaps = series.gaps(u, seriesIdx, idx0, idx1, gaps);

				_paths.clip = clipGaps(gaps, scaleX.ori, xOff, yOff, xDim, yDim);
			}

			if (bandClipDir != 0) {
				_paths.band = bandClipDir == 2 ? [
					clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1),
					clipBandLine(u, seriesIdx, idx0, idx1, stroke,  1),
				] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
			}

			return _paths;
		});
	};
}

function findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid = inf) {
	if (dataX.length > 1) {
		// prior index with non-undefined y data
		let prevIdx = null;

		// scan full dataset for smallest adjacent delta
		// will not work properly for non-linear x scales, since does not do expensive valToPosX calcs till end
		for (let i = 0, minDelta = Infinity; i < dataX.length; i++) {
			if (dataY[i] !== undefined) {
				if (prevIdx != null) {
					let delta = abs(dataX[i] - dataX[prevIdx]);

					if (delta < minDelta) {
						minDelta = delta;
						colWid = abs(valToPosX(dataX[i], scaleX, xDim, xOff) - valToPosX(dataX[prevIdx], scaleX, xDim, xOff));
					}
				}

				prevIdx = i;
			}
		}
	}

	return colWid;
}

function bars(opts) {
	opts = opts || EMPTY_OBJ;
	const size = ifNull(opts.size, [0.6, inf, 1]);
	const align = opts.align || 0;
	const _extraGap = (opts.gap || 0);

	let ro = opts.radius;

	ro =
		// [valueRadius, baselineRadius]
		ro == null ? [0, 0] :
		typeof ro == 'number' ? [ro, 0] : ro;

	const radiusFn = fnOrSelf(ro);

	const gapFactor = 1 - size[0];
	const _maxWidth  = ifNull(size[1], inf);
	const _minWidth  = ifNull(size[2], 1);

	const disp = ifNull(opts.disp, EMPTY_OBJ);
	const _each = ifNull(opts.each, _ => {});

	const { fill: dispFills, stroke: dispStrokes } = disp;

	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			let pxRound = series.pxRound;
			let _align = align;

			let extraGap = _extraGap * pxRatio;
			let maxWidth = _maxWidth * pxRatio;
			let minWidth = _minWidth * pxRatio;

			let valRadius, baseRadius;

			if (scaleX.ori == 0)
				[valRadius, baseRadius] = radiusFn(u, seriesIdx);
			else
				[baseRadius, valRadius] = radiusFn(u, seriesIdx);

			const _dirX = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
		//	const _dirY = scaleY.dir * (scaleY.ori == 1 ? 1 : -1);

			let rect = scaleX.ori == 0 ? rectH : rectV;

			let each = scaleX.ori == 0 ? _each : (u, seriesIdx, i, top, lft, hgt, wid) => {
				_each(u, seriesIdx, i, lft, top, wid, hgt);
			};

			// band where this series is the "from" edge
			let band = ifNull(u.bands, EMPTY_ARR).find(b => b.series[0] == seriesIdx);

			let fillDir = band != null ? band.dir : 0;
			let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, fillDir);
			let fillToY = pxRound(valToPosY(fillTo, scaleY, yDim, yOff));

			// barWid is to center of stroke
			let xShift, barWid, fullGap, colWid = xDim;

			let strokeWidth = pxRound(series.width * pxRatio);

			let multiPath = false;

			let fillColors = null;
			let fillPaths = null;
			let strokeColors = null;
			let strokePaths = null;

			if (dispFills != null && (strokeWidth == 0 || dispStrokes != null)) {
				multiPath = true;

				fillColors = dispFills.values(u, seriesIdx, idx0, idx1);
				fillPaths = new Map();
				(new Set(fillColors)).forEach(color => {
					if (color != null)
						fillPaths.set(color, new Path2D());
				});

				if (strokeWidth > 0) {
					strokeColors = dispStrokes.values(u, seriesIdx, idx0, idx1);
					strokePaths = new Map();
					(new Set(strokeColors)).forEach(color => {
						if (color != null)
							strokePaths.set(color, new Path2D());
					});
				}
			}

			let { x0, size } = disp;

			if (x0 != null && size != null) {
				_align = 1;
				dataX = x0.values(u, seriesIdx, idx0, idx1);

				if (x0.unit == 2)
					dataX = dataX.map(pct => u.posToVal(xOff + pct * xDim, scaleX.key, true));

				// assumes uniform sizes, for now
				let sizes = size.values(u, seriesIdx, idx0, idx1);

				if (size.unit == 2)
					barWid = sizes[0] * xDim;
				else
					barWid = valToPosX(sizes[0], scaleX, xDim, xOff) - valToPosX(0, scaleX, xDim, xOff); // assumes linear scale (delta from 0)

				colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);

				let gapWid = colWid - barWid;
				fullGap = gapWid + extraGap;
			}
			else {
				colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);

				let gapWid = colWid * gapFactor;

				fullGap = gapWid + extraGap;
				barWid = colWid - fullGap;
			}

			if (fullGap < 1)
				fullGap = 0;

			if (strokeWidth >= barWid / 2)
				strokeWidth = 0;

			// for small gaps, disable pixel snapping since gap inconsistencies become noticible and annoying
			if (fullGap < 5)
				pxRound = retArg0;

			let insetStroke = fullGap > 0;

			let rawBarWid = colWid - fullGap - (insetStroke ? strokeWidth : 0);

			barWid = pxRound(clamp(rawBarWid, minWidth, maxWidth));

			xShift = (_align == 0 ? barWid / 2 : _align == _dirX ? 0 : barWid) - _align * _dirX * ((_align == 0 ? extraGap / 2 : 0) + (insetStroke ? strokeWidth / 2 : 0));


			const _paths = {stroke: null, fill: null, clip: null, band: null, gaps: null, flags: 0};  // disp, geom

			const stroke = multiPath ? null : new Path2D();

			let dataY0 = null;

			if (band != null)
				dataY0 = u.data[band.series[1]];
			else {
				let { y0, y1 } = disp;

				if (y0 != null && y1 != null) {
					dataY = y1.values(u, seriesIdx, idx0, idx1);
					dataY0 = y0.values(u, seriesIdx, idx0, idx1);
				}
			}

			let radVal = valRadius * barWid;
			let radBase = baseRadius * barWid;

			for (let i = _dirX == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += _dirX) {
				let yVal = dataY[i];

				if (yVal == null)
					continue;

				if (dataY0 != null) {
					let yVal0 = dataY0[i] ?? 0;

					if (yVal - yVal0 == 0)
						continue;

					fillToY = valToPosY(yVal0, scaleY, yDim, yOff);
				}

				let xVal = scaleX.distr != 2 || disp != null ? dataX[i] : i;

				// TODO: all xPos can be pre-computed once for all series in aligned set
				let xPos = valToPosX(xVal, scaleX, xDim, xOff);
				let yPos = valToPosY(ifNull(yVal, fillTo), scaleY, yDim, yOff);

				let lft = pxRound(xPos - xShift);
				let btm = pxRound(max(yPos, fillToY));
				let top = pxRound(min(yPos, fillToY));
				// this includes the stroke
				let barHgt = btm - top;

				if (yVal != null) {  // && yVal != fillTo (0 height bar)
					let rv = yVal < 0 ? radBase : radVal;
					let rb = yVal < 0 ? radVal : radBase;

					if (multiPath) {
						if (strokeWidth > 0 && strokeColors[i] != null)
							rect(strokePaths.get(strokeColors[i]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);

						if (fillColors[i] != null)
							rect(fillPaths.get(fillColors[i]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
					}
					else
						rect(stroke, lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);

					each(u, seriesIdx, i,
						lft    - strokeWidth / 2,
						top,
						barWid + strokeWidth,
						barHgt,
					);
				}
			}

			if (strokeWidth > 0)
				_paths.stroke = multiPath ? strokePaths : stroke;
			else if (!multiPath) {
				_paths._fill = series.width == 0 ? series._fill : series._stroke ?? series._fill;
				_paths.width = 0;
			}

			_paths.fill = multiPath ? fillPaths : stroke;

			return _paths;
		});
	};
}

function splineInterp(interp, opts) {
	const alignGaps = ifNull(opts?.alignGaps, 0);

	return (u, seriesIdx, idx0, idx1) => {
		return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
			[idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);

			let pxRound = series.pxRound;

			let pixelForX = val => pxRound(valToPosX(val, scaleX, xDim, xOff));
			let pixelForY = val => pxRound(valToPosY(val, scaleY, yDim, yOff));

			let moveTo, bezierCurveTo, lineTo;

			if (scaleX.ori == 0) {
				moveTo = moveToH;
				lineTo = lineToH;
				bezierCurveTo = bezierCurveToH;
			}
			else {
				moveTo = moveToV;
				lineTo = lineToV;
				bezierCurveTo = bezierCurveToV;
			}

			const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);

			let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
			let prevXPos = firstXPos;

			let xCoords = [];
			let yCoords = [];

			for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
				let yVal = dataY[i];

				if (yVal != null) {
					let xVal = dataX[i];
					let xPos = pixelForX(xVal);

					xCoords.push(prevXPos = xPos);
					yCoords.push(pixelForY(dataY[i]));
				}
			}

			const _paths = {stroke: interp(xCoords, yCoords, moveTo, lineTo, bezierCurveTo, pxRound), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL};
			const stroke = _paths.stroke;

			let [ bandFillDir, bandClipDir ] = bandFillClipDirs(u, seriesIdx);

			if (series.fill != null || bandFillDir != 0) {
				let fill = _paths.fill = new Path2D(stroke);

				let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir);
				let fillToY = pixelForY(fillTo);

				lineTo(fill, prevXPos, fillToY);
				lineTo(fill, firstXPos, fillToY);
			}

			if (!series.spanGaps) {
			//	console.time('gaps');
				let gaps = [];

				gaps.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));

			//	console.timeEnd('gaps');

			//	console.log('gaps', JSON.stringify(gaps));

				_paths.gaps = gaps = series.gaps(u, seriesIdx, idx0, idx1, gaps);

				_paths.clip = clipGaps(gaps, scaleX.ori, xOff, yOff, xDim, yDim);
			}

			if (bandClipDir != 0) {
				_paths.band = bandClipDir == 2 ? [
					clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1),
					clipBandLine(u, seriesIdx, idx0, idx1, stroke,  1),
				] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
			}

			return _paths;

			//  if FEAT_PATHS: false in rollup.config.js
			//	u.ctx.save();
			//	u.ctx.beginPath();
			//	u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
			//	u.ctx.clip();
			//	u.ctx.strokeStyle = u.series[sidx].stroke;
			//	u.ctx.stroke(stroke);
			//	u.ctx.fillStyle = u.series[sidx].fill;
			//	u.ctx.fill(fill);
			//	u.ctx.restore();
			//	return null;
		});
	};
}

function monotoneCubic(opts) {
	return splineInterp(_monotoneCubic, opts);
}

// Monotone Cubic Spline interpolation, adapted from the Chartist.js implementation:
// https://github.com/gionkunz/chartist-js/blob/e7e78201bffe9609915e5e53cfafa29a5d6c49f9/src/scripts/interpolation.js#L240-L369
function _monotoneCubic(xs, ys, moveTo, lineTo, bezierCurveTo, pxRound) {
	const n = xs.length;

	if (n < 2)
		return null;

	const path = new Path2D();

	moveTo(path, xs[0], ys[0]);

	if (n == 2)
		lineTo(path, xs[1], ys[1]);
	else {
		let ms  = Array(n),
			ds  = Array(n - 1),
			dys = Array(n - 1),
			dxs = Array(n - 1);

		// calc deltas and derivative
		for (let i = 0; i < n - 1; i++) {
			dys[i] = ys[i + 1] - ys[i];
			dxs[i] = xs[i + 1] - xs[i];
			ds[i]  = dys[i] / dxs[i];
		}

		// determine desired slope (m) at each point using Fritsch-Carlson method
		// http://math.stackexchange.com/questions/45218/implementation-of-monotone-cubic-interpolation
		ms[0] = ds[0];

		for (let i = 1; i < n - 1; i++) {
			if (ds[i] === 0 || ds[i - 1] === 0 || (ds[i - 1] > 0) !== (ds[i] > 0))
				ms[i] = 0;
			else {
				ms[i] = 3 * (dxs[i - 1] + dxs[i]) / (
					(2 * dxs[i] + dxs[i - 1]) / ds[i - 1] +
					(dxs[i] + 2 * dxs[i - 1]) / ds[i]
				);

				if (!isFinite(ms[i]))
					ms[i] = 0;
			}
		}

		ms[n - 1] = ds[n - 2];

		for (let i = 0; i < n - 1; i++) {
			bezierCurveTo(
				path,
				xs[i] + dxs[i] / 3,
				ys[i] + ms[i] * dxs[i] / 3,
				xs[i + 1] - dxs[i] / 3,
				ys[i + 1] - ms[i + 1] * dxs[i] / 3,
				xs[i + 1],
				ys[i + 1],
			);
		}
	}

	return path;
}

const cursorPlots = new Set();

function invalidateRects() {
	for (let u of cursorPlots)
		u.syncRect(true);
}

if (domEnv) {
	on(resize, win, invalidateRects);
	on(scroll, win, invalidateRects, true);
	on(dppxchange, win, () => { uPlot.pxRatio = pxRatio; });
}

const linearPath = linear() ;
const pointsPath = points() ;

function setDefaults(d, xo, yo, initY) {
	let d2 = initY ? [d[0], d[1]].concat(d.slice(2)) : [d[0]].concat(d.slice(1));
	return d2.map((o, i) => setDefault(o, i, xo, yo));
}

function setDefaults2(d, xyo) {
	return d.map((o, i) => i == 0 ? {} : assign({}, xyo, o));  // todo: assign() will not merge facet arrays
}

function setDefault(o, i, xo, yo) {
	return assign({}, (i == 0 ? xo : yo), o);
}

function snapNumX(self, dataMin, dataMax) {
	return dataMin == null ? nullNullTuple : [dataMin, dataMax];
}

const snapTimeX = snapNumX;

// this ensures that non-temporal/numeric y-axes get multiple-snapped padding added above/below
// TODO: also account for incrs when snapping to ensure top of axis gets a tick & value
function snapNumY(self, dataMin, dataMax) {
	return dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, rangePad, true);
}

function snapLogY(self, dataMin, dataMax, scale) {
	return dataMin == null ? nullNullTuple : rangeLog(dataMin, dataMax, self.scales[scale].log, false);
}

const snapLogX = snapLogY;

function snapAsinhY(self, dataMin, dataMax, scale) {
	return dataMin == null ? nullNullTuple : rangeAsinh(dataMin, dataMax, self.scales[scale].log, false);
}

const snapAsinhX = snapAsinhY;

// dim is logical (getClientBoundingRect) pixels, not canvas pixels
function findIncr(minVal, maxVal, incrs, dim, minSpace) {
	let intDigits = max(numIntDigits(minVal), numIntDigits(maxVal));

	let delta = maxVal - minVal;

	let incrIdx = closestIdx((minSpace / dim) * delta, incrs);

	do {
		let foundIncr = incrs[incrIdx];
		let foundSpace = dim * foundIncr / delta;

		if (foundSpace >= minSpace && intDigits + (foundIncr < 5 ? fixedDec.get(foundIncr) : 0) <= 17)
			return [foundIncr, foundSpace];
	} while (++incrIdx < incrs.length);

	return [0, 0];
}

function pxRatioFont(font) {
	let fontSize, fontSizeCss;
	font = font.replace(/(\d+)px/, (m, p1) => (fontSize = round((fontSizeCss = +p1) * pxRatio)) + 'px');
	return [font, fontSize, fontSizeCss];
}

function syncFontSize(axis) {
	if (axis.show) {
		[axis.font, axis.labelFont].forEach(f => {
			let size = roundDec(f[2] * pxRatio, 1);
			f[0] = f[0].replace(/[0-9.]+px/, size + 'px');
			f[1] = size;
		});
	}
}

function uPlot(opts, data, then) {
	const self = {
		mode: ifNull(opts.mode, 1),
	};

	const mode = self.mode;

	function getHPos(val, scale, dim, off) {
		let pct = scale.valToPct(val);
		return off + dim * (scale.dir == -1 ? (1 - pct) : pct);
	}

	function getVPos(val, scale, dim, off) {
		let pct = scale.valToPct(val);
		return off + dim * (scale.dir == -1 ? pct : (1 - pct));
	}

	function getPos(val, scale, dim, off) {
		return scale.ori == 0 ? getHPos(val, scale, dim, off) : getVPos(val, scale, dim, off);
	}

	self.valToPosH = getHPos;
	self.valToPosV = getVPos;

	let ready = false;
	self.status = 0;

	const root = self.root = placeDiv(UPLOT);

	if (opts.id != null)
		root.id = opts.id;

	addClass(root, opts.class);

	if (opts.title) {
		let title = placeDiv(TITLE, root);
		title.textContent = opts.title;
	}

	const can = placeTag("canvas");
	const ctx = self.ctx = can.getContext("2d");

	const wrap = placeDiv(WRAP, root);

	on("click", wrap, e => {
		if (e.target === over) {
			let didDrag = mouseLeft1 != mouseLeft0 || mouseTop1 != mouseTop0;
			didDrag && drag.click(self, e);
		}
	}, true);

	const under = self.under = placeDiv(UNDER, wrap);
	wrap.appendChild(can);
	const over = self.over = placeDiv(OVER, wrap);

	opts = copy(opts);

	const pxAlign = +ifNull(opts.pxAlign, 1);

	const pxRound = pxRoundGen(pxAlign);

	(opts.plugins || []).forEach(p => {
		if (p.opts)
			opts = p.opts(self, opts) || opts;
	});

	const ms = opts.ms || 1e-3;

	const series  = self.series = mode == 1 ?
		setDefaults(opts.series || [], xSeriesOpts, ySeriesOpts, false) :
		setDefaults2(opts.series || [null], xySeriesOpts);
	const axes    = self.axes   = setDefaults(opts.axes   || [], xAxisOpts,   yAxisOpts,    true);
	const scales  = self.scales = {};
	const bands   = self.bands  = opts.bands || [];

	bands.forEach(b => {
		b.fill = fnOrSelf(b.fill || null);
		b.dir = ifNull(b.dir, -1);
	});

	const xScaleKey = mode == 2 ? series[1].facets[0].scale : series[0].scale;

	const drawOrderMap = {
		axes: drawAxesGrid,
		series: drawSeries,
	};

	const drawOrder = (opts.drawOrder || ["axes", "series"]).map(key => drawOrderMap[key]);

	function initValToPct(sc) {
		const getVal = (
			sc.distr == 3   ? val => log10(val > 0 ? val : sc.clamp(self, val, sc.min, sc.max, sc.key)) :
			sc.distr == 4   ? val => asinh(val, sc.asinh) :
			sc.distr == 100 ? val => sc.fwd(val) :
			val => val
		);

		return val => {
			let _val = getVal(val);
			let { _min, _max } = sc;
			let delta = _max - _min;
			return (_val - _min) / delta;
		};
	}

	function initScale(scaleKey) {
		let sc = scales[scaleKey];

		if (sc == null) {
			let scaleOpts = (opts.scales || EMPTY_OBJ)[scaleKey] || EMPTY_OBJ;

			if (scaleOpts.from != null) {
				// ensure parent is initialized
				initScale(scaleOpts.from);
				// dependent scales inherit
				let sc = assign({}, scales[scaleOpts.from], scaleOpts, {key: scaleKey});
				sc.valToPct = initValToPct(sc);
				scales[scaleKey] = sc;
			}
			else {
				sc = scales[scaleKey] = assign({}, (scaleKey == xScaleKey ? xScaleOpts : yScaleOpts), scaleOpts);

				sc.key = scaleKey;

				let isTime = sc.time;

				let rn = sc.range;

				let rangeIsArr = isArr(rn);

				if (scaleKey != xScaleKey || (mode == 2 && !isTime)) {
					// if range array has null limits, it should be auto
					if (rangeIsArr && (rn[0] == null || rn[1] == null)) {
						rn = {
							min: rn[0] == null ? autoRangePart : {
								mode: 1,
								hard: rn[0],
								soft: rn[0],
							},
							max: rn[1] == null ? autoRangePart : {
								mode: 1,
								hard: rn[1],
								soft: rn[1],
							},
						};
						rangeIsArr = false;
					}

					if (!rangeIsArr && isObj(rn)) {
						let cfg = rn;
						// this is similar to snapNumY
						rn = (self, dataMin, dataMax) => dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, cfg);
					}
				}

				sc.range = fnOrSelf(rn || (isTime ? snapTimeX : scaleKey == xScaleKey ?
					(sc.distr == 3 ? snapLogX : sc.distr == 4 ? snapAsinhX : snapNumX) :
					(sc.distr == 3 ? snapLogY : sc.distr == 4 ? snapAsinhY : snapNumY)
				));

				sc.auto = fnOrSelf(rangeIsArr ? false : sc.auto);

				sc.clamp = fnOrSelf(sc.clamp || clampScale);

				// caches for expensive ops like asinh() & log()
				sc._min = sc._max = null;

				sc.valToPct = initValToPct(sc);
			}
		}
	}

	initScale("x");
	initScale("y");

	// TODO: init scales from facets in mode: 2
	if (mode == 1) {
		series.forEach(s => {
			initScale(s.scale);
		});
	}

	axes.forEach(a => {
		initScale(a.scale);
	});

	for (let k in opts.scales)
		initScale(k);

	const scaleX = scales[xScaleKey];

	const xScaleDistr = scaleX.distr;

	let valToPosX, valToPosY;

	if (scaleX.ori == 0) {
		addClass(root, ORI_HZ);
		valToPosX = getHPos;
		valToPosY = getVPos;
		/*
		updOriDims = () => {
			xDimCan = plotWid;
			xOffCan = plotLft;
			yDimCan = plotHgt;
			yOffCan = plotTop;

			xDimCss = plotWidCss;
			xOffCss = plotLftCss;
			yDimCss = plotHgtCss;
			yOffCss = plotTopCss;
		};
		*/
	}
	else {
		addClass(root, ORI_VT);
		valToPosX = getVPos;
		valToPosY = getHPos;
		/*
		updOriDims = () => {
			xDimCan = plotHgt;
			xOffCan = plotTop;
			yDimCan = plotWid;
			yOffCan = plotLft;

			xDimCss = plotHgtCss;
			xOffCss = plotTopCss;
			yDimCss = plotWidCss;
			yOffCss = plotLftCss;
		};
		*/
	}

	const pendScales = {};

	// explicitly-set initial scales
	for (let k in scales) {
		let sc = scales[k];

		if (sc.min != null || sc.max != null) {
			pendScales[k] = {min: sc.min, max: sc.max};
			sc.min = sc.max = null;
		}
	}

//	self.tz = opts.tz || Intl.DateTimeFormat().resolvedOptions().timeZone;
	const _tzDate  = (opts.tzDate || (ts => new Date(round(ts / ms))));
	const _fmtDate = (opts.fmtDate || fmtDate);

	const _timeAxisSplits = (ms == 1 ? timeAxisSplitsMs(_tzDate) : timeAxisSplitsS(_tzDate));
	const _timeAxisVals   = timeAxisVals(_tzDate, timeAxisStamps((ms == 1 ? _timeAxisStampsMs : _timeAxisStampsS), _fmtDate));
	const _timeSeriesVal  = timeSeriesVal(_tzDate, timeSeriesStamp(_timeSeriesStamp, _fmtDate));

	const activeIdxs = [];

	const legend     = (self.legend = assign({}, legendOpts, opts.legend));
	const cursor     =                (self.cursor = assign({}, cursorOpts, {drag: {y: mode == 2}}, opts.cursor));
	const showLegend = legend.show;
	const showCursor =                cursor.show;
	const markers    = legend.markers;

	{
		legend.idxs = activeIdxs;

		markers.width  = fnOrSelf(markers.width);
		markers.dash   = fnOrSelf(markers.dash);
		markers.stroke = fnOrSelf(markers.stroke);
		markers.fill   = fnOrSelf(markers.fill);
	}

	let legendTable;
	let legendHead;
	let legendBody;
	let legendRows = [];
	let legendCells = [];
	let legendCols;
	let multiValLegend = false;
	let NULL_LEGEND_VALUES = {};

	if (legend.live) {
		const getMultiVals = series[1] ? series[1].values : null;
		multiValLegend = getMultiVals != null;
		legendCols = multiValLegend ? getMultiVals(self, 1, 0) : {_: 0};

		for (let k in legendCols)
			NULL_LEGEND_VALUES[k] = LEGEND_DISP;
	}

	if (showLegend) {
		legendTable = placeTag("table", LEGEND, root);
		legendBody = placeTag("tbody", null, legendTable);

		// allows legend to be moved out of root
		legend.mount(self, legendTable);

		if (multiValLegend) {
			legendHead = placeTag("thead", null, legendTable, legendBody);

			let head = placeTag("tr", null, legendHead);
			placeTag("th", null, head);

			for (var key in legendCols)
				placeTag("th", LEGEND_LABEL, head).textContent = key;
		}
		else {
			addClass(legendTable, LEGEND_INLINE);
			legend.live && addClass(legendTable, LEGEND_LIVE);
		}
	}

	const son  = {show: true};
	const soff = {show: false};

	function initLegendRow(s, i) {
		if (i == 0 && (multiValLegend || !legend.live || mode == 2))
			return nullNullTuple;

		let cells = [];

		let row = placeTag("tr", LEGEND_SERIES, legendBody, legendBody.childNodes[i]);

		addClass(row, s.class);

		if (!s.show)
			addClass(row, OFF);

		let label = placeTag("th", null, row);

		if (markers.show) {
			let indic = placeDiv(LEGEND_MARKER, label);

			if (i > 0) {
				let width  = markers.width(self, i);

				if (width)
					indic.style.border = width + "px " + markers.dash(self, i) + " " + markers.stroke(self, i);

				indic.style.background = markers.fill(self, i);
			}
		}

		let text = placeDiv(LEGEND_LABEL, label);

		if (s.label instanceof HTMLElement)
			text.appendChild(s.label);
		else
			text.textContent = s.label;

		if (i > 0) {
			if (!markers.show)
				text.style.color = s.width > 0 ? markers.stroke(self, i) : markers.fill(self, i);

			onMouse("click", label, e => {
				if (cursor._lock)
					return;

				setCursorEvent(e);

				let seriesIdx = series.indexOf(s);

				if ((e.ctrlKey || e.metaKey) != legend.isolate) {
					// if any other series is shown, isolate this one. else show all
					let isolate = series.some((s, i) => i > 0 && i != seriesIdx && s.show);

					series.forEach((s, i) => {
						i > 0 && setSeries(i, isolate ? (i == seriesIdx ? son : soff) : son, true, syncOpts.setSeries);
					});
				}
				else
					setSeries(seriesIdx, {show: !s.show}, true, syncOpts.setSeries);
			}, false);

			if (cursorFocus) {
				onMouse(mouseenter, label, e => {
					if (cursor._lock)
						return;

					setCursorEvent(e);

					setSeries(series.indexOf(s), FOCUS_TRUE, true, syncOpts.setSeries);
				}, false);
			}
		}

		for (var key in legendCols) {
			let v = placeTag("td", LEGEND_VALUE, row);
			v.textContent = "--";
			cells.push(v);
		}

		return [row, cells];
	}

	const mouseListeners = new Map();

	function onMouse(ev, targ, fn, onlyTarg = true) {
		const targListeners = mouseListeners.get(targ) || {};
		const listener = cursor.bind[ev](self, targ, fn, onlyTarg);

		if (listener) {
			on(ev, targ, targListeners[ev] = listener);
			mouseListeners.set(targ, targListeners);
		}
	}

	function offMouse(ev, targ, fn) {
		const targListeners = mouseListeners.get(targ) || {};

		for (let k in targListeners) {
			if (ev == null || k == ev) {
				off(k, targ, targListeners[k]);
				delete targListeners[k];
			}
		}

		if (ev == null)
			mouseListeners.delete(targ);
	}

	let fullWidCss = 0;
	let fullHgtCss = 0;

	let plotWidCss = 0;
	let plotHgtCss = 0;

	// plot margins to account for axes
	let plotLftCss = 0;
	let plotTopCss = 0;

	// previous values for diffing
	let _plotLftCss = plotLftCss;
	let _plotTopCss = plotTopCss;
	let _plotWidCss = plotWidCss;
	let _plotHgtCss = plotHgtCss;


	let plotLft = 0;
	let plotTop = 0;
	let plotWid = 0;
	let plotHgt = 0;

	self.bbox = {};

	let shouldSetScales = false;
	let shouldSetSize = false;
	let shouldConvergeSize = false;
	let shouldSetCursor = false;
	let shouldSetSelect = false;
	let shouldSetLegend = false;

	function _setSize(width, height, force) {
		if (force || (width != self.width || height != self.height))
			calcSize(width, height);

		resetYSeries(false);

		shouldConvergeSize = true;
		shouldSetSize = true;

		commit();
	}

	function calcSize(width, height) {
	//	log("calcSize()", arguments);

		self.width  = fullWidCss = plotWidCss = width;
		self.height = fullHgtCss = plotHgtCss = height;
		plotLftCss  = plotTopCss = 0;

		calcPlotRect();
		calcAxesRects();

		let bb = self.bbox;

		plotLft = bb.left   = incrRound(plotLftCss * pxRatio, 0.5);
		plotTop = bb.top    = incrRound(plotTopCss * pxRatio, 0.5);
		plotWid = bb.width  = incrRound(plotWidCss * pxRatio, 0.5);
		plotHgt = bb.height = incrRound(plotHgtCss * pxRatio, 0.5);

	//	updOriDims();
	}

	// ensures size calc convergence
	const CYCLE_LIMIT = 3;

	function convergeSize() {
		let converged = false;

		let cycleNum = 0;

		while (!converged) {
			cycleNum++;

			let axesConverged = axesCalc(cycleNum);
			let paddingConverged = paddingCalc(cycleNum);

			converged = cycleNum == CYCLE_LIMIT || (axesConverged && paddingConverged);

			if (!converged) {
				calcSize(self.width, self.height);
				shouldSetSize = true;
			}
		}
	}

	function setSize({width, height}) {
		_setSize(width, height);
	}

	self.setSize = setSize;

	// accumulate axis offsets, reduce canvas width
	function calcPlotRect() {
		// easements for edge labels
		let hasTopAxis = false;
		let hasBtmAxis = false;
		let hasRgtAxis = false;
		let hasLftAxis = false;

		axes.forEach((axis, i) => {
			if (axis.show && axis._show) {
				let {side, _size} = axis;
				let isVt = side % 2;
				let labelSize = axis.label != null ? axis.labelSize : 0;

				let fullSize = _size + labelSize;

				if (fullSize > 0) {
					if (isVt) {
						plotWidCss -= fullSize;

						if (side == 3) {
							plotLftCss += fullSize;
							hasLftAxis = true;
						}
						else
							hasRgtAxis = true;
					}
					else {
						plotHgtCss -= fullSize;

						if (side == 0) {
							plotTopCss += fullSize;
							hasTopAxis = true;
						}
						else
							hasBtmAxis = true;
					}
				}
			}
		});

		sidesWithAxes[0] = hasTopAxis;
		sidesWithAxes[1] = hasRgtAxis;
		sidesWithAxes[2] = hasBtmAxis;
		sidesWithAxes[3] = hasLftAxis;

		// hz padding
		plotWidCss -= _padding[1] + _padding[3];
		plotLftCss += _padding[3];

		// vt padding
		plotHgtCss -= _padding[2] + _padding[0];
		plotTopCss += _padding[0];
	}

	function calcAxesRects() {
		// will accum +
		let off1 = plotLftCss + plotWidCss;
		let off2 = plotTopCss + plotHgtCss;
		// will accum -
		let off3 = plotLftCss;
		let off0 = plotTopCss;

		function incrOffset(side, size) {
			switch (side) {
				case 1: off1 += size; return off1 - size;
				case 2: off2 += size; return off2 - size;
				case 3: off3 -= size; return off3 + size;
				case 0: off0 -= size; return off0 + size;
			}
		}

		axes.forEach((axis, i) => {
			if (axis.show && axis._show) {
				let side = axis.side;

				axis._pos = incrOffset(side, axis._size);

				if (axis.label != null)
					axis._lpos = incrOffset(side, axis.labelSize);
			}
		});
	}

	if (cursor.dataIdx == null) {
		let hov = cursor.hover;

		let skip = hov.skip = new Set(hov.skip ?? []);
		skip.add(void 0); // alignment artifacts
		let prox = hov.prox = fnOrSelf(hov.prox);
		let bias = hov.bias ??= 0;

		// TODO: only scan between in-view idxs (i0, i1)
		cursor.dataIdx = (self, seriesIdx, cursorIdx, valAtPosX) => {
			if (seriesIdx == 0)
				return cursorIdx;

			let idx2 = cursorIdx;

			let _prox = prox(self, seriesIdx, cursorIdx, valAtPosX) ?? inf;
			let withProx = _prox >= 0 && _prox < inf;
			let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
			let cursorLft = cursor.left;

			let xValues = data[0];
			let yValues = data[seriesIdx];

			if (skip.has(yValues[cursorIdx])) {
				idx2 = null;

				let nonNullLft = null,
					nonNullRgt = null,
					j;

				if (bias == 0 || bias == -1) {
					j = cursorIdx;
					while (nonNullLft == null && j-- > 0) {
						if (!skip.has(yValues[j]))
							nonNullLft = j;
					}
				}

				if (bias == 0 || bias == 1) {
					j = cursorIdx;
					while (nonNullRgt == null && j++ < yValues.length) {
						if (!skip.has(yValues[j]))
							nonNullRgt = j;
					}
				}

				if (nonNullLft != null || nonNullRgt != null) {
					if (withProx) {
						let lftPos = nonNullLft == null ? -Infinity : valToPosX(xValues[nonNullLft], scaleX, xDim, 0);
						let rgtPos = nonNullRgt == null ?  Infinity : valToPosX(xValues[nonNullRgt], scaleX, xDim, 0);

						let lftDelta = cursorLft - lftPos;
						let rgtDelta = rgtPos - cursorLft;

						if (lftDelta <= rgtDelta) {
							if (lftDelta <= _prox)
								idx2 = nonNullLft;
						} else {
							if (rgtDelta <= _prox)
								idx2 = nonNullRgt;
						}
					}
					else {
						idx2 =
							nonNullRgt == null ? nonNullLft :
							nonNullLft == null ? nonNullRgt :
							cursorIdx - nonNullLft <= nonNullRgt - cursorIdx ? nonNullLft : nonNullRgt;
					}
				}
			}
			else if (withProx) {
				let dist = abs(cursorLft - valToPosX(xValues[cursorIdx], scaleX, xDim, 0));

				if (dist > _prox)
					idx2 = null;
			}

			return idx2;
		};
	}

	const setCursorEvent = e => { cursor.event = e; };

	cursor.idxs = activeIdxs;

	cursor._lock = false;

	let points = cursor.points;

	points.show   = fnOrSelf(points.show);
	points.size   = fnOrSelf(points.size);
	points.stroke = fnOrSelf(points.stroke);
	points.width  = fnOrSelf(points.width);
	points.fill   = fnOrSelf(points.fill);

	const focus = self.focus = assign({}, opts.focus || {alpha: 0.3}, cursor.focus);

	const cursorFocus = focus.prox >= 0;
	const cursorOnePt = cursorFocus && points.one;

	// series-intersection markers
	let cursorPts = [];
	// position caches in CSS pixels
	let cursorPtsLft = [];
	let cursorPtsTop = [];

	function initCursorPt(s, si) {
		let pt = points.show(self, si);

		if (pt instanceof HTMLElement) {
			addClass(pt, CURSOR_PT);
			addClass(pt, s.class);
			elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
			over.insertBefore(pt, cursorPts[si]);

			return pt;
		}
	}

	function initSeries(s, i) {
		if (mode == 1 || i > 0) {
			let isTime = mode == 1 && scales[s.scale].time;

			let sv = s.value;
			s.value = isTime ? (isStr(sv) ? timeSeriesVal(_tzDate, timeSeriesStamp(sv, _fmtDate)) : sv || _timeSeriesVal) : sv || numSeriesVal;
			s.label = s.label || (isTime ? timeSeriesLabel : numSeriesLabel);
		}

		if (cursorOnePt || i > 0) {
			s.width  = s.width == null ? 1 : s.width;
			s.paths  = s.paths || linearPath || retNull;
			s.fillTo = fnOrSelf(s.fillTo || seriesFillTo);
			s.pxAlign = +ifNull(s.pxAlign, pxAlign);
			s.pxRound = pxRoundGen(s.pxAlign);

			s.stroke = fnOrSelf(s.stroke || null);
			s.fill   = fnOrSelf(s.fill || null);
			s._stroke = s._fill = s._paths = s._focus = null;

			let _ptDia = ptDia(max(1, s.width), 1);
			let points = s.points = assign({}, {
				size: _ptDia,
				width: max(1, _ptDia * .2),
				stroke: s.stroke,
				space: _ptDia * 2,
				paths: pointsPath,
				_stroke: null,
				_fill: null,
			}, s.points);
			points.show   = fnOrSelf(points.show);
			points.filter = fnOrSelf(points.filter);
			points.fill   = fnOrSelf(points.fill);
			points.stroke = fnOrSelf(points.stroke);
			points.paths  = fnOrSelf(points.paths);
			points.pxAlign = s.pxAlign;
		}

		if (showLegend) {
			let rowCells = initLegendRow(s, i);
			legendRows.splice(i, 0, rowCells[0]);
			legendCells.splice(i, 0, rowCells[1]);
			legend.values.push(null);	// NULL_LEGEND_VALS not yet avil here :(
		}

		if (showCursor) {
			activeIdxs.splice(i, 0, null);

			let pt = null;

			if (cursorOnePt) {
				if (i == 0)
					pt = initCursorPt(s, i);
			}
			else if (i > 0)
				pt = initCursorPt(s, i);

			cursorPts.splice(i, 0, pt);
			cursorPtsLft.splice(i, 0, 0);
			cursorPtsTop.splice(i, 0, 0);
		}

		fire("addSeries", i);
	}

	function addSeries(opts, si) {
		si = si == null ? series.length : si;

		opts = mode == 1 ? setDefault(opts, si, xSeriesOpts, ySeriesOpts) : setDefault(opts, si, {}, xySeriesOpts);

		series.splice(si, 0, opts);
		initSeries(series[si], si);
	}

	self.addSeries = addSeries;

	function delSeries(i) {
		series.splice(i, 1);

		if (showLegend) {
			legend.values.splice(i, 1);

			legendCells.splice(i, 1);
			let tr = legendRows.splice(i, 1)[0];
			offMouse(null, tr.firstChild);
			tr.remove();
		}

		if (showCursor) {
			activeIdxs.splice(i, 1);
			cursorPts.splice(i, 1)[0].remove();
			cursorPtsLft.splice(i, 1);
			cursorPtsTop.splice(i, 1);
		}

		// TODO: de-init no-longer-needed scales?

		fire("delSeries", i);
	}

	self.delSeries = delSeries;

	const sidesWithAxes = [false, false, false, false];

	function initAxis(axis, i) {
		axis._show = axis.show;

		if (axis.show) {
			let isVt = axis.side % 2;

			let sc = scales[axis.scale];

			// this can occur if all series specify non-default scales
			if (sc == null) {
				axis.scale = isVt ? series[1].scale : xScaleKey;
				sc = scales[axis.scale];
			}

			// also set defaults for incrs & values based on axis distr
			let isTime = sc.time;

			axis.size   = fnOrSelf(axis.size);
			axis.space  = fnOrSelf(axis.space);
			axis.rotate = fnOrSelf(axis.rotate);

			if (isArr(axis.incrs)) {
				axis.incrs.forEach(incr => {
					!fixedDec.has(incr) && fixedDec.set(incr, guessDec(incr));
				});
			}

			axis.incrs  = fnOrSelf(axis.incrs  || (          sc.distr == 2 ? wholeIncrs : (isTime ? (ms == 1 ? timeIncrsMs : timeIncrsS) : numIncrs)));
			axis.splits = fnOrSelf(axis.splits || (isTime && sc.distr == 1 ? _timeAxisSplits : sc.distr == 3 ? logAxisSplits : sc.distr == 4 ? asinhAxisSplits : numAxisSplits));

			axis.stroke        = fnOrSelf(axis.stroke);
			axis.grid.stroke   = fnOrSelf(axis.grid.stroke);
			axis.ticks.stroke  = fnOrSelf(axis.ticks.stroke);
			axis.border.stroke = fnOrSelf(axis.border.stroke);

			let av = axis.values;

			axis.values = (
				// static array of tick values
				isArr(av) && !isArr(av[0]) ? fnOrSelf(av) :
				// temporal
				isTime ? (
					// config array of fmtDate string tpls
					isArr(av) ?
						timeAxisVals(_tzDate, timeAxisStamps(av, _fmtDate)) :
					// fmtDate string tpl
					isStr(av) ?
						timeAxisVal(_tzDate, av) :
					av || _timeAxisVals
				) : av || numAxisVals
			);

			axis.filter = fnOrSelf(axis.filter || (          sc.distr >= 3 && sc.log == 10 ? log10AxisValsFilt : sc.distr == 3 && sc.log == 2 ? log2AxisValsFilt : retArg1));

			axis.font      = pxRatioFont(axis.font);
			axis.labelFont = pxRatioFont(axis.labelFont);

			axis._size   = axis.size(self, null, i, 0);

			axis._space  =
			axis._rotate =
			axis._incrs  =
			axis._found  =	// foundIncrSpace
			axis._splits =
			axis._values = null;

			if (axis._size > 0) {
				sidesWithAxes[i] = true;
				axis._el = placeDiv(AXIS, wrap);
			}

			// debug
		//	axis._el.style.background = "#"  + Math.floor(Math.random()*16777215).toString(16) + '80';
		}
	}

	function autoPadSide(self, side, sidesWithAxes, cycleNum) {
		let [hasTopAxis, hasRgtAxis, hasBtmAxis, hasLftAxis] = sidesWithAxes;

		let ori = side % 2;
		let size = 0;

		if (ori == 0 && (hasLftAxis || hasRgtAxis))
			size = (side == 0 && !hasTopAxis || side == 2 && !hasBtmAxis ? round(xAxisOpts.size / 3) : 0);
		if (ori == 1 && (hasTopAxis || hasBtmAxis))
			size = (side == 1 && !hasRgtAxis || side == 3 && !hasLftAxis ? round(yAxisOpts.size / 2) : 0);

		return size;
	}

	const padding = self.padding = (opts.padding || [autoPadSide,autoPadSide,autoPadSide,autoPadSide]).map(p => fnOrSelf(ifNull(p, autoPadSide)));
	const _padding = self._padding = padding.map((p, i) => p(self, i, sidesWithAxes, 0));

	let dataLen;

	// rendered data window
	let i0 = null;
	let i1 = null;
	const idxs = mode == 1 ? series[0].idxs : null;

	let data0 = null;

	let viaAutoScaleX = false;

	function setData(_data, _resetScales) {
		data = _data == null ? [] : _data;

		self.data = self._data = data;

		if (mode == 2) {
			dataLen = 0;
			for (let i = 1; i < series.length; i++)
				dataLen += data[i][0].length;
		}
		else {
			if (data.length == 0)
				self.data = self._data = data = [[]];

			data0 = data[0];
			dataLen = data0.length;

			let scaleData = data;

			if (xScaleDistr == 2) {
				scaleData = data.slice();

				let _data0 = scaleData[0] = Array(dataLen);
				for (let i = 0; i < dataLen; i++)
					_data0[i] = i;
			}

			self._data = data = scaleData;
		}

		resetYSeries(true);

		fire("setData");

		// forces x axis tick values to re-generate when neither x scale nor y scale changes
		// in ordinal mode, scale range is by index, so will not change if new data has same length, but tick values are from data
		if (xScaleDistr == 2) {
			shouldConvergeSize = true;

			/* or somewhat cheaper, and uglier:
			if (ready) {
				// logic extracted from axesCalc()
				let i = 0;
				let axis = axes[i];
				let _splits = axis._splits.map(i => data0[i]);
				let [_incr, _space] = axis._found;
				let incr = data0[_splits[1]] - data0[_splits[0]];
				axis._values = axis.values(self, axis.filter(self, _splits, i, _space, incr), i, _space, incr);
			}
			*/
		}

		if (_resetScales !== false) {
			let xsc = scaleX;

			if (xsc.auto(self, viaAutoScaleX))
				autoScaleX();
			else
				_setScale(xScaleKey, xsc.min, xsc.max);

			shouldSetCursor = shouldSetCursor || cursor.left >= 0;
			shouldSetLegend = true;
			commit();
		}
	}

	self.setData = setData;

	function autoScaleX() {
		viaAutoScaleX = true;

		let _min, _max;

		if (mode == 1) {
			if (dataLen > 0) {
				i0 = idxs[0] = 0;
				i1 = idxs[1] = dataLen - 1;

				_min = data[0][i0];
				_max = data[0][i1];

				if (xScaleDistr == 2) {
					_min = i0;
					_max = i1;
				}
				else if (_min == _max) {
					if (xScaleDistr == 3)
						[_min, _max] = rangeLog(_min, _min, scaleX.log, false);
					else if (xScaleDistr == 4)
						[_min, _max] = rangeAsinh(_min, _min, scaleX.log, false);
					else if (scaleX.time)
						_max = _min + round(86400 / ms);
					else
						[_min, _max] = rangeNum(_min, _max, rangePad, true);
				}
			}
			else {
				i0 = idxs[0] = _min = null;
				i1 = idxs[1] = _max = null;
			}
		}

		_setScale(xScaleKey, _min, _max);
	}

	let ctxStroke, ctxFill, ctxWidth, ctxDash, ctxJoin, ctxCap, ctxFont, ctxAlign, ctxBaseline;
	let ctxAlpha;

	function setCtxStyle(stroke, width, dash, cap, fill, join) {
		stroke ??= transparent;
		dash   ??= EMPTY_ARR;
		cap    ??= "butt"; // (‿|‿)
		fill   ??= transparent;
		join   ??= "round";

		if (stroke != ctxStroke)
			ctx.strokeStyle = ctxStroke = stroke;
		if (fill != ctxFill)
			ctx.fillStyle = ctxFill = fill;
		if (width != ctxWidth)
			ctx.lineWidth = ctxWidth = width;
		if (join != ctxJoin)
			ctx.lineJoin = ctxJoin = join;
		if (cap != ctxCap)
			ctx.lineCap = ctxCap = cap;
		if (dash != ctxDash)
			ctx.setLineDash(ctxDash = dash);
	}

	function setFontStyle(font, fill, align, baseline) {
		if (fill != ctxFill)
			ctx.fillStyle = ctxFill = fill;
		if (font != ctxFont)
			ctx.font = ctxFont = font;
		if (align != ctxAlign)
			ctx.textAlign = ctxAlign = align;
		if (baseline != ctxBaseline)
			ctx.textBaseline = ctxBaseline = baseline;
	}

	function accScale(wsc, psc, facet, data, sorted = 0) {
		if (data.length > 0 && wsc.auto(self, viaAutoScaleX) && (psc == null || psc.min == null)) {
			let _i0 = ifNull(i0, 0);
			let _i1 = ifNull(i1, data.length - 1);

			// only run getMinMax() for invalidated series data, else reuse
			let minMax = facet.min == null ? getMinMax(data, _i0, _i1, sorted, wsc.distr == 3) : [facet.min, facet.max];

			// initial min/max
			wsc.min = min(wsc.min, facet.min = minMax[0]);
			wsc.max = max(wsc.max, facet.max = minMax[1]);
		}
	}

	const AUTOSCALE = {min: null, max: null};

	function setScales() {
	//	log("setScales()", arguments);

		// implicitly add auto scales, and unranged scales
		for (let k in scales) {
			let sc = scales[k];

			if (pendScales[k] == null &&
				(
					// scales that have never been set (on init)
					sc.min == null ||
					// or auto scales when the x scale was explicitly set
					pendScales[xScaleKey] != null && sc.auto(self, viaAutoScaleX)
				)
			) {
				pendScales[k] = AUTOSCALE;
			}
		}

		// implicitly add dependent scales
		for (let k in scales) {
			let sc = scales[k];

			if (pendScales[k] == null && sc.from != null && pendScales[sc.from] != null)
				pendScales[k] = AUTOSCALE;
		}

		// explicitly setting the x-scale invalidates everything (acts as redraw)
		if (pendScales[xScaleKey] != null)
			resetYSeries(true); // TODO: only reset series on auto scales?

		let wipScales = {};

		for (let k in pendScales) {
			let psc = pendScales[k];

			if (psc != null) {
				let wsc = wipScales[k] = copy(scales[k], fastIsObj);

				if (psc.min != null)
					assign(wsc, psc);
				else if (k != xScaleKey || mode == 2) {
					if (dataLen == 0 && wsc.from == null) {
						let minMax = wsc.range(self, null, null, k);
						wsc.min = minMax[0];
						wsc.max = minMax[1];
					}
					else {
						wsc.min = inf;
						wsc.max = -inf;
					}
				}
			}
		}

		if (dataLen > 0) {
			// pre-range y-scales from y series' data values
			series.forEach((s, i) => {
				if (mode == 1) {
					let k = s.scale;
					let psc = pendScales[k];

					if (psc == null)
						return;

					let wsc = wipScales[k];

					if (i == 0) {
						let minMax = wsc.range(self, wsc.min, wsc.max, k);

						wsc.min = minMax[0];
						wsc.max = minMax[1];

						i0 = closestIdx(wsc.min, data[0]);
						i1 = closestIdx(wsc.max, data[0]);

						// don't try to contract same or adjacent idxs
						if (i1 - i0 > 1) {
							// closest indices can be outside of view
							if (data[0][i0] < wsc.min)
								i0++;
							if (data[0][i1] > wsc.max)
								i1--;
						}

						s.min = data0[i0];
						s.max = data0[i1];
					}
					else if (s.show && s.auto)
						accScale(wsc, psc, s, data[i], s.sorted);

					s.idxs[0] = i0;
					s.idxs[1] = i1;
				}
				else {
					if (i > 0) {
						if (s.show && s.auto) {
							// TODO: only handles, assumes and requires facets[0] / 'x' scale, and facets[1] / 'y' scale
							let [ xFacet, yFacet ] = s.facets;
							let xScaleKey = xFacet.scale;
							let yScaleKey = yFacet.scale;
							let [ xData, yData ] = data[i];

							let wscx = wipScales[xScaleKey];
							let wscy = wipScales[yScaleKey];

							// null can happen when only x is zoomed, but y has static range and doesnt get auto-added to pending
							wscx != null && accScale(wscx, pendScales[xScaleKey], xFacet, xData, xFacet.sorted);
							wscy != null && accScale(wscy, pendScales[yScaleKey], yFacet, yData, yFacet.sorted);

							// temp
							s.min = yFacet.min;
							s.max = yFacet.max;
						}
					}
				}
			});

			// range independent scales
			for (let k in wipScales) {
				let wsc = wipScales[k];
				let psc = pendScales[k];

				if (wsc.from == null && (psc == null || psc.min == null)) {
					let minMax = wsc.range(
						self,
						wsc.min ==  inf ? null : wsc.min,
						wsc.max == -inf ? null : wsc.max,
						k
					);
					wsc.min = minMax[0];
					wsc.max = minMax[1];
				}
			}
		}

		// range dependent scales
		for (let k in wipScales) {
			let wsc = wipScales[k];

			if (wsc.from != null) {
				let base = wipScales[wsc.from];

				if (base.min == null)
					wsc.min = wsc.max = null;
				else {
					let minMax = wsc.range(self, base.min, base.max, k);
					wsc.min = minMax[0];
					wsc.max = minMax[1];
				}
			}
		}

		let changed = {};
		let anyChanged = false;

		for (let k in wipScales) {
			let wsc = wipScales[k];
			let sc = scales[k];

			if (sc.min != wsc.min || sc.max != wsc.max) {
				sc.min = wsc.min;
				sc.max = wsc.max;

				let distr = sc.distr;

				sc._min = distr == 3 ? log10(sc.min) : distr == 4 ? asinh(sc.min, sc.asinh) : distr == 100 ? sc.fwd(sc.min) : sc.min;
				sc._max = distr == 3 ? log10(sc.max) : distr == 4 ? asinh(sc.max, sc.asinh) : distr == 100 ? sc.fwd(sc.max) : sc.max;

				changed[k] = anyChanged = true;
			}
		}

		if (anyChanged) {
			// invalidate paths of all series on changed scales
			series.forEach((s, i) => {
				if (mode == 2) {
					if (i > 0 && changed.y)
						s._paths = null;
				}
				else {
					if (changed[s.scale])
						s._paths = null;
				}
			});

			for (let k in changed) {
				shouldConvergeSize = true;
				fire("setScale", k);
			}

			if (showCursor && cursor.left >= 0)
				shouldSetCursor = shouldSetLegend = true;
		}

		for (let k in pendScales)
			pendScales[k] = null;
	}

	// grabs the nearest indices with y data outside of x-scale limits
	function getOuterIdxs(ydata) {
		let _i0 = clamp(i0 - 1, 0, dataLen - 1);
		let _i1 = clamp(i1 + 1, 0, dataLen - 1);

		while (ydata[_i0] == null && _i0 > 0)
			_i0--;

		while (ydata[_i1] == null && _i1 < dataLen - 1)
			_i1++;

		return [_i0, _i1];
	}

	function drawSeries() {
		if (dataLen > 0) {
			let shouldAlpha = series.some(s => s._focus) && ctxAlpha != focus.alpha;

			if (shouldAlpha)
				ctx.globalAlpha = ctxAlpha = focus.alpha;

			series.forEach((s, i) => {
				if (i > 0 && s.show) {
					cacheStrokeFill(i, false);
					cacheStrokeFill(i, true);

					if (s._paths == null) {
						let _ctxAlpha = ctxAlpha;

						if (ctxAlpha != s.alpha)
							ctx.globalAlpha = ctxAlpha = s.alpha;

						let _idxs = mode == 2 ? [0, data[i][0].length - 1] : getOuterIdxs(data[i]);
						s._paths = s.paths(self, i, _idxs[0], _idxs[1]);

						if (ctxAlpha != _ctxAlpha)
							ctx.globalAlpha = ctxAlpha = _ctxAlpha;
					}
				}
			});

			series.forEach((s, i) => {
				if (i > 0 && s.show) {
					let _ctxAlpha = ctxAlpha;

					if (ctxAlpha != s.alpha)
						ctx.globalAlpha = ctxAlpha = s.alpha;

					s._paths != null && drawPath(i, false);

					{
						let _gaps = s._paths != null ? s._paths.gaps : null;

						let show = s.points.show(self, i, i0, i1, _gaps);
						let idxs = s.points.filter(self, i, show, _gaps);

						if (show || idxs) {
							s.points._paths = s.points.paths(self, i, i0, i1, idxs);
							drawPath(i, true);
						}
					}

					if (ctxAlpha != _ctxAlpha)
						ctx.globalAlpha = ctxAlpha = _ctxAlpha;

					fire("drawSeries", i);
				}
			});

			if (shouldAlpha)
				ctx.globalAlpha = ctxAlpha = 1;
		}
	}

	function cacheStrokeFill(si, _points) {
		let s = _points ? series[si].points : series[si];

		s._stroke = s.stroke(self, si);
		s._fill   = s.fill(self, si);
	}

	function drawPath(si, _points) {
		let s = _points ? series[si].points : series[si];

		let {
			stroke,
			fill,
			clip: gapsClip,
			flags,

			_stroke: strokeStyle = s._stroke,
			_fill:   fillStyle   = s._fill,
			_width:  width       = s.width,
		} = s._paths;

		width = roundDec(width * pxRatio, 3);

		let boundsClip = null;
		let offset = (width % 2) / 2;

		if (_points && fillStyle == null)
			fillStyle = width > 0 ? "#fff" : strokeStyle;

		let _pxAlign = s.pxAlign == 1 && offset > 0;

		_pxAlign && ctx.translate(offset, offset);

		if (!_points) {
			let lft = plotLft - width / 2,
				top = plotTop - width / 2,
				wid = plotWid + width,
				hgt = plotHgt + width;

			boundsClip = new Path2D();
			boundsClip.rect(lft, top, wid, hgt);
		}

		// the points pathbuilder's gapsClip is its boundsClip, since points dont need gaps clipping, and bounds depend on point size
		if (_points)
			strokeFill(strokeStyle, width, s.dash, s.cap, fillStyle, stroke, fill, flags, gapsClip);
		else
			fillStroke(si, strokeStyle, width, s.dash, s.cap, fillStyle, stroke, fill, flags, boundsClip, gapsClip);

		_pxAlign && ctx.translate(-offset, -offset);
	}

	function fillStroke(si, strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip) {
		let didStrokeFill = false;

		// for all bands where this series is the top edge, create upwards clips using the bottom edges
		// and apply clips + fill with band fill or dfltFill
		flags != 0 && bands.forEach((b, bi) => {
			// isUpperEdge?
			if (b.series[0] == si) {
				let lowerEdge = series[b.series[1]];
				let lowerData = data[b.series[1]];

				let bandClip = (lowerEdge._paths || EMPTY_OBJ).band;

				if (isArr(bandClip))
					bandClip = b.dir == 1 ? bandClip[0] : bandClip[1];

				let gapsClip2;

				let _fillStyle = null;

				// hasLowerEdge?
				if (lowerEdge.show && bandClip && hasData(lowerData, i0, i1)) {
					_fillStyle = b.fill(self, bi) || fillStyle;
					gapsClip2 = lowerEdge._paths.clip;
				}
				else
					bandClip = null;

				strokeFill(strokeStyle, lineWidth, lineDash, lineCap, _fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip);

				didStrokeFill = true;
			}
		});

		if (!didStrokeFill)
			strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip);
	}

	const CLIP_FILL_STROKE = BAND_CLIP_FILL | BAND_CLIP_STROKE;

	function strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip) {
		setCtxStyle(strokeStyle, lineWidth, lineDash, lineCap, fillStyle);

		if (boundsClip || gapsClip || bandClip) {
			ctx.save();
			boundsClip && ctx.clip(boundsClip);
			gapsClip && ctx.clip(gapsClip);
		}

		if (bandClip) {
			if ((flags & CLIP_FILL_STROKE) == CLIP_FILL_STROKE) {
				ctx.clip(bandClip);
				gapsClip2 && ctx.clip(gapsClip2);
				doFill(fillStyle, fillPath);
				doStroke(strokeStyle, strokePath, lineWidth);
			}
			else if (flags & BAND_CLIP_STROKE) {
				doFill(fillStyle, fillPath);
				ctx.clip(bandClip);
				doStroke(strokeStyle, strokePath, lineWidth);
			}
			else if (flags & BAND_CLIP_FILL) {
				ctx.save();
				ctx.clip(bandClip);
				gapsClip2 && ctx.clip(gapsClip2);
				doFill(fillStyle, fillPath);
				ctx.restore();
				doStroke(strokeStyle, strokePath, lineWidth);
			}
		}
		else {
			doFill(fillStyle, fillPath);
			doStroke(strokeStyle, strokePath, lineWidth);
		}

		if (boundsClip || gapsClip || bandClip)
			ctx.restore();
	}

	function doStroke(strokeStyle, strokePath, lineWidth) {
		if (lineWidth > 0) {
			if (strokePath instanceof Map) {
				strokePath.forEach((strokePath, strokeStyle) => {
					ctx.strokeStyle = ctxStroke = strokeStyle;
					ctx.stroke(strokePath);
				});
			}
			else
				strokePath != null && strokeStyle && ctx.stroke(strokePath);
		}
	}

	function doFill(fillStyle, fillPath) {
		if (fillPath instanceof Map) {
			fillPath.forEach((fillPath, fillStyle) => {
				ctx.fillStyle = ctxFill = fillStyle;
				ctx.fill(fillPath);
			});
		}
		else
			fillPath != null && fillStyle && ctx.fill(fillPath);
	}

	function getIncrSpace(axisIdx, min, max, fullDim) {
		let axis = axes[axisIdx];

		let incrSpace;

		if (fullDim <= 0)
			incrSpace = [0, 0];
		else {
			let minSpace = axis._space = axis.space(self, axisIdx, min, max, fullDim);
			let incrs    = axis._incrs = axis.incrs(self, axisIdx, min, max, fullDim, minSpace);
			incrSpace    = findIncr(min, max, incrs, fullDim, minSpace);
		}

		return (axis._found = incrSpace);
	}

	function drawOrthoLines(offs, filts, ori, side, pos0, len, width, stroke, dash, cap) {
		let offset = (width % 2) / 2;

		pxAlign == 1 && ctx.translate(offset, offset);

		setCtxStyle(stroke, width, dash, cap, stroke);

		ctx.beginPath();

		let x0, y0, x1, y1, pos1 = pos0 + (side == 0 || side == 3 ? -len : len);

		if (ori == 0) {
			y0 = pos0;
			y1 = pos1;
		}
		else {
			x0 = pos0;
			x1 = pos1;
		}

		for (let i = 0; i < offs.length; i++) {
			if (filts[i] != null) {
				if (ori == 0)
					x0 = x1 = offs[i];
				else
					y0 = y1 = offs[i];

				ctx.moveTo(x0, y0);
				ctx.lineTo(x1, y1);
			}
		}

		ctx.stroke();

		pxAlign == 1 && ctx.translate(-offset, -offset);
	}

	function axesCalc(cycleNum) {
	//	log("axesCalc()", arguments);

		let converged = true;

		axes.forEach((axis, i) => {
			if (!axis.show)
				return;

			let scale = scales[axis.scale];

			if (scale.min == null) {
				if (axis._show) {
					converged = false;
					axis._show = false;
					resetYSeries(false);
				}
				return;
			}
			else {
				if (!axis._show) {
					converged = false;
					axis._show = true;
					resetYSeries(false);
				}
			}

			let side = axis.side;
			let ori = side % 2;

			let {min, max} = scale;		// 		// should this toggle them ._show = false

			let [_incr, _space] = getIncrSpace(i, min, max, ori == 0 ? plotWidCss : plotHgtCss);

			if (_space == 0)
				return;

			// if we're using index positions, force first tick to match passed index
			let forceMin = scale.distr == 2;

			let _splits = axis._splits = axis.splits(self, i, min, max, _incr, _space, forceMin);

			// tick labels
			// BOO this assumes a specific data/series
			let splits = scale.distr == 2 ? _splits.map(i => data0[i]) : _splits;
			let incr   = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;

			let values = axis._values = axis.values(self, axis.filter(self, splits, i, _space, incr), i, _space, incr);

			// rotating of labels only supported on bottom x axis
			axis._rotate = side == 2 ? axis.rotate(self, values, i, _space) : 0;

			let oldSize = axis._size;

			axis._size = ceil(axis.size(self, values, i, cycleNum));

			if (oldSize != null && axis._size != oldSize)			// ready && ?
				converged = false;
		});

		return converged;
	}

	function paddingCalc(cycleNum) {
		let converged = true;

		padding.forEach((p, i) => {
			let _p = p(self, i, sidesWithAxes, cycleNum);

			if (_p != _padding[i])
				converged = false;

			_padding[i] = _p;
		});

		return converged;
	}

	function drawAxesGrid() {
		for (let i = 0; i < axes.length; i++) {
			let axis = axes[i];

			if (!axis.show || !axis._show)
				continue;

			let side = axis.side;
			let ori = side % 2;

			let x, y;

			let fillStyle = axis.stroke(self, i);

			let shiftDir = side == 0 || side == 3 ? -1 : 1;

			let [_incr, _space] = axis._found;

			// axis label
			if (axis.label != null) {
				let shiftAmt = axis.labelGap * shiftDir;
				let baseLpos = round((axis._lpos + shiftAmt) * pxRatio);

				setFontStyle(axis.labelFont[0], fillStyle, "center", side == 2 ? TOP : BOTTOM);

				ctx.save();

				if (ori == 1) {
					x = y = 0;

					ctx.translate(
						baseLpos,
						round(plotTop + plotHgt / 2),
					);
					ctx.rotate((side == 3 ? -PI : PI) / 2);

				}
				else {
					x = round(plotLft + plotWid / 2);
					y = baseLpos;
				}

				let _label = isFn(axis.label) ? axis.label(self, i, _incr, _space) : axis.label;

				ctx.fillText(_label, x, y);

				ctx.restore();
			}

			if (_space == 0)
				continue;

			let scale = scales[axis.scale];

			let plotDim = ori == 0 ? plotWid : plotHgt;
			let plotOff = ori == 0 ? plotLft : plotTop;

			let _splits = axis._splits;

			// tick labels
			// BOO this assumes a specific data/series
			let splits = scale.distr == 2 ? _splits.map(i => data0[i]) : _splits;
			let incr   = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;

			let ticks = axis.ticks;
			let border = axis.border;
			let _tickSize = ticks.show ? ticks.size : 0;
			let tickSize = round(_tickSize * pxRatio);
			let axisGap = round((axis.alignTo == 2 ? axis._size - _tickSize - axis.gap : axis.gap) * pxRatio);

			// rotating of labels only supported on bottom x axis
			let angle = axis._rotate * -PI/180;

			let basePos  = pxRound(axis._pos * pxRatio);
			let shiftAmt = (tickSize + axisGap) * shiftDir;
			let finalPos = basePos + shiftAmt;
			    y        = ori == 0 ? finalPos : 0;
			    x        = ori == 1 ? finalPos : 0;

			let font         = axis.font[0];
			let textAlign    = axis.align == 1 ? LEFT :
			                   axis.align == 2 ? RIGHT :
			                   angle > 0 ? LEFT :
			                   angle < 0 ? RIGHT :
			                   ori == 0 ? "center" : side == 3 ? RIGHT : LEFT;
			let textBaseline = angle ||
			                   ori == 1 ? "middle" : side == 2 ? TOP   : BOTTOM;

			setFontStyle(font, fillStyle, textAlign, textBaseline);

			let lineHeight = axis.font[1] * axis.lineGap;

			let canOffs = _splits.map(val => pxRound(getPos(val, scale, plotDim, plotOff)));

			let _values = axis._values;

			for (let i = 0; i < _values.length; i++) {
				let val = _values[i];

				if (val != null) {
					if (ori == 0)
						x = canOffs[i];
					else
						y = canOffs[i];

					val = "" + val;

					let _parts = val.indexOf("\n") == -1 ? [val] : val.split(/\n/gm);

					for (let j = 0; j < _parts.length; j++) {
						let text = _parts[j];

						if (angle) {
							ctx.save();
							ctx.translate(x, y + j * lineHeight); // can this be replaced with position math?
							ctx.rotate(angle); // can this be done once?
							ctx.fillText(text, 0, 0);
							ctx.restore();
						}
						else
							ctx.fillText(text, x, y + j * lineHeight);
					}
				}
			}

			// ticks
			if (ticks.show) {
				drawOrthoLines(
					canOffs,
					ticks.filter(self, splits, i, _space, incr),
					ori,
					side,
					basePos,
					tickSize,
					roundDec(ticks.width * pxRatio, 3),
					ticks.stroke(self, i),
					ticks.dash,
					ticks.cap,
				);
			}

			// grid
			let grid = axis.grid;

			if (grid.show) {
				drawOrthoLines(
					canOffs,
					grid.filter(self, splits, i, _space, incr),
					ori,
					ori == 0 ? 2 : 1,
					ori == 0 ? plotTop : plotLft,
					ori == 0 ? plotHgt : plotWid,
					roundDec(grid.width * pxRatio, 3),
					grid.stroke(self, i),
					grid.dash,
					grid.cap,
				);
			}

			if (border.show) {
				drawOrthoLines(
					[basePos],
					[1],
					ori == 0 ? 1 : 0,
					ori == 0 ? 1 : 2,
					ori == 1 ? plotTop : plotLft,
					ori == 1 ? plotHgt : plotWid,
					roundDec(border.width * pxRatio, 3),
					border.stroke(self, i),
					border.dash,
					border.cap,
				);
			}
		}

		fire("drawAxes");
	}

	function resetYSeries(minMax) {
	//	log("resetYSeries()", arguments);

		series.forEach((s, i) => {
			if (i > 0) {
				s._paths = null;

				if (minMax) {
					if (mode == 1) {
						s.min = null;
						s.max = null;
					}
					else {
						s.facets.forEach(f => {
							f.min = null;
							f.max = null;
						});
					}
				}
			}
		});
	}

	let queuedCommit = false;
	let deferHooks = false;
	let hooksQueue = [];

	function flushHooks() {
		deferHooks = false;

		for (let i = 0; i < hooksQueue.length; i++)
			fire(...hooksQueue[i]);

		hooksQueue.length = 0;
	}

	function commit() {
		if (!queuedCommit) {
			microTask(_commit);
			queuedCommit = true;
		}
	}

	// manual batching (aka immediate mode), skips microtask queue
	function batch(fn, _deferHooks = false) {
		queuedCommit = true;
		deferHooks = _deferHooks;

		fn(self);
		_commit();

		if (_deferHooks && hooksQueue.length > 0)
			queueMicrotask(flushHooks);
	}

	self.batch = batch;

	function _commit() {
	//	log("_commit()", arguments);

		if (shouldSetScales) {
			setScales();
			shouldSetScales = false;
		}

		if (shouldConvergeSize) {
			convergeSize();
			shouldConvergeSize = false;
		}

		if (shouldSetSize) {
			setStylePx(under, LEFT,   plotLftCss);
			setStylePx(under, TOP,    plotTopCss);
			setStylePx(under, WIDTH,  plotWidCss);
			setStylePx(under, HEIGHT, plotHgtCss);

			setStylePx(over, LEFT,    plotLftCss);
			setStylePx(over, TOP,     plotTopCss);
			setStylePx(over, WIDTH,   plotWidCss);
			setStylePx(over, HEIGHT,  plotHgtCss);

			setStylePx(wrap, WIDTH,   fullWidCss);
			setStylePx(wrap, HEIGHT,  fullHgtCss);

			// NOTE: mutating this during print preview in Chrome forces transparent
			// canvas pixels to white, even when followed up with clearRect() below
			can.width  = round(fullWidCss * pxRatio);
			can.height = round(fullHgtCss * pxRatio);

			axes.forEach(({ _el, _show, _size, _pos, side }) => {
				if (_el != null) {
					if (_show) {
						let posOffset = (side === 3 || side === 0 ? _size : 0);
						let isVt = side % 2 == 1;

						setStylePx(_el, isVt ? "left"   : "top",    _pos - posOffset);
						setStylePx(_el, isVt ? "width"  : "height", _size);
						setStylePx(_el, isVt ? "top"    : "left",   isVt ? plotTopCss : plotLftCss);
						setStylePx(_el, isVt ? "height" : "width",  isVt ? plotHgtCss : plotWidCss);

						remClass(_el, OFF);
					}
					else
						addClass(_el, OFF);
				}
			});

			// invalidate ctx style cache
			ctxStroke = ctxFill = ctxWidth = ctxJoin = ctxCap = ctxFont = ctxAlign = ctxBaseline = ctxDash = null;
			ctxAlpha = 1;

			syncRect(true);

			if (
				plotLftCss != _plotLftCss ||
				plotTopCss != _plotTopCss ||
				plotWidCss != _plotWidCss ||
				plotHgtCss != _plotHgtCss
			) {
				resetYSeries(false);

				let pctWid = plotWidCss / _plotWidCss;
				let pctHgt = plotHgtCss / _plotHgtCss;

				if (showCursor && !shouldSetCursor && cursor.left >= 0) {
					cursor.left *= pctWid;
					cursor.top  *= pctHgt;

					vCursor && elTrans(vCursor, round(cursor.left), 0, plotWidCss, plotHgtCss);
					hCursor && elTrans(hCursor, 0, round(cursor.top), plotWidCss, plotHgtCss);

					for (let i = 0; i < cursorPts.length; i++) {
						let pt = cursorPts[i];

						if (pt != null) {
							cursorPtsLft[i] *= pctWid;
							cursorPtsTop[i] *= pctHgt;
							elTrans(pt, ceil(cursorPtsLft[i]), ceil(cursorPtsTop[i]), plotWidCss, plotHgtCss);
						}
					}
				}

				if (select.show && !shouldSetSelect && select.left >= 0 && select.width > 0) {
					select.left   *= pctWid;
					select.width  *= pctWid;
					select.top    *= pctHgt;
					select.height *= pctHgt;

					for (let prop in _hideProps)
						setStylePx(selectDiv, prop, select[prop]);
				}

				_plotLftCss = plotLftCss;
				_plotTopCss = plotTopCss;
				_plotWidCss = plotWidCss;
				_plotHgtCss = plotHgtCss;
			}

			fire("setSize");

			shouldSetSize = false;
		}

		if (fullWidCss > 0 && fullHgtCss > 0) {
			ctx.clearRect(0, 0, can.width, can.height);
			fire("drawClear");
			drawOrder.forEach(fn => fn());
			fire("draw");
		}

		if (select.show && shouldSetSelect) {
			setSelect(select);
			shouldSetSelect = false;
		}

		if (showCursor && shouldSetCursor) {
			updateCursor(null, true, false);
			shouldSetCursor = false;
		}

		if (legend.show && legend.live && shouldSetLegend) {
			setLegend();
			shouldSetLegend = false; // redundant currently
		}

		if (!ready) {
			ready = true;
			self.status = 1;

			fire("ready");
		}

		viaAutoScaleX = false;

		queuedCommit = false;
	}

	self.redraw = (rebuildPaths, recalcAxes) => {
		shouldConvergeSize = recalcAxes || false;

		if (rebuildPaths !== false)
			_setScale(xScaleKey, scaleX.min, scaleX.max);
		else
			commit();
	};

	// redraw() => setScale('x', scales.x.min, scales.x.max);

	// explicit, never re-ranged (is this actually true? for x and y)
	function setScale(key, opts) {
		let sc = scales[key];

		if (sc.from == null) {
			if (dataLen == 0) {
				let minMax = sc.range(self, opts.min, opts.max, key);
				opts.min = minMax[0];
				opts.max = minMax[1];
			}

			if (opts.min > opts.max) {
				let _min = opts.min;
				opts.min = opts.max;
				opts.max = _min;
			}

			if (dataLen > 1 && opts.min != null && opts.max != null && opts.max - opts.min < 1e-16)
				return;

			if (key == xScaleKey) {
				if (sc.distr == 2 && dataLen > 0) {
					opts.min = closestIdx(opts.min, data[0]);
					opts.max = closestIdx(opts.max, data[0]);

					if (opts.min == opts.max)
						opts.max++;
				}
			}

		//	log("setScale()", arguments);

			pendScales[key] = opts;

			shouldSetScales = true;
			commit();
		}
	}

	self.setScale = setScale;

//	INTERACTION

	let xCursor;
	let yCursor;
	let vCursor;
	let hCursor;

	// starting position before cursor.move
	let rawMouseLeft0;
	let rawMouseTop0;

	// starting position
	let mouseLeft0;
	let mouseTop0;

	// current position before cursor.move
	let rawMouseLeft1;
	let rawMouseTop1;

	// current position
	let mouseLeft1;
	let mouseTop1;

	let dragging = false;

	const drag = cursor.drag;

	let dragX = drag.x;
	let dragY = drag.y;

	if (showCursor) {
		if (cursor.x)
			xCursor = placeDiv(CURSOR_X, over);
		if (cursor.y)
			yCursor = placeDiv(CURSOR_Y, over);

		if (scaleX.ori == 0) {
			vCursor = xCursor;
			hCursor = yCursor;
		}
		else {
			vCursor = yCursor;
			hCursor = xCursor;
		}

		mouseLeft1 = cursor.left;
		mouseTop1 = cursor.top;
	}

	const select = self.select = assign({
		show:   true,
		over:   true,
		left:   0,
		width:  0,
		top:    0,
		height: 0,
	}, opts.select);

	const selectDiv = select.show ? placeDiv(SELECT, select.over ? over : under) : null;

	function setSelect(opts, _fire) {
		if (select.show) {
			for (let prop in opts) {
				select[prop] = opts[prop];

				if (prop in _hideProps)
					setStylePx(selectDiv, prop, opts[prop]);
			}

			_fire !== false && fire("setSelect");
		}
	}

	self.setSelect = setSelect;

	function toggleDOM(i) {
		let s = series[i];

		if (s.show)
			showLegend && remClass(legendRows[i], OFF);
		else {
			showLegend && addClass(legendRows[i], OFF);

			if (showCursor) {
				let pt = cursorOnePt ? cursorPts[0] : cursorPts[i];
				pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
			}
		}
	}

	function _setScale(key, min, max) {
		setScale(key, {min, max});
	}

	function setSeries(i, opts, _fire, _pub) {
	//	log("setSeries()", arguments);

		if (opts.focus != null)
			setFocus(i);

		if (opts.show != null) {
			series.forEach((s, si) => {
				if (si > 0 && (i == si || i == null)) {
					s.show = opts.show;
					toggleDOM(si);

					if (mode == 2) {
						_setScale(s.facets[0].scale, null, null);
						_setScale(s.facets[1].scale, null, null);
					}
					else
						_setScale(s.scale, null, null);

					commit();
				}
			});
		}

		_fire !== false && fire("setSeries", i, opts);

		_pub && pubSync("setSeries", self, i, opts);
	}

	self.setSeries = setSeries;

	function setBand(bi, opts) {
		assign(bands[bi], opts);
	}

	function addBand(opts, bi) {
		opts.fill = fnOrSelf(opts.fill || null);
		opts.dir = ifNull(opts.dir, -1);
		bi = bi == null ? bands.length : bi;
		bands.splice(bi, 0, opts);
	}

	function delBand(bi) {
		if (bi == null)
			bands.length = 0;
		else
			bands.splice(bi, 1);
	}

	self.addBand = addBand;
	self.setBand = setBand;
	self.delBand = delBand;

	function setAlpha(i, value) {
		series[i].alpha = value;

		if (showCursor && cursorPts[i] != null)
			cursorPts[i].style.opacity = value;

		if (showLegend && legendRows[i])
			legendRows[i].style.opacity = value;
	}

	// y-distance
	let closestDist;
	let closestSeries;
	let focusedSeries;
	const FOCUS_TRUE  = {focus: true};

	function setFocus(i) {
		if (i != focusedSeries) {
		//	log("setFocus()", arguments);

			let allFocused = i == null;

			let _setAlpha = focus.alpha != 1;

			series.forEach((s, i2) => {
				if (mode == 1 || i2 > 0) {
					let isFocused = allFocused || i2 == 0 || i2 == i;
					s._focus = allFocused ? null : isFocused;
					_setAlpha && setAlpha(i2, isFocused ? 1 : focus.alpha);
				}
			});

			focusedSeries = i;
			_setAlpha && commit();
		}
	}

	if (showLegend && cursorFocus) {
		onMouse(mouseleave, legendTable, e => {
			if (cursor._lock)
				return;

			setCursorEvent(e);

			if (focusedSeries != null)
				setSeries(null, FOCUS_TRUE, true, syncOpts.setSeries);
		});
	}

	function posToVal(pos, scale, can) {
		let sc = scales[scale];

		if (can)
			pos = pos / pxRatio - (sc.ori == 1 ? plotTopCss : plotLftCss);

		let dim = plotWidCss;

		if (sc.ori == 1) {
			dim = plotHgtCss;
			pos = dim - pos;
		}

		if (sc.dir == -1)
			pos = dim - pos;

		let _min = sc._min,
			_max = sc._max,
			pct = pos / dim;

		let sv = _min + (_max - _min) * pct;

		let distr = sc.distr;

		return (
			distr == 3 ? pow(10, sv) :
			distr == 4 ? sinh(sv, sc.asinh) :
			distr == 100 ? sc.bwd(sv) :
			sv
		);
	}

	function closestIdxFromXpos(pos, can) {
		let v = posToVal(pos, xScaleKey, can);
		return closestIdx(v, data[0], i0, i1);
	}

	self.valToIdx = val => closestIdx(val, data[0]);
	self.posToIdx = closestIdxFromXpos;
	self.posToVal = posToVal;
	self.valToPos = (val, scale, can) => (
		scales[scale].ori == 0 ?
		getHPos(val, scales[scale],
			can ? plotWid : plotWidCss,
			can ? plotLft : 0,
		) :
		getVPos(val, scales[scale],
			can ? plotHgt : plotHgtCss,
			can ? plotTop : 0,
		)
	);

	self.setCursor = (opts, _fire, _pub) => {
		mouseLeft1 = opts.left;
		mouseTop1 = opts.top;
	//	assign(cursor, opts);
		updateCursor(null, _fire, _pub);
	};

	function setSelH(off, dim) {
		setStylePx(selectDiv, LEFT,  select.left = off);
		setStylePx(selectDiv, WIDTH, select.width = dim);
	}

	function setSelV(off, dim) {
		setStylePx(selectDiv, TOP,    select.top = off);
		setStylePx(selectDiv, HEIGHT, select.height = dim);
	}

	let setSelX = scaleX.ori == 0 ? setSelH : setSelV;
	let setSelY = scaleX.ori == 1 ? setSelH : setSelV;

	function syncLegend() {
		if (showLegend && legend.live) {
			for (let i = mode == 2 ? 1 : 0; i < series.length; i++) {
				if (i == 0 && multiValLegend)
					continue;

				let vals = legend.values[i];

				let j = 0;

				for (let k in vals)
					legendCells[i][j++].firstChild.nodeValue = vals[k];
			}
		}
	}

	function setLegend(opts, _fire) {
		if (opts != null) {
			if (opts.idxs) {
				opts.idxs.forEach((didx, sidx) => {
					activeIdxs[sidx] = didx;
				});
			}
			else if (!isUndef(opts.idx))
				activeIdxs.fill(opts.idx);

			legend.idx = activeIdxs[0];
		}

		if (showLegend && legend.live) {
			for (let sidx = 0; sidx < series.length; sidx++) {
				if (sidx > 0 || mode == 1 && !multiValLegend)
					setLegendValues(sidx, activeIdxs[sidx]);
			}

			syncLegend();
		}

		shouldSetLegend = false;

		_fire !== false && fire("setLegend");
	}

	self.setLegend = setLegend;

	function setLegendValues(sidx, idx) {
		let s = series[sidx];
		let src = sidx == 0 && xScaleDistr == 2 ? data0 : data[sidx];
		let val;

		if (multiValLegend)
			val = s.values(self, sidx, idx) ?? NULL_LEGEND_VALUES;
		else {
			val = s.value(self, idx == null ? null : src[idx], sidx, idx);
			val = val == null ? NULL_LEGEND_VALUES : {_: val};
		}

		legend.values[sidx] = val;
	}

	function updateCursor(src, _fire, _pub) {
	//	ts == null && log("updateCursor()", arguments);

		rawMouseLeft1 = mouseLeft1;
		rawMouseTop1 = mouseTop1;

		[mouseLeft1, mouseTop1] = cursor.move(self, mouseLeft1, mouseTop1);

		cursor.left = mouseLeft1;
		cursor.top = mouseTop1;

		if (showCursor) {
			vCursor && elTrans(vCursor, round(mouseLeft1), 0, plotWidCss, plotHgtCss);
			hCursor && elTrans(hCursor, 0, round(mouseTop1), plotWidCss, plotHgtCss);
		}

		let idx;

		// when zooming to an x scale range between datapoints the binary search
		// for nearest min/max indices results in this condition. cheap hack :D
		let noDataInRange = i0 > i1; // works for mode 1 only

		closestDist = inf;
		closestSeries = null;

		// TODO: extract
		let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
		let yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss;

		// if cursor hidden, hide points & clear legend vals
		if (mouseLeft1 < 0 || dataLen == 0 || noDataInRange) {
			idx = cursor.idx = null;

			for (let i = 0; i < series.length; i++) {
				let pt = cursorPts[i];
				pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
			}

			if (cursorFocus)
				setSeries(null, FOCUS_TRUE, true, src == null && syncOpts.setSeries);

			if (legend.live) {
				activeIdxs.fill(idx);
				shouldSetLegend = true;
			}
		}
		else {
		//	let pctY = 1 - (y / rect.height);

			let mouseXPos, valAtPosX, xPos;

			if (mode == 1) {
				mouseXPos = scaleX.ori == 0 ? mouseLeft1 : mouseTop1;
				valAtPosX = posToVal(mouseXPos, xScaleKey);
				idx = cursor.idx = closestIdx(valAtPosX, data[0], i0, i1);
				xPos = valToPosX(data[0][idx], scaleX, xDim, 0);
			}

			// closest pt values
			let _ptLft = -10;
			let _ptTop = -10;
			let _ptWid = 0;
			let _ptHgt = 0;
			let _centered = true;
			let _ptFill = '';
			let _ptStroke = '';

			for (let i = mode == 2 ? 1 : 0; i < series.length; i++) {
				let s = series[i];

				let idx1  = activeIdxs[i];
				let yVal1 = idx1 == null ? null : (mode == 1 ? data[i][idx1] : data[i][1][idx1]);

				let idx2  = cursor.dataIdx(self, i, idx, valAtPosX);
				let yVal2 = idx2 == null ? null : (mode == 1 ? data[i][idx2] : data[i][1][idx2]);

				shouldSetLegend = shouldSetLegend || yVal2 != yVal1 || idx2 != idx1;

				activeIdxs[i] = idx2;

				if (i > 0 && s.show) {
					let xPos2 = idx2 == null ? -10 : idx2 == idx ? xPos : valToPosX(mode == 1 ? data[0][idx2] : data[i][0][idx2], scaleX, xDim, 0);

					// this doesnt really work for state timeline, heatmap, status history (where the value maps to color, not y coords)
					let yPos = yVal2 == null ? -10 : valToPosY(yVal2, mode == 1 ? scales[s.scale] : scales[s.facets[1].scale], yDim, 0);

					if (cursorFocus && yVal2 != null) {
						let mouseYPos = scaleX.ori == 1 ? mouseLeft1 : mouseTop1;
						let dist = abs(focus.dist(self, i, idx2, yPos, mouseYPos));

						if (dist < closestDist) {
							let bias = focus.bias;

							if (bias != 0) {
								let mouseYVal = posToVal(mouseYPos, s.scale);

								let seriesYValSign = yVal2     >= 0 ? 1 : -1;
								let mouseYValSign  = mouseYVal >= 0 ? 1 : -1;

								// with a focus bias, we will never cross zero when prox testing
								// it's either closest towards zero, or closest away from zero
								if (mouseYValSign == seriesYValSign && (
									mouseYValSign == 1 ?
										(bias == 1 ? yVal2 >= mouseYVal : yVal2 <= mouseYVal) :  // >= 0
										(bias == 1 ? yVal2 <= mouseYVal : yVal2 >= mouseYVal)    //  < 0
								)) {
									closestDist = dist;
									closestSeries = i;
								}
							}
							else {
								closestDist = dist;
								closestSeries = i;
							}
						}
					}

					if (shouldSetLegend || cursorOnePt) {
						let hPos, vPos;

						if (scaleX.ori == 0) {
							hPos = xPos2;
							vPos = yPos;
						}
						else {
							hPos = yPos;
							vPos = xPos2;
						}

						let ptWid, ptHgt, ptLft, ptTop,
							ptStroke, ptFill,
							centered = true,
							getBBox = points.bbox;

						if (getBBox != null) {
							centered = false;

							let bbox = getBBox(self, i);

							ptLft = bbox.left;
							ptTop = bbox.top;
							ptWid = bbox.width;
							ptHgt = bbox.height;
						}
						else {
							ptLft = hPos;
							ptTop = vPos;
							ptWid = ptHgt = points.size(self, i);
						}

						ptFill = points.fill(self, i);
						ptStroke = points.stroke(self, i);

						if (cursorOnePt) {
							if (i == closestSeries && closestDist <= focus.prox) {
								_ptLft = ptLft;
								_ptTop = ptTop;
								_ptWid = ptWid;
								_ptHgt = ptHgt;
								_centered = centered;
								_ptFill = ptFill;
								_ptStroke = ptStroke;
							}
						}
						else {
							let pt = cursorPts[i];

							if (pt != null) {
								cursorPtsLft[i] = ptLft;
								cursorPtsTop[i] = ptTop;

								elSize(pt, ptWid, ptHgt, centered);
								elColor(pt, ptFill, ptStroke);
								elTrans(pt, ceil(ptLft), ceil(ptTop), plotWidCss, plotHgtCss);
							}
						}
					}
				}
			}

			// if only using single hover point (at cursorPts[0])
			// we have trigger styling at last visible series (once closestSeries is settled)
			if (cursorOnePt) {
				// some of this logic is similar to series focus below, since it matches the behavior by design

				let p = focus.prox;

				let focusChanged = focusedSeries == null ? closestDist <= p : (closestDist > p || closestSeries != focusedSeries);

				if (shouldSetLegend || focusChanged) {
					let pt = cursorPts[0];

					if (pt != null) {
						cursorPtsLft[0] = _ptLft;
						cursorPtsTop[0] = _ptTop;

						elSize(pt, _ptWid, _ptHgt, _centered);
						elColor(pt, _ptFill, _ptStroke);
						elTrans(pt, ceil(_ptLft), ceil(_ptTop), plotWidCss, plotHgtCss);
					}
				}
			}
		}

		// nit: cursor.drag.setSelect is assumed always true
		if (select.show && dragging) {
			if (src != null) {
				let [xKey, yKey] = syncOpts.scales;
				let [matchXKeys, matchYKeys] = syncOpts.match;
				let [xKeySrc, yKeySrc] = src.cursor.sync.scales;

				// match the dragX/dragY implicitness/explicitness of src
				let sdrag = src.cursor.drag;
				dragX = sdrag._x;
				dragY = sdrag._y;

				if (dragX || dragY) {
					let { left, top, width, height } = src.select;

					let sori = src.scales[xKeySrc].ori;
					let sPosToVal = src.posToVal;

					let sOff, sDim, sc, a, b;

					let matchingX = xKey != null && matchXKeys(xKey, xKeySrc);
					let matchingY = yKey != null && matchYKeys(yKey, yKeySrc);

					if (matchingX && dragX) {
						if (sori == 0) {
							sOff = left;
							sDim = width;
						}
						else {
							sOff = top;
							sDim = height;
						}

						sc = scales[xKey];

						a = valToPosX(sPosToVal(sOff, xKeySrc),        sc, xDim, 0);
						b = valToPosX(sPosToVal(sOff + sDim, xKeySrc), sc, xDim, 0);

						setSelX(min(a,b), abs(b-a));
					}
					else
						setSelX(0, xDim);

					if (matchingY && dragY) {
						if (sori == 1) {
							sOff = left;
							sDim = width;
						}
						else {
							sOff = top;
							sDim = height;
						}

						sc = scales[yKey];

						a = valToPosY(sPosToVal(sOff, yKeySrc),        sc, yDim, 0);
						b = valToPosY(sPosToVal(sOff + sDim, yKeySrc), sc, yDim, 0);

						setSelY(min(a,b), abs(b-a));
					}
					else
						setSelY(0, yDim);
				}
				else
					hideSelect();
			}
			else {
				let rawDX = abs(rawMouseLeft1 - rawMouseLeft0);
				let rawDY = abs(rawMouseTop1 - rawMouseTop0);

				if (scaleX.ori == 1) {
					let _rawDX = rawDX;
					rawDX = rawDY;
					rawDY = _rawDX;
				}

				dragX = drag.x && rawDX >= drag.dist;
				dragY = drag.y && rawDY >= drag.dist;

				let uni = drag.uni;

				if (uni != null) {
					// only calc drag status if they pass the dist thresh
					if (dragX && dragY) {
						dragX = rawDX >= uni;
						dragY = rawDY >= uni;

						// force unidirectionality when both are under uni limit
						if (!dragX && !dragY) {
							if (rawDY > rawDX)
								dragY = true;
							else
								dragX = true;
						}
					}
				}
				else if (drag.x && drag.y && (dragX || dragY))
					// if omni with no uni then both dragX / dragY should be true if either is true
					dragX = dragY = true;

				let p0, p1;

				if (dragX) {
					if (scaleX.ori == 0) {
						p0 = mouseLeft0;
						p1 = mouseLeft1;
					}
					else {
						p0 = mouseTop0;
						p1 = mouseTop1;
					}

					setSelX(min(p0, p1), abs(p1 - p0));

					if (!dragY)
						setSelY(0, yDim);
				}

				if (dragY) {
					if (scaleX.ori == 1) {
						p0 = mouseLeft0;
						p1 = mouseLeft1;
					}
					else {
						p0 = mouseTop0;
						p1 = mouseTop1;
					}

					setSelY(min(p0, p1), abs(p1 - p0));

					if (!dragX)
						setSelX(0, xDim);
				}

				// the drag didn't pass the dist requirement
				if (!dragX && !dragY) {
					setSelX(0, 0);
					setSelY(0, 0);
				}
			}
		}

		drag._x = dragX;
		drag._y = dragY;

		if (src == null) {
			if (_pub) {
				if (syncKey != null) {
					let [xSyncKey, ySyncKey] = syncOpts.scales;

					syncOpts.values[0] = xSyncKey != null ? posToVal(scaleX.ori == 0 ? mouseLeft1 : mouseTop1, xSyncKey) : null;
					syncOpts.values[1] = ySyncKey != null ? posToVal(scaleX.ori == 1 ? mouseLeft1 : mouseTop1, ySyncKey) : null;
				}

				pubSync(mousemove, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, idx);
			}

			if (cursorFocus) {
				let shouldPub = _pub && syncOpts.setSeries;
				let p = focus.prox;

				if (focusedSeries == null) {
					if (closestDist <= p)
						setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
				}
				else {
					if (closestDist > p)
						setSeries(null, FOCUS_TRUE, true, shouldPub);
					else if (closestSeries != focusedSeries)
						setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
				}
			}
		}

		if (shouldSetLegend) {
			legend.idx = idx;
			setLegend();
		}

		_fire !== false && fire("setCursor");
	}

	let rect = null;

	Object.defineProperty(self, 'rect', {
		get() {
			if (rect == null)
				syncRect(false);

			return rect;
		},
	});

	function syncRect(defer = false) {
		if (defer)
			rect = null;
		else {
			rect = over.getBoundingClientRect();
			fire("syncRect", rect);
		}
	}

	function mouseMove(e, src, _l, _t, _w, _h, _i) {
		if (cursor._lock)
			return;

		// Chrome on Windows has a bug which triggers a stray mousemove event after an initial mousedown event
		// when clicking into a plot as part of re-focusing the browser window.
		// we gotta ignore it to avoid triggering a phantom drag / setSelect
		// However, on touch-only devices Chrome-based browsers trigger a 0-distance mousemove before mousedown
		// so we don't ignore it when mousedown has set the dragging flag
		if (dragging && e != null && e.movementX == 0 && e.movementY == 0)
			return;

		cacheMouse(e, src, _l, _t, _w, _h, _i, false, e != null);

		if (e != null)
			updateCursor(null, true, true);
		else
			updateCursor(src, true, false);
	}

	function cacheMouse(e, src, _l, _t, _w, _h, _i, initial, snap) {
		if (rect == null)
			syncRect(false);

		setCursorEvent(e);

		if (e != null) {
			_l = e.clientX - rect.left;
			_t = e.clientY - rect.top;
		}
		else {
			if (_l < 0 || _t < 0) {
				mouseLeft1 = -10;
				mouseTop1 = -10;
				return;
			}

			let [xKey, yKey] = syncOpts.scales;

			let syncOptsSrc = src.cursor.sync;
			let [xValSrc, yValSrc] = syncOptsSrc.values;
			let [xKeySrc, yKeySrc] = syncOptsSrc.scales;
			let [matchXKeys, matchYKeys] = syncOpts.match;

			let rotSrc = src.axes[0].side % 2 == 1;

			let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss,
				yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss,
				_xDim = rotSrc ? _h : _w,
				_yDim = rotSrc ? _w : _h,
				_xPos = rotSrc ? _t : _l,
				_yPos = rotSrc ? _l : _t;

			if (xKeySrc != null)
				_l = matchXKeys(xKey, xKeySrc) ? getPos(xValSrc, scales[xKey], xDim, 0) : -10;
			else
				_l = xDim * (_xPos/_xDim);

			if (yKeySrc != null)
				_t = matchYKeys(yKey, yKeySrc) ? getPos(yValSrc, scales[yKey], yDim, 0) : -10;
			else
				_t = yDim * (_yPos/_yDim);

			if (scaleX.ori == 1) {
				let __l = _l;
				_l = _t;
				_t = __l;
			}
		}

		if (snap && (src == null || src.cursor.event.type == mousemove)) {
			if (_l <= 1 || _l >= plotWidCss - 1)
				_l = incrRound(_l, plotWidCss);

			if (_t <= 1 || _t >= plotHgtCss - 1)
				_t = incrRound(_t, plotHgtCss);
		}

		if (initial) {
			rawMouseLeft0 = _l;
			rawMouseTop0 = _t;

			[mouseLeft0, mouseTop0] = cursor.move(self, _l, _t);
		}
		else {
			mouseLeft1 = _l;
			mouseTop1 = _t;
		}
	}

	const _hideProps = {
		width: 0,
		height: 0,
		left: 0,
		top: 0,
	};

	function hideSelect() {
		setSelect(_hideProps, false);
	}

	let downSelectLeft;
	let downSelectTop;
	let downSelectWidth;
	let downSelectHeight;

	function mouseDown(e, src, _l, _t, _w, _h, _i) {
		dragging = true;
		dragX = dragY = drag._x = drag._y = false;

		cacheMouse(e, src, _l, _t, _w, _h, _i, true, false);

		if (e != null) {
			onMouse(mouseup, doc, mouseUp, false);
			pubSync(mousedown, self, mouseLeft0, mouseTop0, plotWidCss, plotHgtCss, null);
		}

		let { left, top, width, height } = select;

		downSelectLeft   = left;
		downSelectTop    = top;
		downSelectWidth  = width;
		downSelectHeight = height;

	//	hideSelect();
	}

	function mouseUp(e, src, _l, _t, _w, _h, _i) {
		dragging = drag._x = drag._y = false;

		cacheMouse(e, src, _l, _t, _w, _h, _i, false, true);

		let { left, top, width, height } = select;

		let hasSelect = width > 0 || height > 0;
		let chgSelect = (
			downSelectLeft   != left   ||
			downSelectTop    != top    ||
			downSelectWidth  != width  ||
			downSelectHeight != height
		);

		hasSelect && chgSelect && setSelect(select);

		if (drag.setScale && hasSelect && chgSelect) {
		//	if (syncKey != null) {
		//		dragX = drag.x;
		//		dragY = drag.y;
		//	}

			let xOff = left,
				xDim = width,
				yOff = top,
				yDim = height;

			if (scaleX.ori == 1) {
				xOff = top,
				xDim = height,
				yOff = left,
				yDim = width;
			}

			if (dragX) {
				_setScale(xScaleKey,
					posToVal(xOff, xScaleKey),
					posToVal(xOff + xDim, xScaleKey)
				);
			}

			if (dragY) {
				for (let k in scales) {
					let sc = scales[k];

					if (k != xScaleKey && sc.from == null && sc.min != inf) {
						_setScale(k,
							posToVal(yOff + yDim, k),
							posToVal(yOff, k)
						);
					}
				}
			}

			hideSelect();
		}
		else if (cursor.lock) {
			cursor._lock = !cursor._lock;
			updateCursor(src, true, e != null);
		}

		if (e != null) {
			offMouse(mouseup, doc);
			pubSync(mouseup, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
		}
	}

	function mouseLeave(e, src, _l, _t, _w, _h, _i) {
		if (cursor._lock)
			return;

		setCursorEvent(e);

		let _dragging = dragging;

		if (dragging) {
			// handle case when mousemove aren't fired all the way to edges by browser
			let snapH = true;
			let snapV = true;
			let snapProx = 10;

			let dragH, dragV;

			if (scaleX.ori == 0) {
				dragH = dragX;
				dragV = dragY;
			}
			else {
				dragH = dragY;
				dragV = dragX;
			}

			if (dragH && dragV) {
				// maybe omni corner snap
				snapH = mouseLeft1 <= snapProx || mouseLeft1 >= plotWidCss - snapProx;
				snapV = mouseTop1  <= snapProx || mouseTop1  >= plotHgtCss - snapProx;
			}

			if (dragH && snapH)
				mouseLeft1 = mouseLeft1 < mouseLeft0 ? 0 : plotWidCss;

			if (dragV && snapV)
				mouseTop1 = mouseTop1 < mouseTop0 ? 0 : plotHgtCss;

			updateCursor(null, true, true);

			dragging = false;
		}

		mouseLeft1 = -10;
		mouseTop1 = -10;

		activeIdxs.fill(null);

		// passing a non-null timestamp to force sync/mousemove event
		updateCursor(null, true, true);

		if (_dragging)
			dragging = _dragging;
	}

	function dblClick(e, src, _l, _t, _w, _h, _i) {
		if (cursor._lock)
			return;

		setCursorEvent(e);

		autoScaleX();

		hideSelect();

		if (e != null)
			pubSync(dblclick, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
	}

	function syncPxRatio() {
		axes.forEach(syncFontSize);
		_setSize(self.width, self.height, true);
	}

	on(dppxchange, win, syncPxRatio);

	// internal pub/sub
	const events = {};

	events.mousedown = mouseDown;
	events.mousemove = mouseMove;
	events.mouseup = mouseUp;
	events.dblclick = dblClick;
	events["setSeries"] = (e, src, idx, opts) => {
		let seriesIdxMatcher = syncOpts.match[2];
		idx = seriesIdxMatcher(self, src, idx);
		idx != -1 && setSeries(idx, opts, true, false);
	};

	if (showCursor) {
		onMouse(mousedown,  over, mouseDown);
		onMouse(mousemove,  over, mouseMove);
		onMouse(mouseenter, over, e => {
			setCursorEvent(e);
			syncRect(false);
		});
		onMouse(mouseleave, over, mouseLeave);

		onMouse(dblclick, over, dblClick);

		cursorPlots.add(self);

		self.syncRect = syncRect;
	}

	// external on/off
	const hooks = self.hooks = opts.hooks || {};

	function fire(evName, a1, a2) {
		if (deferHooks)
			hooksQueue.push([evName, a1, a2]);
		else {
			if (evName in hooks) {
				hooks[evName].forEach(fn => {
					fn.call(null, self, a1, a2);
				});
			}
		}
	}

	(opts.plugins || []).forEach(p => {
		for (let evName in p.hooks)
			hooks[evName] = (hooks[evName] || []).concat(p.hooks[evName]);
	});

	const seriesIdxMatcher = (self, src, srcSeriesIdx) => srcSeriesIdx;

	const syncOpts = assign({
		key: null,
		setSeries: false,
		filters: {
			pub: retTrue,
			sub: retTrue,
		},
		scales: [xScaleKey, series[1] ? series[1].scale : null],
		match: [retEq, retEq, seriesIdxMatcher],
		values: [null, null],
	}, cursor.sync);

	if (syncOpts.match.length == 2)
		syncOpts.match.push(seriesIdxMatcher);

	cursor.sync = syncOpts;

	const syncKey = syncOpts.key;

	const sync = _sync(syncKey);

	function pubSync(type, src, x, y, w, h, i) {
		if (syncOpts.filters.pub(type, src, x, y, w, h, i))
			sync.pub(type, src, x, y, w, h, i);
	}

	sync.sub(self);

	function pub(type, src, x, y, w, h, i) {
		if (syncOpts.filters.sub(type, src, x, y, w, h, i))
			events[type](null, src, x, y, w, h, i);
	}

	self.pub = pub;

	function destroy() {
		sync.unsub(self);
		cursorPlots.delete(self);
		mouseListeners.clear();
		off(dppxchange, win, syncPxRatio);
		root.remove();
		legendTable?.remove(); // in case mounted outside of root
		fire("destroy");
	}

	self.destroy = destroy;

	function _init() {
		fire("init", opts, data);

		setData(data || opts.data, false);

		if (pendScales[xScaleKey])
			setScale(xScaleKey, pendScales[xScaleKey]);
		else
			autoScaleX();

		shouldSetSelect = select.show && (select.width > 0 || select.height > 0);
		shouldSetCursor = shouldSetLegend = true;

		_setSize(opts.width, opts.height);
	}

	series.forEach(initSeries);

	axes.forEach(initAxis);

	if (then) {
		if (then instanceof HTMLElement) {
			then.appendChild(root);
			_init();
		}
		else
			then(self, _init);
	}
	else
		_init();

	return self;
}

uPlot.assign = assign;
uPlot.fmtNum = fmtNum;
uPlot.rangeNum = rangeNum;
uPlot.rangeLog = rangeLog;
uPlot.rangeAsinh = rangeAsinh;
uPlot.orient   = orient;
uPlot.pxRatio = pxRatio;

{
	uPlot.join = join;
}

{
	uPlot.fmtDate = fmtDate;
	uPlot.tzDate  = tzDate;
}

uPlot.sync = _sync;

{
	uPlot.addGap = addGap;
	uPlot.clipGaps = clipGaps;

	let paths = uPlot.paths = {
		points,
	};

	(paths.linear  = linear);
	(paths.stepped = stepped);
	(paths.bars    = bars);
	(paths.spline  = monotoneCubic);
}

export { uPlot as default };

"""###),
        ("verdict.js", ###"""
// What the run has come to: the verdict so far, policies judged now, the report.

import { useState } from "preact/hooks";
import { signal } from "@preact/signals";
import * as api from "./api.js";
import { attempt, run } from "./store.js";
import { Entry, html, Nothing, Section } from "./ui.js";
import { block, line } from "./text.js";

const policies = ["finished", "single", "resubscribes", "delays(0s, 2s, 10s, 30s)", "exponential(1s, factor=2, cap=30s, jitter=20%)", "constant(5s)", "gives-up(after=4)", "rate(max=5/s)",
  "honours(retry-after)", "transports(ws, sse, lp)", "detects(within=30s)", "once(Send)", "keeps(Send)", "stays-away(after=close(4001))", "pings(every=15s)", "client(signalr-js)", "client(graphql-ws)"];

/** Judged in this page, the latest first: what, when, and what came of it. */
const judged = signal([]);

export const kindOf = (verdict) => (verdict === "pass" ? "good" : verdict === "diverged" ? "bad" : verdict === "failed" ? "bad" : "calm");

async function judge(policy) {
  const found = await api.post(run.value.path("/v1/expect"), { policy });
  judged.value = [{ ...found, run: run.value.id }, ...judged.value.filter((j) => j.policy !== found.policy || j.run !== run.value.id)].slice(0, 30);
  run.value.report.now();
}

function Judgement({ one }) {
  const kind = one.met ? "good" : one.judged ? "bad" : "warn";
  return html`<div class="judgement">
    <span class=${`pill ${kind}`}>${one.met ? "met" : one.judged ? "not met" : "not judged"}</span>
    ${one.session ? html`<span class="note">session ${one.session}</span>` : null}
    <dl><dt>expected</dt><dd>${line(one.expected)}</dd><dt>seen</dt><dd>${line(one.actual)}</dd>${one.reason ? html`<dt>why</dt><dd>${block(one.reason)}</dd>` : null}</dl>
  </div>`;
}

async function download(format, name, type) {
  await attempt(null, async () => {
    const blob = await api.file(run.value.path(`/v1/report?format=${format}`));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([blob], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

function Text() {
  const [text, setText] = useState(null);
  return html`<details class="whole-report" onToggle=${async (e) => e.target.open && setText(await attempt(null, async () => (await api.file(run.value.path("/v1/report?format=text"))).text()))}>
    <summary>The report as text</summary>${text && html`<pre tabindex="0">${block(text)}</pre>`}</details>`;
}

export function Verdict() {
  const report = run.value.report.value.value;
  const end = run.value.end.value;
  const own = judged.value.filter((j) => j.run === run.value.id);
  const word = end?.verdict ?? report?.verdict;
  const reasons = end ? [end.reason, ...(report?.reasons ?? []).filter((r) => r !== end.reason)] : report?.reasons ?? [];
  return html`
    <${Section} title=${end ? "Verdict" : "Verdict so far"} note=${report?.digest ? `digest ${report.digest}, seed ${report.seed}` : report ? `seed ${report.seed}` : ""}>
      ${word && html`<p class=${`verdict ${kindOf(word)}`}>${word}${end ? ` (exit ${end.exit})` : ""}</p>`}
      ${reasons.length > 0 && html`<ul class="reasons">${reasons.slice(0, 100).map((r) => html`<li><pre>${block(r.replace(/^wiretape: /, ""))}</pre></li>`)}</ul>`}
      ${report?.divergences?.length > 0 && html`<details open><summary>${report.divergences.length} ${report.divergences.length === 1 ? "divergence" : "divergences"}</summary>${report.divergences.slice(0, 50).map((d) => html`<pre tabindex="0">${block(d.replace(/^wiretape: /, ""))}</pre>`)}</details>`}
      ${!end && html`<button type="button" class="small" onClick=${() => run.value.report.now()}>Look again</button>`}
    <//>
    <${Section} title="Policies">
      <${Entry} id="policy" label="Hold the clients to a policy, now and in the report" button="Judge" placeholder="finished" list="policies" onEnter=${judge} />
      <datalist id="policies">${policies.map((p) => html`<option value=${p} />`)}</datalist>
      ${own.length === 0 && html`<${Nothing}>Nothing was judged here yet.<//>`}
      ${own.map((j) => html`<article class="policy" key=${j.policy}><header class="line"><code>${line(j.policy)}</code><span class="push"></span>
        <button type="button" class="small" onClick=${() => attempt(null, () => judge(j.policy))}>Again</button></header>
        ${j.judgements.map((one) => html`<${Judgement} one=${one} />`)}</article>`)}
    <//>
    <${Section} title="Report">
      <div class="chips">${[["html", "report.html", "text/html", "HTML"], ["json", "report.json", "application/json", "JSON"], ["junit", "report.xml", "application/xml", "JUnit"], ["text", "report.txt", "text/plain", "Text"]].map(
        ([format, name, type, title]) => html`<button type="button" onClick=${() => download(format, name, type)}>Save ${title}</button>`)}</div>
      <${Text} />
    <//>`;
}

"""###),
    ]
}
