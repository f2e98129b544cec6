// The page of dubio open. All decisions are kept by the server; this file only shows them and asks for others.

const $ = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const SHOWN = 100; // columns of the table on one page

let state = { options: {}, version: 0, table: "", files: [] };
let columns = [];
let page = 0;
let kind = "";

// What people know about their labels: a title, a help text, a small picture, and the options that it needs.
const one = (label, option, more = {}) => ({ label, option, ...more });
const KINDS = {
  target: { title: "A class or a number for each row", help: "Some may be missing, and some may be wrong.", picture: "ill\nwell\n?\nill", fields: [one("Column with the class or the number", "target")] },
  soft: { title: "The probability of each class", help: "One column for each class.", picture: "0.8 0.2\n0.1 0.9\n0.5 0.5", fields: [one("Columns with the probabilities", "soft", { several: true })] },
  annotators: { title: "The labels of several people", help: "One column for each person.", picture: "ill ill ?\nwell ill well", fields: [one("Columns of the annotators", "annotators", { several: true })] },
  ordered: { title: "Classes with an order", help: "Such as mild, moderate, severe.", picture: "mild\n< moderate\n< severe", fields: [one("Column with the class", "target"), one("Classes from the lowest to the highest, with commas", "order", { text: true, list: "," })] },
  positive: { title: "Only positive rows are labelled", help: "All others may be positive or not.", picture: "ill\n?\n?\nill", fields: [one("Column with the label", "target"), one("The value that is labelled", "positive", { text: true })] },
  time: { title: "A time until an event", help: "Survival: the event has happened, or not yet.", picture: "12 died\n30 alive\n7 died", fields: [one("Column with the time", "time"), one("Column that says whether it happened", "event")] },
  low: { title: "Limits of a number", help: "Between a lowest and a highest value.", picture: "3 … 5\n… 2\n8 …", fields: [one("Column with the lowest value", "low"), one("Column with the highest value", "high")] },
  several: { title: "Several targets", help: "One ranking for all of them.", picture: "ill 3.1\nwell 2.0", fields: [one("Columns of the targets", "target", { several: true, joined: true })] },
  pairs: { title: "Which rows belong to the same class", help: "A file with pairs of rows.", picture: "1 = 4\n2 ≠ 3", fields: [one("File with pairs: row, row, must or cannot", "pairs", { file: true })] },
  nothing: { title: "Nothing", help: "The columns are ranked by the structure of the table.", picture: "?\n?\n?", fields: [] },
};
const TARGETS = ["target", "soft", "annotators", "order", "positive", "time", "event", "low", "high", "target_kind"];

async function ask(path, options = {}) {
  const response = await fetch(path, options);
  const content = await response.json().catch(() => ({ error: "The answer of the server cannot be read." }));
  if (response.status === 409) await refresh();
  if (!response.ok) throw new Error(content.error || "The server refused the request.");
  return content;
}
const post = (path, content) => ask(path, { method: "POST", body: JSON.stringify(content) });

function complain(error) {
  $("#message").textContent = error ? error.message || String(error) : "";
  $("#message").hidden = !error;
}
async function attempt(work) {
  complain(null);
  try { return await work(); } catch (error) { complain(error); return undefined; }
}

