// Forgetting an example: the question before it, and the wait for it.

import { askJson, pathOf } from "./connection.js";
import { counted, element, say } from "./elements.js";
import { labelWords, words } from "./features.js";

const AGAIN = 400; // milliseconds until a job is looked at again

export class Forgetting {
  constructor(done) {
    this.done = done;
    this.example = element("div");
    this.problem = element("p", { class: "problem", role: "alert" });
    this.root = element("dialog", { "aria-labelledby": "forget-title" },
      element("form", { method: "dialog", class: "fields", onsubmit: (event) => this.submit(event) },
        element("h2", { id: "forget-title" }, "Forget this example?"),
        this.example,
        element("p", { class: "note" }, "The model becomes one that never saw the example, which takes a while with many examples. Features and label are erased from the journal, and older versions that held them can no longer be asked."),
        element("div", { class: "row" },
          element("button", { class: "primary", value: "forget" }, "Forget"),
          element("button", { value: "cancel" }, "Cancel")),
        this.problem));
  }

  ask(model, { id, features, label }) {
    Object.assign(this, { model, id });
    say(this.problem, "");
    this.example.replaceChildren(words(features), element("p", {}, "Label: ", element("b", {}, labelWords(label))));
    this.root.showModal();
  }

  async submit(event) {
    if (event.submitter?.value === "cancel") return;
    event.preventDefault();
    try {
      say(this.problem, "");
      const answer = await askJson("POST", pathOf(this.model, "/forget"), { id: this.id });
      const end = await this.wait(this.model, answer.job);
      this.root.close();
      this.done(this.id, end.examples ? `Forgotten: ${counted(end.examples, "example")}. The model is at version ${end.version}.` : "It was forgotten already.");
    } catch (error) {
      say(this.problem, error.message);
    }
  }

  async wait(model, number) {
    for (;;) {
      const job = await askJson("GET", pathOf(model, `/jobs/${number}`));
      if (job.status === "done") return job;
      if (job.status === "failed") throw new Error(job.error ?? "It could not be forgotten.");
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }
}
