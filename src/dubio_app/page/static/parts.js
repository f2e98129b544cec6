// Parts that every step uses: requests, elements, long lists of which only the visible rows exist, and the choice of columns.

export const $ = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
export const count = (number) => Number(number).toLocaleString("en");

export function element(tag, text = "", attributes = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== "" && text !== null && text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  made.append(...children);
  return made;
}

export function button(text, work, attributes = {}) {
  const made = element("button", text, { type: "button", ...attributes });
  made.work = work;
  made.addEventListener("click", () => made.work());
  return made;
}

// Show these children in a box, in this order. Those that are there stay.
export function arrange(box, nodes) {
  for (const node of [...box.childNodes]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, i) => { if (box.childNodes[i] !== node) box.insertBefore(node, box.childNodes[i] ?? null); });
}

// Show what was made anew. A child that was there under the same name (data-key) stays and becomes like the new one, so
// nothing goes away that has the focus, is open or is being clicked.
export function redraw(box, fresh) {
  const there = new Map();
  for (const node of box.childNodes) there.set(nameOf(node), [...(there.get(nameOf(node)) ?? []), node]);
  arrange(box, fresh.map((node) => {
    const same = there.get(nameOf(node))?.shift();
    return same ? become(same, node) : node;
  }));
}

const nameOf = (node) => `${node.nodeName} ${node.dataset?.key ?? ""}`;

function become(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return old; }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) === value) continue;
    if (name === "style") old.style.cssText = value; else old.setAttribute(name, value); // the policy allows no style attributes
  }
  old.work = fresh.work;
  redraw(old, [...fresh.childNodes]);
  return old;
}

// The value of a field, unless somebody is at it.
export function setValue(input, value) { if (document.activeElement !== input && input.value !== String(value)) input.value = value; }

const SVG = "http://www.w3.org/2000/svg";
export function shape(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// ---- requests ----------------------------------------------------------------------------------------------------

export class Refused extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

export async function ask(path, options = {}) {
  let response;
  try { response = await fetch(path, options); } catch { throw new Refused("The page is no longer connected: dubio was ended. Start it again with dubio open; nothing is lost.", 0); }
  const content = await response.json().catch(() => ({ error: "The answer of the server cannot be read." }));
  if (!response.ok) throw new Refused(content.error || "The server refused the request.", response.status);
  return content;
}
export const post = (path, content) => ask(path, { method: "POST", body: JSON.stringify(content) });
export const send = (path, file) => ask(path, { method: "POST", body: file, headers: { "X-File-Name": encodeURIComponent(file.name) } });

// ---- small pictures ----------------------------------------------------------------------------------------------

export function bars(counts) {
  const svg = shape("svg", { viewBox: "0 0 72 24", class: "bars", "aria-hidden": "true" });
  const most = Math.max(1, ...counts);
  const wide = 72 / Math.max(counts.length, 4);
  counts.forEach((one, i) => {
    const high = one ? Math.max(1.5, (22 * one) / most) : 0;
    svg.append(shape("rect", { x: i * wide + 0.5, y: 23 - high, width: Math.max(1, wide - 1), height: high }));
  });
  return svg;
}

// A drawing that the server made; only shapes and text come in, and no script can run.
export function drawing(markup) {
  const plain = markup.replaceAll(/ style="[^"<>]*"/g, ""); // the widths of the report: this page allows no inline style
  const parsed = new DOMParser().parseFromString(plain, "text/html");
  return [...parsed.body.children].map((one) => document.importNode(one, true));
}

// ---- a long list -------------------------------------------------------------------------------------------------

const MOST_PRINTED = 100; // rows: the report has them all

// Only the rows in view are in the document. Rows have one height; arrow keys go from row to row. A row has the name of its item.
export class LongList {
  constructor(box, { height, narrow = height, render, name, label }) {
    this.box = box;
    this.heights = [height, narrow];
    this.render = render;
    this.name = name;
    this.items = [];
    this.inner = element("div", "", { class: "long-inner", role: "list", "aria-label": label });
    box.classList.add("long");
    box.replaceChildren(this.inner);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.draw(true));
    addEventListener("beforeprint", () => this.draw(true, MOST_PRINTED));
    addEventListener("afterprint", () => this.draw(true));
  }

  get height() { return this.heights[matchMedia("(max-width: 600px)").matches ? 1 : 0]; }

  show(items, top = false) {
    this.items = items;
    if (top) this.box.scrollTop = 0;
    this.draw(true);
  }

  draw(again = false, printed = 0) {
    const { height } = this;
    const room = this.box.clientHeight || 480;
    const first = printed ? 0 : Math.max(0, Math.floor(this.box.scrollTop / height) - 4);
    const last = Math.min(this.items.length, printed || Math.ceil((this.box.scrollTop + room) / height) + 4);
    if (!again && first === this.first && last === this.last) return;
    const focused = this.inner.contains(document.activeElement);
    [this.first, this.last] = [first, last];
    const rows = [];
    for (let i = first; i < last; i += 1) {
      const row = this.render(this.items[i], i);
      row.dataset.at = String(i);
      row.dataset.key = this.name(this.items[i]);
      row.setAttribute("role", "listitem");
      row.setAttribute("aria-posinset", String(i + 1));
      row.setAttribute("aria-setsize", String(this.items.length));
      row.classList.add("long-row");
      row.style.setProperty("height", `${height}px`);
      rows.push(row);
    }
    this.inner.style.setProperty("padding-top", `${first * height}px`);
    this.inner.style.setProperty("height", `${Math.max((printed ? last : this.items.length) * height, 1)}px`);
    redraw(this.inner, rows);
    if (focused && !this.inner.contains(document.activeElement)) this.box.focus({ preventScroll: true }); // its row is out of sight
  }

  focus(at) {
    const top = at * this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    if (top + this.height > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + this.height - this.box.clientHeight;
    this.draw();
    $(`[data-at="${at}"] button`, this.inner)?.focus({ preventScroll: true });
  }

  key(event) {
    const row = event.target.closest?.("[data-at]");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!row || !step) return;
    event.preventDefault();
    this.focus(Math.min(Math.max(0, Number(row.dataset.at) + step), this.items.length - 1));
  }
}

