// What is said: one plain sentence or two for each step, and the verdict in words.

import { counted, shown, vector } from "./elements.js";

const ENDS = {
  converged: "Every row is now right: training has ended.",
  max_iter: "That was the last pass allowed: training has ended.",
  overflow: "The numbers have become too large to go on.",
};

export function label(document, side) {
  return document.labels[side > 0 ? 1 : 0];
}

// A row as it is named: counted from 1, as the lines of a file and all commands count.
export function rowNumber(row) {
  return row + 1;
}

export function pointName({ list, row }) {
  return `${list === "points" ? "row" : "held-out point"} ${rowNumber(row)}`;
}

// What the last visit met and did.
export function stepSentence(training, at) {
  const { document } = training;
  if (!training.n) return "There are no points yet. Put some on the plane, or choose a set under Points.";
  if (!at) {
    const start = training.start;
    if (training.hasKernel || start.every((value) => value === 0)) return "Before the first row all weights are 0, and so is every activation.";
    return `Training starts from w = ${vector(start.slice(0, -1))}, b = ${shown(start.at(-1))}, set by hand.`;
  }
  const parts = [met(training, at), did(training, at)];
  if (document.memory === "average" && !training.hasKernel) {
    const average = training.average(at);
    parts.push(`The average of all weights so far is w = ${vector(average.slice(0, -1))}${document.bias ? `, b = ${shown(average.at(-1))}` : ""}.`);
  }
  const cycle = cycleSentence(training, at);
  if (cycle) parts.push(cycle);
  if (at === training.length) parts.push(ENDS[training.stopReason] ?? `The lab follows ${at.toLocaleString("en")} steps at most.`);
  return parts.join(" ");
}

function met({ document, visits, rows }, at) {
  const row = visits.row[at - 1];
  const a = visits.activation[at - 1];
  const mistake = visits.mistake[at - 1];
  const where = `Pass ${visits.pass[at - 1]}, row ${rowNumber(row)} (class ${label(document, rows.y[row])}): the activation is`;
  if (a === 0) {
    if (document.zero === "mistake") return `${where} 0, which counts as a mistake.`;
    const side = document.zero === "positive" ? 1 : -1;
    return `${where} 0, which counts as class ${label(document, side)}: ${mistake ? "wrong" : "right"}.`;
  }
  const close = visits.tau[at - 1] !== 0 && !mistake;
  return `${where} ${shown(a)}, on the ${mistake ? "wrong" : "right"} side${close ? " but too close" : ""}.`;
}

function did(training, at) {
  const { visits, rows } = training;
  const tau = visits.tau[at - 1];
  if (tau === 0) return "Nothing changes.";
  const row = visits.row[at - 1];
  if (training.isUncertain) return didSurely(training, at);
  const times = tau === 1 ? "" : `${shown(tau)} times `;
  const way = rows.y[row] > 0 ? `${times}the row is added to the weights` : `${times}the row is subtracted from the weights`;
  const done = way[0].toUpperCase() + way.slice(1);
  const weights = training.weights(at);
  if (training.hasKernel) return `${done}: its own weight is now ${shown(weights[row])}.`;
  const bias = training.document.bias ? `, b = ${shown(weights.at(-1))}` : "";
  return `${done}: w = ${vector(weights.slice(0, -1))}${bias}.`;
}

// The step of a second-order rule: along Σx, in which unsure weights count more.
function didSurely(training, at) {
  const { visits, rows, document } = training;
  const [weights, deviations] = [training.weights(at), training.variances(at).map(Math.sqrt)];
  const way = rows.y[visits.row[at - 1]] > 0 ? "is added to" : "is subtracted from";
  const put = (values) => (document.bias ? values : values.slice(0, -1));
  const bias = document.bias ? `, b = ${shown(weights.at(-1))}` : "";
  return `${shown(visits.tau[at - 1])} times Σx ${way} the weights: w = ${vector(weights.slice(0, -1))}${bias}, deviations ${vector(put(deviations))}.`;
}

function cycleSentence({ cycle, passEnds }, at) {
  if (!cycle || passEnds[cycle[1]] !== at) return "";
  const [first, second] = cycle;
  const then = first ? `after pass ${first}` : "at the start";
  const length = second - first;
  return `The weights are again what they were ${then}: from here on ${length === 1 ? "every pass repeats this one" : `the last ${length} passes repeat`}, for ever.`;
}

// The verdict in one line, and in full.
export function verdictLine({ status, margin, gamma, radius, bound, exact }, document) {
  if (status === "open") return "A verdict needs points of both classes.";
  if (status === "separable") {
    const room = interval(margin);
    const most = bound !== null && document.rule === "perceptron" && !document.start.some(Boolean) ? `; at most ${shown(Math.floor(bound))} mistakes` : "";
    const added = most && document.bias ? ` (with the bias as a weight: γ = ${interval(gamma)}, R = ${shown(radius)})` : "";
    return `Separable, with a margin of ${room}${most}${added}.`;
  }
  if (status === "inseparable") return `Not separable by ${boundaryName(document)}.`;
  return exact ? "Undecided." : `Undecided: a margin, if there is one, is below ${shown(margin[1])}.`;
}

export function boundaryName(document) {
  if (document.kernel !== "none") return "this kernel";
  if (document.map !== "none") return "a plane in these features";
  return document.bias ? "a line" : "a line through the origin";
}

export function interval([low, high]) {
  return high - low <= 1e-4 * high ? shown(high) : `${shown(low)} to ${shown(high)}`;
}

export function proofSentences(verdict, document) {
  const { status, margin, gamma, radius, bound, exact } = verdict;
  const rounding = exact ? "computed in exact rational arithmetic" : "enclosed by floating-point numbers";
  if (status === "open") return ["Put points of both classes on the plane."];
  if (status === "separable") {
    const found = [
      `The hulls of the two classes do not meet. Half their distance is the margin γ = ${interval(margin)}, ${rounding}; the ringed points are nearest to the boundary of widest margin.`,
    ];
    if (bound !== null) {
      const added = document.bias ? "With the bias counted as a weight, " : "";
      found.push(`${added}R = ${shown(radius)} and γ = ${interval(gamma)}, so a perceptron that starts from 0 makes at most R²/γ² = ${shown(bound)} mistakes, in any order.`);
    }
    return found;
  }
  if (status === "undecided") {
    return [exact ? "No proof was found either way." : `The nearest points of the two hulls lie within ${shown(2 * margin[1])} of each other, by floating-point numbers. That proves neither side.`];
  }
  if (!document.bias && document.kernel === "none") return ["Mixed in these shares, the rows times their labels add up to 0. Any w would have to be positive on every one of them, and so on their sum: no w is."];
  if (document.kernel !== "none") return ["One place carries both labels: no function of the place can tell them apart."];
  return ["Mixed in these shares, the ringed points of one class and those of the other are the same point. A boundary would have to leave it on both sides at once."];
}

export function verdictRows({ rows, status }, document) {
  return rows.slice(0, 12).map(([row, { value, text }]) => `${text ?? shown(value)} × row ${rowNumber(row)} (${label(document, document.points[row][2])})`)
    .concat(rows.length > 12 ? [`and ${counted(rows.length - 12, "more row")}`] : []);
}
