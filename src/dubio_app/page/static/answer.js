// The third step: progress, then the answer: a list of features to sort and filter, one of them in detail, and the line.

import { $, LongList, Refused, all, ask, button, count, drawing, element, notice, post } from "./parts.js";

let app;
let answer = null;
let columns = {};
let order = [];
let list;
let chosen = null;
let following = null;
let seen = "";

const SHOWN = ["effect", "qvalue", "pvalue", "tolerance", "kept in"]; // beside the name, those that are there
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export const current = () => answer;

export function start(shared) {
  app = shared;
  for (const one of all("[data-run]")) one.addEventListener("click", run);
  $("#stop").addEventListener("click", () => app.attempt(() => post("/api/stop", {})));
  list = new LongList($("#features"), { height: 52, narrow: 84, render: row, label: "Features, best first" });
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
  chosen = null;
  order = [];
  list.show(order);
  $("#found").hidden = true;
  $("#first").replaceChildren();
}

async function run() {
  app.show("answer");
  clearTimeout(following);
  forget();
  seen = "";
  $("#failed").hidden = true;
  $("#spoken").textContent = "The work has begun.";
  await app.attempt(async () => {
    await ask("/api/start/answer", { method: "POST" });
    await follow();
  });
}

// Ask again and again how far the work is; each part of the answer is shown as soon as it is there.
export async function follow() {
  clearTimeout(following);
  let work;
  try { work = await ask(`/api/work/answer${answer ? "" : "?parts=first"}`); } catch (error) { app.complain(error); return; }
  if (work.status === "none") { if (app.state.take.includes("numbers")) await load(); else fill(); return; }
  const running = work.status === "running";
  $("#work").hidden = !running;
  $("#what").textContent = `${work.text} (${Math.round(work.seconds)} s so far)`;
  if (work.total) { $("#bar").max = work.total; $("#bar").value = Math.min(work.done, work.total); } else $("#bar").removeAttribute("value");
  const said = work.text.split(":")[0];
  if (running && said !== seen) { seen = said; $("#spoken").textContent = said; }
  if (work.content?.first && !answer) first(work.content.first);
  if (work.parts.includes("answer") && !answer) await load();
  if (running) { app.tell("answer", answer ? "being completed …" : "working …"); following = setTimeout(follow, 300); return; }
  $("#failed").hidden = work.status !== "failed" && work.status !== "stopped";
  $("#failed ul").replaceChildren(...(work.status === "stopped" ? [element("li", "The work was stopped. Nothing that you decided is lost.")] : work.problems.map((one) => notice(one, () => app.state.options, app.decide))));
  $("#spoken").textContent = { done: "The answer is ready.", failed: "The work failed.", stopped: "The work was stopped." }[work.status];
  if (work.status === "done") { $("#remarks ul").replaceChildren(...work.said.map((one) => element("li", one))); $("#remarks").hidden = !work.said.length; await app.refresh(); showReport(); if (chosen) choose(chosen); }
  fill();
}

async function load() {
  try { answer = await ask("/api/answer"); } catch (error) { if (!(error instanceof Refused && error.status === 404)) app.complain(error); forget(); fill(); return; }
  if (answer.of !== app.state.table) { forget(); fill(); return; } // of an earlier table
  columns = Object.fromEntries(answer.table.columns.map((one) => [one.key || one.label, one]));
  first(answer);
  draw();
  fill();
  app.answered(answer);
}

export function fill() {
  if (answer && answer.of !== app.state.table) { forget(); app.answered(null); }
  const old = answer && answer.decided !== app.state.decided;
  $("#old").hidden = !old || !$("#work").hidden;
  $("#no-answer").hidden = Boolean(answer) || !$("#work").hidden || !$("#failed").hidden;
  if ($("#work").hidden) app.tell("answer", answer ? `${count(answer.line.n_kept)} kept${old ? ", changed since" : ""}` : $("#failed").hidden ? "not asked yet" : "failed");
}

