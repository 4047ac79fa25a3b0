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
