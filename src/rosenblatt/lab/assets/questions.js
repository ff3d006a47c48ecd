// Questions to Python and their answers, over whatever model the page was given.

export class Questions {
  // `fail(sentence)` is told what went wrong.
  constructor(model, fail) {
    Object.assign(this, { model, fail });
    this.waiting = new Map();
    this.prefix = Math.random().toString(36).slice(2);
    this.count = 0;
    this.hear = (message) => this.receive(message);
    model.on("msg:custom", this.hear);
  }

  // Promises the answer; null where it is an error.
  async ask(message) {
    const id = `${this.prefix}-${++this.count}`;
    const answer = await new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.model.send({ ...message, id });
    });
    if (answer.kind !== "error") return answer;
    this.fail(answer.sentence);
    return null;
  }

  receive(message) {
    const resolve = this.waiting.get(message?.id);
    this.waiting.delete(message?.id);
    resolve?.(message); // else it is for another view of the same widget
  }

  close() {
    this.model.off("msg:custom", this.hear);
  }
}
