// The trace as a table: one line a visit, of which only those in view are made.

import { element, say, shown, vector } from "./elements.js";
import { label, rowNumber } from "./sentences.js";

const LINE = 26; // pixels
const MORE = 6; // lines above and below what is in view

export class TraceTable {
  // `seek(at)` goes to a step; `look(row)` is told which row the pointer is on.
  constructor({ seek, look }) {
    this.seek = seek;
    this.only = element("input", { type: "checkbox", onchange: () => this.show(this.state) });
    this.head = element("tr", {});
    this.body = element("tbody");
    this.table = element("table", {}, element("thead", {}, this.head), this.body);
    this.scroll = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Trace" }, this.table);
    this.note = element("span", { class: "note" });
    this.spaces = [0, 1].map(() => element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colspan: 11 })));
    this.pool = [];
    this.root = element("div", { class: "panel trace" }, element("div", { class: "in-line" }, element("label", { class: "check" }, this.only, "only updates"), this.note), this.scroll);
    this.scroll.addEventListener("scroll", () => this.fill());
    this.body.addEventListener("click", (event) => this.lineOf(event, (t) => seek(t + 1)));
    this.body.addEventListener("pointerover", (event) => this.lineOf(event, (t) => look({ list: "points", row: this.state.training.visits.row[t] })));
    this.body.addEventListener("pointerleave", () => look(null));
  }

  lineOf(event, then) {
    const line = event.target.closest("tr[data-t]");
    if (line) then(Number(line.dataset.t));
  }

  show(state) {
    const { training, at } = state;
    const moved = this.at !== at || this.training !== training;
    Object.assign(this, { state, at, training });
    this.lines = null;
    if (this.only.checked) {
      const { seen } = training.updates;
      this.lines = Array.from({ length: training.updatesAt(training.length) }, (_, k) => seen[k] - 1);
    }
    const second = training.isUncertain;
    const columns = ["step", "pass", "row", "x", "class", "activation", "", second ? "α" : "τ", ...(training.hasKernel ? ["its weight"] : ["w", "b"]), ...(second ? ["± w", "± b"] : [])];
    if (this.columns !== columns.join()) {
      this.columns = columns.join();
      this.head.replaceChildren(...columns.map((name) => element("th", { scope: "col" }, name || element("span", { class: "unseen" }, "outcome"))));
    }
    say(this.note, `${training.length.toLocaleString("en")} steps, ${training.updatesAt(training.length).toLocaleString("en")} updates; a line takes you there`);
    this.fill();
    if (moved || !this.scroll.clientHeight) this.reveal(at);
  }

  get count() {
    return this.lines ? this.lines.length : this.state.training.length;
  }

  // Scrolls so that the line of a step is in view.
  reveal(at) {
    const place = this.lines ? this.lines.findLastIndex((t) => t < at) : at - 1;
    const [top, height] = [this.scroll.scrollTop, this.scroll.clientHeight - 2 * LINE];
    const y = place * LINE;
    if (height <= 0) return;
    if (y < top) this.scroll.scrollTop = Math.max(0, y - height / 2);
    else if (y > top + height - LINE) this.scroll.scrollTop = y - height / 2;
    else return;
    this.fill();
  }

  fill() {
    if (!this.state) return;
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / LINE) - MORE);
    const last = Math.min(this.count, first + Math.ceil((this.scroll.clientHeight || 200) / LINE) + 2 * MORE);
    this.spaces[0].firstChild.style.height = `${first * LINE}px`;
    this.spaces[1].firstChild.style.height = `${(this.count - last) * LINE}px`;
    while (this.pool.length < last - first) this.pool.push(element("tr", {}));
    for (let place = first; place < last; place++) this.write(this.pool[place - first], this.lines ? this.lines[place] : place);
    const wanted = last - first;
    if (this.placed !== wanted) {
      this.placed = wanted;
      this.body.replaceChildren(this.spaces[0], ...this.pool.slice(0, wanted), this.spaces[1]);
    }
  }

  // Writes the line of a visit into a row of the table; only what is different.
  write(line, t) {
    const { document, training, at, hovered, selected } = this.state;
    const { visits } = training;
    const row = visits.row[t];
    const [x, y, side] = document.points[row];
    const tau = visits.tau[t];
    const outcome = visits.mistake[t] ? "wrong" : tau ? "too close" : "right";
    const weights = training.hasKernel ? null : training.weightsAfter(visits.updates[t]);
    const after = weights ? [vector(weights.slice(0, -1)), shown(weights.at(-1))] : [tau ? shown(training.weightsAfter(visits.updates[t])[row]) : "–"];
    if (training.isUncertain) {
      const deviations = training.variances(t + 1).map(Math.sqrt);
      after.push(vector(deviations.slice(0, -1)), shown(deviations.at(-1)));
    }
    const sign = tau ? `${side > 0 ? "+" : "−"}${shown(tau)}` : "";
    const cells = [t + 1, visits.pass[t], rowNumber(row), vector([x, y]), label(document, side), shown(visits.activation[t]), outcome, sign, ...after];
    const isLooked = [hovered, selected].some((place) => place?.list === "points" && place.row === row);
    const names = [tau ? "update" : "", t === at - 1 ? "now" : "", t >= at ? "to-come" : "", isLooked ? "looked-at" : ""].filter(Boolean).join(" ");
    if (line.className !== names) line.className = names;
    line.dataset.t = t;
    while (line.children.length < cells.length) line.append(element("td"));
    while (line.children.length > cells.length) line.lastChild.remove();
    cells.forEach((cell, j) => say(line.children[j], String(cell)));
  }
}
