// The lab: what is known, who is asked, and who is told. Follows anywidget's render({ model, el }).

import { addressOf, stateOf } from "./address.js";
import { Bound, PassMistakes, Projections, Weights } from "./charts.js";
import { Editing } from "./editing.js";
import { element } from "./elements.js";
import { LAYERS, Legend, PointsCard, header, keys, takeHome } from "./panels.js";
import { Plane } from "./plane.js";
import { Questions } from "./questions.js";
import { Settings } from "./settings.js";
import { TableChooser } from "./table_chooser.js";
import { TraceTable } from "./trace_table.js";
import { Transport } from "./transport.js";
import { VerdictCard } from "./verdict.js";

const COLUMNS = ["pass", "row", "activation", "mistake", "step", "mistakes", "update"];
const QUIET = 200; // milliseconds without a change before a verdict is asked for

class Lab {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.linked = Boolean(model.get("linked"));
    this.defaults = model.get("defaults") ?? model.get("document");
    this.state = {
      document: model.get("document"), editable: !model.get("recorded"), selected: null, tool: "positive",
      frame: null, fresh: false, verdict: null, key: null, steps: noSteps(), length: 0, ended: false, atEnd: false,
      features: [], shows: Object.fromEntries(LAYERS.map(([name, , on]) => [name, on])),
    };
    this.wanted = []; // ways to go and places to be at, until they are asked for
    this.questions = new Questions(model, (sentence) => this.fail(sentence));
    this.heed = () => this.adopt(model.get("document"), 0);
    model.on("change:document", this.heed);
    this.onHash = () => this.readAddress();
    window.addEventListener("hashchange", this.onHash);
    this.build();
  }

  start() {
    if (this.readAddress()) return;
    this.settings.show(this.state);
    this.go("stay", 0);
    this.askVerdict();
  }

  // Goes a way from `at`, or from where one then stands; promises whether that led elsewhere. One
  // question at a time. Ways are gone one after the other; of places to be at, which dragging asks
  // for many times a second, only the last is kept.
  go(way = "stay", at = null) {
    return new Promise((resolve) => {
      if (at !== null || way === "stay") {
        this.wanted = this.wanted.filter((other) => {
          const kept = other.at === null && other.way !== "stay";
          if (!kept) other.resolve(false);
          return kept;
        });
      }
      this.wanted.push({ way, at, resolve });
      if (!this.looking) this.look();
    });
  }

  async look() {
    this.looking = true;
    while (this.wanted.length) {
      const { way, at, resolve } = this.wanted.shift();
      const { document, frame, key, steps, shows } = this.state;
      const lines = ["last", "average", "vote"].filter((name) => shows[name]);
      const start = at ?? frame?.at ?? 0;
      const answer = await this.questions.ask({ kind: "look", document, at: start, go: way, lines, key, have: steps.row.length });
      if (answer && document === this.state.document) this.take(answer);
      resolve(Boolean(answer) && answer.frame.at !== start);
    }
    this.looking = false;
  }

  take({ key, steps, frame, length, ended, features }) {
    if (key !== this.state.key) this.state.steps = noSteps();
    const known = this.state.steps;
    let updates = known.update.at(-1) ?? 0;
    steps.update = steps.step.map((tau) => (tau ? ++updates : updates));
    for (const name of [...COLUMNS, "weights"]) {
      for (const value of steps[name]) known[name].push(value);
    }
    Object.assign(this.state, { key, frame, length, ended, features, fresh: true, atEnd: ended && frame.at === length });
    this.failure.hidden = true;
    this.show();
  }

  askVerdict() {
    clearTimeout(this.quiet);
    this.quiet = setTimeout(async () => {
      const { document } = this.state;
      const verdict = await this.questions.ask({ kind: "verdict", document });
      if (document !== this.state.document) return;
      this.state.verdict = verdict;
      this.show();
    }, QUIET);
  }

  // Takes another document, from a person, an address or Python, and stands after `at` rows of it.
  adopt(document, at) {
    if (JSON.stringify(document) === JSON.stringify(this.state.document) && this.state.frame) return;
    const { selected, atEnd } = this.state;
    Object.assign(this.state, {
      document, verdict: null,
      fresh: false, // what is drawn belongs to other points until an answer comes
      selected: selected !== null && selected < document.points.length ? selected : null,
    });
    this.model.set("document", document);
    this.model.save_changes();
    this.settings.show(this.state);
    this.go(atEnd && at > 0 ? "end" : "stay", at);
    this.askVerdict();
  }

  change(points, sentence) {
    this.transport.pause();
    const { frame, document } = this.state;
    if (frame) this.state.frame = { ...frame, wrong: [], feet: null, row: null };
    this.adopt({ ...document, points }, frame?.at ?? 0);
    this.plane.show(this.state);
    this.tell(sentence);
  }

  set(name, value) {
    this.adopt({ ...this.state.document, [name]: value }, this.state.frame?.at ?? 0);
  }

  async load(name) {
    const answer = await this.questions.ask({ kind: "set", name });
    if (answer) this.replace(answer.document, []);
  }

  clear() {
    this.replace({ ...this.state.document, points: [] }, []);
  }

  // Other points under the same settings.
  replace({ points, names, labels, view }, notes) {
    this.transport.pause();
    this.state.selected = null;
    this.editing.cursor = null;
    this.points.notes.textContent = notes.join(" ");
    this.adopt({ ...this.state.document, points, names, labels, view }, 0);
    this.tell(`${points.length} points. ${notes.join(" ")}`.trim());
  }

  tell(sentence) {
    this.hints.textContent = sentence;
  }

  fail(sentence) {
    this.failure.textContent = sentence;
    this.failure.hidden = false;
  }

  show() {
    const { state } = this;
    if (!state.fresh) return;
    for (const part of this.parts) part.show(state);
    this.sentence.textContent = state.frame.sentence;
    const { points, labels } = state.document;
    const said = `Plane with ${points.length} points of the classes ${labels.join(" and ")}. The keys are listed below.`;
    this.plane.svg.setAttribute("aria-label", said);
    this.writeAddress();
  }

  writeAddress() {
    if (!this.linked) return;
    this.address = `#${addressOf(this.state.document, this.state.frame.at, this.defaults)}`;
    if (this.address !== window.location.hash) window.history.replaceState(null, "", this.address);
  }

  readAddress() {
    if (!this.linked || window.location.hash === this.address) return false;
    const found = stateOf(window.location.hash, this.defaults);
    if (!found) return false;
    Object.assign(this.state, { frame: null, atEnd: false });
    this.adopt(found.document, found.at);
    return true;
  }

  async download(what, form) {
    const file = await this.questions.ask({ kind: "download", what, form, document: this.state.document });
    if (!file) return;
    const url = URL.createObjectURL(new Blob([file.text], { type: file.type }));
    element("a", { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    this.tell(`${file.name} is on its way to your downloads.`);
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(window.location.href);
      this.tell("The link to this state was copied.");
    } catch {
      this.tell("The address of this page is the link to this state: copy it from the browser.");
    }
  }

  build() {
    const { state } = this;
    const ask = (message) => this.questions.ask(message);
    this.plane = new Plane();
    this.editing = new Editing(this.plane, this.hands());
    this.transport = new Transport({
      go: (way) => this.go(way), seek: (at) => this.go("stay", at),
      playing: (flag) => this.sentence.setAttribute("aria-live", flag ? "off" : "polite"),
    });
    this.settings = new Settings((name, value) => this.set(name, value));
    const chooser = new TableChooser(ask, (document, notes) => this.replace(document, notes), (sentence) => this.fail(sentence));
    this.points = new PointsCard(this, chooser);
    const legend = new Legend(state, () => this.go());
    const verdict = new VerdictCard();
    const charts = [new Projections(), new Weights(), new PassMistakes(), new Bound()];
    const table = new TraceTable();
    this.parts = [this.plane, this.transport, this.settings, chooser, this.points, legend, verdict, ...charts, table];
    this.sentence = element("p", { class: "sentence", role: "status", "aria-live": "polite" });
    this.hints = element("p", { class: "hints", role: "status", "aria-live": "polite" });
    this.failure = element("p", { class: "failure", role: "alert", hidden: true });
    const stage = element(
      "section", { class: "card stage" }, element("h2", { class: "unseen" }, "Plane"),
      this.plane.root, legend.root, this.transport.root, this.sentence, this.hints,
    );
    this.root.append(
      header(this.root),
      ...(state.editable ? [] : [element("p", { class: "recorded" }, this.model.get("recorded"))]),
      this.failure,
      element(
        "div", { class: "columns" },
        element("div", { class: "left" }, this.points.root, this.settings.root, takeHome(this, this.linked)),
        element("div", { class: "middle" }, stage),
        element("div", { class: "below" }, table.root, keys()),
        element("div", { class: "right" }, verdict.root, ...charts.map((chart) => chart.root)),
      ),
    );
  }

  // What the hands of a person on the plane may know and do.
  hands() {
    const { state } = this;
    return {
      get document() { return state.document; },
      get editable() { return state.editable; },
      get selected() { return state.selected; },
      get tool() { return state.tool; },
      change: (points, sentence) => this.change(points, sentence),
      select: (row) => {
        state.selected = row;
        this.plane.drawRings();
      },
      command: (way) => this.transport.press(way),
      tell: (sentence) => this.tell(sentence),
    };
  }

  close() {
    clearTimeout(this.quiet);
    window.removeEventListener("hashchange", this.onHash);
    this.questions.close();
    this.model.off("change:document", this.heed);
    for (const part of this.parts) part.close?.();
  }
}

function noSteps() {
  return { ...Object.fromEntries(COLUMNS.map((name) => [name, []])), weights: [] };
}

function render({ model, el }) {
  const root = element("div", { class: "rosenblatt-lab" });
  el.append(root);
  const lab = new Lab(model, root);
  lab.start();
  return () => lab.close();
}

export default { render };