// ---- columns to choose from --------------------------------------------------------------------------------------

const MOST_OFFERED = 200;
let numbered = 0;

// One or several columns: what is chosen, and a panel with a search field and the names. It keeps itself, and shows what is chosen now.
export function picker({ label, help, several = false, columns, change }) {
  numbered += 1;
  const id = `picker-${numbered}`;
  const box = element("div", "", { class: "picker" });
  const title = element("p", label, { class: "picker-label", id: `${id}-label` });
  const opener = button("", () => toggle(), { id: `${id}-open`, "aria-expanded": "false", "aria-controls": `${id}-panel`, "aria-labelledby": `${id}-label ${id}-open`, class: "picker-open" });
  const panel = element("div", "", { id: `${id}-panel`, class: "picker-panel", hidden: true });
  const search = element("input", "", { type: "search", "aria-label": `Search for ${label}`, placeholder: "search", autocomplete: "off", spellcheck: "false" });
  const list = element("div", "", { class: "picker-list", role: "group", "aria-labelledby": `${id}-label` });
  let named = [];
  let first = []; // those that were chosen when the panel was opened: they stay on top
  const write = () => {
    opener.textContent = named.length ? (several && named.length > 3 ? `${named.slice(0, 3).join(", ")} and ${named.length - 3} more` : named.join(", ")) : several ? "choose columns" : "choose a column";
    opener.classList.toggle("is-empty", !named.length);
    if (!panel.hidden) offer();
  };
  const offer = () => {
    const wanted = search.value.trim().toLowerCase();
    const offered = columns();
    const fits = [...first.filter((name) => offered.includes(name)), ...offered.filter((name) => !first.includes(name))].filter((name) => !wanted || name.toLowerCase().includes(wanted));
    const made = fits.slice(0, MOST_OFFERED).map((name) => button(name, () => choose(name), { "aria-pressed": String(named.includes(name)), "data-column": name, "data-key": name }));
    if (!several && named.length) made.unshift(button("none of them", () => choose(null), { class: "is-none" }));
    if (fits.length > MOST_OFFERED) made.push(element("p", `and ${count(fits.length - MOST_OFFERED)} more: search for a name`, { class: "help" }));
    if (!fits.length) made.push(element("p", "no column has this name", { class: "help" }));
    redraw(list, made);
  };
  const toggle = (open = panel.hidden) => {
    panel.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (open) { search.value = ""; first = several ? [...named] : []; offer(); search.focus(); }
  };
  const choose = (name) => {
    const next = several && named.includes(name) ? (now) => now.filter((one) => one !== name) // of what is decided by then
      : (now) => [...(several ? now.filter((one) => one !== name) : []), ...(name === null ? [] : [name])];
    named = next(named);
    if (!several) { toggle(false); opener.focus(); }
    write();
    change(next);
  };
  search.addEventListener("input", offer);
  box.addEventListener("keydown", (event) => { if (event.key === "Escape" && !panel.hidden) { toggle(false); opener.focus(); event.stopPropagation(); } });
  box.addEventListener("focusout", (event) => { if (event.relatedTarget && !box.contains(event.relatedTarget)) toggle(false); });
  panel.append(search, list);
  if (several) panel.append(button("Done", () => { toggle(false); opener.focus(); }));
  box.append(title, opener, panel);
  if (help) box.append(element("p", help, { class: "help" }));
  return { box, show: (chosen) => { named = [...chosen]; write(); } };
}

// ---- what can be clicked about a problem -------------------------------------------------------------------------

// The options that a click sets: lists are added to, and one that is there already is taken out again.
export function optionsOf(click, options) {
  if (click.sets) return click.sets;
  return Object.fromEntries(Object.entries(click.adds).map(([name, values]) => [name, [...new Set([...(options[name] || []), ...values])]]));
}

export function notice(record, options, decide, about = record.text) {
  const item = element("li", "", { "data-key": `${about} ${record.text}` }, element("span", record.text));
  if (record.remedy) item.append(" ", element("span", `${record.remedy[0].toUpperCase()}${record.remedy.slice(1)}.`, { class: "help" }));
  const clicks = element("span", "", { class: "clicks" });
  for (const click of record.clicks || []) clicks.append(button(click.label, () => decide(() => optionsOf(click, options())), { "data-key": click.label, "aria-label": `${click.label}: ${about}`.slice(0, 200) }));
  if (clicks.children.length) item.append(" ", clicks);
  return item;
}