function first({ headline, sure, kept }) {
  const chips = element("ul", "", { class: "chips", "aria-label": "Kept features" });
  for (const name of kept) chips.append(element("li", "", {}, button(name, () => choose(name, true), { class: "chip" })));
  $("#first").replaceChildren(element("h2", headline), chips, ...sure.map((text) => element("p", text)));
}

function draw() {
  $("#found").hidden = false;
  $("#changes").hidden = !answer.changes.length;
  $("#changes ul").replaceChildren(...answer.changes.map((text) => element("li", text)));
  $("#answer-alerts").replaceChildren(...answer.alerts.map((record) => notice(record, () => app.state.options, app.decide)));
  $("#answer-alerts-box").hidden = !answer.alerts.length;
  const out = Object.entries(answer.left_out);
  $("#left-out").hidden = !out.length;
  $("#left-out ul").replaceChildren(...out.slice(0, 200).map(([name, why]) => element("li", `${name}: ${why}`)));
  const most = answer.line.n_ranked - answer.line.n_given;
  $("#line").max = most;
  $("#line").value = answer.line.n_kept;
  $("#line-box").hidden = most < 2;
  const sorts = answer.table.columns.filter((one) => one.kind !== "yes");
  $("#feature-sort").replaceChildren(...sorts.map((one) => element("option", `${one.label}`, { value: one.key || one.label })));
  line();
  arrange(true);
  if (!chosen && columns.feature.values.length) choose(columns.feature.values[0]);
}

const number = (value, kind) => value === null ? "–" : kind === "percent" ? `${value} %` : typeof value === "number" && value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : String(value);

// ---- the line between kept and not -------------------------------------------------------------------------------

// What it costs to keep so many: false discoveries, related columns that are lost, and what a search says of the rest.
function cost(keep) {
  const { n_relevant: related, n_sufficient: enough, n_given: given, curve, path, alpha } = answer.line;
  const said = [];
  const q = columns.qvalue?.values;
  if (keep === 0) return ["Nothing is kept."];
  if (q) {
    const worst = Math.max(...q.slice(given, given + keep).filter((one) => one !== null));
    const wrong = Math.min(1, worst) * keep;
    said.push(worst <= alpha
      ? `${worst < 0.001 ? "Less than 0.1" : `At most ${Number((100 * worst).toPrecision(2))}`} % of these are expected to be there by chance.`
      : `About ${Math.round(100 * Math.min(1, worst))} % of these, ${wrong < 1.5 ? "one" : Math.round(wrong)} of ${keep}, are expected to be there by chance: more than the ${100 * alpha} % that you allow.`);
  }
  if (related !== null && related > keep) said.push(`${related - keep === 1 ? "One column that is" : `${related - keep} columns that are`} related to the target would be left out.`);
  if (related !== null && keep > related) said.push(`${keep - related === 1 ? "One of them has" : `${keep - related} of them have`} no evidence of a relation.`);
  if (enough && enough < related) said.push(keep >= enough ? `The first ${enough} predict the target as well as all that are related.` : `They predict the target less well than the first ${enough}.`);
  const along = path || (q ? null : curve);
  const at = along ? along.sizes.indexOf(keep + (path ? given : 0)) : -1;
  const before = along ? along.values[along.sizes.indexOf(answer.line.n_kept + (path ? given : 0))] : null;
  if (at >= 0 && along.values[at] !== null && keep !== answer.line.n_kept && before) said.push(`${along.label[0].toUpperCase()}${along.label.slice(1)}: ${Number(along.values[at].toPrecision(3))}, at the line of the answer ${Number(before.toPrecision(3))}.`);
  return said;
}

