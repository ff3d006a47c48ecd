// What can be looked at beside the plane: the axis along w, the theorem, passes, orders, the proof.

import { Chart, linePath, stairs } from "./chart.js";
import { button, counted, drawing, element, markPath, say, set, shown, ticks } from "./elements.js";
import { Training } from "./engine.js";
import { Picture } from "./picture.js";
import { proofSentences, verdictRows } from "./sentences.js";

const ORDER_WORDS = { given: "as given", once: "shuffled once", "every pass": "shuffled every pass" };

// Every point projected onto w, on one axis with the threshold (CIML, Figures 4.7 and 4.8).
export class Axis {
  constructor() {
    this.chart = new Chart("projections", 150);
    this.root = element("div", { class: "panel" }, this.chart.root, element("p", { class: "note" }, "How far each point reaches along w: w·x/‖w‖. The bias moves no point; it moves the threshold, to −b/‖w‖. Crosses are on the wrong side."));
  }

  show(state) {
    this.chart.show(state, drawAxis);
  }

  close() {
    this.chart.close();
  }
}

function drawAxis(chart, { document, picture, training, hovered, selected }) {
  const { norm, band } = picture;
  const isVote = document.memory === "vote";
  const scores = picture.scores();
  const b = training.hasKernel || isVote ? 0 : picture.weights().at(-1);
  const threshold = norm > 0 ? 0 - b / norm : 0;
  const values = Array.from(scores, (score) => (norm > 0 ? (score - b) / norm : score));
  const most = 1.1 * (Math.max(0, ...values.map(Math.abs), Math.abs(threshold) + (band?.width ?? 0)) || 1);
  const X = (v) => 20 + ((v + most) / (2 * most)) * (chart.width - 40);
  const base = 104;
  if (band) chart.add("rect", { class: "band-area", x: X(threshold - band.width), y: 18, width: X(2 * band.width) - X(0), height: base - 18 });
  chart.line(`M${X(threshold)} 18V${base + 6}`, "boundary");
  chart.text(threshold ? `threshold −b/‖w‖ = ${shown(threshold, 3)}` : "threshold 0", { class: "title", x: Math.min(Math.max(X(threshold), 90), chart.width - 90), y: 12, "text-anchor": "middle" });
  chart.line(`M${X(-most)} ${base}H${X(most)}`, "axis");
  for (const v of ticks(-most, most, 6)) {
    chart.line(`M${X(v)} ${base}v4`, "tick");
    chart.text(shown(v), { x: X(v), y: base + 17, "text-anchor": "middle" });
  }
  const wrong = new Set(picture.isBlank ? [] : picture.wrong());
  const height = (side) => (side > 0 ? 40 : 78);
  for (const side of [1, -1]) {
    const own = document.points.flatMap((point, row) => (point[2] === side ? [row] : []));
    chart.line(own.map((row) => markPath(side, X(values[row]), height(side), 4.5)).join(""), side > 0 ? "positive" : "negative");
  }
  chart.line([...wrong].map((row) => `M${X(values[row]) - 2.5} ${height(document.points[row][2]) - 2.5}l5 5m0 -5l-5 5`).join(""), "cross");
  const ring = (row, name) => row !== null && row < values.length && chart.add("circle", { class: name, cx: X(values[row]), cy: height(document.points[row][2]), r: 9 });
  ring(picture.row, "current");
  for (const place of [selected, hovered]) if (place?.list === "points") ring(place.row, "looked-at");
  const unit = isVote ? "lead in votes, as a share of all" : norm > 0 ? (training.hasKernel ? "signed distance from the boundary" : "w·x/‖w‖, how far x reaches along w") : "activation";
  chart.text(unit, { class: "title", x: chart.width / 2, y: base + 36, "text-anchor": "middle" });
  if (picture.isBlank) return "All activations are 0: no point has a side yet.";
  return `${counted(wrong.size, "point")} of ${document.points.length} on the wrong side (${document.memory === "last" ? "last weights" : document.memory}).`;
}

// ‖w‖ and w·w* between the two lines of the proof, which meet at R²/γ².
export class Theorem {
  constructor() {
    this.chart = new Chart("theorem", 236);
    this.figures = element("dl", { class: "figures" });
    this.root = element("div", { class: "panel" }, this.figures, this.chart.root);
  }

