// Going through a training: by an example, a mistake, a pass, to the end, back, and by itself.

import { drawing, element } from "./elements.js";

const WAYS = [
  ["start", "M1 1h2v10h-2zM12 1v10l-8-5z", "Start", "Back to the start"],
  ["back", "M10 1v10l-8-5z", "Back", "One example back"],
  ["step", "M2 1v10l8-5z", "Step", "One example on"],
  ["mistake", "M1 2.4 2.4 1 6 4.6 9.6 1 11 2.4 7.4 6 11 9.6 9.6 11 6 7.4 2.4 11 1 9.6 4.6 6z", "Mistake", "On to the next mistake or update"],
  ["pass", "M0 1v10l6-5zM6 1v10l6-5z", "Pass", "On to the end of the pass"],
  ["end", "M0 1v10l8-5zM9 1h2v10h-2z", "End", "On to the end of the training"],
];
const PLAY = "M1 0v12l10-6z";
const PAUSE = "M2 1h3v10h-3zM7 1h3v10h-3z";
const SPEEDS = [1, 2, 5, 10, 25];

export class Transport {
  // `go(way)` promises to be there; `seek(at)` likewise; `playing(flag)` is told.
  constructor({ go, seek, playing }) {
    Object.assign(this, { go, seek, told: playing });
    this.buttons = {};
    for (const [way, sign, word, title] of WAYS) {
      this.buttons[way] = element(
        "button", { type: "button", title, "data-way": way, onclick: () => this.press(way) },
        icon(sign), element("span", {}, word),
      );
    }
    this.sign = icon(PLAY);
    this.word = element("span", {}, "Play");
    this.play = element("button", { type: "button", class: "primary", "data-way": "play", onclick: () => this.press("play") }, this.sign, this.word);
    this.speed = element("select", { "aria-label": "Steps a second" });
    for (const value of SPEEDS) this.speed.append(element("option", { value, selected: value === 5 }, `${value} a second`));
    this.slider = element("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step", oninput: () => { this.pause(); seek(Number(this.slider.value)); } });
    this.count = element("output", { class: "count" });
    this.root = element(
      "div", { class: "transport", role: "group", "aria-label": "Training" },
      element("div", { class: "buttons" }, ...Object.values(this.buttons)),
      element("div", { class: "playing" }, this.play, this.speed, this.slider, this.count),
    );
  }

  // What a button does, for a key too.
  press(way) {
    const button = this.buttons[way] ?? this.play;
    if (button.getAttribute("aria-disabled") === "true") return;
    const playing = Boolean(this.timer);
    this.pause();
    if (way !== "play") this.go(way);
    else if (!playing) this.start();
  }

  start() {
    const tick = async () => {
      const begun = performance.now();
      const moved = await this.go("step");
      if (!this.timer) return;
      if (!moved) return this.pause();
      const rest = 1000 / Number(this.speed.value) - (performance.now() - begun);
      this.timer = setTimeout(tick, Math.max(0, rest));
    };
    this.timer = setTimeout(tick, 0);
    this.label(true);
  }

  pause() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.label(false);
  }

  label(playing) {
    this.word.textContent = playing ? "Pause" : "Play";
    this.sign.firstChild.setAttribute("d", playing ? PAUSE : PLAY);
    this.told(playing);
  }

  show({ frame, length, ended }) {
    const at = frame?.at ?? 0;
    const over = ended && at >= length;
    for (const way of ["start", "back"]) this.disable(this.buttons[way], at === 0);
    for (const way of ["step", "mistake", "pass", "end"]) this.disable(this.buttons[way], over);
    this.disable(this.play, over && !this.timer);
    this.slider.max = Math.max(length, at);
    this.slider.value = at;
    this.count.textContent = `step ${at} of ${length}${ended ? "" : " …"}`;
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
  }

  // A button that has the focus keeps it, so that a keyboard is not thrown to the top of the page.
  disable(button, flag) {
    button.setAttribute("aria-disabled", flag);
  }

  close() {
    this.pause();
  }
}

function icon(d) {
  return drawing("svg", { class: "sign", viewBox: "0 0 12 12", "aria-hidden": "true" }, drawing("path", { d }));
}
