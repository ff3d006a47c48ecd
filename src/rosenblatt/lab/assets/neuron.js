// The neuron and its sum of products (CIML, Figures 4.1 and 4.2), live, on one row.

import { drawing, element, mark, onSize, say, set, shortened, shown, text } from "./elements.js";
import { featureNames, mapped } from "./engine.js";
import { label, pointName, rowNumber } from "./sentences.js";

const STEP = 42; // pixels from input to input

export class Neuron {
  constructor() {
    this.svg = drawing("svg", { class: "neuron", role: "img" });
    this.sum = element("p", { class: "formula" });
    this.after = element("p", { class: "formula" });
    this.box = element("div", { class: "chart-box" }, this.svg);
    this.root = element("div", { class: "panel neuron-panel" }, this.box, this.sum, this.after);
    this.close = onSize(this.box, (width) => {
      this.width = width;
      if (this.state) this.show(this.state);
    });
  }

  show(state) {
    this.state = state;
    if (!this.width) return;
    const focus = this.focus(state);
    if (!focus) {
      this.draw([], 40);
      say(this.sum, "Put a point on the plane to see what the neuron makes of it.");
      say(this.after, "");
      return;
    }
    const { training, document } = state;
    if (document.memory === "vote") this.showVote(state, focus);
    else if (training.hasKernel) this.showKernel(state, focus);
    else this.showSum(state, focus);
  }

  // The point that is looked at: under the pointer, chosen, of this step, or the next one to come.
  focus({ hovered, selected, picture, document, training }) {
    const place = hovered ?? selected;
    if (place && document[place.list][place.row]) return { ...place, point: document[place.list][place.row], met: false };
    if (picture.row !== null && document.points[picture.row]) return { list: "points", row: picture.row, point: document.points[picture.row], met: document.memory === "last" };
    const row = training.visits.row[0] ?? 0;
    return document.points.length ? { list: "points", row, point: document.points[row], met: false } : null;
  }

  name({ list, row, point }, { document }) {
    const name = pointName({ list, row });
    return `${name[0].toUpperCase()}${name.slice(1)}, class ${label(document, point[2])}`;
  }

  showSum(state, focus) {
    const { document, picture, training } = state;
    const weights = focus.met ? picture.before() : picture.weights();
    const x = [...mapped(focus.point[0], focus.point[1], document.map), ...(document.bias ? [1] : [])];
    const names = [...featureNames(document.names, document.map), ...(document.bias ? ["1"] : [])];
    const raw = x.map((value, j) => value * weights[j]);
    const speck = 1e-12 * Math.max(...raw.map(Math.abs), ...x.map(Math.abs)); // what rounding leaves of a 0
    const products = raw.map((value) => (Math.abs(value) < speck ? 0 : value));
    const a = products.reduce((total, value) => total + value, 0);
    const y = focus.point[2];
    const height = 30 + STEP * x.length;
    const most = Math.max(...products.map(Math.abs)) || 1;
    const { width } = this;
    const sure = training.isUncertain && document.memory === "last" ? training.variances(picture.at - (focus.met && picture.at ? 1 : 0)) : null;
    const narrow = width < 420;
    const [inputs, weight, product, cell] = narrow ? [62, width * 0.4, width * 0.61, width * 0.77] : [Math.min(118, width * 0.24), width * 0.42, width * 0.6, width * 0.76];
    const [half, pill] = narrow ? [22, 36] : [26, 42];
    const middle = 20 + (STEP * x.length) / 2;
    const nodes = [];
    const add = (tag, attributes) => nodes.push(drawing(tag, attributes));
    const write = (words, at, more = {}) => nodes.push(text(words, { x: at[0], y: at[1] + 4, "text-anchor": "middle", ...more }));
    x.forEach((value, j) => {
      const here = 20 + STEP / 2 + STEP * j;
      const sign = products[j] > 0 ? "positive" : products[j] < 0 ? "negative" : "none";
      const thick = (1 + (5 * Math.abs(products[j])) / most).toFixed(2);
      add("path", { class: `synapse ${sign}`, "stroke-width": thick, d: `M${inputs + half} ${here}H${product}C${product + 20} ${here} ${cell - 40} ${middle} ${cell - 24} ${middle}` });
      write(shortened(names[j], narrow ? 5 : 9), [inputs - half - 6, here], { class: "name", "text-anchor": "end" });
      add("rect", { class: "input", x: inputs - half, y: here - 13, width: 2 * half, height: 26, rx: 13 });
      write(shown(value, 3), [inputs, here], { class: "value" });
      add("rect", { class: "weight", x: weight - pill, y: here - 11, width: 2 * pill, height: 22, rx: 4 });
      write(`× ${shown(Math.abs(weights[j] * x[j]) < speck && Math.abs(weights[j]) < speck ? 0 : weights[j], 3)}`, [weight, here], { class: "value" });
      if (sure) write(`± ${shown(Math.sqrt(sure[j]), 3)}`, [weight, here + 17], { class: "head" });
      write(`= ${shown(products[j], 3)}`, [product, here - 12], { class: `product ${sign}` });
    });
    add("circle", { class: "cell", cx: cell, cy: middle, r: 24 });
    write("Σ", [cell, middle], { class: "sigma" });
    add("path", { class: "axon", d: `M${cell + 25} ${middle}H${width - 40}` });
    write(`a = ${shown(a, 3)}`, [narrow ? width - 2 : (cell + width - 10) / 2, middle - (narrow ? 30 : 14)], { class: "value", "text-anchor": narrow ? "end" : "middle" });
    const says = a > 0 || (a === 0 && document.zero === "positive") ? 1 : -1;
    if (a === 0 && document.zero === "mistake") write("?", [width - 26, middle], { class: "sigma" });
    else nodes.push(mark(says, width - 26, middle, 9, {}));
    write("inputs x", [inputs, 6], { class: "head" });
    write(document.memory === "average" ? "average w" : focus.met && picture.changed ? "w before" : "weights w", [weight, 6], { class: "head" });
    write("products", [product, 6], { class: "head" });
    this.draw(nodes, height + 6);
    const margin = y * a;
    const verdict = margin > 0 ? "right" : margin < 0 ? "wrong" : "neither side";
    say(this.sum, `${this.name(focus, state)}: ${products.map((value) => (value < 0 ? `(${shown(value, 3)})` : shown(value, 3))).join(" + ")} = ${shown(a, 3)}, and y·a = ${shown(margin, 3)}: ${verdict}.`);
    say(this.after, this.repair(state, focus, a));
  }

