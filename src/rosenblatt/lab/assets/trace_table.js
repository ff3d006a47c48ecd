// The running table of the trace: one line a visit, up to where one stands.

import { element, shown, vector } from "./elements.js";

const MOST_LINES = 120; // the last ones; the download has them all

export class TraceTable {
  constructor() {
    this.only = element("input", { type: "checkbox", onchange: () => this.state && this.show(this.state) });
    this.head = element("thead");
    this.body = element("tbody");
    this.note = element("p", { class: "note" });
    this.scroll = element(
      "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Trace so far" },
      element("table", {}, this.head, this.body),
    );
    this.root = element(
      "section", { class: "card trace" },
      element("div", { class: "bar" }, element("h2", {}, "Trace"), element("label", { class: "check" }, this.only, "only updates")),
      this.scroll, this.note,
    );
  }

  show(state) {
    this.state = state;
    const { steps, frame, features } = state;
    if (!frame) return;
    const kernel = !features.length;
    const columns = ["pass", "row", "x", "class", "activation", "", "step", ...(kernel ? ["its weight"] : ["w", "b"])];
    this.head.replaceChildren(element("tr", {}, ...columns.map((name) => (
      name ? element("th", { scope: "col" }, name) : element("th", { scope: "col" }, element("span", { class: "unseen" }, "outcome"))
    ))));
    const chosen = [];
    for (let t = frame.at - 1; t >= 0 && chosen.length < MOST_LINES; t--) {
      if (!this.only.checked || steps.step[t]) chosen.push(t);
    }
    this.body.replaceChildren(...chosen.reverse().map((t) => this.line(t, state, kernel)));
    this.scroll.scrollTop = this.scroll.scrollHeight;
    const total = this.only.checked ? frame.updates : frame.at;
    const counted = `${total} ${this.only.checked ? "update" : "step"}${total === 1 ? "" : "s"}`;
    this.note.textContent = total > chosen.length ? `${counted}; the last ${chosen.length} are shown.` : `${counted} so far.`;
  }

  line(t, { document, steps, frame }, kernel) {
    const row = steps.row[t];
    const [x, y, side] = document.points[row] ?? [NaN, NaN, 1];
    const tau = steps.step[t];
    const outcome = steps.mistake[t] ? "wrong" : tau ? "right, too close" : "right";
    const weights = steps.weights[steps.update[t] - 1];
    const zero = kernel ? ["0"] : [vector(Array(this.state.features.length).fill(0)), "0"];
    const after = !weights || (kernel && !tau) ? (kernel ? ["–"] : zero) : kernel ? [shown(weights[0])] : [vector(weights.slice(0, -1)), shown(weights.at(-1))];
    const sign = tau ? `${side > 0 ? "+" : "−"}${shown(tau)}` : "";
    const cells = [steps.pass[t], row, vector([x, y]), document.labels[side > 0 ? 1 : 0], shown(steps.activation[t]), outcome, sign, ...after];
    const name = `${tau ? "update" : ""}${t === frame.at - 1 ? " now" : ""}`.trim();
    return element("tr", name ? { class: name } : {}, ...cells.map((cell) => element("td", {}, String(cell))));
  }
}
