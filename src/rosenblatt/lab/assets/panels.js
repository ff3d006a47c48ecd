// The furniture of the page: what is built once and seldom changes.

import { drawing, element, mark, shown, symbol } from "./elements.js";

const SETS = { separable: "Separable", xor: "XOR", circles: "Circles", overlapping: "Overlapping", "sorted labels": "Sorted labels" };
const KEYS = [
  ["arrows", "move the cursor, or the chosen point (with Shift: further)"],
  ["Enter", "put a point of the class that is set"],
  ["+ −", "put a positive, a negative point"],
  ["n p", "choose the next, the previous point"],
  ["c", "change its class"],
  ["Delete", "delete it"],
  ["Esc", "let it go"],
  ["s b", "step, back"],
  ["m a e", "to the next mistake, the end of the pass, the end"],
  ["Home", "to the start"],
  ["k", "play, pause"],
];
const FILES = [["Data, CSV", "data", "csv"], ["Data, JSON", "data", "json"], ["Trace, CSV", "trace", "csv"], ["Trace, JSON", "trace", "json"]];

// What can be shown on the plane, in which words, and whether it is at first.
export const LAYERS = [
  ["last", "last weights", true],
  ["average", "average", false],
  ["vote", "vote", false],
  ["before", "before the step", true],
  ["band", "margin band", true],
  ["arrows", "weight vector", true],
  ["feet", "projections", false],
  ["proof", "points of the proof", true],
];

export function header(root) {
  const theme = element("select", { "aria-label": "Colours", onchange: () => (root.dataset.theme = theme.value) });
  for (const words of ["Auto", "Light", "Dark"]) theme.append(element("option", { value: words.toLowerCase() }, words));
  root.dataset.theme = "auto";
  return element(
    "header", {}, element("h1", {}, "Rosenblatt lab"),
    element("p", {}, "The perceptron, one example at a time. Every number is computed by the library."), theme,
  );
}

// Where points come from; `lab` has load(name), clear() and the state whose tool is set.
export class PointsCard {
  constructor(lab, chooser) {
    const { editable } = lab.state;
    const sets = element("select", {
      name: "set", disabled: !editable,
      onchange: () => {
        if (sets.value) lab.load(sets.value);
        sets.value = "";
      },
    }, element("option", { value: "" }, "Choose …"));
    for (const [value, words] of Object.entries(SETS)) sets.append(element("option", { value }, words));
    this.words = [element("span"), element("span")];
    const group = `tool-${Math.random().toString(36).slice(2)}`;
    const tool = (value, ...nodes) => element("label", { class: "tool" }, element("input", {
      type: "radio", name: group, value, checked: value === "positive", disabled: !editable,
      onchange: () => (lab.state.tool = value),
    }), ...nodes);
    this.notes = element("p", { class: "note" });
    this.root = element(
      "section", { class: "card points" }, element("h2", {}, "Points"),
      element("div", { class: "fields" }, element("label", {}, "Toy set", sets)),
      element(
        "fieldset", {}, element("legend", {}, "A click on the plane puts, or deletes"),
        tool("positive", symbol(1), this.words[1]), tool("negative", symbol(-1), this.words[0]), tool("delete", "✕ delete"),
      ),
      chooser.root, this.notes,
      element("button", { type: "button", disabled: !editable, onclick: () => lab.clear() }, "Clear all points"),
    );
  }

  show({ document }) {
    this.words.forEach((node, side) => (node.textContent = document.labels[side]));
  }
}

// What the marks mean, and what is shown; `redraw()` follows a change.
export class Legend {
  constructor(state, redraw) {
    this.words = [element("span"), element("span")];
    const sign = (...nodes) => drawing("svg", { class: "symbol", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, ...nodes);
    const cross = sign(mark(1, 0, 0, 7), drawing("path", { class: "wrong", d: "M-3-3 3 3M3-3-3 3" }));
    const ring = sign(drawing("circle", { class: "current", r: 6 }));
    const marks = element(
      "p", { class: "marks" },
      element("span", {}, symbol(1), this.words[1]), element("span", {}, symbol(-1), this.words[0]),
      element("span", {}, cross, "on the wrong side"), element("span", {}, ring, "row of this step"),
    );
    this.figures = {};
    const items = LAYERS.map(([name, words]) => {
      this.figures[name] = element("span", { class: "figure" });
      const input = element("input", {
        type: "checkbox", checked: state.shows[name],
        onchange: () => {
          state.shows[name] = input.checked;
          redraw();
        },
      });
      const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
      return element("label", { class: `check key-${name}` }, input, swatch, element("span", {}, words, this.figures[name]));
    });
    const choices = element("fieldset", { class: "legend" }, element("legend", { class: "unseen" }, "What is shown on the plane"), ...items);
    this.root = element("div", { class: "key" }, marks, choices);
  }

  show({ document, frame }) {
    this.words.forEach((node, side) => (node.textContent = `class ${document.labels[side]}`));
    for (const name of ["last", "average", "vote"]) {
      this.figures[name].textContent = frame ? ` (${frame.errors[name]} wrong)` : "";
    }
    this.figures.band.textContent = frame?.band ? ` (±${shown(frame.band.width)})` : " (none yet)";
  }
}

// `lab` has download(what, form) and copyLink().
export function takeHome(lab, linked) {
  const button = (words, action) => element("button", { type: "button", onclick: action }, words);
  const all = FILES.map(([words, what, form]) => button(words, () => lab.download(what, form)));
  if (lab.state.editable) all.push(button("All as HTML", () => lab.download("page", "html")));
  if (linked) all.push(button("Copy link", () => lab.copyLink()));
  return element("section", { class: "card home" }, element("h2", {}, "Take home"), element("div", { class: "buttons" }, ...all));
}

export function keys() {
  const list = element("dl", {}, ...KEYS.flatMap(([key, words]) => [element("dt", {}, key), element("dd", {}, words)]));
  return element("details", { class: "card keys" }, element("summary", {}, "Keys, while the plane has the focus"), list);
}
