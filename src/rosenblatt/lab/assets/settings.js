// The choices: how far to step, what is kept, in which order, in which features.

import { element, set } from "./elements.js";
import { MAPS, RULES, SETTINGS } from "./shared.js";

const capital = (words) => words[0].toUpperCase() + words.slice(1);
const CHOICES = [
  ["rule", "Rule", Object.fromEntries(Object.entries(RULES).map(([name, { title }]) => [name, capital(title)]))],
  ["memory", "Weights that are kept", { last: "The last ones", average: "The average of all", vote: "The vote of all" }],
  ["order", "Order of the rows", { given: "As given", once: "Shuffled once", "every pass": "Shuffled every pass" }],
  ["zero", "An activation of 0 is", { mistake: "A mistake", negative: "The negative class", positive: "The positive class" }],
  ["bias", "Bias", { true: "Learned, as the weight of a constant 1", false: "None: the boundary passes through the origin" }],
  ["map", "Features", { none: "The two coordinates", conjunction: "And x₁ ∧ x₂, their product", pairs: "And all products of two, with squares" }],
  ["kernel", "Kernel", { none: "None", polynomial: "Polynomial", rbf: "RBF (Gaussian)" }],
];
const NUMBERS = {
  eta0: "Step η", margin: "Margin", C: "Limit C on a step", seed: "Random seed", degree: "Degree",
  r: "Caution r", confidence: "Confidence", gamma: "γ of the kernel", coef0: "Constant term", max_iter: "Number of passes, at most",
};
const AFTER = { rule: [...new Set(Object.values(RULES).flatMap(({ parameters }) => parameters))], order: ["seed"], kernel: ["degree", "gamma", "coef0"] };

// Whether a number has an effect under a document.
function applies(name, { rule, order, second_order, kernel }) {
  if (AFTER.rule.includes(name)) return RULES[rule].parameters.includes(name);
  if (name === "seed") return order !== "given" || second_order !== "given";
  if (name === "degree" || name === "coef0") return kernel === "polynomial";
  return name !== "gamma" || kernel !== "none";
}

export class Settings {
  // `change(parts)` is called with what a person chose.
  constructor(change) {
    this.fields = {};
    this.dependent = []; // fields that are hidden where they have no effect
    const nodes = [];
    for (const [name, words, options] of CHOICES) {
      const { values } = SETTINGS[name];
      const select = element("select", { name, onchange: () => change(this.consequences(name, values.find((value) => String(value) === select.value))) });
      select.append(...values.map((value) => element("option", { value }, options[value] ?? String(value))));
      this.fields[name] = select;
      nodes.push(element("label", {}, words, select), ...(AFTER[name] ?? []).map((other) => this.number(other, change)));
    }
    this.start = ["w₁", "w₂", "b", "w₃"].map((words, j) => element("input", { type: "number", step: "any", "aria-label": `Starting ${words}`, onchange: () => this.setStart(change, j) }));
    const [first, second, bias, third] = this.start;
    this.startWords = element("legend", {});
    this.startField = element("fieldset", { class: "start" }, this.startWords, first, second, third, bias);
    nodes.push(this.number("max_iter", change), this.startField);
    this.formula = element("p", { class: "note" });
    this.dropped = element("p", { class: "note warning", role: "status", hidden: true }, "Second-order rules have no kernel: the kernel is now “None”. Undo brings it back.");
    nodes.splice(1, 0, this.formula, this.dropped);
    this.root = element("div", { class: "fields" }, ...nodes);
  }

  number(name, change) {
    const { low, high, whole, values } = SETTINGS[name];
    this.dependent.push(name);
    if (values) {
      const select = element("select", { name, onchange: () => change({ [name]: Number(select.value) }) }, ...values.map((value) => element("option", { value }, String(value))));
      this.fields[name] = select;
      return element("label", {}, NUMBERS[name] ?? name, select);
    }
    const input = element("input", {
      type: "number", name, min: low, max: high, step: whole ? 1 : "any", inputmode: "decimal",
      onchange: () => {
        if (input.value !== "" && input.checkValidity()) change({ [name]: Number(input.value) });
        else input.reportValidity();
      },
    });
    this.fields[name] = input;
    return element("label", {}, NUMBERS[name] ?? name, input);
  }

  // Starting weights belong to one set of features.
  consequences(name, value) {
    const { map, start, rule } = this.document;
    const width = MAPS[name === "map" ? value : map] + 1;
    const lost = start.length && start.length !== width;
    // A second-order rule has no kernel: what was chosen last stays.
    const plain = name === "rule" && RULES[value].order === 2 ? { kernel: "none" } : {};
    this.dropped.hidden = !(plain.kernel && this.document.kernel !== "none");
    const additive = name === "kernel" && value !== "none" && RULES[rule].order === 2 ? { rule: "perceptron" } : {};
    return { [name]: value, ...(lost ? { start: [] } : {}), ...plain, ...additive };
  }

  setStart(change, j) {
    const input = this.start[j];
    if (input.value === "" || !input.checkValidity()) return input.reportValidity();
    const [first, second, bias, third] = this.start.map((node) => Number(node.value) || 0);
    const start = this.document.map === "conjunction" ? [first, second, third, bias] : [first, second, bias];
    return change({ start: start.some(Boolean) ? start : [] });
  }

  show({ document, training }) {
    this.document = document;
    const active = this.root.ownerDocument.activeElement;
    for (const [name, input] of Object.entries(this.fields)) {
      const value = String(document[name]);
      if ((input !== active || input.tagName === "SELECT") && input.value !== value) input.value = value;
      if (this.dependent.includes(name)) input.parentNode.hidden = !applies(name, document);
    }
    const isThree = document.map === "conjunction" && !training.hasKernel;
    this.startField.hidden = !training.isLine && !isThree;
    this.startWords.textContent = `Weights before the first row: w₁, w₂, ${isThree ? "w₃ of x₁ ∧ x₂, " : ""}b`;
    const [first, second] = document.start;
    [first, second, document.start.at(-1), isThree ? document.start[2] : 0].forEach((value, j) => {
      if (this.start[j] !== active) this.start[j].value = String(value ?? 0);
    });
    this.start[3].hidden = !isThree;
    set(this.start[2], { "aria-disabled": !document.bias });
    const { formula, order } = RULES[document.rule];
    this.formula.textContent = order === 2 ? `Each weight has a variance, the diagonal of Σ. Step: ${formula}; then w ← w + α·y·Σx and Σ ← Σ − β·(Σx)².` : `Step τ = ${formula}; then w ← w + τ·y·x.`;
  }
}
