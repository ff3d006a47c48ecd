// The lab: what is known, and who is shown it. Follows anywidget's render({ model, el }).

import { Classes } from "./classes.js";
import { addressOf, checked, stateOf } from "./documents.js";
import { FILES } from "./downloads.js";
import { PointsDrawer, takeHome } from "./drawers.js";
import { Editing } from "./editing.js";
import { button, counted, element, icon, onSize, say, set, shown } from "./elements.js";
import { Rows, Training } from "./engine.js";
import { Guide, sceneList, sceneNamed } from "./guide.js";
import { SCENES } from "./scenes.js";
import { LAYERS, Tools } from "./legend.js";
import { Lattice } from "./lattice.js";
import { Network } from "./network.js";
import { Neuron } from "./neuron.js";
import { Axis, Orders, Passes, Proof, Theorem } from "./panels.js";
import { Picture } from "./picture.js";
import { Plane } from "./plane.js";
import { label, pointName, stepSentence, verdictLine } from "./sentences.js";
import { Settings } from "./settings.js";
import { DEFAULTS, TOYS } from "./shared.js";
import { Space } from "./space.js";
import { TraceTable } from "./trace.js";
import { Transport } from "./transport.js";
import { verdictOn } from "./verdict.js";
import { Welcome } from "./welcome.js";
import { Words } from "./words.js";

const QUIET = 90; // milliseconds without a change before a slow verdict is looked for
const QUICK = 60; // points for which it never is slow
const WRITTEN = 250; // milliseconds without a change before the address is written
const REMEMBERED = 200; // changes that can be undone
const PANELS = ["neuron", "axis", "theorem", "passes", "orders", "space", "trace", "proof", "words", "network", "classes", "lattice"];
const ALONE = ["words", "network", "classes", "lattice"]; // panels of one scene, which need no plane
const COMMANDS = { s: "step", m: "mistake", a: "pass", e: "end", b: "back", Home: "start", k: "play" };
const THEMES = [["auto", "As the system has them"], ["light", "Light"], ["dark", "Dark"]];
const SIGNS = {
  undo: "M6 3 2 7l4 4V8h4a2 2 0 0 1 0 4H8v2h2a4 4 0 0 0 0-8H6z",
  redo: "M10 3l4 4-4 4V8H6a2 2 0 0 0 0 4h2v2H6a4 4 0 0 1 0-8h4z",
};

class Lab {
  // `model`: get, set, save_changes, on, off, as a notebook's.
  constructor(model, root, { isPage = false, scene = null } = {}) {
    Object.assign(this, { model, root, isPage });
    this.state = {
      document: checked(model.get("document")), at: model.get("at") ?? 0, training: null, picture: null, verdict: null, selected: null, hovered: null,
      tool: "positive", holding: false, room: 420, panel: "neuron", shows: Object.fromEntries(LAYERS.map(([name, , on]) => [name, on])),
      scoreOf: (place) => this.scoreOf(place), kernelWith: (place) => this.kernelWith(place),
    };
    this.past = [];
    this.future = [];
    this.build();
    // A notebook's model tells of what the lab itself has set, too: that changes nothing.
    this.heed = () => {
      const given = model.get("document");
      if (given === this.state.document || addressOf(checked(given), 0) === addressOf(this.state.document, 0)) return;
      this.leaveWelcome();
      this.adopt(checked(given), 0);
    };
    model.on("change:document", this.heed);
    this.onHash = () => this.readAddress();
    if (isPage) window.addEventListener("hashchange", this.onHash);
    this.onKey = (event) => this.key(event);
    this.ears = isPage ? root.ownerDocument : root;
    this.ears.addEventListener("keydown", this.onKey);
    this.train();
    if (isPage && this.readAddress()) return;
    this.render();
    if (!scene && addressOf(this.state.document, this.state.at) === addressOf({ ...DEFAULTS, ...TOYS.separable }, 0)) this.greet();
  }

  // The first screen: one pass plays by itself, unless the system asks for calm.
  greet() {
    this.isGreeting = true;
    this.root.classList.add("welcoming");
    this.guide.root.after(this.welcome.root);
    if (!this.plane.calm.matches) this.transport.start(this.state.training.n);
  }