function line() {
  const keep = Number($("#line").value);
  const text = `Keep ${keep === answer.line.n_kept ? "these" : "the first"} ${count(keep)} of ${count(Number($("#line").max))}`;
  $("#line-text").textContent = text;
  $("#line").setAttribute("aria-valuetext", text);
  $("#line-cost").textContent = cost(keep).join(" ");
  $("#line-back").hidden = $("#line-keep").hidden = keep === answer.line.n_kept;
  $("#line-keep").disabled = keep === 0;
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

// What a feature does, and what it survives, in sentences.
function inWords(i) {
  const of = (key) => columns[key] ? columns[key].values[i] : null;
  const said = [];
  if (typeof of("effect") === "number") {
    const where = of("effect_of") ? `the class or target ${of("effect_of")}` : "a higher target";
    said.push(`Effect: in ${of("effect")} % of the pairs of rows (${of("effect_low")} to ${of("effect_high")} %), the higher value goes with ${where}. 50 % is no effect.`);
  }
  if (of("verdict")) said.push(`Checked rows: ${of("verdict")}.`);
  if (typeof of("difference") === "number") said.push(`Difference: ${of("difference")} in its own unit.`);
  const family = of("family");
  if (family) {
    const others = columns.feature.values.filter((_, j) => j !== i && columns.family.values[j] === family);
    said.push(others.length ? `Family: ${others.slice(0, 8).join(", ")}${others.length > 8 ? ` and ${others.length - 8} more` : ""} can stand in for it.` : "Family: no other kept column can stand in for it.");
  }
  if (typeof of("tolerance") === "number") said.push(`Wrong labels: with up to ${of("tolerance")} % of the labels wrong at random, it is kept in 95 % of the draws.`);
  if (typeof of("kept in") === "number") said.push(`Other rows: it is kept in ${of("kept in")} % of the resamples${typeof of("fresh") === "number" ? `; forecast for fresh samples: ${of("fresh")} %` : ""}.`);
  return said;
}

// One feature: its picture, every number about it with its meaning, and which others are like it.
async function choose(name, far = false) {
  chosen = name;
  const i = columns.feature.values.indexOf(name);
  list.draw(true);
  if (far) { const at = order.indexOf(i); if (at >= 0) list.focus(at); }
  const title = element("h3", name);
  const facts = element("dl", "", { class: "facts" });
  const meanings = element("dl");
  for (const one of answer.table.columns) {
    if (one.key === "feature" || one.values[i] === "" || one.values[i] === null) continue;
    const shown = one.kind === "yes" ? (one.values[i] ? "yes" : "no") : number(one.values[i], one.kind);
    facts.append(element("div", "", {}, element("dt", one.label), element("dd", shown)));
    if (one.hint) meanings.append(element("dt", one.label), element("dd", one.hint));
  }
  const picture = element("div", "", { id: "picture" }, element("p", "Drawing …", { class: "help" }));
  const alike = element("div");
  const sentences = element("ul", "", {}, ...inWords(i).map((text) => element("li", text)));
  $("#feature").replaceChildren(title, sentences, picture, alike, facts, element("details", "", { class: "legend" }, element("summary", "What these numbers mean"), meanings));
  const found = await app.attempt(() => post("/api/feature", { feature: name }));
  if (chosen !== name) return;
  if (!found || (!found.picture && !$("#work").hidden)) { picture.replaceChildren(element("p", "Its picture comes when the answer is complete.", { class: "help" })); return; }
  if (!found.picture) { picture.replaceChildren(element("p", "Run again to see its picture: the work that made this answer has ended.", { class: "help" })); return; }
  const figure = element("figure", "", {}, element("figcaption", found.caption), ...drawing(found.picture));
  picture.replaceChildren(figure);
  const others = element("p", found.alike.length ? "Its values go together with those of " : "No other column is much like it.");
  found.alike.forEach(([other, r], k) => others.append(k ? ", " : "", button(other, () => choose(other, true), { class: "link" }), ` (${r > 0 ? "" : "−"}${Math.abs(r)})`));
  if (found.alike.length) others.append(": they can stand in for each other.");
  alike.replaceChildren(others);
}

function showReport() {
  $("#report-link").hidden = !app.state.take.includes("report");
  $("#report-box").hidden = !app.state.take.includes("report");
  if ($("#report-box").open) $("#report").src = `/answer/report?${Date.now()}`; else $("#report").removeAttribute("src");
}
export { showReport };
