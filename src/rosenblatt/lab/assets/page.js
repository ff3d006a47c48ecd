// The served page: a model in anywidget's manner whose messages go to the server by fetch.

import lab from "./lab.js";

const { document: given, defaults, token } = JSON.parse(document.getElementById("given").textContent);

class ServerModel {
  constructor() {
    this.values = { document: given, defaults, linked: true };
    this.listeners = new Map();
  }

  get(name) {
    return this.values[name];
  }

  set(name, value) {
    this.values[name] = value;
  }

  save_changes() {} // every message has the document in it

  on(name, listener) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
  }

  off(name, listener) {
    this.listeners.set(name, (this.listeners.get(name) ?? []).filter((other) => other !== listener));
  }

  async send(message) {
    let answer;
    try {
      const response = await fetch("/message", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Rosenblatt-Token": token },
        body: JSON.stringify(message),
      });
      answer = await response.json();
    } catch {
      answer = { kind: "error", sentence: "The lab does not answer: it may have ended. Start it again: rosenblatt lab." };
    }
    for (const listener of this.listeners.get("msg:custom") ?? []) listener({ ...answer, id: message.id });
  }
}

lab.render({ model: new ServerModel(), el: document.getElementById("lab") });
