// What is drawn after a step: boundaries and areas as paths in the unit square, scores, errors.

import { halfPlane, lineWithin, positiveArea, zeroLine } from "./contours.js";
import { Rows, predicted } from "./engine.js";

const CELLS = 48; // of the grid on a side, where the boundary is a curve
const FINE_CELLS = 144; // and where two lines may cross: x₁, x₂ and their product
const VOTE_CELLS = 96; // and where it is that of many lines
const VOTERS = 40; // of the weight vectors that vote, those drawn: the ones that lasted longest

// The grid of a view: its rows in the document's features, and their kernel values with points.
// It is kept from picture to picture, as a drag asks for the same one again and again.
const grids = new Map();

function gridOf(document, cells) {
  const { view, map, kernel, degree, gamma, coef0, bias } = document;
  const key = JSON.stringify([view, map, kernel, degree, gamma, coef0, bias, cells]);
  if (!grids.has(key)) {
    if (grids.size > 6) grids.clear();
    const [left, right, bottom, top] = view;
    const places = [];
    for (let r = 0; r <= cells; r++) {
      for (let c = 0; c <= cells; c++) places.push([left + ((right - left) * c) / cells, top - ((top - bottom) * r) / cells, 1]);
    }
    grids.set(key, { rows: new Rows(document, places), columns: new Map() });
  }
  return grids.get(key);
}

export class Picture {
  // `at`: how many visits have been made.
  constructor(training, at) {
    Object.assign(this, { training, at, document: training.document });
    const { visits } = training;
    this.row = at ? visits.row[at - 1] : null;
    this.tau = at ? visits.tau[at - 1] : 0;
    this.changed = this.tau !== 0;
    this.pass = training.passAt(at);
    this.mistakes = training.mistakesAt(at);
    this.updates = training.updatesAt(at);
    this.known = new Map();
  }

  // Whether all weights are 0: then every activation is, too, and no point has a side.
  get isBlank() {
    if (this.at && this.document.zero !== "mistake") return false;
    return this.once("blank", () => (this.weights() ?? this.training.weights(this.at)).every((value) => value === 0));
  }

  // Computes once what is asked for under a name.
  once(name, make) {
    if (!this.known.has(name)) this.known.set(name, make());
    return this.known.get(name);
  }

  // The weights that a memory has kept; null for the vote, which has none of its own.
  weights(memory = this.document.memory) {
    if (memory === "vote") return null;
    return this.once(`weights ${memory}`, () => (memory === "average" ? this.training.average(this.at) : this.training.weights(this.at)));
  }

  // The same before the last visit.
  before(memory = this.document.memory) {
    if (memory === "vote" || !this.at) return this.weights(memory);
    return this.once(`before ${memory}`, () => (memory === "average" ? this.training.average(this.at - 1) : this.training.weights(this.at - 1)));
  }

  get heldOut() {
    return this.once("held out", () => new Rows(this.document, this.document.held_out));
  }

  // Scores by what a memory has kept: activations, or the lead in votes as a share of all.
  scores(memory = this.document.memory, rows = this.training.rows) {
    const own = rows === this.training.rows;
    return this.once(`scores ${memory} ${own}`, () => {
      const gram = own ? this.training.gram : null;
      if (memory === "vote") return this.training.votes(this.at, rows, gram);
      return this.training.activations(this.weights(memory), rows, gram);
    });
  }

  // Which rows are on the wrong side.
  wrong(memory = this.document.memory, rows = this.training.rows) {
    const scores = this.scores(memory, rows);
    const found = [];
    for (let i = 0; i < rows.n; i++) if (predicted(scores[i], this.document) !== rows.y[i]) found.push(i);
    return found;
  }

  // ‖w‖ of the chosen weights, or 0.
  get norm() {
    const weights = this.weights();
    return weights === null ? 0 : this.once("norm", () => this.training.norm(weights));
  }

  get cells() {
    return this.document.map === "conjunction" && !this.training.hasKernel ? FINE_CELLS : CELLS;
  }

  // The values of weights on the grid.
  field(weights) {
    const { training } = this;
    const { rows, columns } = gridOf(this.document, this.cells);
    const found = new Float64Array(rows.n);
    if (!training.hasKernel) {
      rows.dots(weights, 0, found);
      return found;
    }
    if (columns.size > 4 * training.n + 50) columns.clear();
    for (let j = 0; j < training.n; j++) {
      if (weights[j] === 0) continue;
      const [x, y] = this.document.points[j];
      const key = `${x} ${y}`;
      if (!columns.has(key)) columns.set(key, Float64Array.from({ length: rows.n }, (_, i) => training.rows.kernel(j, rows, i)));
      const column = columns.get(key);
      for (let i = 0; i < rows.n; i++) found[i] += weights[j] * column[i];
    }
    return found;
  }