  leaveWelcome() {
    if (!this.isGreeting) return;
    this.isGreeting = false;
    this.transport.pause();
    this.root.classList.remove("welcoming");
    this.welcome.root.remove();
    this.seek(0);
  }

  // ---- What is known ----

  train() {
    const { state } = this;
    state.training = new Training(state.document);
    state.at = Math.min(state.at, state.training.length);
    state.verdict = null;
    this.look();
  }

  look() {
    this.state.picture = new Picture(this.state.training, this.state.at);
  }

  // Takes another document and stands after `at` rows of it.
  adopt(document, at) {
    const { state } = this;
    const wasAtEnd = state.at > 0 && state.at === state.training?.length;
    for (const name of ["selected", "hovered"]) {
      if (state[name] && state[name].row >= document[state[name].list].length) state[name] = null;
    }
    state.document = document;
    state.at = wasAtEnd && at === state.at ? Infinity : at;
    this.train();
    this.model.set("document", document);
    this.schedule();
    this.save();
  }

  // Tells the notebook, at most a few times a second.
  save() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.model.save_changes(), WRITTEN);
  }

  // A change by a person, which can be undone; changes of one kind in a row count as one.
  change(parts, sentence = "", kind = null) {
    this.leaveWelcome();
    this.transport.pause();
    const { document, at } = this.state;
    if (kind === null || kind !== this.lastKind) this.remember();
    this.lastKind = kind;
    this.adopt({ ...document, ...parts }, "start" in parts ? 0 : at);
    this.tell(sentence);
  }

  // What undo comes back to: the document and its step, and the words beside it.
  get here() {
    const { document, at, panel, shows } = this.state;
    return { document, at, panel, shows: { ...shows }, scene: this.scene };
  }

  remember() {
    this.past.push(this.here);
    if (this.past.length > REMEMBERED) this.past.shift();
    this.future = [];
  }

  // The end of a drag: the next one is a change of its own.
  settle() {
    this.lastKind = null;
  }

  travel(from, to, word) {
    const there = from.pop();
    if (!there) return;
    to.push(this.here);
    this.lastKind = null;
    if (there.scene !== this.scene) {
      Object.assign(this.state.shows, there.shows);
      this.placePanel(there.panel);
      this.guideTo(there.scene);
    }
    this.adopt(there.document, there.at);
    this.tell(word);
  }

  undo() {
    this.travel(this.past, this.future, "Undone.");
  }

  redo() {
    this.travel(this.future, this.past, "Redone.");
  }

  // Other points under the same settings.
  replace({ points, names = DEFAULTS.names, labels = DEFAULTS.labels, view }, notes) {
    this.state.selected = null;
    this.editing.cursor = null;
    this.state.at = 0;
    this.change({ points, held_out: [], names, labels, view, start: [] }, [`${counted(points.length, "point")}.`, ...notes].join(" "));
    say(this.notes, notes.join(" "));
  }

  clear() {
    this.change({ points: [], held_out: [] }, "All points are gone; undo brings them back.");
  }

  hold() {
    const { points, held_out: held } = this.state.document;
    const parts = heldOut(points);
    this.change({ ...parts, held_out: [...held, ...parts.held_out] }, "Every third point is held out.");
  }

  release() {
    const { points, held_out: held } = this.state.document;
    this.change({ points: [...points, ...held], held_out: [] }, "All points are learned from.");
  }

  // ---- Going ----

  // Goes a way; returns whether that led elsewhere.
  go(way) {
    const { training, at } = this.state;
    const { visits, length, passEnds } = training;
    const next = (reached) => {
      let t = at + 1;
      while (t < length && !reached(t)) t++;
      return Math.min(t, length);
    };
    const place = {
      start: () => 0, back: () => Math.max(0, at - 1), step: () => Math.min(length, at + 1), end: () => length,
      mistake: () => next((t) => visits.mistake[t - 1] || visits.tau[t - 1] !== 0),
      pass: () => passEnds.find((end) => end > at) ?? length,
    }[way]();
    if (place === at) return false;
    const slow = !this.transport.isPlaying || this.transport.interval > 300;
    this.seek(place, (way === "step" || way === "mistake") && slow);
    return true;
  }

  seek(at, turning = false) {
    this.state.at = Math.max(0, Math.min(at, this.state.training.length));
    this.look();
    this.turning = turning;
    this.schedule();
  }

  // ---- Showing ----

  // Draws before the browser paints next, however often it is asked to.
  schedule() {
    this.scheduled ??= requestAnimationFrame(() => this.render());
  }

  render() {
    cancelAnimationFrame(this.scheduled);
    this.scheduled = undefined;
    const { state } = this;
    const { training, document } = state;
    if (!state.verdict) {
      if (training.n <= QUICK && !training.hasKernel) state.verdict = verdictOn(training);
      else this.judgeLater();
    }
    this.plane.show(state, { turning: this.turning });
    this.turning = false;
    for (const part of [this.transport, this.tools]) part.show(state);
    if (this.drawer) this.drawers[this.drawer].show?.(state);
    if (!this.isMeasured) this.measure();
    this.panels[state.panel].show(state);
    this.guide.show(state);
    say(this.sentence, stepSentence(training, state.at));
    if (state.verdict) say(this.verdict, verdictLine(state.verdict, document));
    this.verdictBox.dataset.status = state.verdict?.status ?? "waiting";
    this.showCard();
    const { points, labels } = document;
    this.plane.svg.setAttribute("aria-label", `Plane with ${counted(points.length, "point")} of the classes ${labels.join(" and ")}. The keys are listed under Share.`);
    this.reset.hidden = !this.scene || this.scene.document === document;
    this.undoButton.setAttribute("aria-disabled", !this.past.length);
    this.redoButton.setAttribute("aria-disabled", !this.future.length);
    this.writeLater();
  }

  judgeLater() {
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => {
      const { training } = this.state;
      if (!this.state.verdict) this.state.verdict = verdictOn(training);
      this.render();
    }, QUIET);
  }

  select(place) {
    this.state.selected = place;
    this.schedule();
  }

  hover(place) {
    const { hovered } = this.state;
    if (hovered?.row === place?.row && hovered?.list === place?.list) return;
    this.state.hovered = place;
    this.plane.drawRings();
    this.showCard();
    if (["neuron", "axis", "trace"].includes(this.state.panel)) this.panels[this.state.panel].show(this.state);
  }

  // The score of a point by the weights chosen.
  scoreOf({ list, row }) {
    const { picture } = this.state;
    return list === "points" ? picture.scores()[row] : picture.scores(this.state.document.memory, picture.heldOut)[row];
  }

  // Kernel values of a point with all the rows that are learned.
  kernelWith({ list, row }) {
    const { training, document } = this.state;
    const own = new Rows(document, [document[list][row]]);
    return Float64Array.from({ length: training.n }, (_, j) => training.rows.kernel(j, own, 0));
  }

  pointFacts(place) {
    const { document, picture, training } = this.state;
    const point = document[place.list][place.row];
    const score = this.scoreOf(place);
    const isVote = document.memory === "vote";
    const facts = [[pointName(place), label(document, point[2])]];
    facts.push(["at", `(${shown(point[0])}, ${shown(point[1])})`]);
    facts.push([isVote ? "lead in votes" : "a", shown(score)], [isVote ? "for its class" : "y·a", shown(point[2] * score)]);
    if (picture.norm > 0) facts.push(["distance", shown(Math.abs(score) / picture.norm)]);
    if (!isVote && picture.at && training.n) {
      const lead = place.list === "points" ? this.votesOf("points", training.rows) : this.votesOf("held_out", picture.heldOut);
      facts.push(["votes for it", `${Math.round(50 * (1 + point[2] * lead[place.row]))} %`]);
    }
    if (place.list === "points") {
      const steps = [];
      for (let t = 0; t < picture.at; t++) if (training.visits.row[t] === place.row && training.visits.tau[t] !== 0) steps.push(t + 1);
      facts.push(["taught at step", steps.length > 4 ? `${steps.slice(0, 3).join(", ")} … (${steps.length})` : steps.join(", ") || "–"]);
    }
    return facts;
  }

  votesOf(list, rows) {
    return this.state.picture.once(`votes of ${list}`, () => this.state.picture.scores("vote", rows));
  }

  pointWords(place) {
    return this.pointFacts(place).slice(2).map(([name, value]) => `${name} ${value}`).join(", ");
  }

  showCard() {
    const { hovered, selected, document } = this.state;
    const place = hovered ?? (this.plane.svg.ownerDocument.activeElement === this.plane.svg && this.plane.svg.matches(":focus-visible") ? selected : null);
    const point = place && !this.editing.held?.moved ? document[place.list][place.row] : null;
    this.plane.showCard(point, point ? this.pointFacts(place) : []);
  }

  openPanel(name) {
    this.leaveWelcome();
    this.placePanel(name);
    this.render();
    if (name === "trace") this.panels.trace.reveal(this.state.at);
  }

  openDrawer(name, opener = null) {
    this.leaveWelcome();
    const same = this.drawer === name;
    this.drawer = name === null || same ? null : name;
    this.drawerBox.hidden = this.drawer === null;
    this.drawerBox.parentNode.classList.toggle("covered", this.drawer !== null);
    for (const [key, node] of Object.entries(this.openers)) node.setAttribute("aria-expanded", key === this.drawer);
    if (this.drawer === null) {
      (opener ?? this.lastOpener)?.focus();
      return;
    }
    this.lastOpener = opener;
    const { title, root, show } = this.drawers[name];
    say(this.drawerTitle, title);
    this.drawerBody.replaceChildren(root);
    this.drawerBody.scrollTop = 0;
    show?.(this.state);
    this.drawerTitle.focus();
  }

  tell(sentence) {
    say(this.hints, sentence);
  }

  fail(sentence) {
    say(this.failureWords, sentence);
    this.failure.hidden = !sentence;
  }

  key(event) {
    if (event.key === "Escape" && this.drawer) {
      this.openDrawer(null);
      return;
    }
    const field = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    const typing = field && !/^(radio|checkbox|range|file)$/.test(event.target.type);
    if (typing || event.altKey || event.defaultPrevented) return;
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    const command = event.ctrlKey || event.metaKey || (field && event.key === "Home") ? undefined : COMMANDS[event.key];
    if (!isUndo && !command) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook has keys of its own
    if (command) this.transport.press(command);
    else if (event.shiftKey) this.redo();
    else this.undo();
  }

  // ---- Scenes ----

  openScene(scene, number) {
    this.leaveWelcome();
    this.transport.pause();
    const page = scene.pages[number - 1];
    const { state } = this;
    const given = { ...TOYS[page.toy], ...page.document };
    const document = checked(page.hold ? { ...given, ...heldOut(given.points) } : given);
    this.remember();
    state.selected = state.hovered = null;
    Object.assign(state.shows, Object.fromEntries(LAYERS.map(([name, , on]) => [name, page.shows?.[name] ?? on])));
    state.at = 0;
    this.guideTo({ scene, number, document });
    this.adopt(document, page.at === "end" ? Infinity : page.at ?? 0);
    this.scene.at = state.at;
    this.openPanel(page.panel);
    if (page.example) this.panels.words.take(page.example);
    if (page.set) this.panels.classes.take(page.set, page.step);
    if (page.panel === "lattice") this.panels.lattice.take(page.step);
    if (this.drawer) this.openDrawer(null);
    this.turning = Boolean(page.at) && page.at !== "end";
    this.render();
    if (this.isPage && window.location.hash === this.address && !this.isReading) this.writeAddress();
  }

  // Shows the words of a page of a scene, or none.
  guideTo(scene) {
    this.scene = scene;
    this.guide.open(scene?.scene ?? null, scene?.number);
    this.isMeasured = false;
    this.root.classList.toggle("guided", scene !== null);
    this.root.classList.toggle("has-task", Boolean(scene?.scene.pages[scene.number - 1].task));
  }

  // Shows the plane, its sentence and Step and Play alone, or all.
  showBare(flag) {
    this.isBare = flag;
    this.root.classList.toggle("bare", flag);
    // Several figures stand on one page: a landmark of each would have the same name.
    for (const [node, name] of [[this.stage, "Plane"], [this.side, "Training"]]) {
      if (flag) node.removeAttribute("aria-label");
      else set(node, { "aria-label": name });
    }
    this.isMeasured = false;
  }

  leaveScene() {
    this.guideTo(null);
    if (ALONE.includes(this.state.panel)) this.openPanel("neuron");
    this.writeLater();
  }

  // ---- Links ----

  writeLater() {
    if (!this.isPage) return;
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeAddress(), WRITTEN);
  }

  get link() {
    const { document, at, panel } = this.state;
    const { scene } = this;
    const page = scene ? `scene=${scene.scene.name}${scene.number > 1 ? `&page=${scene.number}` : ""}` : "";
    const bare = this.isBare ? "&bare" : "";
    if (scene?.document === document) return `#${page}${at === scene.at ? "" : `&at=${at}`}${bare}`;
    return `#${page && `${page}&`}${addressOf(document, at, { panel: panel === "neuron" ? "" : panel })}${bare}`;
  }

  // Nothing where a link was followed and the page has not yet been told: that is read next.
  writeAddress() {
    if (window.location.hash !== this.address || this.isGreeting) return;
    const { link } = this;
    // A page of a scene is a place that the browser's Back returns to.
    const [before, after] = [this.address, link].map((words) => ["scene", "page"].map((name) => new URLSearchParams(words.slice(1)).get(name)).join());
    if (link !== this.address) window.history[before === after ? "replaceState" : "pushState"](null, "", link);
    this.address = window.location.hash;
  }

  // Takes the state of the address; returns whether there was one.
  readAddress() {
    if (window.location.hash === this.address) return false;
    this.address = window.location.hash;
    let found = null;
    try {
      found = stateOf(window.location.hash);
      const scene = found?.scene ? sceneNamed(found.scene) : null;
      if (found?.scene && !scene) throw new Error(`There is no scene ${found.scene.slice(0, 40)}.`);
      this.fail("");
      this.showBare(found?.bare ?? false);
      if (scene) {
        this.isReading = true; // what it says is not yet all taken
        this.openScene(scene, Math.min(Math.max(1, found.page), scene.pages.length));
        this.isReading = false;
        if (found.document) this.adopt(found.document, found.at);
        else if (found.at !== null) this.seek(found.at);
        if (PANELS.includes(found.panel)) this.placePanel(found.panel);
        this.render();
        return true;
      }
    } catch (error) {
      this.fail(`${error.message} This is the set that the lab begins with.`);
      return false;
    }
    if (!found) return false;
    this.leaveWelcome();
    this.leaveScene();
    this.state.at = 0;
    this.adopt(found.document, found.at ?? 0);
    if (PANELS.includes(found.panel)) this.openPanel(found.panel);
    this.render();
    return true;
  }

  async copyLink() {
    this.writeAddress();
    try {
      await navigator.clipboard.writeText(window.location.href);
      this.tell("The link is copied.");
    } catch {
      this.tell("The address of this page is the link: copy it from the browser.");
    }
  }

  download(name) {
    const [type, make] = FILES[name];
    const url = URL.createObjectURL(new Blob([make(this.state.training, this.state.at)], { type }));
    element("a", { href: url, download: `rosenblatt-${name}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    this.tell(`rosenblatt-${name} is on its way to your downloads.`);
  }

  // ---- Building ----

  build() {
    const { state } = this;
    this.id = `lab-${Math.random().toString(36).slice(2)}`;
    this.plane = new Plane();
    this.editing = new Editing(this.plane, this);
    this.transport = new Transport({
      go: (way) => this.go(way), seek: (at) => this.seek(at),
      playing: (flag) => this.sentence.setAttribute("aria-live", flag ? "off" : "polite"),
    });
    this.reset = button("↺ Reset", "Back to what the words speak of", () => this.openScene(this.scene.scene, this.scene.number), { hidden: true, "data-way": "reset" });
    this.transport.root.firstChild.append(this.reset);
    this.tools = new Tools(state, { redraw: () => this.render(), keep: (memory) => this.change({ memory }) });
    this.panels = {
      neuron: new Neuron(), axis: new Axis(), theorem: new Theorem(), passes: new Passes(() => this.hold()),
      orders: new Orders((name, value) => this.change({ [name]: value })), space: new Space(),
      trace: new TraceTable({ seek: (at) => this.seek(at), look: (place) => this.hover(place) }), proof: new Proof(), words: new Words(), network: new Network(), classes: new Classes(), lattice: new Lattice(),
    };
    this.welcome = new Welcome({ tour: () => this.openScene(SCENES[0], 1), own: () => { this.clear(); this.plane.svg.focus(); }, all: () => this.leaveWelcome() });
    this.guide = new Guide({ show: (scene, number) => this.openScene(scene, number), leave: () => this.leaveScene(), resized: () => { this.isMeasured = false; this.schedule(); } });
    this.sentence = element("p", { class: "sentence", role: "status", "aria-live": "polite" });
    this.hints = element("p", { class: "hints", role: "status", "aria-live": "polite" });
    this.notes = element("p", { class: "note" });
    this.failureWords = element("span", {});
    this.failure = element("p", { class: "failure", role: "alert", hidden: true }, this.failureWords, button("✕", "Close", () => this.fail(""), { class: "quiet", "aria-label": "Close the message" }));
    this.verdict = element("span", { class: "verdict-words" });
    this.verdictBox = element("p", { class: "verdict" }, this.verdict, button("Why?", "The proof", () => this.openPanel("proof"), { class: "small" }));
    this.buildTabs();
    this.buildDrawers();
    const place = element("div", { class: "plane-place" }, this.plane.root);
    // Not by units of a container: with them every drawn frame resolves the styles of the plane anew.
    this.ofPlane = onSize(place, (width, height) => {
      const side = `${Math.min(width, height)}px`;
      Object.assign(this.plane.root.style, { width: side, height: side });
    });
    this.stage = element("section", { class: "stage", "aria-label": "Plane" }, this.tools.root, place);
    this.ofStage = onSize(this.stage, () => {
      this.isMeasured = false;
      if (this.state.picture) this.schedule();
    });
    this.side = element(
      "section", { class: "side", "aria-label": "Training" },
      this.guide.root, this.sentence, this.transport.root, this.verdictBox, this.tabList, this.panelPlace, this.drawerBox,
    );
    this.root.append(this.header(), this.failure, element("div", { class: "desk" }, this.stage, this.side));
    this.placePanel(state.panel);
  }

  placePanel(name) {
    this.state.panel = name;
    for (const tab of this.tabs) {
      const chosen = tab.dataset.panel === name;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
      tab.hidden = ALONE.includes(tab.dataset.panel) && !chosen;
    }
    this.root.classList.toggle("alone", ALONE.includes(name));
    this.panelPlace.replaceChildren(this.panels[name].root);
    this.panelPlace.setAttribute("aria-labelledby", `${this.id}-${name}`);
    this.isMeasured = false;
  }

  buildTabs() {
    const words = (name) => name[0].toUpperCase() + name.slice(1);
    this.tabs = PANELS.map((name) => element("button", { type: "button", role: "tab", id: `${this.id}-${name}`, "data-panel": name, "aria-controls": `${this.id}-panel`, onclick: () => this.openPanel(name) }, words(name)));
    this.tabList = element("div", { class: "tabs", role: "tablist", "aria-label": "What to look at" }, ...this.tabs);
    this.tabList.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const there = this.tabs.filter((tab) => !tab.hidden);
      const next = there[(there.findIndex((tab) => tab.dataset.panel === this.state.panel) + way + there.length) % there.length];
      this.openPanel(next.dataset.panel);
      next.focus();
      event.preventDefault();
    });
    this.panelPlace = element("div", { class: "panel-place", role: "tabpanel", id: `${this.id}-panel`, tabindex: 0 });
  }

  // How high a panel may be that is to end with the plane; on a phone it stands below everything.
  measure() {
    const isBeside = getComputedStyle(this.stage).position === "sticky";
    this.state.room = isBeside ? Math.max(0, this.stage.clientHeight - this.panelPlace.offsetTop - 10) : 420;
    this.isMeasured = true;
  }

  buildDrawers() {
    this.points = new PointsDrawer(this);
    this.points.root.prepend(this.notes);
    this.settings = new Settings((parts) => this.change(parts));
    const theme = element("select", { "aria-label": "Colours", onchange: () => (this.root.dataset.theme = rememberedTheme(theme.value)) }, ...THEMES.map(([value, words]) => element("option", { value }, words)));
    if (this.isPage) {
      theme.value = this.root.dataset.theme = rememberedTheme();
      this.settings.root.append(element("label", {}, "Colours", theme));
    }
    this.drawers = {
      scenes: { title: "Scenes", root: sceneList((scene, number) => this.openScene(scene, number)) },
      points: { title: "Points", root: this.points.root, show: (state) => this.points.show(state) },
      settings: { title: "Settings", root: this.settings.root, show: (state) => this.settings.show(state) },
      share: { title: "Share", root: takeHome(this, { isPage: this.isPage }) },
    };
    this.drawerTitle = element("h2", { tabindex: -1 });
    this.drawerBody = element("div", { class: "drawer-body" });
    this.drawerBox = element(
      "aside", { class: "drawer", hidden: true, "aria-label": "Drawer" },
      element("div", { class: "in-line drawer-head" }, this.drawerTitle, button("✕", "Close", () => this.openDrawer(null), { class: "quiet", "aria-label": "Close" })),
      this.drawerBody,
    );
  }

  header() {
    const words = { scenes: "Scenes", points: "Points", settings: "Settings", share: "Share" };
    this.openers = Object.fromEntries(Object.entries(words).map(([name, word]) => [name, element("button", { type: "button", "aria-expanded": false, "data-drawer": name, onclick: (event) => this.openDrawer(name, event.currentTarget) }, word)]));
    this.undoButton = element("button", { type: "button", class: "quiet", title: "Undo (Ctrl Z)", "aria-label": "Undo", onclick: () => this.undo() }, icon(SIGNS.undo));
    this.redoButton = element("button", { type: "button", class: "quiet", title: "Redo (Ctrl Shift Z)", "aria-label": "Redo", onclick: () => this.redo() }, icon(SIGNS.redo));
    return element(
      "header", {}, element("h1", {}, "The perceptron"), this.hints,
      element("nav", { "aria-label": "Lab" }, this.undoButton, this.redoButton, ...Object.values(this.openers)),
    );
  }

  close() {
    for (const timer of [this.quiet, this.saving, this.writing]) clearTimeout(timer);
    cancelAnimationFrame(this.scheduled);
    this.ofStage();
    this.ofPlane();
    window.removeEventListener("hashchange", this.onHash);
    this.ears.removeEventListener("keydown", this.onKey);
    this.model.off("change:document", this.heed);
    for (const part of [this.plane, this.transport, ...Object.values(this.panels)]) part.close?.();
  }
}

// Every third point held out.
function heldOut(points) {
  return { points: points.filter((_, i) => i % 3 !== 2), held_out: points.filter((_, i) => i % 3 === 2) };
}

// The colours that were chosen on this machine, after `chosen` has been put there; a browser may keep nothing.
function rememberedTheme(chosen = null) {
  try {
    if (chosen) window.localStorage.setItem("rosenblatt-colours", chosen);
    const kept = window.localStorage.getItem("rosenblatt-colours");
    return THEMES.some(([value]) => value === kept) ? kept : chosen ?? "auto";
  } catch {
    return chosen ?? "auto";
  }
}

// Whether the page around an element is dark, by its own background: a notebook has its colours.
function isDark(node) {
  for (let here = node; here; here = here.parentElement) {
    const found = /rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)/.exec(getComputedStyle(here).backgroundColor);
    if (found && found[4] !== "0") return 0.3 * found[1] + 0.59 * found[2] + 0.11 * found[3] < 128;
  }
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

// Shows a lab in an element; returns what ends it.
// `options`: isPage; scene, page and bare for a figure.
export function render({ model, el }, options = {}) {
  const root = element("div", { class: options.isPage ? "rosenblatt-lab page" : "rosenblatt-lab", "data-theme": "auto" });
  el.append(root);
  let observer = null;
  if (!options.isPage) {
    const follow = () => (root.dataset.theme = isDark(el) ? "dark" : "light");
    observer = new MutationObserver(follow);
    for (const node of [document.documentElement, document.body]) {
      observer.observe(node, { attributes: true, attributeFilter: ["class", "data-theme", "data-jp-theme-light", "data-jp-theme-name", "style"] });
    }
    follow();
  }
  const lab = new Lab(model, root, options);
  const scene = options.scene ? sceneNamed(options.scene) : null;
  if (options.bare) lab.showBare(true);
  if (scene) lab.openScene(scene, options.page ?? 1);
  return () => {
    observer?.disconnect();
    lab.close();
  };
}
