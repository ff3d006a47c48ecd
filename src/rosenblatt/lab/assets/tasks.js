// Tasks that the page checks: each looks at the lab and returns whether it is done, and in words how far it is.

import { counted, shown } from "./elements.js";
import { rowNumber } from "./sentences.js";

const both = ({ document }) => [1, -1].every((side) => document.points.filter((point) => point[2] === side).length >= 4);
const ended = ({ training }) => training.n > 0 && training.stopReason === "converged";
const wrongAt = (training, memory, at) => training.scores(memory, at, training.rows, training.gram).reduce((sum, score, i) => sum + (training.rows.y[i] * score <= 0), 0);
const near = (a, b) => Math.abs(a - b) < 0.15;

export const CHECKS = {
  mistakes(state) {
    const { training, document } = state;
    const count = training.mistakesAt(training.length);
    const done = document.points.length <= 6 && ended(state) && count >= 20;
    const end = !training.n ? "" : ended(state) ? ", and then all are right" : ", and it does not come to an end: keep the classes separable";
    return [done, `${counted(document.points.length, "point")} of 6, ${counted(count, "mistake")} of 20${end}.`];
  },
  once(state) {
    const { training } = state;
    const later = training.mistakesAt(training.length) - training.mistakesAt(training.passEnds[1] ?? 0);
    const enough = both(state);
    return [enough && ended(state) && later === 0, enough ? `${counted(later, "mistake")} after the first pass.` : "Keep at least four points of each class."];
  },
  line({ training, document }) {
    if (!document.start.some(Boolean)) return [false, "Pull w by its ring before the first step (Start); the bias is under Settings."];
    const [yours, learned] = [wrongAt(training, "last", 0), wrongAt(training, "last", training.length)];
    return [yours <= learned, `Yours: ${yours} of ${training.n} wrong. The perceptron's last weights, starting there: ${learned}.`];
  },
  average(state) {
    const { training } = state;
    const [last, average] = ["last", "average"].map((memory) => wrongAt(training, memory, training.length));
    return [both(state) && ended(state) && average > last, both(state) ? `At the end ${last} wrong by the last weights, ${average} by the average${ended(state) ? "" : "; the last weights must get all points right"}.` : "Keep at least four points of each class."];
  },
  zero({ training, at }) {
    const quiet = training.n > 0 && training.visits.tau[0] === 0;
    return [quiet && at > 0, quiet ? "The first row taught nothing. With < in place of ≤ every row would be like it." : `Row ${rowNumber(training.visits.row[0] ?? 0)} comes first, its activation is 0, and it teaches.`];
  },
  signs(state) {
    const { document, training } = state;
    const wanted = [[-1, 0, 1], [-1, 1, 1], [0, 0, -1], [0, 1, -1]];
    const done = document.points.length === 4 && wanted.every(([x, y, side]) => document.points.some((point) => near(point[0], x) && near(point[1], y) && point[2] === side));
    const [w] = training.weights(training.length);
    return [done && ended(state) && w < 0, `w₁ is ${shown(w)} at the end. ${done ? "The feature means the same, written −1." : "Move the two points with x₁ = 1 to x₁ = −1."}`];
  },
  and({ training, document }) {
    const right = training.n - wrongAt(training, "last", 0);
    return [document.map === "conjunction" && document.points.length === 4 && right === 4, `${right} of 4 points are right before the first step.`];
  },
  radius({ training, verdict, document }) {
    const long = verdict?.radius >= 1.9 * Math.hypot(1, 0.5);
    const done = document.points.length === 4 && long && Math.abs(verdict.bound - 1.25 / 1.125) < 0.1;
    return [done, verdict?.bound ? `R = ${shown(verdict.radius)}, R²/γ² = ${shown(verdict.bound)}; ${counted(training.mistakesAt(training.length), "mistake")}.` : "The points must be separable by a line through the origin."];
  },
};