  // Equations 4.3 to 4.6: by how much the activation of the same row has moved.
  repair({ picture, training, document }, { met, point }, a) {
    if (!met || !picture.changed) return "";
    const [plus, value] = [point[2] > 0 ? "+" : "−", training.isUncertain ? picture.tau * training.visits.variance[picture.at - 1] : 0];
    if (training.isUncertain) return `After the update the same row has a′ = a ${plus} α·xᵀΣx = ${shown(a, 3)} ${plus} ${shown(value, 3)} = ${shown(a + point[2] * value, 3)}.`;
    const square = mapped(point[0], point[1], document.map).reduce((total, value) => total + value * value, 0);
    const one = document.bias ? 1 : 0; // the bias is the weight of a constant 1
    const whole = (words, x) => (picture.tau === 1 ? `${plus} ${words}${one ? ` ${plus} ${x}` : ""}` : `${plus} ${shown(picture.tau, 3)}·${one ? `(${words} + ${x})` : words}`);
    return `After the update the same row has a′ = a ${whole("‖x‖²", "1")} = ${shown(a, 3)} ${whole(shown(square, 4), "1")} = ${shown(a + picture.tau * point[2] * (square + one))}.`;
  }

  showVote(state, focus) {
    const { picture, document } = state;
    const score = state.scoreOf(focus);
    const lead = score;
    const positive = Math.round(((1 + lead) / 2) * picture.at);
    const votes = [positive, picture.at - positive];
    const nodes = votes.flatMap((count, i) => {
      const width = picture.at ? (count / picture.at) * (this.width - 190) : 0;
      const y = 16 + 40 * i;
      return [
        text(shortened(`for ${document.labels[1 - i]}`, 14), { class: "name", x: 100, y: y + 16, "text-anchor": "end" }),
        drawing("rect", { class: i ? "negative" : "positive", x: 108, y, width, height: 22, rx: 3 }),
        text(`${count}`, { class: "value", x: 116 + width, y: y + 16 }),
      ];
    });
    this.draw(nodes, 100);
    say(this.sum, `${this.name(focus, state)}: each weight vector of the training votes by the sign of its own sum, once for every row that it survived.`);
    say(this.after, `Lead of ${document.labels[1]}: ${shown(lead, 3)} of all votes. The vote has no weights of its own.`);
  }

  showKernel(state, focus) {
    const { training, document, picture } = state;
    const weights = focus.met ? picture.before() : picture.weights();
    const values = state.kernelWith(focus);
    const parts = Array.from(weights, (weight, row) => ({ row, weight, value: weight * values[row] })).filter(({ weight }) => weight !== 0);
    const a = parts.reduce((total, { value }) => total + value, 0);
    const shownParts = parts.sort((p, q) => Math.abs(q.value) - Math.abs(p.value)).slice(0, 6);
    const most = Math.max(...shownParts.map(({ value }) => Math.abs(value)), 1e-12);
    const zero = this.width * 0.6;
    const nodes = shownParts.flatMap(({ row, weight, value }, i) => {
      const y = 10 + 28 * i;
      const long = (Math.abs(value) / most) * this.width * 0.26;
      return [
        text(`${shown(weight, 3)} × k(row ${rowNumber(row)}, x)`, { class: "name", x: this.width * 0.3, y: y + 14, "text-anchor": "end" }),
        drawing("rect", { class: value > 0 ? "positive" : "negative", x: value > 0 ? zero : zero - long, y, width: long, height: 18, rx: 3 }),
        text(shown(value, 3), { class: "value", x: value > 0 ? zero + long + 6 : zero - long - 6, y: y + 14, "text-anchor": value > 0 ? "start" : "end" }),
      ];
    });
    this.draw(nodes, Math.max(60, 16 + 28 * shownParts.length));
    const more = parts.length > shownParts.length ? ` The other ${parts.length - shownParts.length} add less each.` : "";
    say(this.sum, parts.length ? `${this.name(focus, state)}: the sum over the rows that taught, each seen through the kernel, is a = ${shown(a, 3)}.${more}` : "No row has taught yet: every sum is 0.");
    say(this.after, training.document.bias ? "The bias is a constant 1 in every kernel value." : "");
  }

  draw(nodes, height) {
    set(this.svg, { width: this.width, height, viewBox: `0 0 ${this.width} ${height}` });
    this.svg.replaceChildren(...nodes);
    this.svg.setAttribute("aria-label", "The neuron: inputs, weights, products and their sum; the sentence below says it in words.");
  }
}
