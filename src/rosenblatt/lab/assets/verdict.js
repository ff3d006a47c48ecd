// Whether a boundary separates the points, with a proof: nearest points of two convex hulls.
//
// Separable or not, and by how much, is one question: which point of a polytope is nearest to the
// origin? For the margin the polytope is that of all differences p − q of a positive and a negative
// point; for the theorem, which counts the bias as a weight, it is that of the vectors y·(x, 1).
// Wolfe's method finds that point in floating point, and then, from there, in exact rational
// arithmetic: the coordinates are binary fractions, so nothing is rounded and nothing is left open.
// With a kernel the polytope is known by inner products alone: there an interval is stated.

const EXACT_STEPS = 60;
const FLOAT_STEPS = 400;
const KERNEL_WORK = 3e6; // multiplications

// The verdict on a training's points: status ("separable", "inseparable", "undecided" or "open"
// where a class is missing), margin [low, high], gamma [low, high] and bound of the theorem,
// witness (w and b of widest margin), star (the unit weights of the theorem), rows (of the proof,
// each with its share) and meeting (the point that both mixtures are).
export function verdictOn(training) {
  const { rows } = training;
  const found = { status: "open", margin: null, gamma: null, radius: null, bound: null, witness: null, star: null, rows: [], meeting: null, exact: true };
  if (!rows.y.includes(1) || !rows.y.includes(-1)) return found;
  return training.hasKernel ? kernelVerdict(training, found) : linearVerdict(rows, found);
}

// ---- Exact ----

const FRACTION = 1075; // what the exponent of a double counts from, and its binary digits

// The parts of a double: whole digits, and the power of two that they are times.
function parts(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const digits = (bits & 0xfffffffffffffn) | (power ? 1n << 52n : 0n);
  return [bits >> 63n ? -digits : digits, Math.max(power, 1) - FRACTION];
}

// Doubles as whole numbers times one power of two, which is at most 1.
class Wholes {
  constructor(values) {
    this.values = values;
    this.known = new Map();
    const halves = new Uint32Array(Float64Array.from(values).buffer);
    this.power = 0;
    for (let i = 0; i < values.length; i++) {
      if (values[i] !== 0) this.power = Math.min(this.power, Math.max((halves[2 * i + 1] >>> 20) & 0x7ff, 1) - FRACTION);
    }
    this.unit = 2 ** this.power;
    this.one = 1n << BigInt(-this.power);
  }

  at(i) {
    if (!this.known.has(i)) {
      const [digits, power] = parts(this.values[i]);
      this.known.set(i, digits && digits << BigInt(power - this.power));
    }
    return this.known.get(i);
  }
}

const product = (x, y) => x.reduce((sum, value, j) => sum + value * y[j], 0n);
const size = (value) => (value < 0n ? -value : value);

// A quotient of whole numbers as the double nearest to it, or next to that.
function quotient(above, below) {
  const shift = size(above).toString(2).length - size(below).toString(2).length;
  const extra = 64 - shift;
  const scaled = extra >= 0 ? (above << BigInt(extra)) / below : above / (below << BigInt(-extra));
  return Number(scaled) * 2 ** -Math.min(extra, 1000) * 2 ** -Math.max(extra - 1000, 0);
}

// Solves A·x = c in whole numbers; returns [x, denominator] with denominator > 0, or null.
function solve(A, c) {
  const n = A.length;
  const M = A.map((line, i) => [...line, c[i]]);
  let last = 1n;
  for (let k = 0; k < n; k++) { // Bareiss: every division leaves no rest
    const pivot = M.findIndex((line, i) => i >= k && line[k] !== 0n);
    if (pivot < 0) return null;
    if (pivot !== k) [M[k], M[pivot]] = [M[pivot], M[k].map((value) => -value)];
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      for (let j = n; j >= 0; j--) {
        if (j !== k) M[i][j] = (M[i][j] * M[k][k] - M[i][k] * M[k][j]) / last;
      }
      M[i][k] = 0n;
    }
    last = M[k][k];
  }
  const sign = last < 0n ? -1n : 1n;
  return [M.map((line) => line[n] * sign), last * sign];
}

