// The second step: what is known about the labels, which rows belong together, what is known already; then the alerts.

import { $, all, arrange, ask, bars, element, notice, picker, redraw, send, setValue, shape } from "./parts.js";
import { hasColumns, names } from "./table.js";

let app;
let kind = "";
let asking = 0;

const one = (label, option, help = "", more = {}) => ({ label, option, help, ...more });
const TARGET = one("Column with the class or the number", "target", "The column that the others should explain.");
const WHO = one("Who labelled the row", "annotator", "Shows which columns are related to the person who labelled.");
const SURE = one("How sure the label is", "confidence", "From 0 to 1.");

// Each kind of labels: a title, a help text, a small picture (a and b are classes, . is empty, x is wrong), its fields.
const KINDS = {
  classes: { title: "A class or a number for each row", help: "Some rows may have none.", picture: ["a", "b", "a", "b"], fields: [TARGET] },
  wrong: { title: "A class, and some are wrong", help: "Typing errors, hasty or doubtful diagnoses.", picture: ["a", "bx", "a", "bx"], fields: [TARGET, WHO, SURE] },
  few: { title: "Only few rows have a label", help: "Rows without a label help, too.", picture: ["a", ".", "b", "."], fields: [TARGET, one("Values that mean no label", "unlabelled", "Such as ? or unknown, with commas between them. Empty cells have none anyway.", { text: true, list: "," })] },
  soft: { title: "The probability of each class", help: "One column for each class.", picture: ["ab", "Ab", "aB", "ab"], fields: [one("Columns with the probabilities", "soft", "At least two.", { several: true })] },
  annotators: { title: "The labels of several people", help: "One column for each person.", picture: ["aab", "bbb", "a.a", "bab"], fields: [one("Columns of the annotators", "annotators", "Empty cells mean that this person did not look.", { several: true }), one("How their labels are combined", "combine", "By the share of votes, by how reliable each person is, or also by the other columns.", { choices: [["", "share of votes"], ["dawid-skene", "how reliable each person is"], ["columns", "also the other columns"]] })] },
  positive: { title: "Only positive rows are labelled", help: "All others may be positive or not.", picture: ["a", ".", ".", "a"], fields: [TARGET, one("The value that is labelled", "positive", "As it is written in the column.", { text: true }), one("Share of positive rows among the others", "prior", "From 0 to 1, if you know it.", { text: true })] },
  time: { title: "A time until an event", help: "Survival: it has happened, or not yet.", picture: ["--a", "---", "-a", "---"], fields: [one("Column with the time", "time", "Until the event, or until the end of observation."), one("Column that says whether it happened", "event", "Yes or no, 1 or 0.")] },
  low: { title: "Limits of a number", help: "Between a lowest and a highest value.", picture: [".--", "-- ", " --", "---"], fields: [one("Column with the lowest value", "low", "An empty cell means no limit."), one("Column with the highest value", "high", "An empty cell means no limit.")] },
  ordered: { title: "Classes with an order", help: "Such as mild, moderate, severe.", picture: ["1", "2", "3", "2"], fields: [TARGET, one("Classes from the lowest to the highest", "order", "With commas between them.", { text: true, list: "," })] },
  several: { title: "Several targets", help: "One ranking for all of them.", picture: ["a1", "b3", "a2", "b1"], fields: [one("Columns of the targets", "target", "At least two.", { several: true, joined: true })] },
  pairs: { title: "Pairs of rows", help: "Which rows belong to the same class, and which do not.", picture: ["=", "≠", "=", "≠"], fields: [one("File with pairs", "pairs", "Three columns: row, row, must or cannot. Row 1 is the first row under the header.", { file: "/api/pairs" })] },
  nothing: { title: "Nothing", help: "The columns are ranked by the structure of the table.", picture: [".", ".", ".", "."], fields: [] },
};
const TARGETS = ["target", "soft", "annotators", "annotator", "combine", "confidence", "order", "positive", "prior", "time", "event", "low", "high", "target_kind", "unlabelled", "normalize", "regression", "classes"];

