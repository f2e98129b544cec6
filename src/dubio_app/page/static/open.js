// The page of dubio open. All decisions are kept by the server; the page shows them and asks for others.

import * as answers from "./answer.js";
import * as labels from "./labels.js";
import { $, all, ask, post, Refused } from "./parts.js";
import * as question from "./question.js";
import * as table from "./table.js";
import * as takeAway from "./take.js";

const STEPS = ["table", "question", "answer", "labels", "take"];
const ASK_AGAIN = 15000; // milliseconds: the server ends an hour after the last request, and another window may decide
const RE_READ = ["header_row", "sheet", "decimal", "na", "nominal", "ignore", "id", "ordinal", "sep", "encoding"];

const app = {
  state: { options: {}, labels: {}, checks: {}, files: {}, take: [], version: 0, table: "", title: "", kind: "", name: "", command: "", folder: "", decided: "" },
  take, refresh, change, decide, attempt, complain, status, tell, show, undo, work, over, looking: question.looking, looked, answered, decided: () => last,
};

function complain(error) {
  $("#message").textContent = error ? error.message || String(error) : "";
  $("#message").hidden = !error;
}

async function attempt(doing) {
  complain(null);
  try { return await doing(); } catch (error) {
    complain(error);
    if (error instanceof Refused && error.status === 409) await refresh().then(everything).catch(() => {});
    return undefined;
  }
}

async function work(text, doing) {
  status(text);
  document.body.setAttribute("aria-busy", "true");
  try { return await attempt(doing); } finally { status(""); document.body.removeAttribute("aria-busy"); }
}

function status(text) { $("#status").textContent = text; }
function tell(step, text) { const place = $(`#steps [data-step="${step}"] span`); place.textContent = text; place.title = text; }

function show(step) {
  for (const section of all("main > section")) section.hidden = section.id !== step;
  for (const one of all("#steps button")) {
    if (one.dataset.step === step) one.setAttribute("aria-current", "step"); else one.removeAttribute("aria-current");
  }
  if (location.hash !== `#${step}`) history.replaceState(null, "", `#${step}`);
  dispatchEvent(new Event("resize")); // lists that were hidden have a height now
  scrollTo(0, 0);
}

// ---- the state ---------------------------------------------------------------------------------------------------

async function refresh() { take(await ask("/api/state")); }

function take(next) {
  if (next.version < app.state.version) return; // of a request that was overtaken by another
  const other = next.table !== app.state.table;
  app.state = next;
  $("#project").textContent = next.title || next.name;
  document.title = next.title || next.name ? `${next.title || next.name} – dubio` : "dubio";
  $("#undo").disabled = !next.can_undo;
  if (other) labels.show(null);
  question.fill();
  answers.fill();
  labels.fill();
  takeAway.fill(answers.current());
}

// Changes go one after the other, so that two quick clicks of one person are no conflict.
let last = Promise.resolve();
function change(path, content) {
  const next = last.then(async () => take(await post(path, { version: app.state.version, ...(typeof content === "function" ? content() : content) })));
  last = next.catch(() => {});
  return next;
}

async function decide(options, words = {}) {
  const before = JSON.stringify(RE_READ.map((name) => app.state.options[name]));
  await attempt(async () => {
    await change("/api/decide", () => ({ options: typeof options === "function" ? options() : options, ...words }));
    if (JSON.stringify(RE_READ.map((name) => app.state.options[name])) !== before) await table.look();
    else await question.check();
  });
}

async function undo() {
  await attempt(async () => {
    await change("/api/undo", {});
    await everything();
  });
}

async function everything() {
  await table.look();
  await labels.loadCards();
}

// The columns are there: the question can be asked.
function looked() {
  question.fill();
  attempt(question.check);
}

function answered(answer) {
  labels.show(answer);
  takeAway.fill(answer);
}

function over(text) {
  clearInterval(again);
  $("main").replaceChildren(Object.assign(document.createElement("p"), { textContent: `${text} You can close this page.` }));
  $("header nav").hidden = true;
  $("#undo").hidden = true;
}

// ---- the beginning -----------------------------------------------------------------------------------------------

for (const one of [table, question, answers, labels, takeAway]) one.start(app);
for (const one of all("#steps button")) one.addEventListener("click", () => { show(one.dataset.step); $("#main").focus({ preventScroll: true }); });
for (const one of all("[data-go]")) one.addEventListener("click", () => { show(one.dataset.go); $("#main").focus({ preventScroll: true }); });
$("#undo").addEventListener("click", undo);

// Another window may have decided something; asking also says that the page is still open.
const again = setInterval(async () => {
  try {
    const next = await ask("/api/state");
    if (next.version !== app.state.version) { take(next); await everything(); } else if (next.take.join() !== app.state.take.join()) take(next);
  } catch (error) { if (error.status === 0) complain(error); }
}, ASK_AGAIN);

await attempt(refresh);
show(STEPS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "table");
document.body.dataset.ready = String(Math.round(performance.now()));
await attempt(table.look);
await attempt(labels.loadCards);
await attempt(answers.follow);
answers.showReport();
