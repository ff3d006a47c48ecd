// Points from a person's own table: a file, then two columns of numbers and one of labels.

import { element } from "./elements.js";

const MOST_BYTES = 1_000_000;

export class TableChooser {
  // `ask(message)` promises Python's answer, `load(document, notes)` shows it, `fail(sentence)` tells.
  constructor(ask, load, fail) {
    Object.assign(this, { ask, load, fail });
    this.input = element("input", {
      type: "file", accept: ".csv,.tsv,.txt,.jsonl,text/csv",
      onclick: () => (this.input.value = ""), // so that a file that was edited can be chosen again
      onchange: () => this.read(this.input.files[0]),
    });
    this.choices = element("div", { class: "fields", hidden: true });
    this.root = element("div", { class: "chooser" }, element("label", {}, "Your own table (CSV)", this.input), this.choices);
  }

  async read(file) {
    this.choices.hidden = true;
    if (!file) return;
    if (file.size > MOST_BYTES) {
      this.fail(`${file.name} has ${file.size.toLocaleString("en")} bytes; the page takes ${MOST_BYTES.toLocaleString("en")} at most. rosenblatt lab ${file.name} takes larger ones.`);
      return;
    }
    this.table = { text: await file.text(), name: file.name };
    const found = await this.ask({ kind: "table", ...this.table });
    if (found) this.offer(found);
  }

  offer(found) {
    const select = (words, values, chosen) => {
      const node = element("select", {}, ...values.map((value) => element("option", { value, selected: value === chosen }, value)));
      return [node, element("label", {}, words, node)];
    };
    const [x, xLabel] = select("Across (x₁)", found.numeric, found.x);
    const [y, yLabel] = select("Up (x₂)", found.numeric, found.y);
    const [label, labelLabel] = select("Label", found.columns, found.label);
    const [positive, positiveLabel] = select("Positive class", [], null);
    const offerClasses = () => {
      const values = found.values[label.value] ?? [];
      positive.replaceChildren(...values.map((value, i) => element("option", { value, selected: i === values.length - 1 }, value)));
    };
    label.addEventListener("change", offerClasses);
    offerClasses();
    const scale = element("input", { type: "checkbox" });
    const go = element("button", { type: "button", class: "primary", onclick: () => this.choose(x, y, label, positive, scale) }, "Use these columns");
    this.choices.replaceChildren(
      element("p", { class: "note" }, `${found.name}: ${found.n_rows.toLocaleString("en")} rows.`),
      xLabel, yLabel, labelLabel, positiveLabel,
      element("label", { class: "check" }, scale, "scale to mean 0, deviation 1"), go,
    );
    this.choices.hidden = false;
    x.focus();
  }

  async choose(x, y, label, positive, scale) {
    const answer = await this.ask({
      kind: "points", ...this.table, x: x.value, y: y.value, label: label.value,
      positive: positive.value || null, scale: scale.checked,
    });
    if (answer) this.load(answer.document, answer.notes);
  }

  show({ editable }) {
    this.input.disabled = !editable;
  }
}