  show(state) {
    const { training, picture, verdict } = state;
    const proof = bounds(training, verdict);
    const k = picture.updates;
    const course = verdict?.star ? (training.course?.star === verdict.star ? training.course : (training.course = { star: verdict.star, ...training.proofCourse(verdict.star) })) : null;
    const rows = course ? [
      ["k, updates", k, proof ? `at most ${shown(Math.floor(proof.meet))}` : ""],
      ["‖w‖", shown(course.length[k]), proof ? `at most ${shown(proof.ceiling(k))}` : ""],
      ["w·w*", shown(course.projection[k]), proof ? `at least ${shown(proof.floor(k))}` : ""],
      ["angle of w and w*", k ? `${shown((Math.acos(Math.min(1, course.projection[k] / (course.length[k] || 1))) * 180) / Math.PI, 3)}°` : "–", ""],
    ] : [];
    this.figures.replaceChildren(...rows.map(([name, value, limit]) => element("div", {}, element("dt", {}, name), element("dd", {}, element("b", {}, String(value)), element("span", {}, limit)))));
    this.chart.fit(state, 160, [140, 420]);
    this.chart.show({ ...state, course, proof, k }, drawTheorem);
  }

  close() {
    this.chart.close();
  }
}

// The two bounds of the proof after k updates, where the rule has them: its steps are all as long.
function bounds({ rule, document }, verdict) {
  if (!rule.fixedStep || verdict?.status !== "separable" || !(verdict.gamma?.[0] > 0) || document.start.some(Boolean)) return null;
  const [step, gamma] = [rule.eta0, verdict.gamma[0]];
  const square = step * step * verdict.radius ** 2 + 2 * step * rule.target;
  return {
    floor: (k) => k * step * gamma,
    ceiling: (k) => Math.sqrt(k * square),
    meet: square / (step * gamma) ** 2,
  };
}

function drawTheorem(chart, { course, proof, k, verdict, training, document }) {
  if (!course) {
    chart.text("w* exists only if the points are separable.", { class: "title", x: chart.width / 2, y: 110, "text-anchor": "middle" });
    return verdict?.status === "inseparable" ? "The points are not separable: there is no w*, and nothing bounds the mistakes." : "No verdict yet.";
  }
  const count = course.length.length - 1;
  const meet = proof?.meet ?? 0;
  const far = Math.max(8, 2 * count, proof ? Math.min(meet * 1.05, 3 * count) : 0);
  const top = Math.max(...course.length, proof ? proof.ceiling(far) : 1) * 1.04;
  const { X, Y, base } = chart.axes([0, far], [Math.min(0, ...course.projection), top], ["k, updates so far", ""]);
  if (proof) {
    wedge(chart, proof, far, X, Y);
    chart.text("R√k", { class: "halo", x: X(far * 0.8), y: Y(proof.ceiling(far * 0.8)) - 6, "text-anchor": "end" });
    chart.text("kγ", { class: "halo", x: X(far * 0.8), y: Y(proof.floor(far * 0.8)) + 16, "text-anchor": "start" });
    if (meet <= far) {
      chart.line(`M${X(meet)} ${base}V${Y(proof.floor(meet))}`, "limit");
      chart.text("R²/γ²", { class: "halo", x: X(meet) - 4, y: base - 8, "text-anchor": "end" });
    } else if (chart.height > 180) farMeeting(chart, proof, course, k);
  }
  chart.line(linePath(course.length.subarray(0, k + 1), X, Y), "length");
  chart.line(linePath(course.projection.subarray(0, k + 1), X, Y), "projection");
  chart.add("circle", { class: "length-end", cx: X(k), cy: Y(course.length[k]), r: 4 });
  chart.add("circle", { class: "projection-end", cx: X(k), cy: Y(course.projection[k]), r: 4 });
  if (k) {
    chart.text("‖w‖", { class: "halo", x: X(k) + 7, y: Y(course.length[k]) - 5 });
    chart.text("w·w*", { class: "halo", x: X(k) + 7, y: Y(course.projection[k]) + 14 });
  }
  if (!proof) return document.start.some(Boolean) ? "The bound is for weights that start from 0." : `The bound R²/γ² is for steps of one length, which the ${training.rule.title} does not make.`;
  const where = meet > far ? (chart.height > 180 ? " (small picture)" : ", further to the right") : "";
  return `Each update lifts w·w* by γ at least and ‖w‖ along R√k at most; w·w* can never be above ‖w‖. Where the two lines meet, at k = R²/γ² = ${shown(meet)}${where}, there is no room for another update.`;
}

// The room between R√k and kγ.
function wedge(chart, proof, far, X, Y) {
  const places = Array.from({ length: 61 }, (_, i) => (far * i) / 60);
  const curve = (f) => places.map((x, i) => `${i ? "L" : "M"}${X(x).toFixed(1)} ${Y(f(x)).toFixed(1)}`).join("");
  chart.line(`${curve(proof.ceiling)}${[...places].reverse().map((x) => `L${X(x).toFixed(1)} ${Y(Math.min(proof.floor(x), proof.ceiling(x))).toFixed(1)}`).join("")}Z`, "wedge");
  chart.line(curve(proof.ceiling), "ceiling");
  chart.line(curve(proof.floor), "floor");
}

