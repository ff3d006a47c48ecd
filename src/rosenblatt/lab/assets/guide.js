// A scene beside the plane: a few pages of words, each with a state of the lab that shows it.

import { button, element, say, set } from "./elements.js";
import { SCENES } from "./scenes.js";
import { CHECKS } from "./tasks.js";

export function sceneNamed(name) {
  return SCENES.find((scene) => scene.name === name) ?? null;
}

export class Guide {
  // `show(scene, number)` sets the lab to a page, counted from 1; `leave()` ends it; `resized()` follows an answer.
  constructor({ show, leave, resized }) {
    this.turn = show;
    this.resized = resized;
    this.title = element("h2", {});
    this.words = element("div", { class: "guide-words" });
    this.task = element("p", { class: "task", role: "status" });
    this.place = element("span", { class: "note" });
    this.back = button("‹ Back", "Previous page", () => this.go(-1), { class: "small" });
    this.next = button("Next ›", "Next page", () => this.go(1), { class: "small primary" });
    const close = button("✕", "Leave the scene", leave, { class: "small quiet", "aria-label": "Leave the scene" });
    this.root = element(
      "section", { class: "guide", "aria-label": "Scene", hidden: true },
      element("div", { class: "in-line guide-head" }, this.title, this.place, element("span", { class: "in-line" }, this.back, this.next, close)), this.words,
    );
  }

  go(way) {
    const { scene, number } = this;
    const next = number + way;
    if (next > scene.pages.length) {
      const after = SCENES[(SCENES.indexOf(scene) + 1) % SCENES.length];
      this.turn(after, 1);
    } else this.turn(scene, next);
  }

  // Whether the task of the page is done.
  show(state) {
    const task = this.scene?.pages[this.number - 1].task;
    if (this.root.hidden || !task) return;
    const [done, words] = CHECKS[task](state);
    set(this.task, { "data-done": done });
    say(this.task, `${done ? "✓ Done." : "☐"} ${words}`);
  }

  // Shows a page; nothing where `scene` is null.
  open(scene, number) {
    this.root.hidden = scene === null;
    if (scene === null) return;
    Object.assign(this, { scene, number });
    const page = scene.pages[number - 1];
    say(this.title, scene.title);
    say(this.place, `${scene.section} · ${number} of ${scene.pages.length}`);
    const nodes = page.words.map((sentence) => element("p", {}, sentence));
    if (page.question) nodes.push(element("p", { class: "question" }, page.question));
    const hidden = page.answer ?? page.hint;
    if (hidden) nodes.push(element("details", { class: "reveal", ontoggle: () => this.resized() }, element("summary", {}, page.hint ? "A hint" : "The answer"), element("div", { class: "answer" }, ...hidden.map((sentence) => element("p", {}, sentence)))));
    if (page.task) nodes.push(this.task);
    this.words.replaceChildren(...nodes);
    this.back.hidden = number === 1;
    const last = number === scene.pages.length;
    const after = SCENES[(SCENES.indexOf(scene) + 1) % SCENES.length];
    say(this.next, last ? "Next scene ›" : "Next ›");
    this.next.title = last ? after.title : "Next page";
  }
}

// The list of scenes, each a link.
export function sceneList(open) {
  const here = window.location.href.split("#")[0]; // whole: "#…" out of view is read as a skip link
  return element("ol", { class: "scenes" }, ...SCENES.map((scene) => element(
    "li", {}, element("a", { href: `${here}#scene=${scene.name}`, onclick: (event) => { event.preventDefault(); open(scene, 1); } }, element("b", {}, scene.title), element("span", {}, scene.about), element("small", {}, scene.section)),
  )));
}
