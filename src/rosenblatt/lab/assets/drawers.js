// What opens over the side of the page: points, settings, things to take home, keys.

import { button, counted, drawing, element, mark, say } from "./elements.js";
import { FILES } from "./downloads.js";
import { TOYS } from "./shared.js";
import { labelValues, pointsOfTable, suggestion, tableOf } from "./table.js";

const MOST_BYTES = 20_000_000;
const TOY_WORDS = { separable: "Separable", xor: "XOR", circles: "Circles", overlapping: "Overlapping", "sorted labels": "Sorted labels" };
const FILE_WORDS = { "data.csv": "Data, CSV", "data.json": "Data, JSON", "trace.csv": "Trace, CSV", "trace.json": "Trace, JSON", "lab.html": "This page, HTML" };
const KEYS = [
  ["s b", "step, back"],
  ["m a e", "to the next mistake, the end of the pass, the end"],
  ["Home", "to the start"],
  ["k", "play, pause"],
  ["Ctrl Z, Ctrl Shift Z", "undo, redo"],
  ["arrows", "on the plane: move the cursor, or the chosen point (with Shift: further)"],
  ["Enter", "put a point of the class that is set"],
  ["+ −", "put a positive, a negative point"],
  ["n p", "choose the next, the previous point"],
  ["c, h", "change its class; hold it out, or learn from it"],
  ["Delete", "delete it"],
  ["Esc", "let it go; close what is open"],
];

// A small picture of points.
export function thumbnail({ points, view: [left, right, bottom, top] }) {
  const dots = points.map(([x, y, side]) => mark(side, (44 * (x - left)) / (right - left), (44 * (top - y)) / (top - bottom), 2.1, { rx: 0.6 }));
  return drawing("svg", { class: "thumbnail", viewBox: "0 0 44 44", "aria-hidden": "true" }, ...dots);
}

export class PointsDrawer {
  // `lab`: replace(document, notes), clear(), hold(), release(), fail(sentence), state.
  constructor(lab) {
    const toys = Object.entries(TOYS).map(([name, toy]) => button(thumbnail(toy), null, () => lab.replace(toy, []), { class: "toy", "data-toy": name }));
    toys.forEach((node, i) => node.append(element("span", {}, TOY_WORDS[Object.keys(TOYS)[i]] ?? Object.keys(TOYS)[i])));
    this.chooser = new TableChooser(lab);
    this.holding = element("input", { type: "checkbox", onchange: () => (lab.state.holding = this.holding.checked) });
    this.held = element("p", { class: "note" });
    this.release = button("Learn from all", "Put the held-out points back", () => lab.release());
    this.root = element(
      "div", { class: "fields" },
      element("div", { class: "toys", role: "group", "aria-label": "Toy sets" }, ...toys),
      this.chooser.root,
      element("h3", {}, "Held-out points"),
      element("p", { class: "note" }, "They are judged after every pass and never learned from; they are drawn hollow."),
      element("div", { class: "in-line" }, button("Hold out a third", "Move every third point to the held-out ones", () => lab.hold()), this.release),
      element("label", { class: "check" }, this.holding, "new points are held out"), this.held,
      button("Clear all points", null, () => lab.clear()),
    );
  }

  show({ document, holding }) {
    say(this.held, document.held_out.length ? `${counted(document.held_out.length, "point")} held out, ${document.points.length} learned from.` : "");
    this.release.hidden = !document.held_out.length;
    this.holding.checked = holding;
  }
}

class TableChooser {
  constructor(lab) {
    this.lab = lab;
    this.input = element("input", {
      type: "file", accept: ".csv,.tsv,.txt,.jsonl,text/csv",
      onclick: () => (this.input.value = ""), // so that a file that was edited can be chosen again
      onchange: () => this.read(this.input.files[0]),
    });
    this.choices = element("div", { class: "fields", hidden: true });
    this.root = element("div", { class: "chooser" }, element("label", {}, "Your own table (CSV, TSV, JSON lines); it stays on this machine", this.input), this.choices);
  }

  async read(file) {
    this.choices.hidden = true;
    this.lab.fail("");
    if (!file) return;
    if (file.size > MOST_BYTES) {
      this.lab.fail(`${file.name} has ${file.size.toLocaleString("en")} bytes; the page takes ${MOST_BYTES.toLocaleString("en")} at most.`);
      return;
    }
    this.attempt(async () => this.offer(tableOf(await file.text(), file.name)));
  }

  async attempt(action) {
    try {
      await action();
      this.lab.fail("");
    } catch (error) {
      this.lab.fail(error.message);
    }
  }

  offer(table) {
    const numeric = table.columns.filter(({ isNumeric }) => isNumeric).map(({ name }) => name);
    const found = suggestion(table);
    const select = (words, values, chosen) => {
      const node = element("select", {}, ...values.map((value) => element("option", { value, selected: value === chosen }, value)));
      return [node, element("label", {}, words, node)];
    };
    const [x, xLabel] = select("Across", numeric, found.x);
    const [y, yLabel] = select("Up", numeric, found.y);
    const [label, labelLabel] = select("Label", table.columns.map(({ name }) => name), found.label);
    const [positive, positiveLabel] = select("Positive class", [], null);
    const offerClasses = () => {
      const values = labelValues(table, label.value).slice(0, 50);
      positive.replaceChildren(...values.map((value, i) => element("option", { value, selected: i === values.length - 1 }, value)));
    };
    label.addEventListener("change", offerClasses);
    offerClasses();
    const scale = element("input", { type: "checkbox" });
    const use = () => this.attempt(() => {
      const chosen = { x: x.value, y: y.value, label: label.value, positive: positive.value || null, scale: scale.checked };
      const { document, notes } = pointsOfTable(table, chosen);
      this.lab.replace(document, notes);
    });
    this.choices.replaceChildren(
      element("p", { class: "note" }, `${table.name}: ${counted(table.n, "row")}.`),
      xLabel, yLabel, labelLabel, positiveLabel,
      element("label", { class: "check" }, scale, "scale to mean 0 and deviation 1"),
      button("Use these columns", null, use, { class: "primary" }),
    );
    this.choices.hidden = false;
    x.focus();
  }
}

// `lab`: download(name), copyLink().
export function takeHome(lab, { isPage }) {
  const names = Object.keys(FILES).filter((name) => isPage || name !== "lab.html");
  return element(
    "div", { class: "fields" },
    isPage ? element("p", {}, "The address of this page holds points, settings and step. Whoever opens it sees what you see.") : null,
    isPage ? button("Copy link", null, () => lab.copyLink(), { class: "primary" }) : null,
    element("h3", {}, "Download"),
    element("div", { class: "in-line" }, ...names.map((name) => button(FILE_WORDS[name], `rosenblatt-${name}`, () => lab.download(name)))),
    element("h3", {}, "Keys"),
    element("dl", { class: "keys" }, ...KEYS.flatMap(([key, words]) => [element("dt", {}, key), element("dd", {}, words)])),
  );
}
