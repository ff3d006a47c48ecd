// The exported file: a model in anywidget's manner that answers from a recording.

const recording = JSON.parse(document.getElementById("recording").textContent);
const WHY = "This is a recorded session: step, play and look. To move points or change settings, which Python computes, run: rosenblatt lab.";

class RecordedModel {
  constructor() {
    this.values = { document: recording.document, recorded: recording.complete ? WHY : `${WHY} The file holds the first ${recording.frames.length - 1} steps.` };
    this.listeners = [];
  }

  get(name) {
    return this.values[name];
  }

  set() {}

  save_changes() {}

  on(name, listener) {
    if (name === "msg:custom") this.listeners.push(listener);
  }

  off(name, listener) {
    this.listeners = this.listeners.filter((other) => other !== listener);
  }

  send(message) {
    const answer = { ...this.answer(message), id: message.id };
    queueMicrotask(() => this.listeners.forEach((listener) => listener(answer)));
  }

  answer(message) {
    if (message.kind === "look") return this.look(message);
    if (message.kind === "verdict") return recording.verdict;
    const file = message.kind === "download" && recording.files[`${message.what}.${message.form}`];
    return file || { kind: "error", sentence: WHY };
  }

  look({ at, go, have }) {
    const { frames, steps, features } = recording;
    const length = frames.length - 1;
    const n = recording.document.points.length;
    const here = Math.min(at, length);
    const after = (reached) => {
      let t = here + 1;
      while (t < length && !reached(t)) t++;
      return Math.min(t, length);
    };
    const place = {
      stay: () => here,
      start: () => 0,
      back: () => Math.max(0, here - 1),
      step: () => after(() => true),
      mistake: () => after((t) => steps.mistake[t - 1] || steps.step[t - 1]),
      pass: () => after((t) => t % n === 0),
      end: () => length,
    }[go]();
    const sent = have ? Object.fromEntries(Object.entries(steps).map(([name, list]) => [name, Array.isArray(list) ? [] : list])) : { ...steps };
    return { kind: "sight", key: "recording", steps: { ...sent, from: have }, length, ended: true, features, frame: frames[place] };
  }
}

lab.render({ model: new RecordedModel(), el: document.getElementById("lab") });
