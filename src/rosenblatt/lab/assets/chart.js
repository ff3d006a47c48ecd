// A small picture with axes, as wide as its place.

import { drawing, element, labelRoom, onSize, say, shown, text, ticks } from "./elements.js";

const ROOM = { left: 50, right: 14, top: 12, bottom: 36 };

export class Chart {
  constructor(name, height) {
    this.height = height;
    this.svg = drawing("svg", { class: `chart ${name}`, role: "img" });
    this.note = element("p", { class: "note" });
    this.box = element("div", { class: "chart-box" }, this.svg);
    this.root = element("div", { class: "chart-place" }, this.box, this.note);
    this.width = 0;
    this.close = onSize(this.box, (width) => {
      this.width = width;
      this.redraw();
    });
  }

  // Takes as much height as there is room for, within limits; `taken` is what stands around it.
  fit({ room }, taken, [least, most]) {
    this.height = Math.max(least, Math.min(most, room - taken));
  }

  // `draw(chart, state)` fills the picture and returns what is said of it.
  show(state, draw) {
    Object.assign(this, { state, draw });
    this.redraw();
  }

  redraw() {
    if (!this.width || !this.state) return;
    this.nodes = [];
    const words = this.draw(this, this.state);
    const box = { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}` };
    for (const [key, value] of Object.entries(box)) this.svg.setAttribute(key, value);
    this.svg.replaceChildren(...this.nodes);
    this.svg.setAttribute("aria-label", words);
    say(this.note, words);
  }

  add(tag, attributes) {
    this.nodes.push(drawing(tag, attributes));
  }

  line(d, name) {
    this.add("path", { d, class: name });
  }

  text(words, attributes) {
    this.nodes.push(text(words, attributes));
  }

  // Axes with their names; returns what turns numbers into pixels.
  axes([x0, x1], [y0, y1], names, { whole = false } = {}) {
    const { right, top, bottom } = ROOM;
    const fits = (values) => (whole ? values.filter(Number.isInteger) : values);
    const levels = fits(ticks(y0, y1, 4));
    const left = names[1] ? labelRoom(levels, ROOM.left) : ROOM.left;
    const base = this.height - bottom;
    const X = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (this.width - left - right);
    const Y = (y) => base - ((y - y0) / (y1 - y0 || 1)) * (base - top);
    for (const x of fits(ticks(x0, x1, this.width < 360 ? 4 : 7))) {
      this.line(`M${X(x)} ${base}v4`, "tick");
      this.text(shown(x), { x: X(x), y: base + 15, "text-anchor": "middle" });
    }
    for (const y of levels) {
      this.line(`M${left} ${Y(y)}H${this.width - right}`, "grid");
      this.text(shown(y), { x: left - 6, y: Y(y) + 4, "text-anchor": "end" });
    }
    this.line(`M${left} ${top}V${base}H${this.width - right}`, "axis");
    this.text(names[0], { class: "title", x: (left + this.width - right) / 2, y: base + 31, "text-anchor": "middle" });
    const middle = (top + base) / 2;
    this.text(names[1], { class: "title", x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` });
    return { X, Y, base, left, right: this.width - right, top };
  }
}

// A line through numbers, as a path.
export function linePath(values, X, Y, first = 0) {
  return Array.from(values, (value, i) => `${i ? "L" : "M"}${X(first + i).toFixed(1)} ${Y(value).toFixed(1)}`).join("");
}

// Counts that rise by steps: a path that is level between them.
export function stairs(counts, length, X, Y) {
  let d = `M${X(0)} ${Y(0)}`;
  let before = 0;
  for (let t = 0; t < length; t++) {
    if (counts[t] === before) continue;
    before = counts[t];
    d += `H${X(t + 1).toFixed(1)}V${Y(before).toFixed(1)}`;
  }
  return `${d}H${X(length).toFixed(1)}`;
}