const FACTS = [
  one("Rows that belong together", "groups", "Such as the visits of a patient. Rows of one group never judge each other."),
  one("Columns that name a row", "id", "Such as a patient number. They are no features, and stay in what you take away.", { several: true }),
  one("Known already", "given", "Such as age or site: the other columns are judged by what they add to these.", { several: true }),
  one("Weight of each row", "weights", "How much each row counts, 0 or more."),
];
const MORE = [
  one("How many to keep", "keep", "A number, a share such as 30%, relevant (all that are related) or sufficient (as many as predict it as well).", { text: true, empty: "relevant" }),
  one("Share of false discoveries", "alpha", "Of the columns that are kept, how many may be there by chance: 0.05 is one in twenty.", { text: true, number: true, empty: "0.05" }),
  one("What the selection is worth to a model", "evaluate", "Tries the kept columns on rows that the model has not seen. Takes minutes.", { choices: [["", "do not ask"], ["logistic", "logistic regression"], ["forest", "random forest"], ["svm", "support vector machine"]] }),
  one("Columns that look like copies of the target", "drop_leaks", "Columns that were perhaps written down after the target.", { choices: [["", "keep them, with an alert"], ["yes", "leave them out"]], flag: true }),
  one("Private rows", "no_rows", "Nothing that fewer than five rows share goes into the report and the paper kit. Tables that you take away have rows all the same.", { choices: [["", "rows may be shown"], ["yes", "show no row"]], flag: true }),
];

export function start(shared) {
  app = shared;
  for (const [name, { title, help, picture }] of Object.entries(KINDS)) {
    const radio = element("input", "", { type: "radio", name: "kind", value: name, id: `kind-${name}` });
    radio.addEventListener("change", () => { kind = name; app.decide(Object.fromEntries(TARGETS.map((option) => [option, null])), { kind: name }); });
    $("#kinds").append(element("label", "", { class: "kind", for: `kind-${name}` }, radio, small(picture), element("span", "", {}, element("b", title), element("small", help))));
  }
}

// Four rows of a table, as small boxes.
function small(rows) {
  const svg = shape("svg", { viewBox: "0 0 44 44", class: "small", "aria-hidden": "true" });
  rows.forEach((row, i) => {
    const y = 2 + 10.5 * i;
    svg.append(shape("rect", { x: 1, y, width: 10, height: 8, rx: 1.5, class: "small-cell" }));
    const boxes = [...row].filter((letter) => letter !== "x");
    const wide = Math.min(12, 30 / boxes.length);
    boxes.forEach((letter, j) => {
      const x = 14 + j * wide;
      if ("ab".includes(letter.toLowerCase())) svg.append(shape("rect", { x, y, width: wide - 1, height: 8, rx: 1.5, class: letter.toLowerCase() === "a" ? "c0" : "c1", opacity: letter === letter.toUpperCase() ? 1 : boxes.length === 2 && rows.some((one) => /[AB]/.test(one)) ? 0.45 : 1 }));
      else if (letter === ".") svg.append(shape("rect", { x: x + 0.5, y: y + 0.5, width: wide - 2, height: 7, rx: 1.5, class: "small-empty" }));
      else if (letter === "-") svg.append(shape("rect", { x, y: y + 3, width: wide, height: 2, class: "small-line" }));
      else if (letter !== " ") svg.append(shape("text", { x: x + wide / 2, y: y + 8, class: "small-text" }, letter));
    });
    if (row.includes("x")) svg.append(shape("path", { d: `M28 ${y} l8 8 m0 -8 l-8 8`, class: "small-cross" }));
  });
  return svg;
}

function guess(options, files) {
  if (app.state.kind in KINDS) return app.state.kind;
  const by = [["soft", "soft"], ["annotators", "annotators"], ["order", "ordered"], ["positive", "positive"], ["time", "time"], ["event", "time"], ["low", "low"], ["high", "low"]];
  return by.find(([option]) => options[option])?.[1] ?? (files.pairs ? "pairs" : "classes");
}

const fields = new Map(); // each is made once, keeps itself, and shows what is decided now

export function fill() {
  kind = guess(app.state.options, app.state.files);
  for (const radio of all("#kinds input")) radio.checked = radio.value === kind;
  app.tell("question", answered());
  for (const [place, specs] of [["#target", KINDS[kind].fields], ["#facts", FACTS], ["#more", MORE]]) {
    for (const spec of specs) if (!fields.has(spec)) fields.set(spec, field(spec));
    arrange($(place), specs.map((spec) => fields.get(spec).box));
    for (const spec of specs) fields.get(spec).show(app.state.options[spec.option]);
  }
}

// Several targets stand in one option, with a comma between them; a comma in a name is written twice.
const targets = (value) => !value ? [] : names().includes(value) ? [value] : value.split(/(?<!,),(?!,)/).map((name) => name.replaceAll(",,", ","));

function answered() {
  const { options, files } = app.state;
  const asked = [kind === "several" ? targets(options.target) : options.target, options.soft, options.annotators, options.time, options.low].flat().filter(Boolean);
  if (asked.length) return asked.join(", ");
  return kind === "pairs" && files.pairs ? "pairs of rows" : kind === "nothing" && app.state.kind ? "nothing is known" : "what is known?";
}

