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