// The point nearest to the origin in the plane through these points: weights and denominator.
function flatNearest(points) {
  const k = points.length;
  const A = [[0n, ...Array(k).fill(1n)], ...points.map((p) => [1n, ...points.map((q) => product(p, q))])];
  const found = solve(A, [1n, ...Array(k).fill(0n)]);
  return found && [found[0].slice(1), found[1]];
}

// Wolfe's method in whole numbers. `lowest(x)` returns the vertex { id, point } with the least
// product with x; `first` are vertices to begin with. Returns vertices, weights and denominator.
function exactNearest(lowest, first) {
  let corral = first;
  let weights = null;
  let whole = 1n;
  for (let step = 0; step < EXACT_STEPS; step++) {
    for (;;) {
      const flat = flatNearest(corral.map(({ point }) => point));
      if (flat === null) { // they do not span a simplex: begin again with one
        corral = corral.slice(0, 1);
        weights = null;
        continue;
      }
      const [aim, below] = flat;
      if (aim.every((value) => value > 0n)) {
        [weights, whole] = [aim, below];
        break;
      }
      if (weights === null) {
        corral = corral.filter((_, i) => aim[i] > 0n);
        continue;
      }
      // From the weights towards the aim, until the first of them is 0.
      let [p, q] = [1n, 0n]; // the share of the way, p/q with q = 0 for "further than the aim"
      corral.forEach((_, i) => {
        if (aim[i] > 0n) return;
        const [above, under] = [weights[i] * below, weights[i] * below - aim[i] * whole];
        if (under > 0n && (q === 0n || above * q < p * under)) [p, q] = [above, under];
      });
      const moved = weights.map((value, i) => (q - p) * value * below + p * aim[i] * whole);
      whole = moved.reduce((sum, value) => sum + value, 0n);
      corral = corral.filter((_, i) => moved[i] > 0n);
      weights = moved.filter((value) => value > 0n);
    }
    const x = corral[0].point.map((_, j) => corral.reduce((sum, { point }, i) => sum + weights[i] * point[j], 0n));
    const next = lowest(x);
    if (product(x, next.point) * whole >= product(x, x)) return { corral, weights, whole, x };
    corral = [...corral, next];
    weights = [...weights, 0n];
  }
  return null;
}

// Wolfe's method in floating point: which vertices the nearest point is made of.
function floatNearest(lowest, start) {
  const inner = (x, y) => x.reduce((sum, value, j) => sum + value * y[j], 0);
  let corral = [start];
  let weights = [1];
  let x = start.point;
  for (let step = 0; step < FLOAT_STEPS; step++) {
    const next = lowest(x);
    const size = Math.max(...corral.map(({ point }) => inner(point, point)), inner(next.point, next.point));
    if (inner(x, x) - inner(x, next.point) <= 1e-13 * size || corral.some(({ key }) => key === next.key)) break;
    corral = [...corral, next];
    weights = [...weights, 0];
    for (;;) {
      const aim = floatAim(corral.map(({ point }) => point), inner);
      if (aim === null) return corral.slice(0, -1);
      if (aim.every((value) => value > 1e-12)) {
        weights = aim;
        break;
      }
      let share = 1;
      aim.forEach((value, i) => {
        if (value <= 1e-12 && weights[i] > value) share = Math.min(share, weights[i] / (weights[i] - value));
      });
      const moved = weights.map((value, i) => (1 - share) * value + share * aim[i]);
      const kept = moved.map((value) => value > 1e-12);
      if (kept.every(Boolean)) kept[aim.indexOf(Math.min(...aim))] = false;
      corral = corral.filter((_, i) => kept[i]);
      weights = moved.filter((_, i) => kept[i]);
    }
    x = corral[0].point.map((_, j) => corral.reduce((sum, { point }, i) => sum + weights[i] * point[j], 0));
  }
  return corral;
}

