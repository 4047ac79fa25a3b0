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
