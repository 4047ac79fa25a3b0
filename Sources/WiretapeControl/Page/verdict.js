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
