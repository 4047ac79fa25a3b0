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