function floatAim(points, inner) {
  const k = points.length + 1;
  const M = [[0, ...points.map(() => 1), 1], ...points.map((p) => [1, ...points.map((q) => inner(p, q)), 0])];
  for (let c = 0; c < k; c++) {
    let pivot = c;
    for (let i = c + 1; i < k; i++) if (Math.abs(M[i][c]) > Math.abs(M[pivot][c])) pivot = i;
    if (Math.abs(M[pivot][c]) < 1e-300) return null;
    [M[c], M[pivot]] = [M[pivot], M[c]];
    for (let i = 0; i < k; i++) {
      if (i === c) continue;
      const factor = M[i][c] / M[c][c];
      for (let j = c; j <= k; j++) M[i][j] -= factor * M[c][j];
    }
  }
  return M.slice(1).map((line, i) => line[k] / line[i + 1]);
}

// Labelled rows as vectors y·x, or y·(x, 1): as doubles, and as whole numbers where asked for.
class Vectors {
  constructor({ n, d, y, values }, wholes, longer) {
    Object.assign(this, { n, y, wholes, longer, from: d, d: longer ? d + 1 : d });
    this.floats = new Float64Array(n * this.d);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < d; j++) this.floats[i * this.d + j] = y[i] * values[i * d + j];
      if (longer) this.floats[i * this.d + d] = y[i];
    }
    this.known = new Map();
    this.largest = Math.max(0, ...Array.from({ length: n }, (_, i) => this.product(i, this.float(i))));
  }

  float(i) {
    return Array.from(this.floats.subarray(i * this.d, (i + 1) * this.d));
  }

  whole(i) {
    if (!this.known.has(i)) {
      const values = Array.from({ length: this.from }, (_, j) => this.wholes.at(i * this.from + j));
      if (this.longer) values.push(this.wholes.one);
      this.known.set(i, this.y[i] > 0 ? values : values.map((value) => -value));
    }
    return this.known.get(i);
  }

  // The product of row i with x, in floating point.
  product(i, x) {
    let total = 0;
    for (let j = 0; j < this.d; j++) total += this.floats[i * this.d + j] * x[j];
    return total;
  }

  // Which of these rows has the least product with x, a list of doubles.
  lowest(rows, x) {
    let [best, least] = [rows[0], Infinity];
    for (let k = 0; k < rows.length; k++) {
      const value = this.product(rows[k], x);
      if (value < least) [best, least] = [rows[k], value];
    }
    return best;
  }

  // The same of whole numbers, exactly: doubles leave only a few rows to look at.
  lowestExactly(rows, x) {
    const near = proportions(x);
    const room = 1e-9 * Math.hypot(...near) * Math.sqrt(this.largest);
    const bar = this.product(this.lowest(rows, near), near) + room;
    let [best, least] = [-1, null];
    for (const i of rows) {
      if (this.product(i, near) > bar) continue;
      const value = product(this.whole(i), x);
      if (least === null || value < least) [best, least] = [i, value];
    }
    return best;
  }

  // The largest square of a row, as a whole number.
  get square() {
    let most = 0n;
    for (let i = 0; i < this.n; i++) {
      if (this.product(i, this.float(i)) < (1 - 1e-9) * this.largest) continue;
      const value = product(this.whole(i), this.whole(i));
      if (value > most) most = value;
    }
    return most;
  }
}

// Whole numbers as doubles of the same proportions.
function proportions(x) {
  const bits = Math.max(...x.map((value) => size(value).toString(2).length));
  return x.map((value) => Number(bits > 900 ? value >> BigInt(bits - 900) : value) || 0);
}

