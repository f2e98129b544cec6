// The third step: progress, then the answer: a list of features to sort and filter, one of them in detail, and the line.

import { $, LongList, Refused, all, ask, button, count, drawing, element, notice, post, redraw } from "./parts.js";

let app;
let answer = null;
let columns = {};
let order = [];
let list;
let chosen = null;
let following = null;
let seen = "";
let stage = ""; // of the answer that is shown: early, or complete
let turn = 0; // of the question: what comes late from an earlier one is not shown

const SHOWN = ["effect", "qvalue", "pvalue", "tolerance", "kept in"]; // beside the name, those that are there
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export const current = () => answer;

export function start(shared) {
  app = shared;
  for (const one of all("[data-run]")) one.addEventListener("click", run);
  $("#stop").addEventListener("click", () => app.attempt(() => post("/api/stop", {})));
  list = new LongList($("#features"), { height: 52, narrow: 84, render: row, name: (i) => columns.feature.values[i], label: "Features, best first" });
  $("#feature-search").addEventListener("input", () => arrange(true));
  $("#feature-kept").addEventListener("change", () => arrange(true));
  $("#feature-sort").addEventListener("change", () => arrange(true));
  $("#line").addEventListener("input", () => { line(); list.show(order); });
  $("#line-back").addEventListener("click", () => { $("#line").value = answer.line.n_kept; line(); list.show(order); });
  $("#line-keep").addEventListener("click", () => app.decide({ keep: Number($("#line").value) === answer.line.n_relevant ? null : $("#line").value }).then(run));
  $("#report-box").addEventListener("toggle", (event) => { if (event.target.open && !$("#report").src) showReport(); });
}

// No answer is shown, or none of this table.
function forget() {
  answer = null;
  stage = "";
  chosen = null;
  order = [];
  list.show(order);
  $("#found").hidden = true;
  $("#first").replaceChildren();
}

async function run() {
  turn += 1;
  app.show("answer");
  clearTimeout(following);
  forget();
  seen = "";
  $("#failed").hidden = true;
  $("#spoken").textContent = "The work has begun.";
  await app.attempt(async () => {
    await app.decided();
    await ask("/api/start/answer", { method: "POST" });
    await follow();
  });
}

// Ask again and again how far the work is; each part of the answer is shown as soon as it is there.
export async function follow() {
  clearTimeout(following);
  const mine = turn;
  let work;
  try { work = await ask(`/api/work/answer${answer ? "" : "?parts=first"}`); } catch (error) { app.complain(error); return; }
  if (mine !== turn) return;
  if (work.status === "none") { if (app.state.take.includes("numbers")) await load(); else fill(); return; }
  const running = work.status === "running";
  $("#work").hidden = !running;
  $("#what").textContent = `${work.text} (${Math.round(work.seconds)} s so far)`;
  if (work.total) { $("#bar").max = work.total; $("#bar").value = Math.min(work.done, work.total); } else $("#bar").removeAttribute("value");
  const said = work.text.split(":")[0];
  if (running && said !== seen) { seen = said; $("#spoken").textContent = said; }
  if (work.content?.first && !answer) first(work.content.first);
  const newest = ["answer", "early"].find((part) => work.parts.includes(part)) ?? "";
  if (newest && newest !== stage) { await load(); if (mine !== turn) return; stage = newest; }
  if (running) { fill(); app.tell("answer", answer ? "being completed …" : "working …"); following = setTimeout(follow, 300); return; }
  $("#failed").hidden = work.status !== "failed" && work.status !== "stopped";
  redraw($("#failed ul"), work.status === "stopped" ? [element("li", `The work was stopped. ${answer ? "What was found before is shown; there are no files to take away." : "Nothing that you decided is lost."}`)] : work.problems.map((one) => notice(one, () => app.state.options, app.decide)));
  $("#spoken").textContent = { done: "The answer is ready.", failed: "The work failed.", stopped: "The work was stopped." }[work.status];
  if (work.status === "done") { $("#remarks ul").replaceChildren(...work.said.map((one) => element("li", one))); $("#remarks").hidden = !work.said.length; await app.refresh(); showReport(); if (chosen) choose(chosen); }
  fill();
}

