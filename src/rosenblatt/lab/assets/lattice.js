// Paths of tags: a sentence as a lattice, its best path, and the true one that gains what it loses.

import { drawing, element, set, shown, text } from "./elements.js";
import { Transport } from "./transport.js";

// Sentences with their tags: determiner, noun, pronoun, verb.
export const SENTENCES = [
  ["I book a flight", "P V D N"],
  ["a book sells", "D N V"],
  ["book a flight", "V D N"],
  ["I sell a book", "P V D N"],
  ["a fly bites", "D N V"],
  ["I fly", "P V"],
].map((pair) => pair.map((words) => words.split(" ")));
export const TAGS = ["D", "N", "P", "V"];
const NAMES = { D: "determiner", N: "noun", P: "pronoun", V: "verb" };
const [START, END] = ["start", "end"];
const MOST_PASSES = 100;
const [LEFT, TOP, ACROSS, DOWN, RADIUS, EDGE] = [150, 46, 96, 56, 15, 50]; // pixels; EDGE: steps from the start and to the end
const WIDTH = LEFT + 3 * ACROSS + EDGE + 14;
const HEIGHT = TOP + 3 * DOWN + 34;

// What a path is made of: each word with its tag, and each step from tag to tag.
function partsOf(words, path) {
  const steps = [...path, END].map((tag, t) => `${t ? path[t - 1] : START} → ${tag}`);
  return [...words.map((word, t) => `${word}/${path[t]}`), ...steps];
}

const same = (one, other) => one.every((tag, t) => tag === other[t]);

// The structured perceptron (Collins 2002), sentence by sentence, as SequencePerceptron has it with
// the rule "perceptron" and one feature a word. Of equal paths that wins whose last tag comes first.
export class PathTraining {
  constructor(sentences = SENTENCES) {
    this.sentences = sentences;
    this.weights = [new Map()];
    this.steps = [];
    for (let pass = 1; pass <= MOST_PASSES; pass++) {
      const before = this.mistakes;
      sentences.forEach((_, row) => this.visit(pass, row));
      if (this.mistakes === before) break;
    }
  }

  get mistakes() {
    return this.steps.filter(({ mistake }) => mistake).length;
  }

  get length() {
    return this.steps.length;
  }

  weight(at, part) {
    return this.weights[at].get(part) ?? 0;
  }

  score(at, words, path) {
    return partsOf(words, path).reduce((sum, part) => sum + this.weight(at, part), 0);
  }

  // The best path by the weights after `at` steps (Viterbi): of each tag of a word only the best way there is kept.
  best(at, words) {
    let ways = TAGS.map((tag) => ({ path: [tag], score: this.weight(at, `${START} → ${tag}`) + this.weight(at, `${words[0]}/${tag}`) }));
    const better = (one, other) => (other.score > one.score ? other : one);
    for (const word of words.slice(1)) {
      ways = TAGS.map((tag) => ways.map(({ path, score }) => ({ path: [...path, tag], score: score + this.weight(at, `${path.at(-1)} → ${tag}`) + this.weight(at, `${word}/${tag}`) })).reduce(better));
    }
    return ways.map(({ path, score }) => ({ path, score: score + this.weight(at, `${path.at(-1)} → ${END}`) })).reduce(better);
  }

  visit(pass, row) {
    const [words, truth] = this.sentences[row];
    const at = this.length;
    const { path, score } = this.best(at, words);
    const mistake = !same(path, truth);
    const changes = new Map();
    if (mistake) {
      for (const part of partsOf(words, truth)) changes.set(part, (changes.get(part) ?? 0) + 1);
      for (const part of partsOf(words, path)) changes.set(part, (changes.get(part) ?? 0) - 1);
    }
    for (const [part, change] of [...changes]) if (!change) changes.delete(part);
    const weights = new Map(this.weights[at]);
    for (const [part, change] of changes) weights.set(part, (weights.get(part) ?? 0) + change);
    this.steps.push({ pass, row, path, score, truth, trueScore: this.score(at, words, truth), mistake, changes });
    this.weights.push(mistake ? weights : this.weights[at]);
  }
}

export class Lattice {
  constructor() {
    this.svg = drawing("svg", { class: "lattice", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    this.transport = new Transport({ go: (way) => this.go(way), seek: (at) => this.seek(at), playing: () => {} });
    this.note = element("p", { role: "status" });
    this.body = element("tbody");
    const heads = ["weight", "before", "change", "after"].map((words) => element("th", { scope: "col" }, words));
    this.table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), this.body);
    const key = element("p", { class: "note" }, "Green, drawn through: the true path. Dashed: the best path, where it is another. The number in a circle is the weight of the word with that tag, the number at a line that of the step; the lines at the ends are the steps from the start and to the end.");
    this.root = element("div", { class: "panel lattice-panel" }, element("div", { class: "fields" }, this.svg, key), element("div", { class: "fields" }, this.note, this.transport.root, this.table));
    this.training = new PathTraining();
    this.seek(1);
  }

  // Shows the sentence of a step, with the weights that it met.
  take(at = 1) {
    this.transport.pause();
    this.seek(at === "end" ? this.training.length : at);
  }