// The point nearest to the origin in the polytope whose vertices are sums of one vector of each
// group of rows.
function nearest(vectors, groups) {
  const sum = (points) => points.reduce((x, y) => x.map((value, j) => value + y[j]));
  const float = (id) => ({ id, key: id.join(), point: sum(id.map((i) => vectors.float(i))) });
  const exact = (id) => ({ id, key: id.join(), point: sum(id.map((i) => vectors.whole(i))) });
  const begun = floatNearest(
    (x) => float(groups.map((rows) => vectors.lowest(rows, x))),
    float(groups.map((rows) => rows[0])),
  );
  return exactNearest(
    (x) => exact(groups.map((rows) => vectors.lowestExactly(rows, x))),
    begun.map(({ id }) => exact(id)),
  );
}

function linearVerdict(rows, found) {
  const { n, y, constant } = rows;
  const wholes = new Wholes(rows.values);
  const { unit } = wholes;
  const everyone = Array.from({ length: n }, (_, i) => i);
  const long = new Vectors(rows, wholes, constant > 0);
  const { square } = long;
  found.radius = unit * Math.sqrt(quotient(square, 1n));
  const augmented = nearest(long, [everyone]);
  const meets = augmented !== null && augmented.x.every((value) => value === 0n);
  if (augmented !== null && !meets) {
    const { x, whole: below } = augmented;
    const length = product(x, x); // γ² = length/below²
    const gamma = unit * Math.sqrt(quotient(length, below * below));
    found.gamma = [gamma, gamma];
    found.bound = quotient(square * below * below, length);
    const star = proportions(x);
    const norm = Math.hypot(...star);
    found.star = [...star.map((value) => value / norm), ...(constant ? [] : [0])];
  }
  if (!constant) {
    found.status = augmented === null ? "undecided" : meets ? "inseparable" : "separable";
    found.margin = found.gamma;
    if (augmented !== null) found.rows = augmented.corral.map(({ id: [i] }, k) => [i, share(augmented.weights[k], augmented.whole)]);
    found.witness = found.star;
    return found;
  }
  const sides = [everyone.filter((i) => y[i] > 0), everyone.filter((i) => y[i] < 0)];
  const short = new Vectors(rows, wholes, false);
  const widest = nearest(short, sides);
  if (widest === null) return { ...found, status: "undecided" };
  const shares = new Map();
  widest.corral.forEach(({ id }, k) => {
    for (const i of id) shares.set(i, (shares.get(i) ?? 0n) + widest.weights[k]);
  });
  found.rows = [...shares].sort(([i], [j]) => y[j] - y[i] || i - j).map(([i, above]) => [i, share(above, widest.whole)]);
  const mixture = (side) => Array.from({ length: rows.d }, (_, j) => {
    const above = [...shares].reduce((sum, [i, amount]) => (y[i] === side ? sum + amount * wholes.at(i * rows.d + j) : sum), 0n);
    return above && quotient(above, widest.whole) * unit;
  }).map(Number);
  const [p, q] = [mixture(1), mixture(-1)];
  if (widest.x.every((value) => value === 0n)) return { ...found, status: "inseparable", meeting: p };
  const margin = (unit * Math.sqrt(quotient(product(widest.x, widest.x), widest.whole * widest.whole))) / 2;
  const w = p.map((value, j) => (value - q[j]) / (2 * margin));
  const b = -w.reduce((sum, value, j) => sum + (value * (p[j] + q[j])) / 2, 0);
  return { ...found, status: "separable", margin: [margin, margin], witness: [...w, b], nearest: [p, q] };
}

// A share as a double, as a fraction above/below, and as text where that is short.
function share(above, below) {
  let [a, b] = [above, below];
  while (b) [a, b] = [b, a % b];
  const [p, q] = [above / a, below / a];
  return { value: quotient(above, below), above: p, below: q, text: q === 1n ? String(p) : q < 1000n ? `${p}/${q}` : null };
}

// ---- By inner products ----

