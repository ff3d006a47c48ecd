// The small pictures: projections, weights, mistakes of each pass, mistakes against the bound.

import { drawing, element, mark, onWidth, shown, ticks, vector } from "./elements.js";

const CHART_ROOM = { left: 54, right: 14, top: 14, bottom: 38 };

class Chart {
  constructor(name, title, height) {
    this.height = height;
    this.svg = drawing("svg", { class: `chart ${name}`, role: "img" });
    this.note = element("p", { class: "note" });
    this.box = element("div", { class: "chart-box" }, this.svg);
    this.root = element("section", { class: "card" }, element("h2", {}, title), this.box, this.note);
    this.width = 0;
    this.close = onWidth(this.box, (width) => {
      this.width = width;
      if (this.state) this.show(this.state);
    });
  }

  show(state) {
    this.state = state;
    if (!this.width || !state.frame) return;
    this.nodes = [];
    this.inner = { x: CHART_ROOM.left, y: CHART_ROOM.top, width: this.width - CHART_ROOM.left - CHART_ROOM.right };
    const height = this.draw(state) ?? this.height;
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.svg.replaceChildren(...this.nodes);
  }

  add(tag, attributes, words) {
    const node = drawing(tag, attributes);
    if (words !== undefined) node.textContent = words;
    this.nodes.push(node);
    return node;
  }

  line(d, name) {
    this.add("path", { d, class: name });
  }

  // Axes with their names; returns what turns numbers into pixels.
  axes([x0, x1], [y0, y1], names, { whole = false, steps = null, curve = (v) => v } = {}) {
    const { left, right, top, bottom } = CHART_ROOM;
    const base = this.height - bottom;
    const X = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (this.width - left - right);
    const Y = (y) => base - ((curve(y) - curve(y0)) / (curve(y1) - curve(y0) || 1)) * (base - top);
    const fits = (values) => (whole ? values.filter(Number.isInteger) : values);
    for (const x of fits(ticks(x0, x1, this.width < 320 ? 4 : 6))) {
      this.line(`M${X(x)} ${base}v4`, "tick");
      this.add("text", { x: X(x), y: base + 16, "text-anchor": "middle" }, shown(x));
    }
    for (const y of steps ?? fits(ticks(y0, y1, 4))) {
      this.line(`M${left} ${Y(y)}H${this.width - right}`, "grid");
      this.add("text", { x: left - 6, y: Y(y) + 4, "text-anchor": "end" }, shown(y));
    }
    this.line(`M${left} ${top}V${base}H${this.width - right}`, "axis");
    this.add("text", { class: "title", x: (left + this.width - right) / 2, y: base + 33, "text-anchor": "middle" }, names[0]);
    const middle = (top + base) / 2;
    this.add("text", { class: "title", x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, names[1]);
    return { X, Y, base };
  }

  say(words) {
    this.svg.setAttribute("aria-label", words);
    this.note.textContent = words;
  }
}

// Every point on one axis, where the boundary is 0 (CIML, Figure 4.7).
export class Projections extends Chart {
  constructor() {
    super("projections", "Projections onto w", 132);
  }

  draw({ document, frame }) {
    const { values, unit } = frame.projections;
    const most = 1.1 * (Math.max(0, ...values.map(Math.abs), frame.band?.width ?? 0) || 1);
    const { left, right } = CHART_ROOM;
    const X = (v) => left / 2 + ((v + most) / (2 * most)) * (this.width - left / 2 - right);
    const base = 88;
    if (frame.band && unit.startsWith("signed")) {
      const width = frame.band.width;
      this.add("rect", { class: "band-area", x: X(-width), y: 10, width: X(width) - X(-width), height: base - 10 });
    }
    this.line(`M${X(0)} 8V${base + 6}`, "boundary");
    this.line(`M${X(-most)} ${base}H${X(most)}`, "axis");
    for (const v of ticks(-most, most, 5)) {
      this.line(`M${X(v)} ${base}v4`, "tick");
      this.add("text", { x: X(v), y: base + 17, "text-anchor": "middle" }, shown(v));
    }
    const wrong = new Set(frame.wrong);
    document.points.forEach(([, , side], row) => {
      const y = side > 0 ? 30 : 62;
      const name = `${side > 0 ? "positive" : "negative"}${wrong.has(row) ? " is-wrong" : ""}`;
      this.nodes.push(mark(side, X(values[row]), y, 4.5, { class: name }));
    });
    if (frame.row !== null) {
      const y = document.points[frame.row][2] > 0 ? 30 : 62;
      this.add("circle", { class: "current", cx: X(values[frame.row]), cy: y, r: 8 });
    }
    this.add("text", { class: "title", x: this.width / 2, y: base + 36, "text-anchor": "middle" }, unit);
    const n = document.points.length;
    this.say(`${frame.wrong.length} of ${n} points on the wrong side of the boundary (${document.memory}).`);
  }
}

// The weights before and after the step, as signed bars.
export class Weights extends Chart {
  constructor() {
    super("weights", "Weights", 0);
  }