  // As the transport of the lab: returns whether that led elsewhere.
  go(way) {
    const { at, training: { steps, length } } = this;
    const next = (reached) => {
      const found = steps.findIndex((step, t) => t >= at && reached(step, t));
      return found < 0 ? length : found + 1;
    };
    const place = {
      start: () => 0, back: () => Math.max(0, at - 1), step: () => Math.min(length, at + 1), end: () => length,
      mistake: () => next(({ mistake }) => mistake), pass: () => next(({ pass }, t) => steps[t + 1]?.pass !== pass),
    }[way]();
    if (place === at) return false;
    this.seek(place);
    return true;
  }

  seek(at) {
    this.at = at;
    this.transport.show({ at, training: this.training, picture: { pass: at ? this.training.steps[at - 1].pass : 0 } });
    this.draw();
  }

  draw() {
    const { at, training } = this;
    const step = at ? training.steps[at - 1] : null;
    const [words, truth] = training.sentences[step?.row ?? 0];
    const met = Math.max(0, at - 1); // the weights that the sentence met
    const place = (t, k) => [LEFT + t * ACROSS, TOP + k * DOWN];
    const lines = words.slice(1).flatMap((_, t) => TAGS.flatMap((_one, j) => TAGS.map((_other, k) => `M${place(t, j).join(" ")}L${place(t + 1, k).join(" ")}`)));
    const nodes = [drawing("rect", { class: "ground", width: WIDTH, height: HEIGHT }), drawing("path", { class: "steps", d: lines.join("") })];
    const drawn = step?.mistake ? [[truth, "true"], [step.path, "best"]] : [[truth, "true"]];
    for (const [path, name] of drawn) {
      const [[x1, y1], ...others] = path.map((tag, t) => place(t, TAGS.indexOf(tag)));
      const [x2, y2] = others.at(-1) ?? [x1, y1];
      nodes.push(drawing("path", { class: `way ${name}`, d: `M${[[x1 - EDGE, y1], [x1, y1], ...others, [x2 + EDGE, y2]].map((one) => one.join(" ")).join("L")}` }));
    }
    TAGS.forEach((tag, k) => nodes.push(text(NAMES[tag], { class: "tag", x: 8, y: place(0, k)[1] + 4 })));
    words.forEach((word, t) => {
      nodes.push(text(word, { class: "word", x: place(t, 0)[0], y: TOP - 26, "text-anchor": "middle" }));
      TAGS.forEach((tag, k) => {
        const [x, y] = place(t, k);
        const on = drawn.filter(([path]) => path[t] === tag).map(([, name]) => name);
        nodes.push(drawing("circle", { class: `node ${on.join(" ")}`, cx: x, cy: y, r: RADIUS }));
        nodes.push(text(shown(training.weight(met, `${word}/${tag}`)), { class: "number", x, y: y + 4, "text-anchor": "middle" }));
      });
    });
    drawn.forEach(([path, name], n) => [...path, END].forEach((tag, t) => {
      const before = t ? path[t - 1] : START;
      if (n && (t ? truth[t - 1] : START) === before && (truth[t] ?? END) === tag) return; // a step of both
      const from = t ? place(t - 1, TAGS.indexOf(before)) : [LEFT - EDGE, place(0, TAGS.indexOf(tag))[1]];
      const to = t < path.length ? place(t, TAGS.indexOf(tag)) : [from[0] + EDGE, from[1]];
      const share = t === 0 ? 0.3 : t === path.length ? 0.7 : name === "best" ? 0.62 : 0.38; // apart where paths cross
      const [x, y] = [0, 1].map((j) => from[j] + share * (to[j] - from[j]));
      nodes.push(text(shown(training.weight(met, `${before} → ${tag}`)), { class: "halo", x, y: y - 4, "text-anchor": "middle" }));
    }));
    this.svg.replaceChildren(...nodes);
    const best = step?.mistake ? `; the best path is ${step.path.join(" ")}` : step ? ", which is the best one" : "";
    set(this.svg, { "aria-label": `The lattice of “${words.join(" ")}”: the true path is ${truth.join(" ")}${best}.` });
    this.note.textContent = this.words(step, words, truth);
    this.fillTable(step);
  }

  words(step, words, truth) {
    const { at, training } = this;
    if (!step) return "Before the first sentence all weights are 0, and all paths have the same score. Of equals the first is taken, D D D D, which is wrong.";
    const met = `Pass ${step.pass}, sentence ${step.row + 1}, “${words.join(" ")}”:`;
    const end = at === training.length ? ` Every sentence is now right, after ${training.mistakes} mistakes.` : "";
    if (!step.mistake) return `${met} the best path is the true one, ${truth.join(" ")}, with the score ${shown(step.score)}. Nothing changes.${end}`;
    const now = training.score(at, words, truth);
    return `${met} the best path is ${step.path.join(" ")} with the score ${shown(step.score)}; the true one, ${truth.join(" ")}, has ${shown(step.trueScore)}. What it has gains 1, what the best path has loses 1, and what both have stays. The true one now has ${shown(now)}.${end}`;
  }

  // The weights that the step has changed.
  fillTable(step) {
    const { at, training } = this;
    const changes = [...(step?.changes ?? [])];
    this.table.hidden = changes.length === 0;
    this.body.replaceChildren(...changes.map(([part, change]) => {
      const cells = [part, shown(training.weight(at - 1, part)), `${change > 0 ? "+" : "−"}${Math.abs(change)}`, shown(training.weight(at, part))];
      return element("tr", { class: change > 0 ? "gain" : "loss" }, ...cells.map((cell) => element("td", {}, cell)));
    }));
  }

  show() {}

  close() {
    this.transport.close();
  }
}
