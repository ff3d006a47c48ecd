// Two neurons and a third that looks at them: XOR by hand.

import { drawing, element, mark, say, set, shown, text } from "./elements.js";
import { TOYS } from "./shared.js";

const CELLS = 42;
const NEURONS = [["first", ["w₁", "w₂", "b"]], ["second", ["w₁", "w₂", "b"]], ["third", ["of the first", "of the second", "b"]]];
const START = [[1, 1, -0.5], [0, 0, 0], [1, 0, -0.5]]; // the first neuron is “or”; the others are to be found
const SOLUTION = [[1, 1, -0.5], [1, 1, -1.5], [1, -2, -0.5]];
const { points } = TOYS.xor;
const [LOW, HIGH] = [-0.6, 1.6];
const fires = ([a, b, c], x, y) => (a * x + b * y + c > 0 ? 1 : 0);

export class Network {
  constructor() {
    this.values = START.map((neuron) => [...neuron]);
    this.svg = drawing("svg", { class: "network", viewBox: "0 0 220 220", role: "img" });
    this.note = element("p", { class: "task", role: "status" });
    this.table = element("tbody");
    this.inputs = NEURONS.map(([name, words], n) => words.map((word, j) => element("input", {
      type: "number", step: 0.5, "aria-label": `${word}, ${name} neuron`, value: START[n][j],
      oninput: ({ target }) => { this.values[n][j] = Number(target.value) || 0; this.draw(); },
    })));
    const fields = NEURONS.map(([name, words], n) => element("fieldset", { class: "start" }, element("legend", {}, `The ${name} neuron${n === 2 ? " looks at the other two" : ""}: ${words.join(", ")}`), ...this.inputs[n]));
    const put = (values) => { this.values = values.map((neuron) => [...neuron]); this.inputs.forEach((row, n) => row.forEach((input, j) => (input.value = values[n][j]))); this.draw(); };
    this.root = element(
      "div", { class: "panel network-panel" }, this.svg,
      element("div", { class: "fields" }, ...fields, this.note,
        element("table", {}, element("thead", {}, element("tr", {}, ...["x₁", "x₂", "first", "second", "third says", "right?"].map((word) => element("th", {}, word)))), this.table),
        element("div", { class: "in-line" }, element("button", { type: "button", class: "small", onclick: () => put(START) }, "Start again"), element("button", { type: "button", class: "small", onclick: () => put(SOLUTION) }, "Show a solution"))),
    );
    this.draw();
  }

  says(x, y) {
    const [first, second, third] = this.values;
    return fires(third, fires(first, x, y), fires(second, x, y));
  }

  draw() {
    const unit = 220 / CELLS;
    const X = (x) => ((x - LOW) / (HIGH - LOW)) * 220;
    let d = "";
    for (let i = 0; i < CELLS; i++) {
      for (let j = 0; j < CELLS; j++) {
        if (this.says(LOW + ((i + 0.5) / CELLS) * (HIGH - LOW), HIGH - ((j + 0.5) / CELLS) * (HIGH - LOW))) d += `M${(i * unit).toFixed(2)} ${(j * unit).toFixed(2)}h${unit}v${unit}h${-unit}z`;
      }
    }
    const lines = this.values.slice(0, 2).flatMap(([a, b, c], n) => (a || b ? [drawing("path", { class: `line ${n ? "vote" : "average"}`, d: lineOf(a, b, c).map(([x, y], k) => `${k ? "L" : "M"}${X(x)} ${220 - X(y)}`).join("") }), text(n ? "second" : "first", { class: "halo", x: n ? 214 : 6, y: n ? 20 : 212, "text-anchor": n ? "end" : "start" })] : []));
    this.svg.replaceChildren(drawing("rect", { class: "ground", width: 220, height: 220 }), drawing("path", { class: "negative-area", d: "M0 0H220V220H0Z" }), drawing("path", { class: "cover", d }), drawing("path", { class: "positive-area", d }), ...lines, ...points.map(([x, y, side]) => mark(side, X(x), 220 - X(y), 7)));
    const rows = points.map(([x, y, side]) => [x, y, fires(this.values[0], x, y), fires(this.values[1], x, y), this.says(x, y) ? 1 : -1, side]);
    this.table.replaceChildren(...rows.map(([x, y, first, second, said, side]) => element("tr", {}, ...[x, y, first, second, shown(said), said === side ? "✓" : "✗"].map((value) => element("td", {}, String(value))))));
    const right = rows.filter((row) => row[4] === row[5]).length;
    set(this.note, { "data-done": right === 4 });
    say(this.note, right === 4 ? "✓ All four points are right: two lines do what one cannot." : `☐ ${right} of 4 points are right.`);
    this.svg.setAttribute("aria-label", `The square of XOR with the lines of two neurons; ${right} of 4 points are right.`);
  }

  show() {}
}

// A line a·x + b·y + c = 0, far beyond the square on both sides.
function lineOf(a, b, c) {
  const square = a * a + b * b;
  const [x, y] = [(-a * c) / square, (-b * c) / square];
  return [-9, 9].map((far) => [x - (far * b) / Math.sqrt(square), y + (far * a) / Math.sqrt(square)]);
}
