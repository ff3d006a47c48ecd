// The weights of a real text model (CIML, Section 4.4): a sentence, what each word adds, and the strongest words.

import { button, element, say, shown } from "./elements.js";
import { TEXT_MODEL } from "./text_model.js";

const SENTENCES = [
  "An excellent cast in a wonderfully funny film, and a perfect end.",
  "A dull story, badly told: what a waste of a superb idea.",
  "It is not the worst film, and the music was not bad.",
];
const TOP = 10;
const { weights, bias, words: size, error } = TEXT_MODEL;
const side = (value) => (value > 0 ? "positive" : value < 0 ? "negative" : "none");

export class Words {
  constructor() {
    this.input = element("textarea", { rows: 2, maxlength: 300, spellcheck: "false", "aria-label": "A sentence of a film review", oninput: () => this.draw() });
    this.input.value = SENTENCES[0];
    this.chips = element("p", { class: "chips" });
    this.sum = element("p", { class: "formula", role: "status" });
    this.one = element("p", { class: "note" });
    const entries = Object.entries(weights).sort(([, a], [, b]) => b - a);
    const list = (title, chosen) => element("div", {}, element("h3", {}, title), element("ol", { class: "strongest" }, ...chosen.map(([word, value]) => element("li", {}, button(word, "Put it into the sentence", () => this.add(word), { class: "small quiet" }), element("span", {}, shown(value, 3))))));
    this.root = element(
      "div", { class: "panel words-panel" }, this.input,
      element("div", { class: "in-line" }, ...SENTENCES.map((words, i) => button(`Example ${i + 1}`, words, () => this.take(i + 1), { class: "small" }))),
      this.chips, this.sum, this.one,
      element("div", { class: "halves" }, list("For a good review", entries.slice(0, TOP)), list("For a bad one", entries.slice(-TOP).reverse())),
      element("p", { class: "note" }, `An averaged perceptron with ${size.toLocaleString("en")} weights, one a word, trained on 25,000 film reviews; of 25,000 others it gets ${shown(100 * error, 3)} % wrong. A word counts 1 where it occurs, however often. The page holds the ${Object.keys(weights).length} strongest weights and takes the others as 0.`),
    );
    this.draw();
  }

  take(example) {
    this.input.value = SENTENCES[example - 1];
    this.draw();
  }

  add(word) {
    this.input.value = `${this.input.value.trimEnd()} ${word}`;
    this.draw();
  }

  // Every word with its weight; a word that was there before adds nothing more.
  draw() {
    const seen = new Set();
    const nodes = [];
    let total = bias;
    for (const part of this.input.value.split(/([A-Za-z']+)/)) {
      const word = part.toLowerCase();
      const value = /^[a-z']+$/.test(word) && !seen.has(word) ? weights[word] ?? 0 : null;
      if (value === null) {
        nodes.push(part);
        continue;
      }
      seen.add(word);
      const before = total;
      total += value;
      const tell = () => say(this.one, value ? `${word}: ${shown(before, 3)} ${value < 0 ? "−" : "+"} ${shown(Math.abs(value), 3)} = ${shown(before + value, 3)}. It speaks for a ${value > 0 ? "good" : "bad"} review.` : `${word} has a weight near 0: it says next to nothing by itself.`);
      nodes.push(element("span", { class: `chip ${side(value)}`, tabindex: 0, onpointerenter: tell, onfocus: tell }, part, ...(value ? [element("small", {}, shown(value, 3))] : [])));
    }
    this.chips.replaceChildren(...nodes);
    const terms = [...seen].map((word) => weights[word] ?? 0).filter(Boolean);
    say(this.sum, `a = ${shown(bias, 3)} ${terms.map((value) => `${value < 0 ? "−" : "+"} ${shown(Math.abs(value), 3)}`).join(" ")} = ${shown(total, 3)}: a ${total > 0 ? "good" : "bad"} review.`);
    say(this.one, "Point at a word, or reach it by Tab, to see its part of the sum.");
  }

  show() {}
}