// The least norm of a mixture, one of each group, by moving weight from the worst row to the best
// (Mitchell, Demyanov & Malozemov). `inner(i)` gives the products of row i with all. Returns the
// weights, the norm of the mixture and the products of all rows with it.
function leastMixture(n, groups, inner) {
  const weight = new Float64Array(n);
  const towards = new Float64Array(n);
  const add = (i, amount) => {
    const line = inner(i);
    weight[i] += amount;
    for (let r = 0; r < n; r++) towards[r] += amount * line[r];
  };
  for (const group of groups) add(group[0], 1);
  const most = Math.ceil(KERNEL_WORK / Math.max(n, 16));
  for (let step = 0; step < most; step++) {
    let [best, low, high, square] = [0, -1, -1, 0];
    for (const group of groups) {
      let [down, up] = [group[0], -1];
      for (let k = 0; k < group.length; k++) {
        const i = group[k];
        if (towards[i] < towards[down]) down = i;
        if (weight[i] > 0) {
          square += weight[i] * towards[i];
          if (up < 0 || towards[i] > towards[up]) up = i;
        }
      }
      if (towards[up] - towards[down] > best) [best, low, high] = [towards[up] - towards[down], down, up];
    }
    if (low < 0 || best <= 1e-12 * square) break;
    const curve = inner(low)[low] + inner(high)[high] - 2 * inner(low)[high];
    const amount = curve > 0 ? Math.min(weight[high], best / curve) : weight[high];
    if (amount === 0) break;
    add(high, -amount);
    add(low, amount);
  }
  towards.fill(0);
  const kept = weight.slice();
  weight.fill(0);
  kept.forEach((amount, i) => amount && add(i, amount)); // afresh, without the drift of many steps
  const square = kept.reduce((sum, amount, i) => sum + amount * towards[i], 0);
  return { weight: kept, norm: Math.sqrt(Math.max(square, 0)), towards };
}

function kernelVerdict(training, found) {
  const { rows, gram, n } = training;
  const { y, constant } = rows;
  const { points } = training.document;
  found.exact = false;
  const twin = points.findIndex(([a, b, side], i) => points.some((other, j) => j < i && other[0] === a && other[1] === b && other[2] !== side));
  let square = 0;
  for (let i = 0; i < n; i++) square = Math.max(square, gram[i * n + i]);
  found.radius = Math.sqrt(square);
  if (twin >= 0) { // one place with both labels: no function of the place tells them apart
    const other = points.findIndex(([a, b, side]) => a === points[twin][0] && b === points[twin][1] && side !== points[twin][2]);
    const one = share(1n, 1n);
    return { ...found, status: "inseparable", exact: true, rows: [[other, one], [twin, one]], meeting: points[twin].slice(0, 2) };
  }
  const lines = (offset) => {
    const known = new Map();
    return (i) => {
      if (!known.has(i)) known.set(i, Float64Array.from({ length: n }, (_, j) => y[i] * y[j] * (gram[i * n + j] - offset)));
      return known.get(i);
    };
  };
  const everyone = Array.from({ length: n }, (_, i) => i);
  const augmented = leastMixture(n, [everyone], lines(0));
  const low = augmented.norm > 0 ? Math.min(...augmented.towards) / augmented.norm : 0;
  found.gamma = [Math.max(low, 0), augmented.norm];
  found.bound = low > 0 ? square / (low * low) : null;
  const groups = constant ? [everyone.filter((i) => y[i] > 0), everyone.filter((i) => y[i] < 0)] : [everyone];
  const widest = constant ? leastMixture(n, groups, lines(constant)) : augmented;
  const least = groups.reduce((sum, group) => sum + Math.min(...group.map((i) => widest.towards[i])), 0);
  const room = widest.norm > 0 ? least / widest.norm / groups.length : 0;
  found.margin = [Math.max(room, 0), widest.norm / groups.length];
  const largest = Math.max(...widest.weight);
  found.rows = everyone.filter((i) => widest.weight[i] > 1e-6 * largest).map((i) => [i, { value: widest.weight[i], text: null }]);
  found.star = low > 0 ? Array.from(augmented.weight, (amount, i) => (amount * y[i]) / augmented.norm) : null;
  return { ...found, status: room > 1e-9 * widest.norm ? "separable" : "undecided" };
}
