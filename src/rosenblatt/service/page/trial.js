// A row to try: predict it, see why, teach its label, forget it.

import { askJson, newId, pathOf } from "./connection.js";
import { button, counted, drawing, element, say, shortened, shown } from "./elements.js";
import { FeatureForm, labelOf, labelWords, partsOf, separatorOf, words } from "./features.js";

const TERMS = 10; // features that are listed
const TEACHERS = 6;
const BUTTONS = 12; // classes that have a button each
const TYPED = { sequences: "Tags, one for each word, separated by blanks; ? where one is not known" };
const NOUNS = { "": "class", sequences: "tag" };

export class Trial {
  // `changed` is called after the model has learned; `forget` asks to forget an example.
  constructor(description, { changed, forget }) {
    Object.assign(this, { description, changed, forget, sent: null });
    this.form = new FeatureForm(description);
    this.result = element("p", { class: "result", role: "status" });
    this.reasons = element("div", { class: "reasons" });
    this.why = element("button", { type: "button", onclick: () => this.explain() }, "Why?");
    this.label = element("input", { type: "text", name: "label", list: "classes", autocomplete: "off", autocapitalize: "off", spellcheck: "false", required: !description.goal, oninput: () => this.complete() });
    this.classes = element("datalist", { id: "classes" });
    this.labels = element("div", { class: "row labels" });
    const typed = TYPED[description.goal] ?? (description.goal ? "Labels, separated by semicolons; none if empty" : "Class");
    this.typed = element("div", { class: "row typed" }, element("label", {}, typed, this.label), this.classes, element("button", { name: "teach" }, "Teach"));
    this.question = element("div", { class: "question", role: "alert", hidden: true });
    this.lesson = element("p", { class: "lesson", role: "status" });
    this.root = element("section", { class: "card trial", "aria-labelledby": "trial-title" },
      element("h2", { id: "trial-title", tabindex: -1 }, "Try it"),
      element("form", { class: "fields", onsubmit: (event) => this.run(event, () => this.predict()) },
        this.form.root,
        element("div", { class: "row" }, element("button", { class: "primary", name: "predict" }, "Predict"), this.why)),
      this.result,
      element("form", { class: "fields teach", onsubmit: (event) => this.run(event, () => this.teachTyped()) },
        element("fieldset", { class: "fields" }, element("legend", {}, "Teach it: what is this row?"), this.labels, this.typed), this.question),
      this.lesson,
      this.reasons);
    this.update(description);
  }

  update(description) {
    this.description = description;
    const classes = description.classes.map(String);
    if (this.known === classes.join("\n")) return;
    this.known = classes.join("\n");
    this.complete();
    const own = classes.length <= BUTTONS && !description.goal ? description.classes : [];
    this.labels.replaceChildren(
      ...own.map((label) => element("button", { type: "button", class: "label", "data-label": String(label), onclick: () => this.tell(this.lesson, () => this.teach(label)) }, shortened(String(label), 60))),
      ...(own.length > 1 ? [element("button", { type: "button", class: "quiet", name: "new-class", onclick: () => this.askClass() }, "New class…")] : []));
    this.typed.hidden = own.length > 1;
    this.question.hidden = true;
  }

  // Offers the classes; of several labels those that may follow the ones that stand there.
  complete() {
    const { goal, classes } = this.description;
    const between = separatorOf(goal);
    const before = goal ? this.label.value.slice(0, this.label.value.lastIndexOf(between[0]) + 1) : "";
    const there = goal === "sequences" ? [] : partsOf(before, goal);
    const known = classes.map(String).filter((name) => !there.includes(name));
    this.classes.replaceChildren(...known.map((name) => element("option", { value: before ? `${before}${between.slice(1)}${name}` : name })));
  }

  // A class that the model does not know is taught only after a question: a typo would make one.
  askClass() {
    this.typed.hidden = false;
    this.label.value = "";
    this.label.focus();
  }