async function load() {
  const mine = turn;
  const before = answer;
  let found;
  try { found = await ask("/api/answer"); } catch (error) { if (!(error instanceof Refused && error.status === 404)) app.complain(error); forget(); fill(); return; }
  if (mine !== turn) return;
  answer = found;
  if (answer.of !== app.state.table) { forget(); fill(); return; } // of an earlier table
  columns = Object.fromEntries(answer.table.columns.map((one) => [one.key || one.label, one]));
  first(answer);
  draw(before);
  fill();
  app.answered(answer);
}

export function fill() {
  if (answer && answer.of !== app.state.table) { forget(); app.answered(null); }
  const old = answer && answer.decided !== app.state.decided;
  $("#old").hidden = !old || !$("#work").hidden;
  $("#no-answer").hidden = Boolean(answer) || !$("#work").hidden || !$("#failed").hidden;
  if ($("#work").hidden) app.tell("answer", answer ? `${count(answer.line.n_kept)} kept${old ? ", changed since" : ""}` : $("#failed").hidden ? "not asked yet" : "no answer");
}

function first({ headline, sure, kept }) {
  const chips = element("ul", "", { class: "chips", "aria-label": "Kept features" });
  for (const name of kept) chips.append(element("li", "", { "data-key": name }, button(name, () => choose(name, true), { class: "chip" })));
  redraw($("#first"), [element("h2", headline), chips, ...sure.map((text) => element("p", text))]);
}

// The complete answer leaves everything as the user has it in the early one.
function draw(before) {
  const kept = before && Number($("#line").value) !== before.line.n_kept ? $("#line").value : answer.line.n_kept;
  $("#found").hidden = false;
  $("#changes").hidden = !answer.changes.length;
  redraw($("#changes ul"), answer.changes.map((text) => element("li", text)));
  redraw($("#answer-alerts"), answer.alerts.map((record) => notice(record, () => app.state.options, app.decide)));
  $("#answer-alerts-box").hidden = !answer.alerts.length;
  const out = Object.entries(answer.left_out);
  $("#left-out").hidden = !out.length;
  redraw($("#left-out ul"), out.slice(0, 200).map(([name, why]) => element("li", `${name}: ${why}`)));
  const most = answer.line.n_ranked - answer.line.n_given;
  $("#line").max = most;
  $("#line").value = kept;
  $("#line-box").hidden = most < 2;
  const sorts = answer.table.columns.filter((one) => one.kind !== "yes");
  redraw($("#feature-sort"), sorts.map((one) => element("option", one.label, { value: one.key || one.label, "data-key": one.key || one.label })));
  line();
  arrange(!before);
  if (!chosen && columns.feature.values.length) choose(columns.feature.values[answer.line.n_given] ?? columns.feature.values[0]);
}

const number = (value, kind) => value === null ? "–" : kind === "percent" ? `${value} %` : typeof value === "number" && value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : String(value);

// ---- the line between kept and not -------------------------------------------------------------------------------

// What it costs to keep so many is said by the server; only the newest answer is shown.
let moved = 0;
async function line() {
  const keep = Number($("#line").value);
  $("#line-back").hidden = $("#line-keep").hidden = keep === answer.line.n_kept;
  $("#line-keep").disabled = keep === 0;
  moved += 1;
  const mine = moved;
  const said = await app.attempt(() => post("/api/line", { keep }));
  if (!said || mine !== moved) return;
  $("#line-text").textContent = said.text;
  $("#line").setAttribute("aria-valuetext", said.text);
  $("#line-cost").textContent = said.cost;
}

// ---- the list ----------------------------------------------------------------------------------------------------

