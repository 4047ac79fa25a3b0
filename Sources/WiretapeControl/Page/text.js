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
