// The perceptron family on points of the plane: the numbers of rosenblatt.trace, bit for bit.
//
// Every sum is made in the order in which Python makes it. Nothing here knows of a page.

import { MAPS, RULES, ZERO_CONVENTIONS, break_tie } from "./shared.js";

export const MOST_VISITS = 50_000; // of rows in one training

// ---- Chance: NumPy's default_rng, and the shuffle of rosenblatt.training.examples ----

const WORD = (1n << 64n) - 1n;
const LONG_WORD = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

// The four 64-bit words that NumPy's SeedSequence makes of a seed below 2³².
function seedWords(seed) {
  let constant = 0x43b0d7e5;
  const hash = (value) => {
    let mixed = (value ^ constant) >>> 0;
    constant = Math.imul(constant, 0x931e8875) >>> 0;
    mixed = Math.imul(mixed, constant) >>> 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const mix = (x, y) => {
    const mixed = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const pool = [seed, 0, 0, 0].map(hash);
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
  }
  constant = 0x8b51f9dd;
  const halves = [];
  for (let i = 0; i < 8; i++) {
    let value = (pool[i % 4] ^ constant) >>> 0;
    constant = Math.imul(constant, 0x58f38ded) >>> 0;
    value = Math.imul(value, constant) >>> 0;
    halves.push(BigInt((value ^ (value >>> 16)) >>> 0));
  }
  return [0, 2, 4, 6].map((i) => halves[i] | (halves[i + 1] << 32n));
}

// PCG64 (XSL-RR 128/64), as NumPy seeds it.
export class PCG64 {
  constructor(seed) {
    const [high, low, incrementHigh, incrementLow] = seedWords(seed);
    this.increment = ((((incrementHigh << 64n) | incrementLow) << 1n) | 1n) & LONG_WORD;
    this.state = this.increment;
    this.state = (this.state + ((high << 64n) | low)) & LONG_WORD;
    this.step();
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & LONG_WORD;
  }

  // The next 64 random bits.
  next() {
    this.step();
    const turn = this.state >> 122n;
    const word = ((this.state >> 64n) ^ this.state) & WORD;
    return ((word >> turn) | (word << (64n - turn))) & WORD;
  }
}

// A permutation of 0 … n − 1 by Fisher–Yates, one word an exchange.
export function permutation(n, generator) {
  const order = Int32Array.from({ length: n }, (_, i) => i);
  for (let here = n - 1; here > 0; here--) {
    const upper = Number(generator.next() >> 32n);
    const there = Math.floor((upper * (here + 1)) / 2 ** 32); // below 2⁵³, so exact
    const kept = order[here];
    order[here] = order[there];
    order[there] = kept;
  }
  return order;
}

const knownOrders = new Map(); // by kind, length and seed: a drag asks for the same ones again

// What gives the rows of pass 1, 2, …
export function ordersOf({ order, seed }, n) {
  const key = `${order} ${n} ${order === "given" ? 0 : seed}`;
  if (!knownOrders.has(key)) {
    if (knownOrders.size > 20) knownOrders.clear();
    knownOrders.set(key, { generator: new PCG64(seed), passes: [] });
  }
  const { generator, passes } = knownOrders.get(key);
  return (pass) => {
    const number = order === "every pass" ? pass : 1;
    while (passes.length < number) {
      passes.push(order === "given" ? Int32Array.from({ length: n }, (_, i) => i) : permutation(n, generator));
    }
    return passes[number - 1];
  };
}

// ---- Space: in which features points are learned ----

// The features of a place under a map, without the constant one.
export function mapped(x, y, map) {
  if (map === "conjunction") return [x, y, x * y];
  return map === "pairs" ? [x, y, x * x, x * y, y * y] : [x, y];
}

export function featureNames([a, b], map) {
  return { none: [a, b], conjunction: [a, b, `${a}·${b}`], pairs: [a, b, `${a}²`, `${a}·${b}`, `${b}²`] }[map];
}

function dot(x, xAt, y, yAt, d) {
  let total = 0.0;
  for (let j = 0; j < d; j++) total += x[xAt + j] * y[yAt + j];
  return total;
}

// One kernel value, without the constant that a bias is.
function kernelValue(x, xAt, y, yAt, d, { kernel, degree, gamma, coef0 }) {
  const product = dot(x, xAt, y, yAt, d);
  if (kernel === "rbf") {
    const distance = dot(x, xAt, x, xAt, d) + dot(y, yAt, y, yAt, d) - 2.0 * product;
    return Math.exp(-gamma * Math.max(distance, 0.0));
  }
  const base = gamma * product + coef0;
  if (degree === 1) return base;
  if (degree === 2) return base * base;
  if (degree === 3) return base * (base * base);
  let power = 1.0;
  for (let k = 0; k < degree; k++) power *= base;
  return power;
}

// The rows of points: their features, and their kernel values where there is a kernel.
export class Rows {
  constructor(document, points) {
    this.document = document;
    this.n = points.length;
    this.d = MAPS[document.map];
    this.constant = document.bias ? 1.0 : 0.0;
    this.values = new Float64Array(this.n * this.d);
    this.y = new Float64Array(this.n);
    points.forEach(([x, y, side], i) => {
      this.values.set(mapped(x, y, document.map), i * this.d);
      this.y[i] = side;
    });
  }

  // The kernel value of row i with row j of others, with the constant.
  kernel(i, others, j) {
    return kernelValue(this.values, i * this.d, others.values, j * this.d, this.d, this.document) + this.constant;
  }

  // Kernel values with all the rows of others, (n, others.n), with the constant.
  gram(others) {
    const found = new Float64Array(this.n * others.n);
    const same = others === this;
    for (let i = 0; i < this.n; i++) {
      for (let j = same ? i : 0; j < others.n; j++) {
        found[i * others.n + j] = this.kernel(i, others, j);
        if (same) found[j * others.n + i] = found[i * others.n + j];
      }
    }
    return found;
  }

  sqnorm(i) {
    const at = i * this.d;
    return dot(this.values, at, this.values, at, this.d) + this.constant * this.constant;
  }

  // w·x of row i; the bias stands last in the weights, which begin at `from`.
  dot(i, weights, from = 0) {
    return dot(this.values, i * this.d, weights, from, this.d) + this.constant * weights[from + this.d];
  }

  // The same of every row, to `out`.
  dots(weights, from, out) {
    const { values, d, n } = this;
    const bias = this.constant * weights[from + d];
    if (d === 2) {
      const first = weights[from];
      const second = weights[from + 1];
      for (let i = 0; i < n; i++) out[i] = values[2 * i] * first + values[2 * i + 1] * second + bias;
      return;
    }
    for (let i = 0; i < n; i++) {
      let total = 0.0;
      for (let j = 0; j < d; j++) total += values[i * d + j] * weights[from + j];
      out[i] = total + bias;
    }
  }

  add(i, step, weights) {
    const at = i * this.d;
    for (let j = 0; j < this.d; j++) weights[j] += step * this.values[at + j];
    weights[this.d] += step * this.constant;
  }

  // Writes Σx of row i to `out`, for the variances of a second-order rule, and returns xᵀΣx.
  scaled(i, variances, out) {
    const at = i * this.d;
    for (let j = 0; j < this.d; j++) out[j] = variances[j] * this.values[at + j];
    out[this.d] = variances[this.d] * this.constant;
    return dot(this.values, at, out, 0, this.d) + this.constant * out[this.d];
  }
}

// ---- Training ----

// The rule of a document with the parameters that it has.
export function ruleOf(document) {
  const rule = Object.create(RULES[document.rule]);
  for (const name of rule.parameters) {
    const fields = rule.tables[name]?.[document[name]] ?? { [name]: document[name] };
    for (const [field, value] of Object.entries(fields)) Object.defineProperty(rule, field, { value });
  }
  return rule;
}

// A list of numbers that grows.
class Column {
  constructor(Type, room = 1024) {
    this.values = new Type(room);
    this.length = 0;
  }

  push(value) {
    if (this.length === this.values.length) this.grow(1);
    this.values[this.length++] = value;
  }

  pushAll(values) {
    if (this.length + values.length > this.values.length) this.grow(values.length);
    this.values.set(values, this.length);
    this.length += values.length;
  }

  grow(more) {
    const larger = new this.values.constructor(Math.max(2 * this.values.length, this.length + more));
    larger.set(this.values);
    this.values = larger;
  }
}

// A whole training. Visits are numbered from 0; "at t" means after t visits. The columns of visits
// and updates are typed arrays, longer than what counts.
export class Training {
  // `gram`: kernel values of all rows, where somebody has them already.
  constructor(document, { order = document.order, gram = null } = {}) {
    this.document = document;
    this.rows = new Rows(document, document.points);
    this.n = this.rows.n;
    this.hasKernel = document.kernel !== "none";
    this.isLine = !this.hasKernel && document.map === "none";
    this.width = this.hasKernel ? this.n : this.rows.d + 1; // numbers that are learned
    this.start = new Float64Array(this.width);
    if (!this.hasKernel) this.start.set(document.start);
    if (!document.bias && !this.hasKernel) this.start[this.rows.d] = 0;
    this.gram = this.hasKernel ? gram ?? this.rows.gram(this.rows) : null;
    this.zero = ZERO_CONVENTIONS[document.zero];
    this.rule = ruleOf(document);
    this.isUncertain = this.rule.order === 2; // each weight has a variance
    this.hasFixedOrder = order !== "every pass";
    this.stopReason = null; // "converged", "max_iter", "overflow", or null where the lab gave up
    this.cycle = null; // the passes after which the weights were the same
    this.visits = {
      pass: new Column(Int32Array), row: new Column(Int32Array), activation: new Column(Float64Array),
      margin: new Column(Float64Array), tau: new Column(Float64Array), mistake: new Column(Uint8Array),
      mistakes: new Column(Int32Array), updates: new Column(Int32Array),
      variance: new Column(Float64Array), beta: new Column(Float64Array), // of a second-order rule
    };
    this.updates = {
      seen: new Column(Int32Array), row: new Column(Int32Array), amount: new Column(Float64Array),
      weights: new Column(Float64Array), ledger: new Column(Float64Array), variances: new Column(Float64Array),
    };
    this.passEnds = [0]; // visits until the end of each pass
    this.length = 0; // visits
    if (this.n) this.run(ordersOf({ order, seed: document.seed }, this.n));
    else this.stopReason = "max_iter";
    for (const columns of [this.visits, this.updates]) {
      for (const name of Object.keys(columns)) columns[name] = columns[name].values;
    }
  }

  run(orderOf) {
    const { rows, rule, zero, gram, n, visits, updates } = this;
    const weights = this.start.slice();
    const ledger = new Float64Array(this.width);
    const variances = this.isUncertain ? new Float64Array(this.width).fill(1) : null;
    const direction = new Float64Array(this.width); // Σx
    const scores = this.hasKernel ? new Float64Array(n) : null;
    const squares = Float64Array.from({ length: n }, (_, i) => (gram ? gram[i * n + i] : rows.sqnorm(i)));
    const places = new Map([[weights.join(), 0]]); // weights at the ends of passes
    let mistakes = 0;
    let changes = 0;
    let count = 1; // Algorithm 7's c
    for (let pass = 1; pass <= this.document.max_iter; pass++) {
      const order = orderOf(pass);
      const before = { mistakes, changes };
      for (let t = 0; t < n; t++) {
        const i = order[t];
        const y = rows.y[i];
        const a = scores ? scores[i] : rows.dot(i, weights);
        const margin = break_tie(y * a, y, zero);
        const variance = variances ? rows.scaled(i, variances, direction) : 0;
        const [tau, beta] = variances ? rule.step(margin, variance) : [rule.step(margin, squares[i]), 0];
        const mistake = !(margin > 0.0);
        if (tau !== 0.0) {
          const amount = tau * y;
          if (scores) {
            for (let r = 0; r < n; r++) scores[r] += amount * gram[i * n + r];
            weights[i] += amount;
          } else {
            if (variances) {
              for (let j = 0; j < this.width; j++) {
                weights[j] += amount * direction[j];
                ledger[j] += amount * count * direction[j];
                variances[j] = Math.max(variances[j] - beta * (direction[j] * direction[j]), 2 ** -200); // LEAST_VARIANCE
              }
              updates.variances.pushAll(variances);
            } else {
              rows.add(i, amount, weights);
              rows.add(i, amount * count, ledger);
            }
            updates.weights.pushAll(weights);
            updates.ledger.pushAll(ledger);
          }
          updates.seen.push(count);
          updates.row.push(i);
          updates.amount.push(amount);
          changes += 1;
        }
        mistakes += mistake;
        visits.pass.push(pass);
        visits.row.push(i);
        visits.activation.push(a);
        visits.margin.push(margin);
        visits.tau.push(tau);
        visits.mistake.push(mistake);
        visits.mistakes.push(mistakes);
        visits.updates.push(changes);
        visits.variance.push(variance);
        visits.beta.push(beta);
        this.length = count;
        count += 1;
        if (!Number.isFinite(a) || !Number.isFinite(tau)) {
          this.stopReason = "overflow";
          return;
        }
        if (count > MOST_VISITS) return;
      }
      this.passEnds.push(this.length);
      if (this.classifiesAll(mistakes - before.mistakes, changes - before.changes, weights, scores)) {
        this.stopReason = "converged";
        return;
      }
      if (this.hasFixedOrder && this.cycle === null && !variances) { // variances only fall
        const key = weights.join();
        if (places.has(key) && changes > before.changes) this.cycle = [places.get(key), pass];
        places.set(key, pass);
      }
    }
    this.stopReason = "max_iter";
  }

  // Whether the weights are proved right on all rows, as rosenblatt.training.fit has it.
  classifiesAll(mistakes, changes, weights, scores) {
    if (changes === 0) return mistakes === 0;
    if (mistakes || this.rule.stopsByItself) return false;
    for (let i = 0; i < this.n; i++) {
      const y = this.rows.y[i];
      if (!(break_tie(y * (scores ? scores[i] : this.rows.dot(i, weights)), y, this.zero) > 0.0)) return false;
    }
    return true;
  }

  // How many of the first `at` visits changed the weights.
  updatesAt(at) {
    return at ? this.visits.updates[at - 1] : 0;
  }

  mistakesAt(at) {
    return at ? this.visits.mistakes[at - 1] : 0;
  }

  passAt(at) {
    return at ? this.visits.pass[at - 1] : 0;
  }

  // The weights after k updates; with a kernel one number a row.
  weightsAfter(k) {
    if (!this.hasKernel) {
      return k ? this.updates.weights.slice((k - 1) * this.width, k * this.width) : this.start.slice();
    }
    const weights = new Float64Array(this.n);
    for (let e = 0; e < k; e++) weights[this.updates.row[e]] += this.updates.amount[e];
    return weights;
  }

  weights(at) {
    return this.weightsAfter(this.updatesAt(at));
  }

  // The variance of each weight after `at` visits, of a second-order rule.
  variances(at) {
    const k = this.updatesAt(at);
    return k ? this.updates.variances.slice((k - 1) * this.width, k * this.width) : new Float64Array(this.width).fill(1);
  }

  // The mean of the vectors w₀ … w_at: Algorithm 7's w − u/c.
  average(at) {
    const k = this.updatesAt(at);
    const weights = this.weightsAfter(k);
    if (!k) return weights;
    if (this.hasKernel) {
      const ledger = new Float64Array(this.n);
      for (let e = 0; e < k; e++) ledger[this.updates.row[e]] += this.updates.amount[e] * this.updates.seen[e];
      return weights.map((w, i) => w - ledger[i] / (at + 1));
    }
    const from = (k - 1) * this.width;
    return weights.map((w, j) => w - this.updates.ledger[from + j] / (at + 1));
  }

  // How many of `at` rows each weight vector lasted, the first one first: its votes.
  survivals(at) {
    const k = this.updatesAt(at);
    const lasted = new Float64Array(k + 1);
    let before = 1;
    for (let e = 0; e < k; e++) {
      lasted[e] = this.updates.seen[e] - before;
      before = this.updates.seen[e];
    }
    lasted[k] = at + 1 - before;
    return lasted;
  }

  // The scores of rows by what is kept after `at` visits: activations, or the lead in votes as a
  // share of all. `gram`: kernel values of this training's rows (n, rows.n), where there is a kernel.
  scores(memory, at, rows, gram = null) {
    if (memory === "vote") return this.votes(at, rows, gram);
    return this.activations(memory === "average" ? this.average(at) : this.weights(at), rows, gram);
  }

  activations(weights, rows, gram = null) {
    const found = new Float64Array(rows.n);
    if (!this.hasKernel) {
      rows.dots(weights, 0, found);
      return found;
    }
    const values = gram ?? this.rows.gram(rows);
    for (let j = 0; j < this.n; j++) {
      const weight = weights[j];
      if (weight === 0.0) continue;
      const from = j * rows.n;
      for (let i = 0; i < rows.n; i++) found[i] += weight * values[from + i];
    }
    return found;
  }

  votes(at, rows, gram = null) {
    return this.votesAfter([at], rows, gram)[0];
  }

  // The lead in votes after each of some numbers of visits, in one sweep over all weight vectors.
  votesAfter(ats, rows, gram = null) {
    const { seen, row, amount, weights } = this.updates;
    const { n } = rows;
    const activation = new Float64Array(n);
    const values = this.hasKernel ? gram ?? this.rows.gram(rows) : null;
    const total = new Float64Array(n);
    const least = this.zero > 0 ? -Number.MIN_VALUE : 0.0; // an activation above it votes positive
    let k = 0; // the vector at hand
    let since = 1; // Algorithm 7's counter when it came
    const vote = (sums, count) => {
      if (!this.hasKernel) {
        if (k) rows.dots(weights, (k - 1) * this.width, activation);
        else rows.dots(this.start, 0, activation);
      }
      for (let i = 0; i < n; i++) sums[i] += activation[i] > least ? count : -count;
    };
    return ats.map((at) => {
      for (const end = this.updatesAt(at); k < end; k++) {
        vote(total, seen[k] - since);
        since = seen[k];
        if (this.hasKernel) for (let i = 0; i < n; i++) activation[i] += amount[k] * values[row[k] * n + i];
      }
      const found = total.slice();
      vote(found, at + 1 - since);
      for (let i = 0; i < n; i++) found[i] /= Math.max(at, 1);
      return found;
    });
  }

  // The share of rows on the wrong side after each pass, by what a memory has kept.
  errorsByPass(memory, rows, gram = null) {
    const ends = this.passEnds.slice(1);
    const all = memory === "vote" ? this.votesAfter(ends, rows, gram) : ends.map((at) => this.scores(memory, at, rows, gram));
    return all.map((scores) => scores.reduce((wrong, score, i) => wrong + (predicted(score, this.document) !== rows.y[i]), 0) / (rows.n || 1));
  }

  // What the theorem's proof looks at after each update, from k = 0 on: the length of the weights
  // and their product with the unit weights `star` of widest margin, both with the bias.
  proofCourse(star) {
    const count = this.updatesAt(this.length);
    const length = new Float64Array(count + 1);
    const projection = new Float64Array(count + 1);
    const { seen, row, amount, weights } = this.updates;
    const along = this.hasKernel ? this.activations(star, this.rows, this.gram) : null;
    let square = 0.0;
    for (let k = 0; k < count; k++) {
      if (this.hasKernel) {
        const own = this.gram[row[k] * this.n + row[k]];
        square += 2 * amount[k] * this.visits.activation[seen[k] - 1] + amount[k] * amount[k] * own;
        projection[k + 1] = projection[k] + amount[k] * along[row[k]];
      } else {
        square = 0.0;
        for (let j = 0; j < this.width; j++) {
          const w = weights[k * this.width + j];
          square += w * w;
          projection[k + 1] += w * star[j];
        }
      }
      length[k + 1] = Math.sqrt(Math.max(square, 0.0));
    }
    return { length, projection };
  }

  // ‖w‖ without the bias, by which an activation becomes a distance.
  norm(weights) {
    let square = 0.0;
    if (!this.hasKernel) {
      for (let j = 0; j < this.rows.d; j++) square += weights[j] * weights[j];
      return Math.sqrt(square);
    }
    for (let i = 0; i < this.n; i++) {
      if (weights[i] === 0.0) continue;
      for (let j = 0; j < this.n; j++) square += weights[i] * weights[j] * (this.gram[i * this.n + j] - this.rows.constant);
    }
    return Math.sqrt(Math.max(square, 0.0));
  }
}

// What a score predicts at test time: an activation of 0 is negative unless the document has it
// positive.
export function predicted(score, document) {
  if (score > 0) return 1;
  return score === 0 && document.zero === "positive" ? 1 : -1;
}
