// One model: its figures and curves, its latest mistakes, and a row to try.

import { askJson, askLines, pathOf } from "./connection.js";
import { Curves, percent } from "./curves.js";
import { button, element, say, shown } from "./elements.js";
import { labelWords, words } from "./features.js";
import { forgetButton, Trial } from "./trial.js";

const MISTAKES = 20;

// A model of which a token may know no more than the name.
export function unseen(name) {
  return { name, features: null, columns: null, levels: {}, n_features: 0, classes: [], version: null, created: null };
}

export class ModelView {
  constructor(description, forgetting, refresh) {
    const { name } = description;
    Object.assign(this, { name, forgetting, version: null, created: description.created });
    this.curves = new Curves();
    this.title = element("p", { class: "note" });
    this.figures = element("dl", { class: "figures" });
    this.problem = element("p", { class: "problem" });
    this.mistakes = element("ol", { class: "examples latest", tabindex: 0, "aria-labelledby": "mistakes-title" });
    this.mistakesNote = element("p", { class: "note" });
    this.trial = new Trial(description, { changed: refresh, forget: (example) => forgetting.ask(name, example) });
    const head = element("header", { class: "model-head" }, element("h2", { tabindex: -1 }, name), this.title);
    if (description.version === null) {
      say(this.title, "This token may not look at its examples.");
      this.root = element("div", { class: "model" }, head, this.trial.root);
      return;
    }
    this.root = element("div", { class: "model" },
      head,
      this.problem,
      element("div", { class: "halves" },
        this.trial.root,
        this.latest = element("section", { class: "card", "aria-labelledby": "mistakes-title", hidden: true },
          element("h2", { id: "mistakes-title", tabindex: -1 }, "Latest mistakes"), this.mistakesNote, this.mistakes)),
      this.figures,
      this.charts = element("section", { class: "curves", "aria-label": "Curves", hidden: true },
        element("div", { class: "card" }, element("h3", {}, "Progressive error"),
          element("p", { class: "note" }, "Each example is predicted before it is learned; this is the share of wrong predictions."), this.curves.error.root),
        element("div", { class: "card" }, element("h3", {}, "Rate"), this.curves.rate.root)));
  }

  // Whether this view is still of the model of that name, which may have been deleted and made anew.
  isOf(description) {
    return this.name === description.name && this.created === description.created;
  }

  async update(description) {
    this.trial.update(description);
    if (this.version === description.version) return;
    this.version = description.version;
    const parameters = Object.entries(description.parameters).map(([name, value]) => `${name} ${typeof value === "number" ? shown(value) : value}`);
    say(this.title, [description.title, ...parameters].join(", "));
    this.figures.replaceChildren(...figures(description).map(([name, value, note]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, element("b", {}, value), element("span", {}, note)))));
    try {
      const [whole, wrong] = await Promise.all([
        askJson("GET", pathOf(this.name, "?curve=1")),
        askLines(pathOf(this.name, `/journal?mistakes=1&limit=${MISTAKES}`)),
      ]);
      this.latest.hidden = this.charts.hidden = !whole.learned;
      this.curves.show(whole);
      this.showMistakes(wrong, whole);
      say(this.problem, "");
    } catch (error) {
      this.version = null; // tried again with the next look
      say(this.problem, error.message);
    }
  }

  showMistakes(events, { learned, features: kind }) {
    say(this.mistakesNote, events.length ? "Examples that were predicted wrong before they were learned, the latest first." : learned ? "No mistake yet." : "No example yet.");
    const focused = this.mistakes.contains(document.activeElement);
    this.mistakes.replaceChildren(...events.map((event) => element("li", {},
      element("div", { class: "row" },
        element("span", { class: "said" }, "said ", element("b", {}, labelWords(event.predicted)), ", is ", element("b", {}, labelWords(event.label))),
        when(event.time),
        button("Try", "Put it into the form", () => this.trial.fill(event.features, event.label), { class: "small" }),
        forgetButton(event, () => this.forgetting.ask(this.name, event))),
      words(event.features, kind))));
    if (focused) this.root.querySelector("#mistakes-title").focus();
  }

  close() {
    this.curves.close();
  }
}

function when(time) {
  const date = new Date(1000 * time);
  const text = date.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return element("time", { datetime: date.toISOString(), class: "note" }, text);
}

function figures({ learned, wrong, error, mistakes, n_features: features, classes, goal, version }) {
  const number = (value) => value.toLocaleString("en");
  const found = [
    ["Examples", number(learned), ""],
    ["Progressive error", percent(error), learned ? `${number(wrong)} predicted wrong` : ""],
    ["Mistakes", number(mistakes), "of the last weights"],
    ["Features", number(features), ""],
    [{ "": "Classes", sequences: "Tags" }[goal] ?? "Labels", number(classes.length), classes.slice(0, 4).join(", ") + (classes.length > 4 ? ", …" : "")],
    ["Version", number(version), ""],
  ];
  return found;
}
