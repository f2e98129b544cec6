// The fourth step: labels that models disagree with, one by one; rows drawn at random, judged blindly; the annotators.

import { $, ask, button, count, element, redraw, send, shape } from "./parts.js";

const FEWEST = 10; // judged rows from which on they are used

let app;
let data = null; // the rows that an audit found
let at = 0;
let drawn = { cards: [], classes: [] };
let card = 0;

export function start(shared) {
  app = shared;
  $("#correct-card").addEventListener("keydown", correctKey);
  $("#check-card").addEventListener("keydown", checkKey);
  $("#draw").addEventListener("click", () => app.work("Drawing rows …", async () => {
    const rows = Number($("#draw-rows").value) || null;
    await app.change("/api/draw", { rows, by: $("#draw-by").value });
    await loadCards();
    $("#check-card").focus();
  }));
  for (const kind of ["corrections", "checked"]) {
    const input = $(`#${kind}-file`);
    input.addEventListener("change", () => { if (input.files[0]) app.attempt(async () => { app.take(await send(`/api/${kind}`, input.files[0])); }); });
  }
}

export function show(answer) {
  data = answer && answer.labels && answer.labels.rows ? answer.labels : null;
  at = 0;
  if (data) { at = Math.max(0, data.rows.findIndex((row) => !app.state.labels[row])); }
  const people = answer && answer.people;
  $("#people").hidden = !people || !people.sentences;
  if (people && people.sentences) {
    redraw($("#people ul"), people.sentences.map((text) => element("li", text)));
    const head = element("tr", "", {}, ...people.head.map((name) => element("th", name, { scope: "col" })));
    $("#people table").replaceChildren(element("caption", "Whom to ask next"), element("thead", "", {}, head),
      element("tbody", "", {}, ...people.rows.map((cells) => element("tr", "", {}, ...cells.map((cell) => element("td", cell))))));
  }
  $("#audit-text").textContent = answer ? answer.audit : "";
  fill();
}

export async function loadCards() {
  drawn = app.state.files.cards ? await ask("/api/cards") : { cards: [], classes: [] };
  card = Math.max(0, drawn.cards.findIndex((one) => app.state.checks[one.rows[0]] === undefined));
  fill();
}

export function fill() {
  const { labels, checks, files } = app.state;
  const changed = Object.values(labels).filter((one) => one.decision === "change").length;
  const judged = Object.keys(checks).length;
  const told = [Object.keys(labels).length ? `${count(Object.keys(labels).length)} looked at, ${count(changed)} changed` : "", judged ? `${count(judged)} checked` : ""];
  app.tell("labels", told.filter(Boolean).join("; ") || "nothing decided");
  $("#correct").hidden = !data;
  $("#no-audit").hidden = Boolean(data);
  $("#checked-has").textContent = files.checked ? "A file of checked rows is used." : "";
  const one_target = Boolean(app.state.options.target);
  $("#draw-box").hidden = !one_target;
  $("#no-draw").hidden = one_target;
  if (data) correct();
  check();
  $("#again").hidden = !app.state.table;
}

// ---- labels with which models disagree --------------------------------------------------------------------------------------

const said = (entry) => !entry ? "" : entry.decision === "right" ? "right" : entry.decision === "unsure" ? "cannot tell" : entry.label;

function decide(decision, label = "") {
  const row = data.rows[at];
  const given = data.classes[data.given[at]];
  const entry = { id: data.ids ? data.ids[at] : "", given, decision, label: decision === "change" ? label : decision === "right" ? given : "" };
  return app.attempt(async () => {
    await app.change("/api/label", { rows: { [row]: entry } });
    let next = at + 1;
    while (next < data.rows.length && app.state.labels[data.rows[next]]) next += 1;
    if (next < data.rows.length) at = next;
    fill();
    $("#correct-card").focus({ preventScroll: true });
  });
}