  async teachTyped() {
    const { classes, goal } = this.description;
    const labels = (goal ? partsOf(this.label.value, goal) : [this.label.value]).map((text) => (goal === "sequences" ? text : labelOf(text, classes)));
    const label = goal ? labels.filter((one) => one !== "") : labels[0];
    const others = [...new Set([label].flat())].filter((one) => !classes.includes(one) && !(goal === "sequences" && one === "?"));
    const noun = NOUNS[goal] ?? "label";
    if (classes.length < (goal ? 1 : 2) || !others.length) return this.teach(label);
    const close = () => (this.question.hidden = true);
    const meant = others.map((one) => nearest(String(one), classes.map(String)));
    const known = meant.every(Boolean) ? `Did you mean ${meant.map((name) => `“${shortened(name, 60)}”`).join(", ")}?` : `The model knows ${classes.slice(0, 6).map((one) => shortened(String(one), 30)).join(", ")}${classes.length > 6 ? ", …" : ""}.`;
    this.question.replaceChildren(
      element("p", {}, `“${shortened(others.join("; "), 60)}” is a new ${noun}. ${known} Add it?`),
      element("div", { class: "row" },
        element("button", { type: "button", name: "add-class", onclick: () => { close(); this.tell(this.lesson, () => this.teach(label)); } }, `Add the ${noun}`),
        element("button", { type: "button", class: "primary", onclick: () => { close(); this.label.focus(); } }, "No")));
    this.question.hidden = false;
    return null;
  }

  fill(features, label) {
    this.form.fill(features);
    this.label.value = label === undefined ? "" : [label].flat().join(separatorOf(this.description.goal));
    for (const node of this.labels.children) node.classList.toggle("primary", node.dataset.label === this.label.value && label !== undefined);
    for (const place of [this.result, this.reasons, this.lesson]) place.replaceChildren();
    this.root.querySelector("h2").focus();
    this.root.scrollIntoView({ block: "nearest" });
  }

  async run(event, action) {
    event.preventDefault();
    await this.tell(event.submitter?.name === "teach" ? this.lesson : this.result, action);
  }

  async tell(place, action) {
    try {
      await action();
    } catch (error) {
      place.replaceChildren(element("span", { class: "problem" }, error.message));
    }
  }

  async predict() {
    this.reasons.replaceChildren();
    const features = this.form.value();
    const answer = await askJson("POST", pathOf(this.description.name, "/predict"), { features });
    const said = this.description.goal === "sequences" ? this.tagged(features, answer) : sentence(answer, this.description.classes);
    this.result.replaceChildren(...said, ...this.form.gaps());
  }

  // The words of a sentence with their tags; each is asked why it has its own.
  tagged(features, { label, score, probability, version }) {
    const tokens = features.map((token, k) => element("li", {},
      button(`${shortened(typeof token === "string" ? token : JSON.stringify(token), 40)}/${label[k]}`, "Why this tag?", () => this.explain(k), { class: "small" }),
      probability ? element("span", { class: "note" }, ` ${shown(100 * probability[k], 3)} %`) : ""));
    const note = score === null ? "The model knows no tag yet: teach it." : `score of the path ${shown(score)}`;
    return [element("ol", { class: "words tagged" }, ...tokens), element("span", { class: "note" }, `${note}, version ${version}`)];
  }

  // `token` is one of a sentence; by default the service takes the one that is least sure.
  async explain(token) {
    await this.tell(this.result, async () => {
      const features = this.form.value();
      await this.predict();
      const asked = (what, top, draw) => {
        const place = element("div", {}, element("p", { class: "note" }, "Looking for reasons …"));
        const answer = askJson("POST", pathOf(this.description.name, what), token === undefined ? { features, top } : { features, top, token });
        return [place, answer.then(draw, problem).then((drawn) => place.replaceChildren(drawn))];
      };
      // Terms take no time; examples may take a while, since the journal is read.
      const [terms, termsDrawn] = asked("/explain", TERMS, (found) => contributions(found, features));
      const [teachers, teachersDrawn] = asked("/why", TEACHERS, (found) => this.teachers(found));
      this.reasons.replaceChildren(
        element("h3", {}, "What each feature adds"), terms, element("h3", {}, "Examples that taught it"), teachers);
      await Promise.all([termsDrawn, teachersDrawn]);
    });
  }

