// The first screen: the picture plays, and there is one way to begin.

import { button, element } from "./elements.js";

export class Welcome {
  // `tour()`, `own()` and `all()` leave it: to the first scene, to an empty plane, to every tool.
  constructor({ tour, own, all }) {
    this.root = element(
      "section", { class: "welcome", "aria-label": "Welcome" },
      element("h2", {}, "A neuron that learns from its mistakes"),
      element("p", {}, "Blue circles on one side, orange squares on the other: the line has to tell them apart. Each time a point is on the wrong side, the line moves. That is the whole algorithm."),
      element("div", { class: "in-line" },
        button("Start the tour ▸", "Chapter 4 of the textbook, scene by scene", tour, { class: "primary large", "data-welcome": "tour" }),
        button("Put your own points", "An empty plane", own, { class: "large", "data-welcome": "own" }),
        button("All tools", "Scenes, settings and panels", all, { class: "quiet", "data-welcome": "all" })),
    );
  }
}