  // The line on which weights have an activation of `level`, and the area above it.
  boundary(weights, level = 0) {
    if (this.training.isLine) {
      const line = lineWithin(weights, this.document.view, level);
      return { line: line.length ? this.path(line) : "", area: this.path(halfPlane(weights, this.document.view)) };
    }
    const values = this.field(weights);
    if (level) for (let i = 0; i < values.length; i++) values[i] -= level;
    return { line: zeroLine(values, this.cells), area: positiveArea(values, this.cells) };
  }

  // The line and the area of a memory.
  kept(memory) {
    return this.once(`kept ${memory}`, () => {
      if (memory !== "vote") return this.boundary(this.weights(memory));
      const cells = this.training.isLine ? VOTE_CELLS : this.cells;
      const values = this.training.isLine ? this.lineVotes(cells) : this.training.votes(this.at, gridOf(this.document, cells).rows, this.gridGram(cells));
      return { line: zeroLine(values, cells), area: positiveArea(values, cells) };
    });
  }

  gridGram(cells) {
    return this.training.hasKernel ? this.training.rows.gram(gridOf(this.document, cells).rows) : null;
  }

  // The lead in votes on the grid where every vector is a line: along a row of the grid each vector
  // changes its vote once, so one number a vector and row is enough.
  lineVotes(cells) {
    const { training, at } = this;
    const [left, right, bottom, top] = this.document.view;
    const lasted = training.survivals(at);
    const width = cells + 1;
    const changes = new Float64Array(width * (width + 1));
    const step = (right - left) / cells;
    const tie = training.zero > 0 ? 1 : -1;
    for (let k = 0; k < lasted.length; k++) {
      const from = (k - 1) * training.width;
      const all = k ? training.updates.weights : training.start;
      const first0 = k ? from : 0;
      const [w1, w2, b, count] = [all[first0], all[first0 + 1], all[first0 + 2], lasted[k]];
      for (let r = 0; r < width; r++) {
        const rest = w2 * (top - ((top - bottom) * r) / cells) + b;
        const first = w1 * left + rest;
        const at0 = r * (width + 1);
        const begins = first > 0 ? 1 : first < 0 ? -1 : w1 ? Math.sign(w1) : tie;
        changes[at0] += begins * count;
        if (w1 === 0) continue;
        const turn = Math.ceil((-rest / w1 - left) / step); // the first node beyond the crossing
        if (turn > 0 && turn < width) changes[at0 + turn] -= 2 * begins * count;
      }
    }
    const values = new Float64Array(width * width);
    for (let r = 0; r < width; r++) {
      let sum = 0;
      for (let c = 0; c < width; c++) {
        sum += changes[r * (width + 1) + c];
        values[r * width + c] = sum;
      }
    }
    return values;
  }

  // The lines of the vectors that vote, each with its share of the votes, longest-lived first.
  voters() {
    if (!this.training.isLine || !this.at) return [];
    const lasted = this.training.survivals(this.at);
    const bar = lasted.slice().sort().at(-VOTERS) ?? 0; // the votes of the last one that is drawn
    return Array.from(lasted.keys()).filter((k) => lasted[k] >= bar && lasted[k] > 0).slice(0, VOTERS).map((k) => ({ count: lasted[k], k }))
      .map(({ count, k }) => ({ share: count / this.at, line: lineWithin(this.training.weightsAfter(k), this.document.view) }))
      .filter(({ line }) => line.length).map(({ share, line }) => ({ share, line: this.path(line) }));
  }

  // Places of the plane as a path in the unit square, whose y axis points down.
  path(places) {
    const [left, right, bottom, top] = this.document.view;
    const unit = places.map(([x, y]) => `${(x - left) / (right - left)} ${(top - y) / (top - bottom)}`);
    return unit.length ? `M${unit.join("L")}${unit.length > 2 ? "Z" : ""}` : "";
  }

  // The band in which the rule wants no row; a perceptron's is that of its margin, once all are right.
  get band() {
    const weights = this.weights();
    if (weights === null || !(this.norm > 0)) return null;
    let level = this.training.rule.target;
    const wanted = level > 0;
    if (!wanted) {
      const scores = this.scores();
      level = Infinity;
      for (let i = 0; i < scores.length; i++) level = Math.min(level, this.training.rows.y[i] * scores[i]);
    }
    if (!(level > 0 && level < Infinity)) return null;
    const width = level / this.norm;
    return { level, wanted, width, lines: () => [this.boundary(weights, level).line, this.boundary(weights, -level).line] };
  }

  // What is known of a point: its score, y times it, the distance and the votes for its class.
  about(point, score) {
    const [, , side] = point;
    const isVote = this.document.memory === "vote";
    return {
      score, margin: side * score, isVote,
      distance: this.norm > 0 ? score / this.norm : null,
    };
  }
}
