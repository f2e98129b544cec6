
// The part of the page on which labels are corrected: one row at a time, by keyboard or mouse. Nothing is sent anywhere.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent).corrections;
  const box = document.querySelector("#corrections .correct");
  if (!data || !box) return;
  const RIGHT = -1, UNSURE = -2, PAGE = 25;
  const count = data.rows.length;
  const store = `dubio-mending-${data.key}`;
  const called = data.called[0].toUpperCase() + data.called.slice(1);
  const part = (name) => box.querySelector(`.correct-${name}`);
  const card = part("card");
  const [body] = box.getElementsByTagName("tbody");
  let decisions = new Map();
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
      const valid = (code) => Number.isInteger(code) && code >= UNSURE && code < data.classes.length;
      decisions = new Map(kept.decisions.filter(([row, code]) => row >= 0 && row < count && valid(code)));
      at = Math.min(Math.max(0, kept.at | 0), count - 1);
    } catch { decisions = new Map(); }
  }

  function save() {
    try { localStorage.setItem(store, JSON.stringify({ decisions: [...decisions], at })); } catch { /* a private window */ }
  }

  const said = (row) => {
    if (!decisions.has(row)) return "";
    const code = decisions.get(row);
    return code === RIGHT ? "right" : code === UNSURE ? "cannot tell" : data.classes[code];
  };

  function decide(code) {
    if (code === data.given[at]) code = RIGHT;
    history.push([at, decisions.has(at) ? decisions.get(at) : null, at]);
    decisions.set(at, code);
    let next = at + 1;
    while (next < count && decisions.has(next)) next += 1;
    if (next < count) at = next;
    save();
    draw();
  }

  function undo() {
    const last = history.pop();
    if (!last) return;
    const [row, before] = last;
    if (before === null) decisions.delete(row); else decisions.set(row, before);
    at = row;
    save();
    draw();
  }

  function move(step) {
    at = Math.min(Math.max(0, at + step), count - 1);
    save();
    draw();
  }

  // Spreadsheets run cells that begin with one of these, unless they are numbers.
  const inert = (text) => (/^ *[=+\-@\t\r\n＝＋－＠]/.test(text) && (text.trim() === "" || Number.isNaN(Number(text))) ? `'${text}` : text);
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${inert(text).replaceAll('"', '""')}"` : inert(text));

  function file() {
    const lines = ["row,id,given,decision,label"];
    const rows = [...decisions.keys()].sort((a, b) => data.rows[a] - data.rows[b]);
    for (const row of rows) {
      const code = decisions.get(row);
      const given = data.classes[data.given[row]];
      const decision = code === RIGHT ? "right" : code === UNSURE ? "unsure" : "change";
      const label = code === RIGHT ? given : code === UNSURE ? "" : data.classes[code];
      const together = data.together ? data.together[row] : [data.rows[row]];
      const ids = data.together ? data.names && data.names[row] : data.ids && [data.ids[row]];
      together.forEach((number, k) => {
        lines.push([String(number), ids ? ids[k] : "", given, decision, label].map(cell).join(","));
      });
    }
    return lines.join("\n") + "\n";
  }

  function download() {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([file()], { type: "text/csv" }));
    link.download = "corrections.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const SVG = "http://www.w3.org/2000/svg";
  function shape(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // The text, cut so that it fits into so many pixels in letters of 13, whatever the font.
  function fit(text, room) {
    let used = 0, out = "";
    for (const letter of text) {
      used += 13 * (letter > "\u2e7f" ? 1.05 : "mwMW@%".includes(letter) ? 1 : letter.toLowerCase() !== letter ? 0.72 : 0.64);
      if (used > room) return `${out.slice(0, -1)}…`;
      out += letter;
    }
    return out;
  }

  const written = (feature, value) => (value === null ? "missing" : feature.shown ? feature.shown[at] : value);

  // One feature of categories: how many of each class have that of this row.
  function bars(feature, value) {
    const name = `${feature.name}: ${written(feature, value)}`;
    const figure = element("figure");
    figure.append(element("figcaption", name));
    if (value === null) return figure;
    const svg = shape("svg", { class: "chart", role: "img", viewBox: `0 0 320 ${14 * data.classes.length + 4}`, "aria-label": name });
    svg.style.maxWidth = "420px";
    feature.shares.forEach((shares, k) => {
      const y = 4 + 14 * k;
      const label = shape("text", { x: 98, y: y + 9, "text-anchor": "end", class: "tick" });
      label.textContent = fit(data.classes[k], 92);
      const share = shape("text", { x: 312, y: y + 9, "text-anchor": "end", class: "tick" });
      share.textContent = `${shares[value]} %`;
      svg.append(label, shape("rect", { x: 104, y, width: Math.max(1, 1.6 * shares[value]), height: 10, rx: 2, class: `c${data.colours[k]}` }), share);
    });
    figure.append(svg);
    return figure;
  }

  // One feature: the spread of each class (5 to 95 %, 25 to 75 %, median), and this row as a line through all of them.
  function strip(feature) {
    const value = feature.values[at];
    if (feature.shares.length) return bars(feature, value);
    const ends = feature.spread.flat().concat(value).filter((x) => x !== null);
    const low = Math.min(...ends), high = Math.max(...ends);
    const x = (v) => 104 + 208 * (high > low ? (v - low) / (high - low) : 0.5);
    const height = 14 * data.classes.length + 4;
    const name = `${feature.name}: ${written(feature, value)}`;
    const figure = element("figure");
    figure.append(element("figcaption", name));
    const svg = shape("svg", { class: "chart", role: "img", viewBox: `0 0 320 ${height}`, "aria-label": name });
    svg.style.maxWidth = "420px";
    feature.spread.forEach((q, k) => {
      const y = 4 + 14 * k;
      const label = shape("text", { x: 98, y: y + 9, "text-anchor": "end", class: "tick" });
      label.textContent = fit(data.classes[k], 92);
      svg.append(label);
      if (q[0] === null) return;
      svg.append(shape("rect", { x: x(q[0]), y: y + 4, width: Math.max(1, x(q[4]) - x(q[0])), height: 2, class: "left" }));
      svg.append(shape("rect", { x: x(q[1]), y, width: Math.max(1, x(q[3]) - x(q[1])), height: 10, rx: 2, class: `c${data.colours[k]}` }));
      svg.append(shape("rect", { x: x(q[2]) - 1, y, width: 2, height: 10, class: "correct-median" }));
    });
    if (value !== null) svg.append(shape("rect", { x: x(value) - 1, y: 0, width: 2, height, class: "correct-own" }));
    figure.append(svg);
    return figure;
  }

  function choices() {
    const chosen = decisions.has(at) ? decisions.get(at) : null;
    const add = (text, code, hint) => {
      const button = element("button", text);
      button.type = "button";
      button.setAttribute("aria-pressed", String(chosen === code));
      if (hint) button.title = hint;
      button.addEventListener("click", () => { decide(code); card.focus({ preventScroll: true }); });
      return button;
    };
    const buttons = [add(`Right: ${data.classes[data.given[at]]} (r)`, RIGHT)];
    if (data.classes.length <= 9) {
      data.classes.forEach((name, k) => {
        if (k !== data.given[at]) buttons.push(add(`${name} (${k + 1})`, k, k === data.suggested[at] ? data.called : ""));
      });
    } else {
      const label = element("label", "Another class ");
      const select = element("select");
      select.append(element("option", "–"));
      data.classes.forEach((name, k) => {
        const option = element("option", name);
        option.value = String(k);
        option.selected = chosen === k;
        select.append(option);
      });
      select.addEventListener("change", () => { if (select.value !== "–") { decide(Number(select.value)); card.focus(); } });
      label.append(select);
      buttons.push(label);
      buttons.push(add(`${called}: ${data.classes[data.suggested[at]]} (s)`, data.suggested[at]));
    }
    buttons.push(add("Cannot tell (u)", UNSURE));
    part("choices").replaceChildren(...buttons);
  }

  function list() {
    const page = Math.floor(at / PAGE), last = Math.floor((count - 1) / PAGE);
    const rows = document.createDocumentFragment();
    for (let i = page * PAGE; i < Math.min(count, (page + 1) * PAGE); i += 1) {
      const row = element("tr");
      if (i === at) row.setAttribute("aria-current", "true");
      row.append(element("td", String(data.rows[i]), "number"), element("td", data.ids ? data.ids[i] : "", "text"));
      row.append(element("td", data.classes[data.given[i]], "text"), element("td", data.classes[data.suggested[i]], "text"));
      row.append(element("td", data.doubts[i], "percent"), element("td", said(i), "text"));
      row.addEventListener("click", () => { at = i; save(); draw(); card.focus({ preventScroll: true }); });
      rows.append(row);
    }
    body.replaceChildren(rows);
    box.querySelector(".pages span").textContent = `page ${page + 1} of ${last + 1}`;
    box.querySelector("[data-page='-1']").disabled = page === 0;
    box.querySelector("[data-page='1']").disabled = page === last;
  }

  function draw() {
    const changed = [...decisions.values()].filter((code) => code >= 0).length;
    part("progress").textContent =
      `${decisions.size.toLocaleString("en")} of ${count.toLocaleString("en")} looked at, ${changed.toLocaleString("en")} changed`;
    box.querySelector("progress").value = count ? decisions.size / count : 0;
    const name = data.ids ? ` (${data.ids[at]})` : "";
    part("row").textContent = `Row ${data.rows[at]}${name}: ${(at + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
    part("labels").textContent =
      `Given label: ${data.classes[data.given[at]]}. ${called}: ${data.classes[data.suggested[at]]}. ${data.measure}: ${data.doubts[at]}.` +
      (decisions.has(at) ? ` Your decision: ${said(at)}.` : "");
    part("values").replaceChildren(...data.features.map(strip));
    choices();
    list();
    box.querySelector("[data-do=undo]").disabled = history.length === 0;
    box.querySelector("[data-do=download]").disabled = decisions.size === 0;
    box.querySelector("[data-do=clear]").disabled = decisions.size === 0;
  }

  card.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const key = event.key.toLowerCase();
    if (key === "r") decide(RIGHT);
    else if (key === "u" || key === "?") decide(UNSURE);
    else if (key === "s") decide(data.suggested[at]);
    else if (key === "z") undo();
    else if (key === "d") { if (decisions.size) download(); }
    else if (key === "arrowright" || key === "arrowdown") move(1);
    else if (key === "arrowleft" || key === "arrowup") move(-1);
    else if (/^[1-9]$/.test(key) && Number(key) <= data.classes.length) decide(Number(key) - 1);
    else return;
    event.preventDefault();
    card.focus({ preventScroll: true });
  });
  box.addEventListener("click", (event) => {
    const what = event.target.dataset.do;
    if (what === "download") download();
    if (what === "undo") undo();
    if (what === "clear") { decisions = new Map(); history = []; at = 0; save(); draw(); }
    const step = Number(event.target.dataset.page);
    if (step) move(step * PAGE);
  });
  load();
  box.hidden = false;
  draw();
})();