function correct() {
  const { labels } = app.state;
  const total = data.rows.length;
  const seen = data.rows.filter((row) => labels[row]).length;
  $("#correct-progress").textContent = `${count(seen)} of ${count(total)} looked at`;
  $("#correct-bar").max = total;
  $("#correct-bar").value = seen;
  const row = data.rows[at];
  const given = data.classes[data.given[at]];
  $("#correct-row").textContent = `Row ${row}${data.ids ? ` (${data.ids[at]})` : ""}: ${count(at + 1)} of ${count(total)}`;
  $("#correct-text").textContent = `Given label: ${given}. ${data.called[0].toUpperCase()}${data.called.slice(1)}: ${data.classes[data.suggested[at]]}. ${data.measure[0].toUpperCase()}${data.measure.slice(1)}: ${data.doubts[at]}.${labels[row] ? ` Your decision: ${said(labels[row])}.` : ""}`;
  redraw($("#correct-values"), data.features.map(strip));
  const pressed = (key, on) => ({ "data-key": key, "aria-pressed": String(on) });
  const made = [button(`Right: ${given} (r)`, () => decide("right"), pressed("right", labels[row]?.decision === "right"))];
  if (data.classes.length <= 9) {
    data.classes.forEach((name, k) => { if (k !== data.given[at]) made.push(button(`${name} (${k + 1})`, () => decide("change", name), pressed(`class ${name}`, labels[row]?.label === name && labels[row]?.decision === "change"))); });
  } else {
    const select = element("select", "", { "aria-label": "Another class", "data-key": String(row) }, element("option", "another class", { value: "" }), ...data.classes.map((name) => element("option", name, { value: name })));
    select.addEventListener("change", () => { if (select.value) decide("change", select.value); });
    made.push(select);
  }
  made.push(button("Cannot tell (u)", () => decide("unsure"), pressed("unsure", labels[row]?.decision === "unsure")));
  redraw($("#correct-choices"), made);
  redraw($("#correct-move"), [button("Previous", () => move(-1), { disabled: at === 0 }), button("Next", () => move(1), { disabled: at === total - 1 }),
    ...(labels[row] ? [button("Forget this decision", () => app.attempt(async () => { await app.change("/api/label", { rows: { [row]: null } }); fill(); }))] : [])]);
}

function move(step) {
  at = Math.min(Math.max(0, at + step), data.rows.length - 1);
  correct();
  $("#correct-card").focus({ preventScroll: true });
}

