// Going through a training: by an example, a mistake, a pass, to the end, back, and by itself.

import { element, icon, say, set } from "./elements.js";

const WAYS = [
  ["start", "M2 2h2v12H2zM14 2v12L5 8z", "Start", "Back to the start (Home)"],
  ["back", "M12 2v12L3 8z", "Back", "One example back (b)"],
  ["step", "M4 2v12l9-6z", "Step", "One example on (s)"],
  ["mistake", "M3 4.4 4.4 3 8 6.6 11.6 3 13 4.4 9.4 8l3.6 3.6-1.4 1.4L8 9.4 4.4 13 3 11.6 6.6 8z", "Mistake", "On to the next mistake or update (m)"],
  ["pass", "M1 2v12l7-6zM8 2v12l7-6z", "Pass", "On to the end of the pass (a)"],
  ["end", "M2 2v12l9-6zM12 2h2v12h-2z", "End", "On to the end of the training (e)"],
];
const PLAY = "M3 1v14l11-7z";
const PAUSE = "M3 2h4v12H3zM9 2h4v12H9z";
const SPEEDS = [1, 2, 5, 10, 25];

export class Transport {
  // `go(way)` returns whether that led elsewhere; `seek(at)`; `playing(flag)` is told.
  constructor({ go, seek, playing }) {
    Object.assign(this, { go, told: playing });
    this.buttons = {};
    for (const [way, sign, word, title] of WAYS) {
      this.buttons[way] = element("button", { type: "button", title, "data-way": way, class: way === "step" ? "primary" : null, onclick: () => this.press(way) }, icon(sign), element("span", {}, word));
    }
    this.sign = icon(PLAY);
    this.word = element("span", {}, "Play");
    this.play = element("button", { type: "button", "data-way": "play", title: "Play and pause (k)", onclick: () => this.press("play") }, this.sign, this.word);
    this.speed = element("select", { "aria-label": "Steps a second", title: "Steps a second" }, ...SPEEDS.map((value) => element("option", { value, selected: value === 5 }, `${value}/s`)));
    this.slider = element("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step", oninput: () => { this.pause(); seek(Number(this.slider.value)); } });
    this.count = element("output", { class: "count" });
    const { start, back, step, mistake, pass, end } = this.buttons;
    this.root = element(
      "div", { class: "transport", role: "group", "aria-label": "Training" },
      element("div", { class: "buttons" }, start, back, step, this.play, mistake, pass, end),
      element("div", { class: "in-line scrub" }, this.slider, this.count, this.speed),
    );
  }

  get interval() {
    return 1000 / Number(this.speed.value);
  }

  get isPlaying() {
    return this.timer !== undefined;
  }

  // What a button does, for a key too.
  press(way) {
    const button = this.buttons[way] ?? this.play;
    if (button.getAttribute("aria-disabled") === "true") return;
    const playing = this.isPlaying;
    this.pause();
    if (way !== "play") this.go(way);
    else if (!playing) this.start();
  }

  // Steps fall due by the clock, so that a slow picture does not slow the training.
  start(most = Infinity) {
    let due = performance.now();
    let count = 0;
    const tick = () => {
      let moved = true;
      while (moved && performance.now() >= due) {
        moved = count++ < most && this.go("step");
        due += this.interval;
      }
      if (!moved) this.pause();
      else if (this.isPlaying) this.timer = setTimeout(tick, Math.max(0, due - performance.now()));
    };
    this.timer = setTimeout(tick, 0);
    this.label(true);
  }

  pause() {
    if (!this.isPlaying) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.label(false);
  }

  label(playing) {
    say(this.word, playing ? "Pause" : "Play");
    set(this.sign.firstChild, { d: playing ? PAUSE : PLAY });
    this.told(playing);
  }

  show({ at, training, picture }) {
    const over = at >= training.length;
    for (const way of ["start", "back"]) this.disable(this.buttons[way], at === 0);
    for (const way of ["step", "mistake", "pass", "end"]) this.disable(this.buttons[way], over);
    this.disable(this.play, over && !this.isPlaying);
    this.slider.max = training.length;
    this.slider.value = at;
    const words = `step ${at} of ${training.length}`;
    say(this.count, words);
    set(this.slider, { "aria-valuetext": `${words}, pass ${picture.pass}` });
  }

  // A button that has the focus keeps it, so that a keyboard is not thrown to the top of the page.
  disable(button, flag) {
    set(button, { "aria-disabled": flag });
  }

  close() {
    this.pause();
  }
}
