// The verdict on the points, with its proof.

import { element } from "./elements.js";

export class VerdictCard {
  constructor() {
    this.sentence = element("p", { class: "verdict-word" });
    this.proof = element("pre", { tabindex: 0, role: "region", "aria-label": "The proof" });
    this.details = element("details", {}, element("summary", {}, "The proof"), this.proof);
    this.root = element("section", { class: "card verdict" }, element("h2", {}, "Verdict"), this.sentence, this.details);
  }

  show({ verdict }) {
    this.root.dataset.status = verdict?.status ?? "waiting";
    this.sentence.textContent = verdict?.sentence ?? "…";
    this.proof.textContent = verdict?.lines.map((line) => line.trim()).join("\n") ?? "";
    this.details.hidden = !verdict?.lines.length;
  }
}
