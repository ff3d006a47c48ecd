// Putting, dragging and deleting points, and turning w: by mouse, by touch, by keyboard.

import { shown } from "./elements.js";
import { label, pointName } from "./sentences.js";

const STILL = 5; // pixels that a finger may tremble and still tap
const DIGITS = 3; // of a coordinate that a hand sets, counted from the size of the view
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Editing {
  // `lab`: state; change(parts, sentence, coalesce), select(place), hover(place), tell(sentence).
  constructor(plane, lab) {
    Object.assign(this, { plane, lab, cursor: null, held: null });
    const { svg } = plane;
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerup", (event) => this.up(event));
    svg.addEventListener("pointercancel", () => (this.held = null));
    svg.addEventListener("pointerleave", () => !this.held && lab.hover(null));
    // A finger on a point drags it; anywhere else it may scroll the page.
    svg.addEventListener("touchstart", (event) => (pointOf(event) || isHandle(event)) && event.preventDefault(), { passive: false });
    svg.addEventListener("contextmenu", (event) => this.menu(event));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focus", () => this.showCursor());
    svg.addEventListener("blur", () => plane.drawCursor(null));
  }

  get document() {
    return this.lab.state.document;
  }

  position(event) {
    const box = this.plane.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The place of an event, within the view and rounded as a hand is precise.
  place(event) {
    return this.rounded(this.plane.place(...this.position(event)));
  }

  rounded([x, y]) {
    const [left, right, bottom, top] = this.document.view;
    const within = (value, low, high) => Math.min(high, Math.max(low, value));
    return [round(within(x, left, right), right - left), round(within(y, bottom, top), top - bottom)];
  }

  down(event) {
    if (event.button !== 0) return;
    const point = pointOf(event);
    const [x, y] = [event.clientX, event.clientY];
    this.held = { point, handle: isHandle(event), grip: this.plane.grip, x, y, moved: false };
    if (point || this.held.handle) this.plane.svg.setPointerCapture(event.pointerId);
    if (point) this.lab.select(point);
    else if (this.held.handle) this.plane.handle.focus();
  }

  move(event) {
    const { held } = this;
    if (!held) {
      this.lab.hover(pointOf(event));
      return;
    }
    held.moved ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) > STILL;
    if (!held.moved) return;
    if (held.handle) this.turnTo(this.plane.place(...this.position(event).map((value, j) => value - held.grip[j])));
    else if (held.point && this.lab.state.tool !== "delete") this.put(held.point, this.place(event));
  }

  up(event) {
    const { held } = this;
    this.held = null;
    this.lab.settle();
    if (!held || held.moved || held.handle) return;
    const { tool } = this.lab.state;
    if (held.point) {
      if (tool === "delete") this.remove(held.point);
      return;
    }
    if (tool === "delete" || !this.plane.isInside(...this.position(event))) return;
    this.lab.select(null);
    const side = tool === "positive" ? 1 : -1;
    this.add(this.place(event), event.shiftKey ? -side : side);
  }

  menu(event) {
    const point = pointOf(event);
    if (!point) return;
    event.preventDefault();
    this.remove(point);
  }

  add(place, side) {
    const list = this.lab.state.holding ? "held_out" : "points";
    const points = [...this.document[list], [...place, side]];
    this.lab.change({ [list]: points }, `Put ${this.named({ list, row: points.length - 1 }, points)}.`);
  }

  put({ list, row }, place) {
    const points = this.document[list].map((point, i) => (i === row ? [...place, point[2]] : point));
    this.lab.change({ [list]: points }, `Moved ${this.named({ list, row }, points)}.`, `move ${list} ${row}`);
  }

  remove({ list, row }) {
    const said = `Deleted ${this.named({ list, row }, this.document[list])}.`;
    this.lab.select(null);
    this.lab.hover(null);
    this.lab.change({ [list]: this.document[list].filter((_, i) => i !== row) }, said);
  }

  flip({ list, row }) {
    const points = this.document[list].map((point, i) => (i === row ? [point[0], point[1], -point[2]] : point));
    this.lab.change({ [list]: points }, `Changed ${this.named({ list, row }, points)}.`);
  }

  // Moves a point from the rows that are learned to those held out, or back.
  hold({ list, row }) {
    const other = list === "points" ? "held_out" : "points";
    const point = this.document[list][row];
    this.lab.select({ list: other, row: this.document[other].length });
    this.lab.change(
      { [list]: this.document[list].filter((_, i) => i !== row), [other]: [...this.document[other], point] },
      list === "points" ? "This point is now held out." : "This point is now learned from.",
    );
  }

  named({ list, row }, points) {
    const [x, y, side] = points[row];
    return `${pointName({ list, row })}, class ${label(this.document, side)}, at (${shown(x)}, ${shown(y)})`;
  }

  // ---- The starting weights ----

  turnTo([x, y]) {
    const [left, right] = this.document.view;
    const near = Math.hypot(x, y) < 0.02 * (right - left);
    const w = near ? [0, 0] : [round(x, right - left), round(y, right - left)];
    const b = this.document.bias ? this.document.start.at(-1) ?? 0 : 0;
    const start = [...w, b];
    this.lab.change({ start: start.some(Boolean) ? start : [] }, `Training starts from w = (${shown(w[0])}, ${shown(w[1])}).`, "turn w");
  }

  handleKey(event) {
    const { start, view } = this.document;
    const [x, y] = [start[0] ?? 0, start[1] ?? 0];
    const [length, turn] = [Math.hypot(x, y), Math.atan2(y, x)];
    const step = (view[1] - view[0]) / 50;
    const change = { ArrowLeft: [0, 5], ArrowRight: [0, -5], ArrowUp: [step, 0], ArrowDown: [-step, 0] }[event.key];
    if (!change) return false;
    const [far, angle] = [Math.max(0, length + change[0]), turn + (change[1] * Math.PI) / 180];
    this.turnTo([far * Math.cos(angle), far * Math.sin(angle)]);
    return true;
  }

  // ---- Keyboard ----

  showCursor() {
    if (!this.plane.svg.matches(":focus-visible") || this.plane.svg.ownerDocument.activeElement !== this.plane.svg) return;
    const [left, right, bottom, top] = this.document.view;
    this.cursor ??= this.rounded([(left + right) / 2, (bottom + top) / 2]);
    this.plane.drawCursor(this.lab.state.selected === null ? this.cursor : null);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isHandle(event) && this.handleKey(event)) return event.preventDefault();
    if (this.edit(event)) event.preventDefault();
  }

  edit(event) {
    const { selected, tool } = this.lab.state;
    if (event.key in WAYS) return this.travel(WAYS[event.key], event.shiftKey ? 5 : 1);
    if (event.key === "n" || event.key === "p") return this.choose(event.key === "n" ? 1 : -1);
    if (event.key === "Escape" && selected !== null) return this.choose(0);
    if (selected !== null) {
      if (["Delete", "Backspace", "x"].includes(event.key)) this.remove(selected);
      else if (event.key === "c") this.flip(selected);
      else if (event.key === "h") this.hold(selected);
      else return false;
      this.showCursor();
      return true;
    }
    const chosen = tool === "negative" ? -1 : 1;
    const side = { "+": 1, "-": -1, Enter: chosen, " ": chosen }[event.key];
    if (side === undefined) return false;
    this.showCursor();
    this.add(this.cursor, side);
    return true;
  }

  travel([dx, dy], times) {
    const [left, right, bottom, top] = this.document.view;
    const { selected } = this.lab.state;
    const [x, y] = selected === null ? this.cursor ?? [(left + right) / 2, (bottom + top) / 2] : this.document[selected.list][selected.row];
    const place = this.rounded([x + (dx * times * (right - left)) / 50, y + (dy * times * (top - bottom)) / 50]);
    if (selected !== null) this.put(selected, place);
    else {
      this.cursor = place;
      this.showCursor();
      this.lab.tell(`(${shown(place[0])}, ${shown(place[1])})`);
    }
    return true;
  }

  choose(way) {
    const everyone = ["points", "held_out"].flatMap((list) => this.document[list].map((_, row) => ({ list, row })));
    if (!everyone.length) return false;
    const { selected } = this.lab.state;
    if (way === 0) {
      this.lab.select(null);
      this.lab.tell("No point is chosen.");
    } else {
      const now = selected ? everyone.findIndex(({ list, row }) => list === selected.list && row === selected.row) : way > 0 ? -1 : 0;
      const next = everyone[(now + way + everyone.length) % everyone.length];
      this.lab.select(next);
      this.lab.tell(`Chosen: ${this.named(next, this.document[next.list])}. ${this.lab.pointWords(next)}`);
    }
    this.showCursor();
    return true;
  }
}

function pointOf({ target }) {
  const { row, held } = target.dataset ?? {};
  if (row !== undefined) return { list: "points", row: Number(row) };
  return held !== undefined ? { list: "held_out", row: Number(held) } : null;
}

function isHandle({ target }) {
  return target.dataset?.handle !== undefined;
}

function round(value, extent) {
  const power = 10 ** (DIGITS - 1 - Math.floor(Math.log10(extent)));
  return Math.round(value * power) / power + 0;
}
