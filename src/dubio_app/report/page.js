"use strict";
(() => {
  const tables = JSON.parse(document.getElementById("data").textContent);
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  function show(value, kind) {
    if (value === null) return "–";
    if (kind === "yes") return value ? "yes" : "";
    if (kind === "percent") return value + " %";
    if (kind !== "number" || Number.isInteger(value)) return String(value);
    const size = Math.abs(value);
    return size >= 1e-4 && size < 1e6 ? String(value) : value.toExponential().replace("e+", "e");
  }

  // One table: all rows stay in memory as columns of data, and the document holds only one page of them.
  function start(box, table) {
    const columns = table.columns;
    const count = columns[0].values.length;
    const [body] = box.getElementsByTagName("tbody");
    const heads = [...box.querySelectorAll("thead th")];
    const search = box.querySelector("input[type=search]");
    const keptOnly = box.querySelector("input[type=checkbox]");
    const size = box.querySelector("select");
    const pages = box.querySelector(".pages");
    const isText = (column) => column.kind === "text" || column.kind === "word";
    const texts = columns.filter(isText);
    const kept = columns.find((column) => column.kind === "yes");
    let folded = null;
    let order = Uint32Array.from({ length: count }, (_, i) => i);
    let shown = order;
    let page = 0;
    let sorted = -1;
    let rising = true;

    function sort() {
      if (sorted < 0) return;
      const values = columns[sorted].keys || columns[sorted].values;
      const words = isText(columns[sorted]);
      const sign = rising ? 1 : -1;
      order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => {
        const x = values[a], y = values[b];
        if (x === null || y === null) return (x === null) - (y === null) || a - b; // missing values come last
        const order = words ? collator.compare(x, y) : x - y;
        return sign * order || a - b;
      });
    }

    function filter() {
      const wanted = search.value.trim().toLowerCase();
      const only = keptOnly !== null && keptOnly.checked;
      if (wanted && folded === null) {
        folded = Array.from({ length: count }, (_, i) => texts.map((column) => column.values[i]).join("\n").toLowerCase());
      }
      shown = wanted || only ? order.filter((i) => (!wanted || folded[i].includes(wanted)) && (!only || kept.values[i])) : order;
    }

    function draw() {
      const length = Number(size.value);
      const last = Math.max(0, Math.ceil(shown.length / length) - 1);
      page = Math.min(Math.max(page, 0), last);
      const rows = document.createDocumentFragment();
      for (const i of shown.subarray(page * length, (page + 1) * length)) {
        const row = document.createElement("tr");
        for (const column of columns) {
          const cell = document.createElement("td");
          cell.className = column.more ? `${column.kind} more` : column.kind;
          cell.textContent = show(column.values[i], column.kind);
          row.append(cell);
        }
        rows.append(row);
      }
      body.replaceChildren(rows);
      const from = shown.length ? page * length + 1 : 0;
      const to = Math.min((page + 1) * length, shown.length);
      pages.hidden = shown.length <= length;
      pages.querySelector("span").textContent = `page ${page + 1} of ${last + 1}`;
      pages.querySelector("[data-step='-1']").disabled = page === 0;
      pages.querySelector("[data-step='1']").disabled = page === last;
      const found = shown.length === count ? "" : `, filtered from ${count.toLocaleString("en")}`;
      box.querySelector(".status").textContent = shown.length
        ? `${from.toLocaleString("en")} to ${to.toLocaleString("en")} of ${shown.length.toLocaleString("en")} ${table.noun}${found}`
        : `no ${table.noun} found among ${count.toLocaleString("en")}`;
    }

    heads.forEach((head, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        rising = sorted === index ? !rising : columns[index].kind !== "yes" && columns[index].kind !== "percent";
        sorted = index;
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        page = 0;
        sort();
        filter();
        draw();
      });
    });
    const again = () => { page = 0; filter(); draw(); };
    search.addEventListener("input", again);
    if (keptOnly) keptOnly.addEventListener("change", again);
    size.addEventListener("change", again);
    pages.addEventListener("click", (event) => {
      const step = Number(event.target.dataset.step);
      if (step) { page += step; draw(); }
    });
    if (columns[0].label === "rank") heads[0].setAttribute("aria-sort", "ascending"), sorted = 0;
    const all = box.querySelector(".all-columns");
    const hasMore = columns.some((column) => column.more);
    if (all) all.hidden = !hasMore;
    if (all) all.addEventListener("click", () => all.setAttribute("aria-pressed", box.classList.toggle("all")));
    box.querySelector(".controls").hidden = count <= 5 && !hasMore;
    draw();
  }

  for (const box of document.querySelectorAll("[data-table]")) start(box, tables[box.dataset.table]);

  const theme = document.getElementById("theme");
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
  theme.hidden = false;
  name();
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  root.dataset.ready = Math.round(performance.now());
})();
