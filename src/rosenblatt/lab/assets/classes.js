// Several classes: a weight vector each, and the highest score wins (CIML, Chapter 6).

import { arrowPath, drawing, element, mark, set, shown, text, ticks, vector } from "./elements.js";
import { Transport } from "./transport.js";

const NAMES = ["circle", "square", "triangle"];
const LOOKS = ["positive", "negative", "third"];
const FAN = [[-0.5, 1.4, 0], [-0.6, -0.6, 1], [0.5, -0.9, 2], [1.5, 1.5, 0], [-0.3, -1.1, 1], [1.7, -0.2, 2], [0.1, 0.7, 0], [-1.7, 0.3, 1], [0.9, 0.2, 2], [0.9, 0.8, 0], [-0.8, -1.8, 1], [1.1, -1.0, 2], [0, 1.9, 0], [-1.2, -0.8, 1], [0.3, -1.7, 2]];
const LINE = [[-1.6, 0.5, 1], [0.1, 0.9, 0], [1.5, -0.4, 2], [-1.2, -0.9, 1], [-0.2, -0.6, 0], [1.8, 0.7, 2], [-1.9, -0.2, 1], [0.3, 0.1, 0], [1.3, 1.1, 2], [-1.3, 1.2, 1], [-0.1, -1.4, 0], [1.6, -1.2, 2]];
// What pages show: three classes, the first two of them, and one class between two others.
export const SETS = {
  three: { points: FAN, bias: false },
  two: { points: FAN.filter(([, , k]) => k < 2), bias: false },
  between: { points: LINE, bias: true },
};
const MOST_PASSES = 100;
const SIZE = 400; // pixels of the picture
const REACH = 2.6; // of its view, to each side
const RADIUS = 7;

// The training of one machine of several classes, as rosenblatt.trace has it: w and b of each class
// after each step. A tie with the true class is a mistake; of equal rivals the first loses.
export class ClassTraining {
  constructor({ points, bias }) {
    this.points = points;
    this.bias = bias;
    this.n = 1 + Math.max(...points.map(([, , k]) => k));
    this.weights = [Array.from({ length: this.n }, () => [0, 0, 0])];
    this.steps = [];
    for (let pass = 1; pass <= MOST_PASSES; pass++) {
      const before = this.mistakes;
      points.forEach((_, row) => this.visit(pass, row));
      if (this.mistakes === before) break;
    }
  }

  get mistakes() {
    return this.steps.filter(({ mistake }) => mistake).length;
  }

  get length() {
    return this.steps.length;
  }

  // The score of each class at a place, after `at` steps.
  scores(at, x, y) {
    return this.weights[at].map(([w1, w2, b]) => w1 * x + w2 * y + b);
  }

  visit(pass, row) {
    const [x, y, k] = this.points[row];
    const at = this.length;
    const scores = this.scores(at, x, y);
    const others = scores.map((_, r) => r).filter((r) => r !== k);
    const rival = others.reduce((best, r) => (scores[r] > scores[best] ? r : best));
    const mistake = !(scores[k] > scores[rival]);
    const change = (r, sign) => this.weights[at][r].map((value, j) => value + sign * [x, y, this.bias ? 1 : 0][j]);
    this.steps.push({ pass, row, scores, rival, mistake });
    this.weights.push(mistake ? this.weights[at].map((w, r) => (r === k ? change(r, 1) : r === rival ? change(r, -1) : w)) : this.weights[at]);
  }
}

// The part of the view in which a class has the highest score: corners, cut by one line after the other.
function region(weights, k) {
  let corners = [[-REACH, -REACH], [REACH, -REACH], [REACH, REACH], [-REACH, REACH]];
  weights.forEach((other, r) => {
    if (r === k) return;
    const [a, b, c] = weights[k].map((value, j) => value - other[j]);
    const lead = ([x, y]) => a * x + b * y + c;
    corners = corners.flatMap((p, i) => {
      const q = corners[(i + 1) % corners.length];
      const [u, v] = [lead(p), lead(q)];
      const here = u > 0 ? [p] : [];
      return u > 0 === v > 0 ? here : [...here, [0, 1].map((j) => p[j] + (u / (u - v)) * (q[j] - p[j]))];
    });
  });
  return corners;
}

const pixels = ([x, y]) => [(SIZE * (x + REACH)) / (2 * REACH), (SIZE * (REACH - y)) / (2 * REACH)];

function markOf(k, x, y, size) {
  if (k < 2) return mark(k ? -1 : 1, x, y, size);
  const [a, b] = [1.1 * size, 0.95 * size];
  return drawing("path", { class: "third mark", d: `M${x} ${y - a}L${x + b} ${y + 0.75 * a}H${x - b}Z` });
}

