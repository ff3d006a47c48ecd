// The list of models, and the form that makes a new one.

import { askJson, pathOf } from "./connection.js";
import { percent } from "./curves.js";
import { counted, element, say } from "./elements.js";

const KINDS = {
  names: "Names: new ones are added as they come",
  hashed: "Hashed names: fixed memory, any number of names",
  array: "Numbers in a fixed order",
};

const GOALS = {
  "": "One",
  each: "Several or none, each by itself",
  ranking: "Several or none, ranked above all others",
  sequences: "A tag for each word of a sentence",
};

export class ModelList {
  constructor() {
    this.items = new Map();
    this.list = element("ul", { class: "models" });
    this.none = element("p", { class: "note" }, "No model yet. Create the first one below.");
    this.root = element("nav", { "aria-label": "Models" }, this.list, this.none);
  }

  show(models, chosen) {
    this.none.hidden = models.length > 0;
    for (const [name, item] of this.items) {
      if (models.some((model) => model.name === name)) continue;
      item.row.remove();
      this.items.delete(name);
    }
    models.forEach((model, i) => {
      const { name, learned, error } = model;
      if (!this.items.has(name)) {
        const detail = element("span");
        const link = element("a", { href: `#${encodeURIComponent(name)}` }, element("b", {}, name), detail);
        this.items.set(name, { row: element("li", {}, link), link, detail });
      }
      const { row, link, detail } = this.items.get(name);
      if (this.list.children[i] !== row) this.list.insertBefore(row, this.list.children[i] ?? null);
      say(detail, learned === undefined ? "" : learned ? `${counted(learned, "example")}, ${percent(error)} wrong` : "no example yet");
      if (name === chosen) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
  }
}

// The rules that the service knows, with their parameters: from its own description.
async function rules() {
  const { components } = await askJson("GET", "/openapi.json");
  return components.schemas.ModelSpec.properties.rule["x-rules"];
}

export class NewModel {
  constructor(created) {
    this.name = element("input", { type: "text", name: "name", required: true, maxlength: 64, pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]*", title: "Letters, digits, dots, dashes and underscores; the first a letter or digit", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    this.rule = element("select", { name: "rule", onchange: () => this.showParameters() });
    this.memory = element("select", { name: "memory" },
      element("option", { value: "" }, "As usual for the rule"), element("option", { value: "average" }, "The average of all"), element("option", { value: "last" }, "The last"));
    this.goal = element("select", { name: "goal", onchange: () => (this.kindRow.hidden = this.goal.value === "sequences") }, ...Object.entries(GOALS).map(([value, words]) => element("option", { value }, words)));
    this.kind = element("select", { name: "kind" }, ...Object.entries(KINDS).map(([value, words]) => element("option", { value }, words)));
    this.kindRow = element("label", {}, "Features", this.kind);
    this.parameters = element("div", { class: "fields" });
    this.problem = element("p", { class: "problem", role: "alert" });
    const form = element("form", { class: "fields", onsubmit: (event) => this.create(event, created) },
      element("label", {}, "Name", this.name),
      element("label", {}, "Rule", this.rule),
      this.parameters,
      element("label", {}, "Weights that predict", this.memory),
      element("label", {}, "Labels of a row", this.goal),
      this.kindRow,
      element("button", { class: "primary" }, "Create"),
      this.problem);
    this.root = element("details", { class: "new-model", ontoggle: () => this.prepare() }, element("summary", {}, "New model"), form);
  }

  async prepare() {
    if (this.rules || !this.root.open) return;
    try {
      this.rules = await rules();
    } catch (error) {
      say(this.problem, error.message);
      return;
    }
    this.rule.replaceChildren(...Object.entries(this.rules).map(([name, { title }]) => element("option", { value: name }, title)));
    this.showParameters();
  }

  showParameters() {
    const { parameters } = this.rules[this.rule.value];
    this.parameters.replaceChildren(...Object.entries(parameters).map(([name, { default: usual, meaning }]) =>
      element("label", {}, `${name}: ${meaning}`, element("input", { type: "text", inputmode: "decimal", name, placeholder: String(usual), autocomplete: "off" }))));
  }

  async create(event, created) {
    event.preventDefault();
    say(this.problem, "");
    const name = this.name.value;
    const spec = { memory: this.memory.value, goal: this.goal.value, features: this.kindRow.hidden ? {} : { kind: this.kind.value } };
    if (this.rules) spec.rule = this.rule.value;
    try {
      spec.parameters = Object.fromEntries(Array.from(this.parameters.querySelectorAll("input")).filter((input) => input.value !== "").map((input) => {
        const value = Number(input.value);
        if (!Number.isFinite(value)) throw new Error(`${input.name} must be a number; got ${input.value}.`);
        return [input.name, value];
      }));
      await askJson("PUT", pathOf(name), spec);
    } catch (error) {
      say(this.problem, error.message);
      return;
    }
    this.name.value = "";
    this.root.open = false;
    created(name);
  }
}
