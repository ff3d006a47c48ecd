// Features of an example: as fields or as JSON text, and as words to read.

import { button, element, shortened, shown } from "./elements.js";

const SHOWN = 14; // features of an example that are listed
const MANY = 8; // columns that stand below one another; more stand side by side
const MISSING = /^\s*(na|nan|n\/a|null|\?)?\s*$/i; // written for a value that is not known
const JSON_FORMS = { array: "Features, a list of numbers", sentences: "A sentence, a list of words" };
const SPECIAL = new Map([["true", true], ["false", false], ["null", null]]);

let forms = 0;

// Fields for the features of a model: one a column, pairs of name and value, or numbers in a row.
export class FeatureForm {
  constructor({ features: kind, columns, levels, ranges, n_features: width }) {
    Object.assign(this, { kind, columns, levels: levels ?? {}, ranges: ranges ?? {}, number: ++forms });
    const place = { array: () => this.numbers(width), columns: () => this.byColumn(), sentences: () => this.tokens() }[kind] ?? (() => this.pairs());
    this.fields = element("div", { class: "fields" }, place());
    const name = `json-${this.number}`;
    this.json = element("textarea", { id: name, rows: 5, spellcheck: "false" });
    this.text = element("div", { class: "fields", hidden: true },
      element("label", { for: name }, JSON_FORMS[kind] ?? "Features, an object of names and values"), this.json);
    this.asJson = element("input", { type: "checkbox", onchange: () => this.switch() });
    const check = element("label", { class: "check" }, this.asJson, "As JSON");
    this.root = element("fieldset", { class: "features" }, element("legend", { class: "unseen" }, "Features"), this.fields, this.text, check);
  }

  numbers(width) {
    this.input = element("input", { type: "text", spellcheck: "false", autocomplete: "off" });
    const words = width ? `${width} numbers, separated by blanks` : "Numbers, separated by blanks";
    return element("label", {}, words, this.input);
  }

  tokens() {
    this.input = element("input", { type: "text", spellcheck: "false", autocomplete: "off" });
    return element("label", {}, "Words of a sentence, separated by blanks", this.input);
  }

  byColumn() {
    this.inputs = Object.entries(this.columns).map(([name, role], index) => {
      const known = this.levels[name] ?? [];
      const list = known.length ? `levels-${this.number}-${index}` : null;
      const input = role === "text" ? element("textarea", { rows: 3 }) : element("input", { type: "text", autocomplete: "off", list, inputmode: role === "numeric" ? "decimal" : null });
      const options = list ? element("datalist", { id: list }, ...known.map((value) => element("option", { value }))) : null;
      const [low, , high] = this.ranges[name] ?? [];
      const about = known.length ? `${known.slice(0, 5).join(", ")}${known.length > 5 ? ", …" : ""}` : low === undefined ? role : `${shown(low)} to ${shown(high)}`;
      const hint = `${name} (${about})`;
      return { name, role, input, row: element("label", {}, hint, input, options) };
    });
    const means = Object.keys(this.ranges).length ? button("Fill in the means", "Each empty field of a number gets the mean of the training rows", () => this.fillMeans(), { class: "small", name: "means" }) : null;
    const many = this.inputs.length > MANY ? "fields columns" : "fields";
    return element("div", { class: "fields" }, means, element("div", { class: many }, ...this.inputs.map(({ row }) => row)));
  }

  fillMeans() {
    for (const { name, input } of this.inputs) {
      if (name in this.ranges && input.value === "") input.value = String(Number(this.ranges[name][1].toPrecision(4)));
    }
  }

  pairs() {
    this.list = element("ul", { class: "pairs" });
    this.addPair();
    return element("div", { class: "fields" }, this.list, button("Add a feature", null, () => this.addPair().focus(), { class: "small" }));
  }

