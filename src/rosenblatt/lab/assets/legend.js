// The tools above the plane, and what is shown on it.

import { drawing, element, mark, say, shortened, shown, symbol } from "./elements.js";

// What can be shown on the plane, in which words, and whether it is at first.
export const LAYERS = [
  ["arrows", "weight vector and update", true],
  ["before", "boundary before the step", true],
  ["band", "margin band", true],
  ["proof", "points of the proof", false],
  ["voters", "the lines that vote", true],
  ["feet", "projections onto w", false],
  ["star", "boundary of widest margin", false],
  ["last", "boundary of the last weights", false],
  ["average", "boundary of the average", false],
  ["vote", "boundary of the vote", false],
];
const MEMORIES = { last: "Last", average: "Average", vote: "Vote" };

export class Tools {
  // `redraw()` follows a change of what is shown; `keep(memory)` one of the weights.
  constructor(state, { redraw, keep }) {
    const name = `tool-${Math.random().toString(36).slice(2)}`;
    this.words = [element("span"), element("span")];
    const tool = (value, title, ...nodes) => element("label", { class: "tool", title }, element("input", { type: "radio", name, value, checked: value === state.tool, onchange: () => (state.tool = value) }), element("span", { class: "face" }, ...nodes));
    this.tools = element(
      "fieldset", { class: "choice" }, element("legend", { class: "unseen" }, "A click on the plane"),
      tool("positive", "A click puts a point of the positive class", symbol(1), this.words[1]),
      tool("negative", "A click puts a point of the negative class", symbol(-1), this.words[0]),
      tool("delete", "A click deletes a point", "✕", element("span", { class: "unseen" }, "delete")),
    );
    const kept = `kept-${Math.random().toString(36).slice(2)}`;
    this.memories = Object.entries(MEMORIES).map(([value, words]) => element("input", { type: "radio", name: kept, value, "data-memory": value, onchange: () => keep(value) }));
    this.memory = element("fieldset", { class: "choice memory" }, element("legend", { class: "unseen" }, "Weights that are kept"), ...this.memories.map((input) => element("label", { class: "tool", title: "The weights that all pictures speak of" }, input, element("span", { class: "face" }, MEMORIES[input.value]))));
    this.legend = new Legend(state, redraw);
    this.root = element("div", { class: "tools" }, this.tools, this.memory, this.legend.root);
  }

  show(state) {
    this.words.forEach((node, side) => {
      say(node, shortened(state.document.labels[side], 10));
      node.title = state.document.labels[side];
    });
    for (const input of this.memories) input.checked = input.value === state.document.memory;
    this.legend.show(state);
  }
}

class Legend {
  constructor(state, redraw) {
    const sign = (...nodes) => drawing("svg", { class: "symbol", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, ...nodes);
    const wrong = sign(drawing("g", { class: "point wrong" }, mark(1, 0, 0, 7), drawing("path", { class: "cross", d: "M-3-3 3 3M3-3-3 3" })));
    const held = sign(drawing("g", { class: "point held" }, mark(1, 0, 0, 6)));
    const both = sign(drawing("path", { class: "positive", d: "M0-6A6 6 0 0 0 0 6z" }), drawing("path", { class: "negative", d: "M0-5.4H5.4V5.4H0z" }));
    const ring = sign(drawing("circle", { class: "current", r: 6 }));
    this.words = [element("span"), element("span")];
    const line = (node, words) => element("li", {}, node, words);
    this.items = {};
    const items = LAYERS.map(([name, words]) => {
      this.items[name] = element("input", { type: "checkbox", "data-layer": name, onchange: (event) => { state.shows[name] = event.target.checked; redraw(); } });
      return element("label", { class: `check key-${name}` }, this.items[name], element("span", { class: "swatch", "aria-hidden": "true" }), words);
    });
    this.band = element("p", { class: "note" });
    this.root = element(
      "details", { class: "legend" }, element("summary", {}, "Shown"),
      element(
        "div", { class: "legend-body" },
        element("ul", { class: "marks" }, line(symbol(1), this.words[1]), line(symbol(-1), this.words[0]), line(wrong, "on the wrong side"), line(held, "held out"), line(both, "both classes at one place"), line(ring, "row of this step")),
        element("fieldset", {}, element("legend", { class: "unseen" }, "What is shown on the plane"), ...items), this.band,
      ),
    );
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.root.open) return;
      this.root.open = false;
      this.root.firstChild.focus();
      event.stopPropagation();
    });
    this.root.addEventListener("toggle", () => this.state && this.show(this.state));
  }

  show(state) {
    this.state = state;
    if (!this.root.open) return;
    this.words.forEach((node, side) => say(node, shortened(state.document.labels[side], 24)));
    for (const [name, input] of Object.entries(this.items)) input.checked = state.shows[name];
    const { band } = state.picture;
    say(this.band, band ? `The band is ${shown(band.width)} wide on either side.` : "");
  }
}