function field(spec) {
  const { option } = spec;
  if (!spec.text && !spec.choices && !spec.file) {
    const read = (value) => spec.joined ? targets(value) : [value ?? []].flat();
    const write = (picked) => spec.joined && picked.length > 1 ? picked.map((name) => name.replaceAll(",", ",,")).join(",") : spec.several && !spec.joined ? picked : picked[0] ?? null;
    const made = picker({ ...spec, columns: names, change: (next) => app.decide(() => ({ [option]: write(next(read(app.state.options[option]))) })) });
    return { box: made.box, show: (value) => made.show(read(value)) };
  }
  const id = `field-${option}`;
  const help = element("p", spec.help, { class: "help" });
  const within = (input, show) => ({ box: element("div", "", { class: "field" }, element("label", spec.label, { for: id }), input, help), show });
  if (spec.choices) {
    const input = element("select", "", { id }, ...spec.choices.map(([code, text]) => element("option", text, { value: code })));
    input.addEventListener("change", () => app.decide({ [option]: spec.flag ? input.value === "yes" : input.value || null }));
    return within(input, (value) => setValue(input, spec.flag ? (value ? "yes" : "") : value ?? ""));
  }
  if (spec.file) {
    const input = element("input", "", { type: "file", id, accept: ".csv,.tsv,.txt,.xlsx", class: "plain-file" });
    input.addEventListener("change", () => input.files[0] && app.attempt(async () => { app.take(await send(spec.file, input.files[0])); await check(); }));
    return within(input, () => { help.textContent = spec.help + (app.state.files[option] ? " A file is used." : ""); });
  }
  const input = element("input", "", { type: "text", id, placeholder: spec.empty || "", autocomplete: "off" });
  input.addEventListener("change", () => {
    const text = input.value.trim();
    app.decide({ [option]: spec.list ? text.split(spec.list).map((part) => part.trim()).filter(Boolean) : text || null });
  });
  return within(input, (value) => setValue(input, Array.isArray(value) ? value.join(", ") : value ?? ""));
}

const isComplete = () => app.state.table && hasColumns() && (kind === "nothing" ? app.state.kind === "nothing" : kind === "pairs" ? Boolean(app.state.files.pairs) : answered() !== "what is known?");

// The classes with their numbers of rows as bars, or how numbers are spread.
function spread(target) {
  if (!target) return [];
  if (target.numbers) return [bars(target.numbers)];
  const most = Math.max(...(target.classes || []).map(([, number]) => number), 1);
  return (target.classes || []).map(([name, number]) => {
    const bar = element("span", "", { class: "share" }, element("span"));
    bar.firstChild.style.setProperty("width", `${(100 * number) / most}%`);
    return element("p", "", { class: "class" }, element("span", name, { class: "class-name" }), bar, element("span", String(number), { class: "number" }));
  });
}

export function looking() { $("#before-state").textContent = "Looking at the target …"; }

// What is known of the target, and what may make the answer wrong: asked after each decision, before anything runs.
export async function check() {
  asking += 1;
  const mine = asking;
  const ready = isComplete();
  for (const one of all("[data-run]")) one.disabled = !ready;
  $("#before").hidden = !ready;
  if (!ready) return;
  looking();
  const now = JSON.stringify([app.state.table, kind, TARGETS.map((option) => app.state.options[option])]);
  if (now !== about) showTarget(null); // what is known of another target would mislead
  about = now;
  let work = await ask("/api/start/ask", { method: "POST" });
  while (work.status === "running" && mine === asking) {
    await new Promise((done) => setTimeout(done, 250));
    work = await ask("/api/work/ask?parts=target,alerts");
  }
  if (mine !== asking) return;
  work = await ask("/api/work/ask?parts=target,alerts");
  const { target, alerts = [] } = work.content || {};
  const problems = work.problems || [];
  $("#before-state").textContent = problems.length ? "This cannot be answered yet:" : alerts.length ? `${alerts.length === 1 ? "One alert" : `${alerts.length} alerts`} before it runs:` : "Nothing was found that would make the answer wrong.";
  showTarget(target, [...problems, ...alerts]);
  $("#alerts").className = problems.length ? "notices bad" : "notices";
  for (const one of all("[data-run]")) one.disabled = problems.length > 0;
}

let about = ""; // the target that is shown
function showTarget(target, told = []) {
  redraw($("#alerts"), told.map((record) => notice(record, () => app.state.options, app.decide)));
  $("#target-text").textContent = target ? target.text : "";
  const numbers = target ? target.counts : [];
  redraw($("#target-counts"), numbers.slice(0, 30).map(([name, text]) => element("tr", "", {}, element("th", name, { scope: "row" }), element("td", text, { class: "number" }))));
  redraw($("#target-picture"), spread(target));
  redraw($("#target-notes"), (target ? target.notes : []).map((text) => element("li", text)));
}