export class Classes {
  constructor() {
    this.svg = drawing("svg", { class: "classes", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" });
    this.transport = new Transport({ go: (way) => this.go(way), seek: (at) => this.seek(at), playing: () => {} });
    this.note = element("p", { role: "status" });
    this.body = element("tbody");
    this.head = element("tr", {});
    this.root = element(
      "div", { class: "panel classes-panel" }, this.svg,
      element("div", { class: "fields" }, this.note, this.transport.root, element("table", {}, element("thead", {}, this.head), this.body)),
    );
    this.take("three");
  }

  // Shows a set of points, after `at` steps.
  take(name, at = 0) {
    this.transport.pause();
    this.training = new ClassTraining(SETS[name]);
    this.seek(at === "end" ? this.training.length : at);
  }

  // As the transport of the lab: returns whether that led elsewhere.
  go(way) {
    const { at, training: { steps, length } } = this;
    const next = (reached) => {
      const found = steps.findIndex((step, t) => t >= at && reached(step, t));
      return found < 0 ? length : found + 1;
    };
    const place = {
      start: () => 0, back: () => Math.max(0, at - 1), step: () => Math.min(length, at + 1), end: () => length,
      mistake: () => next(({ mistake }) => mistake), pass: () => next(({ pass }, t) => steps[t + 1]?.pass !== pass),
    }[way]();
    if (place === at) return false;
    this.seek(place);
    return true;
  }

  seek(at) {
    this.at = at;
    this.transport.show({ at, training: this.training, picture: { pass: at ? this.training.steps[at - 1].pass : 0 } });
    this.draw();
  }

  draw() {
    const { at, training } = this;
    const { points, n } = training;
    const [before, weights, step] = [training.weights[Math.max(0, at - 1)], training.weights[at], at ? training.steps[at - 1] : null];
    const origin = pixels([0, 0]);
    const nodes = [drawing("rect", { class: "ground", width: SIZE, height: SIZE })];
    const level = (value, j) => pixels(j ? [0, value] : [value, 0])[j];
    for (const value of ticks(-REACH, REACH, 5)) nodes.push(drawing("path", { class: value ? "grid" : "zero", d: `M${level(value, 0)} 0V${SIZE}M0 ${level(value, 1)}H${SIZE}` }));
    const blank = weights.every((w) => w.every((value) => value === 0));
    if (!blank) nodes.push(...weights.map((_, k) => drawing("path", { class: `${LOOKS[k]}-area region`, d: pathOf(region(weights, k)) })));
    weights.forEach((w, k) => {
      const tip = pixels(w);
      if (step?.mistake && w !== before[k]) {
        nodes.push(drawing("path", { class: "arrow old", d: arrowPath(origin, pixels(before[k])) }));
        nodes.push(drawing("path", { class: `arrow step ${LOOKS[k]}`, d: arrowPath(pixels(before[k]), tip) }));
      }
      nodes.push(drawing("path", { class: `arrow ${LOOKS[k]}`, d: arrowPath(origin, tip) }));
      const far = Math.hypot(tip[0] - origin[0], tip[1] - origin[1]);
      if (far > 12) {
        const inside = tip.map((value) => Math.min(SIZE - 18, Math.max(18, value)));
        nodes.push(text(`w of ${NAMES[k]}s`, { class: "halo", x: Math.min(SIZE - 50, Math.max(50, inside[0])), y: inside[1] + (tip[1] < origin[1] ? -6 : 16), "text-anchor": "middle" }));
      }
    });
    points.forEach(([x, y, k], row) => {
      const [px, py] = pixels([x, y]);
      const scores = training.scores(at, x, y);
      nodes.push(markOf(k, px, py, RADIUS));
      if (!blank && scores.some((score, r) => r !== k && !(scores[k] > score))) nodes.push(drawing("path", { class: "cross", d: `M${px - 3} ${py - 3}l6 6m0 -6l-6 6` }));
      if (row === step?.row) nodes.push(drawing("circle", { class: "current", cx: px, cy: py, r: RADIUS + 5 }));
    });
    this.svg.replaceChildren(...nodes);
    const wrong = points.filter(([x, y, k]) => training.scores(at, x, y).some((score, r, all) => r !== k && !(all[k] > score))).length;
    set(this.svg, { "aria-label": `${points.length} points of ${n} classes and the regions in which each has the highest score; ${wrong} points are wrong.` });
    this.note.textContent = this.words(step);
    this.fillTable(step, before, weights);
  }

  words(step) {
    const { at, training } = this;
    if (!step) return "Before the first row all weights are 0, and so are all scores: a tie, which counts as a mistake.";
    const [, , k] = training.points[step.row];
    const met = `Pass ${step.pass}, row ${step.row + 1} (${NAMES[k]}):`;
    const tied = step.scores[k] === step.scores[step.rival];
    const did = step.mistake ? `${tied ? "its score is no higher than that of the" : "the highest score is that of the"} ${NAMES[step.rival]}s. The row is added to the w of the ${NAMES[k]}s and subtracted from that of the ${NAMES[step.rival]}s.` : "its class has the highest score. Nothing changes.";
    return `${met} ${did}${at === training.length ? ` Every row is now right, after ${training.mistakes} mistakes.` : ""}`;
  }

  // Each class with its weights now, and the score and the change of the row that was met.
  fillTable(step, before, weights) {
    const { bias, points } = this.training;
    const heads = ["class", "w", ...(bias ? ["b"] : []), "score", "change"];
    this.head.replaceChildren(...heads.map((words) => element("th", { scope: "col" }, words)));
    this.body.replaceChildren(...weights.map((w, k) => {
      const gains = step?.mistake ? (k === points[step.row][2] ? "+ x" : k === step.rival ? "− x" : "") : "";
      const sign = drawing("svg", { class: "symbol", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, markOf(k, 0, 0, 6));
      const cells = [element("span", { class: "in-line" }, sign, NAMES[k]), vector(w.slice(0, 2)), ...(bias ? [shown(w[2])] : []), step ? shown(step.scores[k]) : "–", gains];
      return element("tr", { class: gains ? "update" : null }, ...cells.map((cell) => element("td", {}, cell)));
    }));
  }

  show() {}

  close() {
    this.transport.close();
  }
}

function pathOf(corners) {
  return corners.length ? `M${corners.map((corner) => pixels(corner).map((value) => value.toFixed(1)).join(" ")).join("L")}Z` : "";
}