// The whole race in a corner, to where the two lines meet.
function farMeeting(chart, proof, course, k) {
  const [left, top, width, height] = [62, 16, Math.min(150, chart.width * 0.3), Math.min(84, chart.height * 0.3)];
  const [far, high] = [proof.meet * 1.08, proof.ceiling(proof.meet) * 1.1];
  const X = (x) => left + (x / far) * width;
  const Y = (y) => top + height - (y / high) * height;
  chart.add("rect", { class: "inset", x: left, y: top, width, height });
  wedge(chart, proof, far, X, Y);
  chart.line(linePath(course.length.subarray(0, k + 1), X, Y), "length");
  chart.line(linePath(course.projection.subarray(0, k + 1), X, Y), "projection");
  chart.line(`M${X(proof.meet)} ${top + height}V${Y(proof.floor(proof.meet))}`, "limit");
  chart.text(`R²/γ² = ${shown(proof.meet, 3)}`, { class: "halo", x: X(proof.meet) - 3, y: top + height - 5, "text-anchor": "end" });
}

// Mistakes in each pass, and the error of what is kept on learned and on held-out points.
export class Passes {
  // `hold()` moves a third of the points to the held-out ones.
  constructor(hold) {
    this.mistakes = new Chart("passes", 168);
    this.errors = new Chart("errors", 178);
    this.offer = element("p", { class: "note" }, "No points are held out. ", button("Hold out a third", "Move every third point to those that are never learned from", hold, { class: "small" }));
    this.root = element("div", { class: "panel" }, this.mistakes.root, this.errors.root, this.offer);
  }

  show(state) {
    const { training, document, picture } = state;
    this.offer.hidden = document.held_out.length > 0 || document.points.length < 3;
    for (const chart of [this.mistakes, this.errors]) chart.fit({ room: state.room / 2 }, 45, [120, 190]);
    this.mistakes.show(state, drawMistakes);
    const key = `${document.memory}`;
    if (training.errorsKey !== key) {
      training.errorsKey = key;
      training.errors = [training.errorsByPass(document.memory, training.rows, training.gram), document.held_out.length ? training.errorsByPass(document.memory, picture.heldOut) : []];
    }
    this.errors.show(state, drawErrors);
  }

  close() {
    this.mistakes.close();
    this.errors.close();
  }
}

function drawMistakes(chart, { training, picture, at }) {
  const passes = Math.max(1, training.passEnds.length - 1);
  const counts = Array.from({ length: picture.pass }, (_, p) => training.mistakesAt(Math.min(at, training.passEnds[p + 1] ?? training.length)) - training.mistakesAt(training.passEnds[p]));
  const { X, Y, base } = chart.axes([0.5, Math.max(5, passes) + 0.5], [0, Math.max(4, ...counts)], ["pass", "mistakes"], { whole: true });
  const width = Math.min(34, (X(2) - X(1)) * 0.72);
  counts.forEach((count, i) => {
    const now = i === counts.length - 1;
    chart.add("rect", { class: now ? "bar now" : "bar", x: X(i + 1) - width / 2, y: Y(count), width, height: base - Y(count) });
    if (count === 0) chart.add("circle", { class: "none", cx: X(i + 1), cy: base, r: 2.5 });
  });
  const whole = training.passEnds.includes(at);
  const last = counts.length ? `Pass ${counts.length}: ${counted(counts.at(-1), "mistake")}${whole ? "" : " so far"}` : "No pass has begun";
  return `${last}; ${picture.mistakes} in all.`;
}

function drawErrors(chart, { training, document, picture }) {
  const [learned, held] = training.errors;
  const done = training.passEnds.filter((end) => end && end <= picture.at).length;
  const { X, Y } = chart.axes([0.5, Math.max(5, learned.length) + 0.5], [0, Math.max(0.1, ...learned, ...held)], ["pass", "error after it"]);
  for (const [values, name] of [[learned, "learned"], [held, "held"]]) {
    if (!values.length) continue;
    chart.line(linePath(values, X, Y, 1), `${name} to-come`);
    chart.line(linePath(values.slice(0, done), X, Y, 1), name);
    values.slice(0, done).forEach((value, i) => chart.add("circle", { class: `${name}-dot`, cx: X(i + 1), cy: Y(value), r: 3 }));
  }
  const percent = (value) => `${shown(100 * value, 3)} %`;
  if (!done) return `Error of the ${document.memory === "last" ? "last weights" : document.memory} on the points that are learned${held.length ? " and on those held out" : ""}; no pass is complete yet.`;
  const others = held.length ? `; held out (dashed): ${percent(held[done - 1])}` : "";
  return `After pass ${done}, ${document.memory === "last" ? "last weights" : document.memory}: ${percent(learned[done - 1])} wrong of the points learned${others}.`;
}