  teachers({ teachers, others, start, total, positive, negative, token }) {
    const sides = { positive, negative, size: Math.max(...teachers.map(({ amount }) => Math.abs(amount)), 1e-300) };
    const items = teachers.map((one) => element("li", {},
      element("div", { class: "row" }, bar(one.amount, sides), element("span", { class: "amount" }, shown(one.amount, 3)),
        element("span", {}, element("b", {}, shortened(labelWords(one.label), 60)), `, number ${one.sequence}`, one.token ? `, by ${one.token}` : ""),
        forgetButton(one, () => this.forget(one))),
      words(one.features, this.description.features)));
    const rest = [others ? `${counted(others, "more example")} not listed` : "", start ? `the model that it began with adds ${shown(start)}` : ""].filter(Boolean).join("; ");
    return element("div", { class: "fields" },
      element("p", { class: "note" }, items.length ? `The ${token === undefined ? "score" : `lead of ${positive} over ${negative},`} ${shown(total)}${negative === null ? ` of ${positive}` : ""}${token === undefined ? "" : ","} is the sum of what these add${rest ? ` (${rest})` : ""}.` : start ? "The score comes from the model file that the service began with; no example taught here has changed it." : "No example has changed the weights of these features."),
      element("ol", { class: "examples" }, ...items));
  }

  async teach(label) {
    const { name } = this.description;
    const example = { features: this.form.value(), label };
    const text = JSON.stringify([name, example]);
    // The same example goes out under the same id until it is acknowledged, so that it is never learned twice.
    if (this.sent?.text !== text) this.sent = { text, id: newId() };
    const { id } = this.sent;
    const answer = await askJson("POST", pathOf(name, "/learn"), { ...example, id });
    this.sent = null;
    this.lesson.replaceChildren(lessonWords(answer, example.label, this.description.goal), " ", forgetButton({ id }, () => this.forget({ id, ...example })));
    await this.changed();
    await this.tell(this.result, () => this.predict());
  }

  forgotten(words) {
    for (const place of [this.reasons, this.result]) place.replaceChildren(); // both speak of the model before
    this.lesson.replaceChildren(words);
  }
}

function sentence({ label, score, probability, error_at_most: bound, version }, classes) {
  if (label === null) return ["The model knows no class yet: teach it."];
  const said = [element("b", { class: "label" }, labelWords(label))];
  if (Array.isArray(probability) && Array.isArray(label)) said.push(` by probabilities ${ofLabels(probability.map((value) => 100 * value), label, classes, " %")}`);
  else if (Array.isArray(probability)) said.push(` by probabilities ${best(probability.map((value) => 100 * value), classes, " %")}`);
  else if (probability !== undefined) said.push(` with a probability of ${shown(100 * probability, 3)} %`);
  else if (score === null && Array.isArray(label)) said.push(": it knows none so far.");
  else if (score === null) said.push(" is the only class it knows so far.");
  else if (Array.isArray(score) && !classes.length) said.push(` with score ${shown(Math.max(...score))}`);
  else if (Array.isArray(score) && Array.isArray(label)) said.push(` by scores ${ofLabels(score, label, classes)}`);
  else if (Array.isArray(score)) said.push(` by scores ${best(score, classes)}`);
  else said.push(` with score ${shown(score)}`);
  if (bound !== undefined) said.push(element("span", { class: "promise" }, promise(bound, label)));
  said.push(element("span", { class: "note" }, ` version ${version}`));
  return said;
}

// How many of the answers as sure as this one are wrong at most, of several labels for each.
function promise(bound, label) {
  const share = (value) => `${shown(100 * value, 3)} %`;
  if (!Array.isArray(bound)) return `; of answers as sure at most ${share(bound)} are wrong`;
  const each = bound.map((value, k) => `${label[k]} ${share(value)}`);
  return each.length ? `; error at most: ${each.join(", ")}` : "";
}

// The value of each label that is given, the highest first; of none the three that come nearest.
function ofLabels(values, labels, classes, unit = "") {
  const given = classes.map((name, k) => [values[k], name]).filter(([, name]) => labels.includes(name)).sort(([a], [b]) => b - a);
  return given.map(([value, name]) => `${name} ${shown(value)}${unit}`).join(", ") || `${best(values, classes, unit)}, none above its threshold`;
}

// The three highest values with their classes.
function best(values, classes, unit = "") {
  const order = values.map((value, k) => [value, classes[k]]).sort(([a], [b]) => b - a).slice(0, 3);
  return order.map(([value, name]) => `${name ?? ""} ${shown(value)}${unit}`.trim()).join(", ");
}