function correctKey(event) {
  if (!data || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const key = event.key.toLowerCase();
  if (key === "r") decide("right");
  else if (key === "u") decide("unsure");
  else if (key === "z") app.undo();
  else if (key === "arrowright") move(1);
  else if (key === "arrowleft") move(-1);
  else if (/^[1-9]$/.test(key) && Number(key) <= data.classes.length) decide("change", data.classes[Number(key) - 1]);
  else return;
  event.preventDefault();
}

// One feature: the spread of each class (5 to 95 %, 25 to 75 %, median), and this row as a line through all of them.
function strip(feature) {
  const value = feature.values[at];
  const ends = feature.spread.flat().concat(value).filter((x) => x !== null);
  const low = Math.min(...ends), high = Math.max(...ends);
  const x = (v) => 104 + 208 * (high > low ? (v - low) / (high - low) : 0.5);
  const height = 14 * data.classes.length + 4;
  const name = `${feature.name}: ${value === null ? "missing" : value}`;
  const svg = shape("svg", { class: "chart", role: "img", viewBox: `0 0 320 ${height}`, "aria-label": name });
  feature.spread.forEach((q, k) => {
    const y = 4 + 14 * k;
    const label = data.classes[k];
    svg.append(shape("text", { x: 98, y: y + 9, "text-anchor": "end", class: "tick" }, label.length > 14 ? `${label.slice(0, 13)}…` : label));
    if (q[0] === null) return;
    svg.append(shape("rect", { x: x(q[0]), y: y + 4, width: Math.max(1, x(q[4]) - x(q[0])), height: 2, class: "left" }));
    svg.append(shape("rect", { x: x(q[1]), y, width: Math.max(1, x(q[3]) - x(q[1])), height: 10, rx: 2, class: `c${data.colours[k]}` }));
    svg.append(shape("rect", { x: x(q[2]) - 1, y, width: 2, height: 10, class: "correct-median" }));
  });
  if (value !== null) svg.append(shape("rect", { x: x(value) - 1, y: 0, width: 2, height, class: "correct-own" }));
  return element("figure", "", {}, element("figcaption", name), svg);
}

// ---- rows that were drawn at random ------------------------------------------------------------------------------

function judge(value) {
  const rows = Object.fromEntries(drawn.cards[card].rows.map((row) => [row, value]));
  return app.attempt(async () => {
    await app.change("/api/check", { rows });
    let next = card + 1;
    while (next < drawn.cards.length && app.state.checks[drawn.cards[next].rows[0]] !== undefined) next += 1;
    if (next < drawn.cards.length) card = next;
    fill();
    ($("#check-choices input") || $("#check-card")).focus({ preventScroll: true });
  });
}

function check() {
  const total = drawn.cards.length;
  $("#check").hidden = !total;
  $("#draw").textContent = total ? "Draw more rows" : "Draw rows";
  if (!total) return;
  const { checks } = app.state;
  const seen = drawn.cards.filter((one) => checks[one.rows[0]] !== undefined).length;
  $("#check-progress").textContent = `${count(seen)} of ${count(total)} judged${seen < FEWEST ? `; the answer uses them from ${FEWEST} on` : ""}`;
  $("#check-bar").max = total;
  $("#check-bar").value = seen;
  const shown = drawn.cards[card];
  const answered = checks[shown.rows[0]];
  const rows = shown.rows.map((row, i) => shown.names[i] ? `${row} (${shown.names[i]})` : String(row));
  $("#check-row").textContent = `${rows.length > 1 ? "Rows" : "Row"} ${rows.join(", ")}: ${count(card + 1)} of ${count(total)}${answered === undefined ? "" : `. Your answer: ${answered || "cannot decide"}`}`;
  const body = element("tbody", "", {}, ...shown.cells[0].slice(0, 200).map(([name], j) => element("tr", "", {}, element("th", name, { scope: "row" }), ...shown.cells.map((own) => element("td", own[j][1] || "–")))));
  redraw($("#check-cells"), [element("table", "", { class: "plain" }, body)]);
  const made = drawn.classes.map((name, k) => button(k < 9 ? `${name} (${k + 1})` : name, () => judge(name), { "data-key": `class ${name}`, "aria-pressed": String(answered === name) }));
  if (!drawn.classes.length) {
    const input = element("input", "", { type: "text", inputmode: "decimal", "aria-label": "The true number", autocomplete: "off", "data-key": String(shown.rows[0]) });
    input.value = answered || "";
    const save = () => { const plain = input.value.trim().replace(",", "."); const bad = plain === "" || !Number.isFinite(Number(plain)); input.setAttribute("aria-invalid", String(bad)); if (!bad) judge(plain); };
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); save(); } });
    made.push(input, button("Save", save));
  }
  made.push(button("Cannot decide (u)", () => judge(""), { "data-key": "undecided", "aria-pressed": String(answered === "") }));
  redraw($("#check-choices"), made);
  const go = (step) => { card = Math.min(Math.max(0, card + step), total - 1); check(); $("#check-card").focus({ preventScroll: true }); };
  redraw($("#check-move"), [button("Previous", () => go(-1), { disabled: card === 0 }), button("Next", () => go(1), { disabled: card === total - 1 })]);
}

function checkKey(event) {
  if (!drawn.cards.length || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  const key = event.key.toLowerCase();
  if (key === "u") judge("");
  else if (key === "z") app.undo();
  else if (/^[1-9]$/.test(key) && Number(key) <= drawn.classes.length) judge(drawn.classes[Number(key) - 1]);
  else return;
  event.preventDefault();
}
