
// The page on which drawn rows are judged, one card at a time, by keyboard or mouse. Nothing is sent anywhere.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const box = document.querySelector("#check .correct");
  const store = `dubio-check-${data.key}`;
  const count = data.cards.length;
  const part = (name) => box.querySelector(`.correct-${name}`);
  const card = part("card");
  const UNDECIDED = "";
  const who = box.querySelector("[name=checker]");
  const forgets = box.querySelector(".correct-forgets");
  let answers = new Map();
  let history = [];
  let at = 0;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function load() {
    try {
      const kept = JSON.parse(localStorage.getItem(store) || "null");
      if (!kept) return;
      const valid = (answer) => answer === UNDECIDED || (data.classes.length ? data.classes.includes(answer) : number(answer) !== null);
      answers = new Map(kept.answers.filter(([place, answer]) => place >= 0 && place < count && valid(answer)));
      at = Math.min(Math.max(0, kept.at | 0), count - 1);
      who.value = typeof kept.who === "string" ? kept.who : "";
    } catch { answers = new Map(); }
  }

  function save() {
    try { localStorage.setItem(store, JSON.stringify({ answers: [...answers], at, who: who.value })); } catch { forgets.hidden = false; }
  }

  // A number as it is written, with a point or a comma; null if it is none.
  function number(text) {
    const plain = text.trim().replace(",", ".");
    return plain !== "" && Number.isFinite(Number(plain)) ? plain : null;
  }

  function answer(value) {
    history.push([at, answers.has(at) ? answers.get(at) : null]);
    answers.set(at, value);
    let next = at + 1;
    while (next < count && answers.has(next)) next += 1;
    if (next < count) at = next;
    save();
    draw();
  }

  function undo() {
    const last = history.pop();
    if (!last) return;
    const [place, before] = last;
    if (before === null) answers.delete(place); else answers.set(place, before);
    at = place;
    save();
    draw();
  }

  function move(step) {
    at = Math.min(Math.max(0, at + step), count - 1);
    save();
    draw();
  }

  // Quoted where CSV needs it, with an apostrophe where a spreadsheet would run it; a negative number is no formula.
  function cell(text) {
    const safe = /^ *[=+\-@\t\r\n＝＋－＠]/.test(text) && number(text) === null ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  // All drawn rows: those without an answer count as undecided.
  function file() {
    const lines = [];
    data.cards.forEach((shown, place) => {
      const value = answers.get(place) || "";
      const checker = value ? who.value.trim() : "";
      shown.rows.forEach((row, i) => lines.push([row, shown.names[i], value, data.chance, checker]));
    });
    lines.sort((a, b) => a[0] - b[0]);
    return ["row,id,value,chance,checker", ...lines.map((line) => line.map((one) => cell(String(one))).join(","))].join("\n") + "\n";
  }

  function download() {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([file()], { type: "text/csv" }));
    link.download = data.judged;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // The cells of the rows of a card: a column of names, and one column for each row.
  function cells(shown) {
    const table = element("table", undefined, "plain");
    const body = element("tbody");
    shown.cells[0].forEach(([name], j) => {
      const line = element("tr");
      const head = element("th", name);
      head.scope = "row";
      line.append(head, ...shown.cells.map((own) => element("td", own[j][1] === "" ? "–" : own[j][1], "text")));
      body.append(line);
    });
    table.append(body);
    const scroll = element("div", undefined, "scroll");
    scroll.append(table);
    return scroll;
  }

  function choices() {
    const chosen = answers.has(at) ? answers.get(at) : null;
    const add = (text, value) => {
      const button = element("button", text);
      button.type = "button";
      button.setAttribute("aria-pressed", String(chosen === value));
      button.addEventListener("click", () => { answer(value); card.focus({ preventScroll: true }); });
      return button;
    };
    const made = data.classes.map((name, k) => add(k < 9 ? `${name} (${k + 1})` : name, name));
    if (!data.classes.length) {
      const label = element("label", "Number ");
      const input = element("input");
      input.type = "text";
      input.inputMode = "decimal";
      input.autocomplete = "off";
      input.value = chosen || "";
      input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        const value = number(input.value);
        input.setAttribute("aria-invalid", String(value === null));
        if (value !== null) { answer(value); card.querySelector("input").focus({ preventScroll: true }); }
        event.preventDefault();
      });
      label.append(input);
      made.push(label);
    }
    part("choices").replaceChildren(...made, add("Cannot decide (u)", UNDECIDED));
  }

  function draw() {
    const undecided = [...answers.values()].filter((value) => value === UNDECIDED).length;
    part("progress").textContent =
      `${answers.size.toLocaleString("en")} of ${count.toLocaleString("en")} judged, ${undecided.toLocaleString("en")} of them undecided`;
    box.querySelector("progress").value = count ? answers.size / count : 0;
    const shown = data.cards[at];
    const names = shown.rows.map((row, i) => (shown.names[i] ? `${row} (${shown.names[i]})` : String(row)));
    part("row").textContent = `${names.length > 1 ? "Rows" : "Row"} ${names.join(", ")}: ${(at + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
    part("labels").textContent = answers.has(at) ? `Your answer: ${answers.get(at) || "cannot decide"}.` : "";
    part("cells").replaceChildren(cells(shown));
    choices();
    box.querySelector("[data-do=undo]").disabled = history.length === 0;
    box.querySelector("[data-do=download]").disabled = answers.size === 0;
    box.querySelector("[data-do=clear]").disabled = answers.size === 0;
  }

  card.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const typing = event.target.tagName === "INPUT" && !["u", "z", "d", "arrowup", "arrowdown"].includes(key);
    if (typing) return;
    if (key === "u") answer(UNDECIDED);
    else if (key === "z") undo();
    else if (key === "d") { if (answers.size) download(); }
    else if (key === "arrowright" || key === "arrowdown") move(1);
    else if (key === "arrowleft" || key === "arrowup") move(-1);
    else if (/^[1-9]$/.test(key) && Number(key) <= data.classes.length) answer(data.classes[Number(key) - 1]);
    else return;
    event.preventDefault();
    (card.querySelector("input") || card).focus({ preventScroll: true });
  });
  box.addEventListener("click", (event) => {
    const what = event.target.dataset.do;
    if (what === "download") download();
    if (what === "undo") undo();
    if (what === "clear" && confirm(`Forget all ${answers.size} answers?`)) { answers = new Map(); history = []; at = 0; save(); draw(); }
  });
  who.addEventListener("change", save);
  load();
  box.hidden = false;
  draw();
  (box.querySelector(".correct-choices input") || card).focus({ preventScroll: true });
})();
