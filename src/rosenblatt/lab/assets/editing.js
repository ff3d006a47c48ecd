// Putting, dragging and deleting points: by mouse, by touch, by keyboard.

import { shown } from "./elements.js";

const STILL = 6; // pixels that a finger may tremble and still tap
const DIGITS = 3; // of a coordinate that a hand sets, counted from the size of the view

export class Editing {
  // `lab` has document, editable, tool, selected; change(points, sentence), select(row), command(name).
  constructor(plane, lab) {
    this.plane = plane;
    this.lab = lab;
    this.cursor = null;
    const { svg } = plane;
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerup", (event) => this.up(event));
    svg.addEventListener("pointercancel", () => (this.held = null));
    // A finger on a point drags it; anywhere else it may scroll the page.
    svg.addEventListener("touchstart", (event) => this.isPoint(event) && event.preventDefault(), { passive: false });
    svg.addEventListener("contextmenu", (event) => this.menu(event));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focus", () => this.showCursor());
    svg.addEventListener("blur", () => plane.drawCursor(null));
  }

  isPoint(event) {
    return this.lab.editable && event.target.dataset?.row !== undefined;
  }

  place(event) {
    const box = this.plane.svg.getBoundingClientRect();
    return this.rounded(this.plane.place(event.clientX - box.left, event.clientY - box.top));
  }

  rounded([x, y]) {
    const [left, right, bottom, top] = this.lab.document.view;
    const round = (value, extent) => {
      const power = 10 ** (DIGITS - 1 - Math.floor(Math.log10(extent)));
      return Math.round(value * power) / power + 0;
    };
    const within = (value, low, high) => Math.min(high, Math.max(low, value));
    return [
      round(within(x, left, right), right - left),
      round(within(y, bottom, top), top - bottom),
    ];
  }

  down(event) {
    if (event.button !== 0 || !this.lab.editable) return;
    const row = event.target.dataset?.row;
    this.held = { row: row === undefined ? null : Number(row), x: event.clientX, y: event.clientY, moved: false };
    if (this.held.row !== null) {
      this.plane.svg.setPointerCapture(event.pointerId);
      this.lab.select(this.held.row);
    }
  }

  move(event) {
    if (!this.held) return;
    const far = Math.hypot(event.clientX - this.held.x, event.clientY - this.held.y) > STILL;
    this.held.moved ||= far;
    if (this.held.row !== null && this.held.moved && this.lab.tool !== "delete") {
      this.put(this.held.row, this.place(event));
    }
  }

  up(event) {
    const held = this.held;
    this.held = null;
    if (!held || held.moved) return;
    if (held.row !== null) {
      if (this.lab.tool === "delete") this.remove(held.row);
      return;
    }
    if (this.lab.tool === "delete") return;
    const side = this.lab.tool === "positive" ? 1 : -1;
    this.add(this.place(event), event.shiftKey ? -side : side);
  }

  menu(event) {
    const row = event.target.dataset?.row;
    if (row === undefined || !this.lab.editable) return;
    event.preventDefault();
    this.remove(Number(row));
  }

  add(place, side) {
    const points = [...this.lab.document.points, [...place, side]];
    this.lab.change(points, `Put ${this.named(points.length - 1, points)}.`);
  }

  put(row, place) {
    const points = this.lab.document.points.map((point, i) => (i === row ? [...place, point[2]] : point));
    this.lab.change(points, `Moved ${this.named(row, points)}.`);
  }

  remove(row) {
    const said = `Deleted ${this.named(row, this.lab.document.points)}.`;
    this.lab.select(null);
    this.lab.change(this.lab.document.points.filter((_, i) => i !== row), said);
  }

  turn(row) {
    const points = this.lab.document.points.map((point, i) => (i === row ? [point[0], point[1], -point[2]] : point));
    this.lab.change(points, `Changed ${this.named(row, points)}.`);
  }

  named(row, points) {
    const [x, y, side] = points[row];
    return `row ${row}, class ${this.lab.document.labels[side > 0 ? 1 : 0]}, at (${shown(x)}, ${shown(y)})`;
  }

  showCursor() {
    if (!this.lab.editable || !this.plane.svg.matches(":focus-visible")) return;
    const [left, right, bottom, top] = this.lab.document.view;
    this.cursor ??= this.rounded([(left + right) / 2, (bottom + top) / 2]);
    this.plane.drawCursor(this.lab.selected === null ? this.cursor : null);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const command = { s: "step", m: "mistake", a: "pass", e: "end", b: "back", Home: "start", k: "play" }[event.key];
    const done = command ? this.lab.command(command) ?? true : this.lab.editable && this.edit(event);
    if (done) event.preventDefault();
  }

  edit(event) {
    const { selected, document } = this.lab;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in ways) return this.travel(ways[event.key], event.shiftKey ? 5 : 1);
    if (event.key === "n" || event.key === "p") return this.choose(event.key === "n" ? 1 : -1);
    if (event.key === "Escape" && selected !== null) return this.choose(0);
    if (selected !== null) {
      if (["Delete", "Backspace", "x"].includes(event.key)) this.remove(selected);
      else if (event.key === "c") this.turn(selected);
      else return false;
      this.showCursor();
      return true;
    }
    const chosen = this.lab.tool === "negative" ? -1 : 1;
    const side = { "+": 1, "-": -1, Enter: chosen, " ": chosen }[event.key];
    if (side === undefined || !document.view) return false;
    this.showCursor();
    this.add(this.cursor, side);
    return true;
  }

  travel([dx, dy], times) {
    const [left, right, bottom, top] = this.lab.document.view;
    const { selected } = this.lab;
    const [x, y] = selected === null ? this.cursor ?? [0, 0] : this.lab.document.points[selected];
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
    const { points } = this.lab.document;
    if (!points.length) return false;
    if (way === 0) {
      this.lab.select(null);
      this.lab.tell("No point is chosen.");
    } else {
      const start = this.lab.selected ?? (way > 0 ? -1 : 0);
      const row = (start + way + points.length) % points.length;
      this.lab.select(row);
      this.lab.tell(`Chosen: ${this.named(row, points)}.`);
    }
    this.showCursor();
    return true;
  }
}