// Rules with a margin learn from right answers, too; an average may be wrong where the last weights are right.
function lessonWords({ sequence, mistake, updated, predicted, duplicate }, label, goal) {
  if (duplicate) return `This example was learned before, as number ${sequence}.`;
  if (predicted === null) return `Learned as number ${sequence}.`;
  const right = labelWords(predicted) === labelWords(Array.isArray(label) && goal !== "sequences" ? [...new Set(label)].sort() : label);
  const said = right ? "was right" : `had said ${labelWords(predicted)}`;
  if (!updated) return `Learned as number ${sequence}. The model ${said}; no step was needed.`;
  return `Learned as number ${sequence}. The model ${said}${right && !mistake ? ", but not by enough" : ""}; its weights have changed.`;
}

function problem(error) {
  return element("p", { class: "problem" }, error.message);
}

export function forgetButton({ id }, onclick) {
  if (!id) return element("span", { class: "note" }, "taught without an id");
  return element("button", { type: "button", class: "small", onclick }, "Forget");
}

function contributions({ terms, bias, total, positive, negative, others, unknown, token }, features) {
  const ofToken = ({ name, token: own }) => (own === undefined || own === null ? name : `${own + 1}: ${name}`); // words count from 1
  const sides = { positive, negative, size: Math.max(...terms.map(({ amount }) => Math.abs(amount)), 1e-300) };
  const given = (name) => (!Array.isArray(features) && Object.hasOwn(features, name) && typeof features[name] === "number" ? features[name] : null); // as it was typed
  const rest = total - bias - terms.reduce((sum, { amount }) => sum + amount, 0);
  const row = (name, value, weight, amount) => element("tr", {},
    element("th", { scope: "row", title: name }, shortened(name, 48)), element("td", {}, value), element("td", {}, weight),
    element("td", {}, shown(amount, 3)), element("td", { class: "bar-cell" }, bar(amount, sides)));
  const head = ["Feature", "Value", "Weight", "Adds"].map((name) => element("th", { scope: "col" }, name));
  const notes = token === undefined ? [] : [`Word ${token + 1}, ${shortened(String(features[token]), 40)}.`];
  notes.push(`Above 0 speaks for ${positive}, below ${negative === null ? "against it" : `for ${negative}`}; the sum is ${shown(total)}.`);
  if (terms.some(({ name, value }) => given(name) !== null && given(name) !== value)) notes.push("Numbers are multiplied as the model scales them.");
  if (unknown) notes.push(`${counted(unknown, "feature")} the model does not know.`);
  return element("div", { class: "fields" },
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What each feature adds" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head, element("td"))),
        element("tbody", {}, ...terms.map(({ value, weight, amount, ...term }) => row(ofToken(term), shown(given(term.name) ?? value, 3), shown(weight, 3), amount)), ...(others ? [row(`(${counted(others, "other feature")})`, "", "", rest)] : []), ...(token === undefined ? [row("bias", "1", shown(bias, 3), bias)] : [])))),
    element("p", { class: "note" }, notes.join(" ")));
}

// A bar to the right for what speaks for one class, to the left for the other.
function bar(amount, { size, positive, negative }) {
  const width = 50 * Math.min(1, Math.abs(amount) / size);
  const side = amount > 0 ? "positive" : "negative";
  return drawing("svg", { class: "bar", viewBox: "0 0 100 10", role: "img", "aria-label": amount <= 0 && negative === null ? `against ${positive}` : `for ${amount > 0 ? positive : negative}` },
    drawing("path", { class: "zero", d: "M50 0V10" }),
    drawing("rect", { class: side, x: amount > 0 ? 50 : 50 - width, y: 1.5, width, height: 7 }));
}

// The known name that a word is likely to be a slip of: at most a letter in four is another one.
function nearest(word, names) {
  const far = names.map((name) => [distance(word.toLowerCase(), name.toLowerCase()), name]).sort(([a], [b]) => a - b)[0];
  return far && far[0] <= Math.ceil(word.length / 4) ? far[1] : null;
}

// Letters to change, add or leave out from one word to the other (Levenshtein).
function distance(a, b) {
  let line = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1] + 1, line[j] + 1, line[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    line = next;
  }
  return line[b.length];
}