  addPair(name = "", value = "1") {
    const key = element("input", { type: "text", "aria-label": "Name of the feature", placeholder: "name", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    const field = element("input", { type: "text", "aria-label": "Value: a number, a word, true or false", placeholder: "value", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    [key.value, field.value] = [name, value];
    const row = element("li", { class: "pair" }, key, field,
      button("×", "Remove this feature", () => {
        const other = row.nextElementSibling ?? row.previousElementSibling;
        row.remove();
        (other ?? this.addPair().closest("li")).querySelector("input").focus();
      }, { class: "small quiet", "aria-label": "Remove this feature" }));
    this.list.append(row);
    return key;
  }

  switch() {
    const json = this.asJson.checked;
    try {
      if (json) this.json.value = JSON.stringify(this.fromFields(), null, 2);
      else this.toFields(parsed(this.json.value));
    } catch {
      // What is half written is not carried over.
    }
    [this.fields.hidden, this.text.hidden] = [json, !json];
  }

  value() {
    const features = this.asJson.checked ? parsed(this.json.value) : this.fromFields();
    if (this.kind === null && typeof features === "object" && features) return features; // the service knows
    if (this.kind === "sentences" && Array.isArray(features)) return features;
    if (this.kind === "sentences") throw new Error('A sentence must be a list of words, like ["a", "book"].');
    if (this.kind === "array" ? !Array.isArray(features) : Array.isArray(features) || typeof features !== "object" || !features) {
      throw new Error(this.kind === "array" ? "Features must be a list of numbers, like [1, 0.5]." : 'Features must be an object, like {"good": 1}.');
    }
    for (const value of Object.values(features)) {
      if (typeof value === "number" && !Number.isFinite(value)) throw new Error("A number is too large.");
    }
    return features;
  }

  fromFields() {
    if (this.kind === "array") {
      return this.input.value.split(/[\s,;]+/).filter(Boolean).map((word) => {
        const number = Number(word);
        if (Number.isNaN(number)) throw new Error(`${word} is not a number.`);
        return number;
      });
    }
    if (this.kind === "sentences") return partsOf(this.input.value, "sequences");
    if (this.kind === "columns") {
      const filled = this.inputs.filter(({ role, input }) => (role === "numeric" ? !MISSING.test(input.value) : input.value !== ""));
      return Object.fromEntries(filled.map(({ name, role, input }) => [name, role === "numeric" ? numberIn(name, input.value) : input.value]));
    }
    const found = {};
    for (const row of this.list.children) {
      const [name, value] = Array.from(row.querySelectorAll("input"), (input) => input.value);
      if (name === "") continue;
      if (Object.hasOwn(found, name)) throw new Error(`The feature ${name} is there twice.`);
      Object.defineProperty(found, name, { value: valueOf(value), enumerable: true });
    }
    return found;
  }

  toFields(features) {
    if (this.kind === "sentences" && !plainWords(features)) throw new Error("These tokens are more than words: show them as JSON.");
    if (this.kind === "array" || this.kind === "sentences") this.input.value = features.join(" ");
    else if (this.kind === "columns") for (const { name, input } of this.inputs) input.value = (Object.hasOwn(features, name) ? features[name] : null) ?? "";
    else {
      this.list.replaceChildren();
      for (const [name, value] of Object.entries(features)) this.addPair(name, String(value));
      if (!this.list.children.length) this.addPair();
    }
  }

  // How many fields are empty, in words: the model takes their values as missing.
  gaps() {
    if (this.kind !== "columns" || this.asJson.checked) return [];
    const empty = this.inputs.length - Object.keys(this.fromFields()).length;
    return empty ? [element("span", { class: "note gaps" }, `Empty fields count as missing (${empty} of ${this.inputs.length}).`)] : [];
  }

  fill(features) {
    if (this.kind === "sentences" && !plainWords(features) && !this.asJson.checked) this.asJson.click();
    if (!this.asJson.checked) this.toFields(features);
    this.json.value = JSON.stringify(features, null, 2);
  }
}

// Whether the tokens of a sentence can be typed with blanks between.
function plainWords(tokens) {
  return Array.isArray(tokens) && tokens.every((token) => typeof token === "string" && /^\S+$/.test(token));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error.message}.`);
  }
}

// The number in a field of a column, or a sentence for whoever filled it in.
function numberIn(name, word) {
  const number = Number(word);
  if (Number.isFinite(number)) return number;
  const comma = /^[+-]?\d+,\d+$/.test(word.trim()) ? ` Write ${word.trim().replace(",", ".")}.` : "";
  throw new Error(`${name} must be a number, like 3.5; “${shortened(word, 40)}” is not.${comma || " Leave the field empty if the value is missing."}`);
}

function numberOr(word) {
  return word.trim() !== "" && !Number.isNaN(Number(word)) ? Number(word) : word;
}

function valueOf(word) {
  return SPECIAL.has(word) ? SPECIAL.get(word) : numberOr(word);
}

// A label as it was typed, in the type of the classes that the model knows.
export function labelOf(text, classes) {
  if (classes.some((known) => typeof known === "string")) return text;
  return valueOf(text) ?? text;
}

// The labels that a text lists: words of a sentence have no blank in them, other labels may.
export function partsOf(text, goal) {
  return goal === "sequences" ? text.split(/\s+/).filter(Boolean) : text.split(";").map((part) => part.trim());
}

// What stands between two labels where they are typed.
export function separatorOf(goal) {
  return goal === "sequences" ? " " : "; ";
}

// The label of a row, or all of several, as words to read.
export function labelWords(label) {
  return Array.isArray(label) ? label.join(", ") || "no label" : String(label);
}

// Features as a list of words to read; where they are names, a value of 1 says no more than the name.
export function words(features, kind = "names") {
  const pairs = Array.isArray(features) ? features.map((value) => [null, value]) : Object.entries(features ?? {});
  const items = pairs.slice(0, SHOWN).map(([name, value]) => element("li", { title: name }, ...wordsOf(name, value, kind)));
  if (pairs.length > SHOWN) items.push(element("li", { class: "more" }, `and ${(pairs.length - SHOWN).toLocaleString("en")} more`));
  return element("ul", { class: "words" }, ...items);
}

function wordsOf(name, value, kind) {
  const text = typeof value === "number" ? shown(value) : shortened(value && typeof value === "object" ? JSON.stringify(value) : String(value), 160);
  if (name === null) return [text];
  return kind !== "columns" && (value === 1 || value === true) ? [shortened(name, 60)] : [element("span", {}, `${shortened(name, 60)} `), text];
}