function arrange(top = false) {
  const { values, kind } = columns[$("#feature-sort").value] ?? columns.rank;
  const down = ["percent"].includes(kind) || ["score high"].includes($("#feature-sort").value);
  const words = kind === "text" || kind === "word";
  const wanted = $("#feature-search").value.trim().toLowerCase();
  const only = $("#feature-kept").checked;
  const keep = Number($("#line").value) + answer.line.n_given;
  order = Array.from({ length: columns.feature.values.length }, (_, i) => i)
    .filter((i) => (!wanted || columns.feature.values[i].toLowerCase().includes(wanted)) && (!only || i < keep))
    .sort((a, b) => {
      const x = values[a], y = values[b];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return (words ? collator.compare(x, y) : down ? y - x : x - y) || a - b;
    });
  $("#feature-count").textContent = order.length === columns.feature.values.length ? `${count(order.length)} features` : `${count(order.length)} of ${count(columns.feature.values.length)} features`;
  list.show(order, top);
}

function row(i) {
  const name = columns.feature.values[i];
  const keep = Number($("#line").value) + answer.line.n_given;
  const made = element("div", "", { class: `feature${i < keep ? " is-kept" : ""}${name === chosen ? " is-chosen" : ""}` });
  made.append(element("span", String(columns.rank.values[i]), { class: "feature-rank" }));
  made.append(button(name, () => choose(name), { "aria-current": name === chosen ? "true" : false, class: "feature-name" }));
  const said = columns.line.values[i] || (columns.line.values.some(Boolean) ? "no evidence" : "");
  made.append(element("span", said, { class: "feature-line" }));
  const facts = SHOWN.filter((key) => columns[key]).slice(0, 3);
  for (const key of facts) made.append(element("span", "", { class: "feature-fact" }, element("small", columns[key].label), ` ${number(columns[key].values[i], columns[key].kind)}`));
  return made;
}

// Every number about a feature, with its meaning.
function numbers(i) {
  const facts = element("dl", "", { class: "facts" });
  const meanings = element("dl");
  const alone = columns.family && !columns.family.values[i]; // no family: nothing to say of it
  for (const one of answer.table.columns) {
    if (one.key === "feature" || (alone && /^(family|beyond)/.test(one.key)) || one.values[i] === "" || one.values[i] === null) continue;
    const shown = one.kind === "yes" ? (one.values[i] ? "yes" : "no") : number(one.values[i], one.kind);
    facts.append(element("div", "", {}, element("dt", one.label), element("dd", shown)));
    if (one.hint) meanings.append(element("dt", one.label), element("dd", one.hint));
  }
  return [facts, element("details", "", { class: "legend" }, element("summary", "What these numbers mean"), meanings)];
}

// One feature: what it does in sentences, its picture, and which others are like it.
async function choose(name, far = false) {
  chosen = name;
  const i = columns.feature.values.indexOf(name);
  list.draw(true);
  if (far) { const at = order.indexOf(i); if (at >= 0) list.focus(at); }
  const show = (sentences, picture, alike) => redraw($("#feature"), [
    element("h3", name),
    element("ul", "", { "aria-live": "polite" }, ...sentences.map((text) => element("li", text))),
    element("div", "", { id: "picture" }, picture),
    element("p", "", {}, ...alike),
    ...numbers(i),
  ]);
  const slow = setTimeout(() => show([], element("p", "Drawing …", { class: "help" }), []), 300);
  const found = await app.attempt(() => post("/api/feature", { feature: name }));
  clearTimeout(slow);
  if (chosen !== name || !found) return;
  const missing = $("#work").hidden ? "Run again to see its picture: the work that made this answer has ended." : "Its picture comes when the answer is complete.";
  const figure = () => element("figure", "", { "data-key": name }, element("figcaption", found.caption), ...drawing(found.picture));
  const alike = (found.alike ?? []).flatMap(([other, r], k) => [k ? ", " : "", button(other, () => choose(other, true), { class: "link", "data-key": other }), ` (${r > 0 ? "" : "−"}${Math.abs(r)})`]);
  if (alike.length) { alike.unshift("Its values go together with those of "); alike.push(": they can stand in for each other."); }
  else if (found.alike) alike.push("No other column is much like it.");
  show(found.sentences, found.picture ? figure() : element("p", missing, { class: "help" }), alike);
}

function showReport() {
  $("#report-link").hidden = !app.state.take.includes("report");
  $("#report-box").hidden = !app.state.take.includes("report");
  if ($("#report-box").open) $("#report").src = `/answer/report?${Date.now()}`; else $("#report").removeAttribute("src");
}
export { showReport };
