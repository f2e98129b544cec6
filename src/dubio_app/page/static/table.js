// The first step: a file, how each of its columns is read, and what cannot be used as it is.

import { $, LongList, all, ask, bars, button, count, element, notice, optionsOf, redraw, setValue } from "./parts.js";

let app;
let columns = [];
let size = null;
let list;

export const names = () => columns.map((one) => one.column);
export const hasColumns = () => columns.length > 0;

export function start(shared) {
  app = shared;
  const drop = $("#drop");
  for (const name of ["dragover", "dragleave", "drop"]) { // anywhere: a browser leaves the page for a file that it gets
    addEventListener(name, (event) => { event.preventDefault(); drop.classList.toggle("over", name === "dragover"); });
  }
  addEventListener("drop", (event) => { if (!$("#table").hidden && event.dataTransfer.files[0]) choose(event.dataTransfer.files[0]); });
  $("#file").addEventListener("change", (event) => { if (event.target.files[0]) choose(event.target.files[0]); event.target.value = ""; });
  $("#example").addEventListener("click", () => app.work("Making the example …", async () => { app.take(await ask("/api/example", { method: "POST" })); await look(); }));
  list = new LongList($("#columns"), { height: 58, narrow: 124, render: row, name: (one) => one.column, label: "Columns of the table" });
  $("#column-search").addEventListener("input", () => show(true));
  $("#column-filter").addEventListener("change", () => show(true));
  for (const input of all("#reading-options [data-option]")) input.addEventListener("change", () => {
    const { list: mark, option } = input.dataset;
    const value = mark ? input.value.split(mark).map((part) => part.trim()).filter(Boolean) : input.type === "number" ? (input.value ? Number(input.value) : null) : input.value;
    app.decide({ [option]: value });
  });
}

async function choose(file) {
  await app.work(`Copying ${file.name} …`, async () => {
    app.take(await ask("/api/table", { method: "POST", body: file, headers: { "X-File-Name": encodeURIComponent(file.name) } }));
    await look();
  });
}

// Ask how the columns are read; the first rows are shown as soon as they are there.
let read = ""; // the table whose columns are shown
let reading = 0;
export async function look() {
  const { state } = app;
  reading += 1;
  const mine = reading;
  if (state.table !== read) { columns = []; size = null; read = state.table; problems([]); show(true); app.looked(); }
  if (!state.table) { columns = []; size = null; show(); return; }
  let work = await ask("/api/start/look", { method: "POST" });
  app.status("Reading the columns …");
  app.looking();
  let have = { first: false, columns: false };
  for (;;) {
    const wanted = Object.keys(have).filter((name) => !have[name]);
    work = await ask(`/api/work/look?parts=${wanted.join(",")}`);
    if (mine !== reading) return; // another reading has begun since
    for (const [name, content] of Object.entries(work.content || {})) {
      have[name] = true;
      if (name === "first") { size = content; firstRows(content); } else columns = content;
    }
    if (have.first || have.columns) show();
    if (work.status !== "running") break;
    await new Promise((done) => setTimeout(done, 200));
  }
  app.status("");
  if (work.status === "failed") { columns = []; size = null; }
  problems(work.status === "failed" ? work.problems : []);
  show();
  app.looked();
}

function problems(others) {
  const found = [...others, ...columns.flatMap((one) => one.problems.map((problem) => ({ ...problem, column: one.column })))];
  redraw($("#problems ul"), found.map((problem) => notice(problem, () => app.state.options, app.decide, problem.column || problem.text)));
  $("#problems").hidden = !found.length;
  $("#problems h2").textContent = found.length === 1 ? "One thing to settle first" : `${found.length} things to settle first`;
  if (others.length) $("#reading-options").open = true;
  redraw($("#decided"), decided());
}

// What was decided about columns, each with a way back.
function decided() {
  const said = { ignore: "left out", nominal: "read as a category", id: "names a row", na: "means missing" };
  return Object.entries(said).flatMap(([option, words]) => (app.state.options[option] || []).map((name) => element("li", `${name}: ${words} `, { "data-key": `${option} ${name}` },
    button("Take back", () => app.decide(() => ({ [option]: (app.state.options[option] || []).filter((one) => one !== name) })), { "aria-label": `Take back: ${name} ${words}` }))));
}

function firstRows({ names: heads, rows, n_columns: total, notes }) {
  const table = element("table", "", { class: "plain" });
  table.append(element("caption", total > heads.length ? `The first rows, with ${heads.length} of ${count(total)} columns` : "The first rows"));
  const head = element("tr");
  for (const name of heads) head.append(element("th", name, { scope: "col" }));
  const body = element("tbody");
  for (const cells of rows) {
    const line = element("tr");
    for (const cell of cells) line.append(cell === "" ? element("td", "–", { class: "gap" }) : element("td", cell));
    body.append(line);
  }
  table.append(element("thead", "", {}, head), body);
  $("#rows").replaceChildren(table);
  $("#notes").replaceChildren(...notes.map((one) => element("li", one)));
}

function show(top = false) {
  $("#reading").hidden = !columns.length && !size;
  $("#size").textContent = size ? `${app.state.name}: ${count(size.n_rows)} rows and ${count(size.n_columns)} columns.` : "";
  const wanted = $("#column-search").value.trim().toLowerCase();
  const filter = $("#column-filter").value;
  const fits = (one) => (!wanted || one.column.toLowerCase().includes(wanted)) && (filter === "all" || (filter === "out" ? one.left_out !== "" : one.problems.length > 0));
  const shown = columns.filter(fits);
  $("#column-count").textContent = shown.length === columns.length ? `${count(columns.length)} columns` : `${count(shown.length)} of ${count(columns.length)} columns`;
  list.show(shown, top);
  for (const input of all("#reading-options [data-option]")) {
    const value = app.state.options[input.dataset.option];
    setValue(input, Array.isArray(value) ? value.join(input.dataset.list) : value ?? "");
  }
  app.tell("table", columns.length ? `${app.state.name}: ${count(size?.n_rows ?? 0)} × ${count(columns.length)}` : app.state.name || "choose a file");
}

function row(one) {
  const gaps = one.gaps === null ? "" : one.gaps === 0 ? "no gaps" : `${count(one.gaps)} ${one.gaps === 1 ? "gap" : "gaps"}`;
  const made = element("div", "", { class: `column${one.left_out ? " is-out" : ""}${one.problems.length ? " is-problem" : ""}` });
  const picture = element("div", "", { class: "column-picture" });
  if (one.picture.length) picture.append(bars(one.picture));
  const name = element("div", "", { class: "column-name" }, element("b", one.column, { title: one.meaning || one.column }), element("span", one.left_out ? `left out: ${one.left_out}` : one.problems.length ? "see above" : one.examples, { class: "help" }));
  const read = element("div", "", { class: "column-read" }, element("span", one.unit && !one.read_as.includes(one.unit) ? `${one.read_as}, in ${one.unit}` : one.read_as), element("span", gaps, { class: "help" }));
  const clicks = element("div", "", { class: "clicks" });
  for (const [label, option] of [["Leave out", "ignore"], ["Category", "nominal"], ["Names a row", "id"]]) {
    const has = () => (app.state.options[option] || []).includes(one.column);
    clicks.append(button(label, () => app.decide(() => has() ? { [option]: app.state.options[option].filter((other) => other !== one.column) } : optionsOf({ adds: { [option]: [one.column] } }, app.state.options)),
      { "aria-pressed": String(has()), "aria-label": `${label}: ${one.column}` }));
  }
  made.append(picture, name, read, clicks);
  return made;
}
