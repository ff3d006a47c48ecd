// The choices: how far to step, what is kept, in which order, in which features.

import { element } from "./elements.js";

const CHOICES = [
  ["rule", "Rule", { perceptron: "Perceptron", margin: "Margin perceptron", pa: "Passive-aggressive (PA)", pa1: "PA-I", pa2: "PA-II" }],
  ["memory", "Memory", { last: "Last weights", average: "Average of all", vote: "Vote of all" }],
  ["order", "Order of rows", { given: "As given", once: "Shuffled once", "every pass": "Shuffled every pass" }],
  ["zero", "An activation of 0 is", { mistake: "A mistake", negative: "The negative class", positive: "The positive class" }],
  ["map", "Feature map", { none: "None", conjunction: "x₁ ∧ x₂ (product)", pairs: "All pairs (quadratic)" }],
  ["kernel", "Kernel", { none: "None", polynomial: "Polynomial", rbf: "RBF" }],
];

// name, words, step, smallest, largest, and when it has a say
const NUMBERS = [
  ["eta0", "Step η", "any", 1e-6, 1e6, ({ rule }) => rule === "perceptron" || rule === "margin"],
  ["margin", "Margin", "any", 0, 1e6, ({ rule }) => rule === "margin"],
  ["C", "Largest step C", "any", 1e-6, 1e6, ({ rule }) => rule === "pa1" || rule === "pa2"],
  ["seed", "Seed", 1, 0, 4294967295, ({ order }) => order !== "given"],
  ["degree", "Degree", 1, 1, 8, ({ kernel }) => kernel === "polynomial"],
  ["gamma", "γ of the kernel", "any", 1e-6, 1e6, ({ kernel }) => kernel !== "none"],
  ["coef0", "Constant", "any", 0, 1e6, ({ kernel }) => kernel === "polynomial"],
  ["max_iter", "Passes at most", 1, 1, 1000, () => true],
];

const AFTER = { rule: ["eta0", "margin", "C"], order: ["seed"], kernel: ["degree", "gamma", "coef0"] };

export class Settings {
  // `set(name, value)` is called with what a person chose.
  constructor(set) {
    this.fields = {};
    const fields = [];
    const numbers = Object.fromEntries(NUMBERS.map((line) => [line[0], this.number(line, set)]));
    for (const [name, words, options] of CHOICES) {
      const select = element("select", { name, onchange: () => set(name, select.value) });
      for (const [value, text] of Object.entries(options)) select.append(element("option", { value }, text));
      this.fields[name] = { input: select, label: element("label", {}, words, select), applies: () => true };
      fields.push(this.fields[name].label, ...(AFTER[name] ?? []).map((other) => numbers[other]));
    }
    fields.push(numbers.max_iter);
    this.root = element("section", { class: "card settings" }, element("h2", {}, "Settings"), element("div", { class: "fields" }, ...fields));
  }

  number([name, words, step, min, max, applies], set) {
    const input = element("input", {
      type: "number", name, step, min, max, inputmode: "decimal",
      onchange: () => {
        if (input.value !== "" && input.checkValidity()) set(name, Number(input.value));
        else input.reportValidity();
      },
    });
    const label = element("label", {}, words, input);
    this.fields[name] = { input, label, applies };
    return label;
  }

  show({ document, editable }) {
    for (const [name, { input, label, applies }] of Object.entries(this.fields)) {
      if (input !== input.ownerDocument.activeElement || input.tagName === "SELECT") input.value = document[name];
      input.disabled = !editable;
      label.hidden = !applies(document);
    }
  }
}
