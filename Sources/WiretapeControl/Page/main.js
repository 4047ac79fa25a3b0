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
