// The last step: everything that can be taken away, the next table, and the project itself.

import { $, all, button, element, post, redraw, send, setValue } from "./parts.js";

let app;
const FILES = {
  kept: ["The table with the kept columns", "CSV, with the target; if you corrected labels, with the corrected ones."],
  corrections: ["Your decisions about labels", "CSV. The command below uses them."],
  labels: ["Every label: given, and what is likely", "CSV, one line for each row."],
  likely: ["The likely truth of all annotators", "CSV, with how sure it is."],
  report: ["The report", "A web page that needs nothing else: print it, or send it."],
  paper: ["The paper kit", "Methods, results, tables, figures and a checklist, as ZIP."],
  selection: ["The selection", "JSON without any row. dubio apply uses it on the next table."],
  numbers: ["All numbers", "JSON."],
};

export function start(shared) {
  app = shared;
  const input = $("#next-file");
  input.addEventListener("change", () => input.files[0] && app.work(`Reading ${input.files[0].name} …`, async () => {
    const { said } = await send("/api/next", input.files[0]);
    $("#next-said").replaceChildren(...said.map((text) => element("li", text)));
    $("#next-take").hidden = false;
    input.value = "";
  }));
  $("#title").addEventListener("change", () => app.decide({}, { title: $("#title").value.trim() }));
  $("#delete").addEventListener("click", () => { $("#delete-sure").hidden = false; $("#delete-no").focus(); });
  $("#delete-no").addEventListener("click", () => { $("#delete-sure").hidden = true; $("#delete").focus(); });
  $("#delete-yes").addEventListener("click", () => app.attempt(async () => {
    const { left } = await post("/api/delete", {});
    app.over(left.length ? `The project was deleted. Files that are not dubio's stay in the folder: ${left.join(", ")}.` : "The project was deleted, with its folder.");
  }));
  for (const one of all("[data-copy]")) one.append(button("Copy", async () => {
    await navigator.clipboard.writeText($(`#${one.dataset.copy}`).textContent);
    app.status("Copied.");
  }));
}

export function fill(answer) {
  const { state } = app;
  const ready = Object.entries(FILES).filter(([name]) => state.take.includes(name));
  redraw($("#files"), ready.map(([name, [title, help]]) => element("li", "", { "data-key": name }, element("a", title, { href: `/take/${name}`, download: true }), element("span", help, { class: "help" }))));
  $("#no-files").hidden = ready.length > 0;
  $("#old-files").hidden = !ready.length || !state.table || (answer !== null && answer.decided === state.decided);
  $("#next").hidden = !state.take.includes("selection");
  $("#next-take").hidden = $("#next-take").hidden && !state.take.includes("next");
  $("#command").textContent = state.command ? `cd ${/^[\w/.-]+$/.test(state.folder) ? state.folder : `'${state.folder}'`}\n${state.command}` : "";
  $("#repeat").hidden = !state.command;
  $("#code").textContent = answer ? answer.code : "";
  $("#code-box").hidden = !answer;
  $("#folder").textContent = state.folder;
  $("#copy").textContent = state.table ? `${state.folder}/${state.table}` : "";
  $("#copy-box").hidden = !state.table;
  setValue($("#title"), state.title);
  app.tell("take", ready.length ? `${ready.length} files` : "nothing yet");
}