function show(step) {
  for (const section of all("main > section")) section.hidden = section.id !== step;
  for (const button of all("#steps button")) {
    if (button.dataset.step === step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  location.hash = step;
}

function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// ---- the state ---------------------------------------------------------------------------------------------------

async function refresh() {
  take(await ask("/api/state"));
}

function take(next) {
  state = next;
  $("#project").textContent = state.name;
  $("#undo").disabled = !state.can_undo;
  $("#command").textContent = state.command;
  $("#folder").textContent = state.folder;
  for (const one of all("[data-has]")) one.textContent = state.files.includes(one.dataset.has) ? "A file is used." : "";
  tell("table", state.name || "choose a file");
  const asked = [state.options.target, state.options.soft, state.options.annotators, state.options.time, state.options.low].flat().filter(Boolean);
  tell("question", asked.join(", ") || "what is known?");
  $("#files").hidden = !state.answered;
  fill();
}

function tell(step, text) {
  $(`#steps [data-step="${step}"] span`).textContent = text;
}

async function decide(options) {
  await attempt(async () => {
    take(await post("/api/decide", { version: state.version, options }));
    if (Object.keys(options).some((name) => ["header_row", "sheet", "decimal", "na", "nominal", "ignore", "id"].includes(name))) await look();
  });
}

// ---- the table ---------------------------------------------------------------------------------------------------

async function upload(file, path, headers = {}) {
  $("#status").textContent = `Reading ${file.name} …`;
  const next = await attempt(() => ask(path, { method: "POST", body: file, headers }));
  $("#status").textContent = "";
  if (next) { take(next); return true; }
  return false;
}

async function chooseTable(file) {
  if (await upload(file, "/api/table", { "X-File-Name": encodeURIComponent(file.name) })) await look();
}

async function look() {
  $("#status").textContent = "Reading the columns …";
  const found = await attempt(() => ask("/api/look"));
  $("#status").textContent = "";
  if (!found) return;
  columns = found.columns;
  page = 0;
  const problems = columns.flatMap((one) => one.problems.map((problem) => ({ problem, column: one.column })));
  if (found.error) problems.unshift({ problem: found.error, column: "" });
  const list = $("#problems ul");
  list.replaceChildren(...problems.map(({ problem, column }) => {
    const item = element("li", problem + " ");
    if (column) item.append(remedy("Leave it out", "ignore", column), " ", remedy("Treat it as a category", "nominal", column));
    return item;
  }));
  $("#problems").hidden = !problems.length;
  $("#reading").hidden = !columns.length;
  tell("table", columns.length ? `${state.name}: ${columns.length.toLocaleString("en")} columns` : state.name || "choose a file");
  list.scrollIntoView?.({ block: "nearest" });
  listColumns();
  fill();
}

function remedy(text, option, column) {
  const on = (state.options[option] || []).includes(column);
  const button = element("button", on ? `Undo: ${text.toLowerCase()}` : text, { type: "button", "aria-label": `${text}: ${column}` });
  button.addEventListener("click", () => {
    const named = new Set(state.options[option] || []);
    if (on) named.delete(column); else named.add(column);
    decide({ [option]: [...named] });
  });
  return button;
}

function listColumns() {
  const shown = columns.slice(page * SHOWN, (page + 1) * SHOWN);
  $("#columns tbody").replaceChildren(...shown.map((one) => {
    const row = element("tr");
    row.append(element("th", one.column, { scope: "row" }), element("td", one.read_as), element("td", one.unit));
    row.append(element("td", one.gaps === null ? "" : String(one.gaps), { class: "number" }), element("td", one.examples), element("td", one.left_out));
    const change = element("td");
    change.append(remedy("Leave out", "ignore", one.column), " ", remedy("Category", "nominal", one.column));
    row.append(change);
    return row;
  }));
  const pages = Math.ceil(columns.length / SHOWN);
  $(".pages").hidden = pages < 2;
  $(".pages span").textContent = `${page + 1} of ${pages}`;
}

// ---- the question ------------------------------------------------------------------------------------------------

function guessKind() {
  const asked = state.options;
  if (asked.soft) return "soft";
  if (asked.annotators) return "annotators";
  if (asked.order) return "ordered";
  if (asked.positive) return "positive";
  if (asked.time || asked.event) return "time";
  if (asked.low || asked.high) return "low";
  if (state.files.includes("pairs")) return "pairs";
  return "target";
}

function fill() {
  for (const select of all("select[data-column]")) options(select, state.options[select.dataset.option]);
  for (const input of all("#reading [data-option]")) {
    const value = state.options[input.dataset.option];
    input.value = Array.isArray(value) ? value.join(input.dataset.list || " ") : value ?? "";
  }
  if (!kind) kind = guessKind();
  if (!$("#kinds").querySelector("label")) drawKinds();
  drawTarget();
}

function options(select, chosen) {
  const names = columns.map((one) => one.column);
  const wanted = new Set([chosen].flat().filter(Boolean).map(String));
  const made = names.map((name) => { const one = element("option", name, { value: name }); one.selected = wanted.has(name); return one; });
  select.replaceChildren(...(select.multiple ? [] : [element("option", "none", { value: "" })]), ...made);
}

function drawKinds() {
  for (const [name, one] of Object.entries(KINDS)) {
    const label = element("label", "", { class: "kind" });
    const radio = element("input", "", { type: "radio", name: "kind", value: name });
    radio.checked = name === kind;
    radio.addEventListener("change", () => {
      kind = name;
      decide(Object.fromEntries(TARGETS.map((option) => [option, null])));
    });
    const text = element("span");
    text.append(element("b", one.title), element("small", one.help));
    label.append(radio, element("pre", one.picture, { "aria-hidden": "true" }), text);
    $("#kinds").append(label);
  }
}

function drawTarget() {
  const fields = KINDS[kind].fields.map((field) => {
    const label = element("label", field.label + " ");
    let input;
    if (field.file) {
      input = element("input", "", { type: "file", accept: ".csv", class: "plain" });
      input.addEventListener("change", () => input.files[0] && upload(input.files[0], "/api/file/pairs"));
    } else if (field.text) {
      input = element("input", "", { type: "text" });
      const value = state.options[field.option];
      input.value = Array.isArray(value) ? value.join(", ") : value ?? "";
      input.addEventListener("change", () => decide({ [field.option]: field.list ? input.value.split(field.list).map((part) => part.trim()).filter(Boolean) : input.value }));
    } else {
      input = element("select", "", field.several ? { multiple: "", size: "6" } : {});
      const value = state.options[field.option];
      options(input, field.joined && typeof value === "string" ? value.split(",") : value);
      input.addEventListener("change", () => {
        const chosen = [...input.selectedOptions].map((one) => one.value).filter(Boolean);
        decide({ [field.option]: field.joined ? chosen.join(",") : field.several ? chosen : chosen[0] ?? null });
      });
    }
    label.append(input);
    return label;
  });
  $("#target").replaceChildren(...fields);
}

// ---- the answer --------------------------------------------------------------------------------------------------

async function run() {
  show("answer");
  if (await attempt(() => post("/api/run", {}))) follow();
}

let following = null;
async function follow() {
  clearTimeout(following);
  const work = await attempt(() => ask("/api/work"));
  if (!work || work.status === "none") { if (state.answered) report(); return; }
  const running = work.status === "running";
  $("#work").hidden = !running;
  const { what = "starting", part = "", done = 0, total = null } = work.progress || {};
  $("#what").textContent = `${what}${part ? `: ${part}` : ""}${total ? ` ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : ""} (${Math.round(work.seconds)} s)`;
  if (total) { $("#bar").max = total; $("#bar").value = done; } else $("#bar").removeAttribute("value");
  tell("answer", running ? "working …" : work.status === "done" ? "ready" : work.status);
  $("#old").hidden = running || work.status !== "done" || work.current;
  $("#said").replaceChildren(...(running ? [] : work.said).map((line) => element("li", line)));
  if (running) { following = setTimeout(follow, 500); return; }
  $("#status").textContent = { done: "The answer is ready.", failed: "The work failed: see the message.", stopped: "The work was stopped." }[work.status];
  if (work.status === "done") { await refresh(); report(); }
}

function report() {
  $("#report").src = `/answer/report?${Date.now()}`;
  $("#report").hidden = false;
}

// ---- what is clicked ---------------------------------------------------------------------------------------------

for (const button of all("#steps button")) button.addEventListener("click", () => { show(button.dataset.step); $("#main").focus(); });
for (const button of all("[data-run]")) button.addEventListener("click", run);
$("#stop").addEventListener("click", () => attempt(() => post("/api/stop", {})).then(follow));
$("#undo").addEventListener("click", () => attempt(async () => { kind = ""; take(await post("/api/undo", { version: state.version })); await look(); }));
$("#example").addEventListener("click", () => attempt(async () => { take(await post("/api/example", {})); await look(); }));
$("#file").addEventListener("change", (event) => event.target.files[0] && chooseTable(event.target.files[0]));
for (const input of all("input[data-file]")) input.addEventListener("change", () => input.files[0] && upload(input.files[0], `/api/file/${input.dataset.file}`));
$("#delete").addEventListener("click", () => {
  if (!window.confirm("Delete the project, with its copy of the table and all answers?")) return;
  attempt(async () => { await post("/api/delete", {}); document.body.textContent = "The project was deleted. You can close this page."; });
});
const drop = $("#drop");
for (const name of ["dragover", "dragleave", "drop"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.toggle("over", name === "dragover"); });
drop.addEventListener("drop", (event) => event.dataTransfer.files[0] && chooseTable(event.dataTransfer.files[0]));
for (const select of all("#question select[data-column]")) select.addEventListener("change", () => {
  const chosen = [...select.selectedOptions].map((one) => one.value).filter(Boolean);
  decide({ [select.dataset.option]: select.multiple ? chosen : chosen[0] ?? null });
});
for (const input of all("#reading [data-option]")) input.addEventListener("change", () => {
  const list = input.dataset.list;
  const value = list ? input.value.split(list).filter(Boolean) : input.type === "number" ? (input.value ? Number(input.value) : null) : input.value;
  decide({ [input.dataset.option]: value });
});
for (const button of all("[data-page]")) button.addEventListener("click", () => {
  page = Math.min(Math.max(0, page + Number(button.dataset.page)), Math.ceil(columns.length / SHOWN) - 1);
  listColumns();
});

await attempt(refresh);
show(["table", "question", "answer", "labels", "take"].includes(location.hash.slice(1)) ? location.hash.slice(1) : "table");
if (state.table) await look();
await follow();