  draw({ document, frame }) {
    const { names, before, after, average } = frame.weights;
    const count = Math.min(names.length, 8);
    const left = Math.min(92, 20 + 7.5 * Math.max(2, ...names.slice(0, count).map((name) => Math.min(name.length, 10))));
    const right = 64;
    const all = [...before.slice(0, count), ...after.slice(0, count)];
    const most = Math.max(1e-12, ...all.map(Math.abs));
    const X = (v) => left + ((v + most) / (2 * most)) * (this.width - left - right);
    names.slice(0, count).forEach((name, j) => {
      const y = 10 + 28 * j;
      const short = name.length > 10 ? `${name.slice(0, 9)}…` : name;
      this.add("text", { class: "name", x: left - 8, y: y + 14, "text-anchor": "end" }, short);
      const bar = (value, top, height, kind) => this.add("rect", {
        class: kind, x: Math.min(X(0), X(value)), y: top, width: Math.abs(X(value) - X(0)), height,
      });
      if (frame.changed) bar(before[j], y + 1, 5, "old");
      bar(after[j], y + 6, 9, "new");
      this.add("text", { x: this.width - right + 8, y: y + 14 }, shown(after[j]));
    });
    const height = 16 + 28 * count;
    if (count) this.line(`M${X(0)} 4V${height - 6}`, "axis");
    const more = names.length > count ? ` ${names.length - count} more are smaller.` : "";
    const change = frame.changed ? "Thin bars: before the step." : "";
    const mean = document.memory === "average" && count <= 6 ? ` Average of all: ${vector(average)}.` : "";
    this.say(count ? `${change || "No change in this step."}${more}${mean}` : "All weights are 0.");
    return Math.max(height, 20);
  }
}

export class PassMistakes extends Chart {
  constructor() {
    super("passes", "Mistakes in each pass", 178);
  }

  draw({ frame }) {
    const counts = frame.per_pass;
    const most = Math.max(1, ...counts);
    const { X, Y, base } = this.axes([0.5, Math.max(5, counts.length) + 0.5], [0, most], ["pass", "mistakes"], { whole: true });
    const width = Math.min(34, (X(2) - X(1)) * 0.72);
    counts.forEach((count, i) => {
      const now = i === counts.length - 1;
      this.add("rect", { class: now ? "bar now" : "bar", x: X(i + 1) - width / 2, y: Y(count), width, height: base - Y(count) });
      if (count === 0 && !now) this.add("circle", { class: "none", cx: X(i + 1), cy: base, r: 2 });
    });
    const last = counts.length ? `Pass ${counts.length}: ${counts.at(-1)} so far.` : "No pass has begun.";
    this.say(`${last} ${frame.mistakes} mistakes in all.`);
  }
}

export class Bound extends Chart {
  constructor() {
    super("bound", "Mistakes so far and the bound", 190);
  }

  draw({ frame, steps, verdict }) {
    const { at } = frame;
    const bound = verdict?.bound ?? null;
    const made = frame.mistakes;
    const far = bound !== null && bound > 4 * Math.max(made, 5);
    const top = Math.max(5, made, bound ?? 0) * 1.08;
    const scale = far
      ? { curve: (v) => Math.log10(1 + v), steps: [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6].filter((v) => v <= top) }
      : { whole: true };
    const axis = far ? "mistakes (log scale)" : "mistakes";
    const { X, Y } = this.axes([0, Math.max(10, at)], [0, top], ["rows seen", axis], { ...scale });
    if (bound !== null) {
      this.line(`M${X(0)} ${Y(bound)}H${this.width - CHART_ROOM.right}`, "limit");
      this.add("text", { class: "halo", x: this.width - CHART_ROOM.right - 2, y: Y(bound) + 14, "text-anchor": "end" }, `R²/γ² = ${shown(bound)}`);
    }
    let d = `M${X(0)} ${Y(0)}`;
    for (let t = 0; t < at; t++) {
      if (steps.mistake[t]) d += `H${X(t + 1)}V${Y(steps.mistakes[t])}`;
    }
    this.line(`${d}H${X(at)}`, "curve");
    this.say(this.told(made, bound, verdict));
  }

  told(made, bound, verdict) {
    if (bound !== null) return `${made} mistakes; the theorem allows at most ${shown(bound)}.`;
    if (verdict?.status === "separable") return `${made} mistakes. The bound R²/γ² is that of the perceptron's rule.`;
    if (verdict?.status === "inseparable") return `${made} mistakes. Nothing bounds them: the points are not separable.`;
    return `${made} mistakes.`;
  }
}
