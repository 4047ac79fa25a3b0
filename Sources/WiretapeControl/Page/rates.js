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
