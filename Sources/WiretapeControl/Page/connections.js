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