// Two orders of the same points, side by side, after as many rows.
export class Orders {
  constructor(choose) {
    const select = (name) => element("select", { "data-order": name, "aria-label": name === "order" ? "Order on the left" : "Order on the right", onchange: (event) => choose(name, event.target.value) }, ...Object.entries(ORDER_WORDS).map(([value, words]) => element("option", { value }, words)));
    this.selects = { order: select("order"), second_order: select("second_order") };
    this.planes = [0, 1].map(() => {
      const names = ["negative-area", "cover", "positive-area", "line", "positive", "negative", "positive is-wrong", "negative is-wrong"];
      const paths = Object.fromEntries(names.map((name) => [name, drawing("path", { class: name })]));
      return { paths, svg: drawing("svg", { class: "mini", role: "img", viewBox: "0 0 1 1" }, ...Object.values(paths)) };
    });
    this.words = [0, 1].map(() => element("p", { class: "note" }));
    this.chart = new Chart("race", 172);
    const halves = Object.values(this.selects).map((node, i) => element("div", { class: `half half-${i}` }, node, this.planes[i].svg, this.words[i]));
    this.root = element("div", { class: "panel" }, element("div", { class: "halves" }, ...halves), this.chart.root);
  }

  show(state) {
    const { document, training, at } = state;
    for (const [name, node] of Object.entries(this.selects)) node.value = document[name];
    if (!training.second || training.secondOrder !== document.second_order) {
      training.second = new Training(document, { order: document.second_order, gram: training.gram });
      training.secondOrder = document.second_order;
    }
    const both = [training, training.second];
    both.forEach((one, i) => {
      const here = Math.min(at, one.length);
      const picture = new Picture(one, here);
      this.drawMini(this.planes[i], document, picture);
      const end = one.stopReason === "converged" ? `all right after ${counted(one.passEnds.length - 1, "pass", "passes")}` : `not all right after ${counted(one.passEnds.length - 1, "pass", "passes")}`;
      say(this.words[i], `Step ${here}: ${counted(picture.mistakes, "mistake")}. At the end ${one.mistakesAt(one.length)}, ${end}.`);
    });
    this.chart.fit(state, 260, [120, 220]);
    this.chart.show({ ...state, both }, drawRace);
  }

  drawMini({ svg, paths }, document, picture) {
    const { line, area } = picture.kept(document.memory);
    const [left, right, bottom, top] = document.view;
    const wrong = new Set(picture.wrong());
    const whole = picture.at ? "M0 0H1V1H0Z" : "";
    for (const [name, d] of Object.entries({ "negative-area": whole, cover: area, "positive-area": area, line })) set(paths[name], { d: picture.at ? d : "" });
    const marks = { positive: "", negative: "", "positive is-wrong": "", "negative is-wrong": "" };
    document.points.forEach(([x, y, side], i) => {
      const name = `${side > 0 ? "positive" : "negative"}${wrong.has(i) ? " is-wrong" : ""}`;
      marks[name] += markPath(side, (x - left) / (right - left), (top - y) / (top - bottom), 0.018);
    });
    for (const [name, d] of Object.entries(marks)) set(paths[name], { d });
    set(svg, { "aria-label": `The plane after ${picture.at} rows: ${counted(wrong.size, "point")} wrong.` });
  }

  close() {
    this.chart.close();
  }
}

function drawRace(chart, { both, at, document }) {
  const longest = Math.max(...both.map(({ length }) => length), 1);
  const most = Math.max(...both.map((one) => one.mistakesAt(one.length)), 4);
  const { X, Y } = chart.axes([0, longest], [0, most], ["rows seen", "mistakes"], { whole: true });
  both.forEach((one, i) => {
    const name = i ? "second" : "first";
    chart.line(stairs(one.visits.mistakes, one.length, X, Y), `${name} to-come`);
    const here = Math.min(at, one.length);
    chart.line(stairs(one.visits.mistakes, here, X, Y), name);
    chart.add("circle", { class: `${name}-dot`, cx: X(here), cy: Y(one.mistakesAt(here)), r: 4 });
  });
  return `Mistakes so far: ${ORDER_WORDS[document.order]} (solid) against ${ORDER_WORDS[document.second_order]} (dashed).`;
}

// The verdict with its proof.
export class Proof {
  constructor() {
    this.words = element("div", { class: "proof-words" });
    this.rows = element("ul", { class: "proof-rows" });
    this.root = element("div", { class: "panel proof-panel" }, this.words, this.rows);
  }

  show(state) {
    const { verdict, document } = state;
    const words = verdict ? proofSentences(verdict, document) : ["…"];
    this.words.replaceChildren(...words.map((sentence) => element("p", {}, sentence)));
    this.rows.replaceChildren(...(verdict ? verdictRows(verdict, document).map((line) => element("li", {}, line)) : []));
  }
}
