// The page for people: which models there are, how they do, and one to try.

import { askJson, setToken } from "./connection.js";
import { element, say } from "./elements.js";
import { Forgetting } from "./forgetting.js";
import { ModelView, unseen } from "./model.js";
import { ModelList, NewModel } from "./models.js";

const EVERY = 3000; // milliseconds between two looks at the models, while the page is seen

class Page {
  constructor() {
    this.models = [];
    this.view = null;
    this.blind = false; // whether the token may not list models
    this.state = element("p", { class: "state", role: "status" });
    this.failure = element("p", { class: "failure", role: "alert", hidden: true });
    this.list = new ModelList();
    this.newModel = new NewModel(async (name) => {
      await this.look();
      location.hash = encodeURIComponent(name);
    });
    this.forgetting = new Forgetting(async (id, words) => {
      this.view?.trial.forgotten(words);
      await this.look();
    });
    this.token = this.tokenForm();
    this.otherToken = element("button", { type: "button", class: "small", hidden: true, onclick: () => this.askToken() }, "Token");
    this.byName = this.nameForm();
    this.side = element("aside", { class: "side", "aria-label": "Models and a new one" }, this.list.root, this.newModel.root);
    this.place = element("main", { id: "model", tabindex: -1 });
    document.body.append(
      element("a", { class: "skip", href: "#model", onclick: (event) => this.skip(event) }, "Skip to the model"),
      element("header", { class: "top" }, element("h1", {}, "Rosenblatt service"), this.state, this.otherToken, element("a", { href: "openapi.json" }, "Interface")),
      this.failure,
      this.token,
      element("div", { class: "desk" }, this.side, this.place),
      this.forgetting.root);
    addEventListener("hashchange", () => this.choose({ focus: true }));
    document.addEventListener("visibilitychange", () => this.look());
    this.run();
  }

  tokenForm() {
    const input = element("input", { type: "password", autocomplete: "off", name: "token", required: true });
    return element("form", {
      class: "token", hidden: true, "aria-label": "Token",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          setToken(input.value.trim());
          input.value = "";
        } catch (error) {
          this.fail(error.message);
          return;
        }
        Object.assign(this, { wanted: false, blind: false });
        this.otherToken.hidden = false;
        await this.look();
        this.token.hidden = !this.wanted;
      },
    }, element("label", {}, "Token", input), element("button", { class: "primary" }, "Use it"),
    element("p", { class: "note" }, "The service asks for a token. It is kept until this page is closed or loaded again, and nowhere else."));
  }

  // A token that may not list models can still be used with one whose name is known.
  nameForm() {
    const input = element("input", { type: "text", name: "model", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    return element("form", {
      class: "token",
      onsubmit: (event) => {
        event.preventDefault();
        location.hash = encodeURIComponent(input.value.trim());
      },
    }, element("label", {}, "Name of the model", input), element("button", { class: "primary" }, "Open"),
    element("p", { class: "note" }, "This token may not list the models."));
  }

  skip(event) {
    event.preventDefault(); // the part after # names a model
    this.place.focus();
  }

  fail(words) {
    this.failure.hidden = !words;
    say(this.failure, words);
  }

  async run() {
    await this.look();
    setInterval(() => document.hidden || this.wanted || this.blind || this.look(), EVERY);
  }

  // Looks at all models; one look at a time.
  look() {
    this.looking = (this.looking ?? Promise.resolve()).then(() => this.lookOnce());
    return this.looking;
  }

  async lookOnce() {
    try {
      if (!this.blind) this.models = (await askJson("GET", "/v1/models")).models;
      this.fail("");
      await this.lookAtState();
    } catch (error) {
      if (error.status === 401) {
        this.wanted = true; // nothing more is asked until a token comes
        this.side.hidden = true;
        this.show(null, "");
        if (this.token.hidden) this.askToken();
        else this.fail(error.message);
        return;
      }
      if (error.status !== 403) {
        this.fail(error.message);
        return;
      }
      Object.assign(this, { blind: true, models: await namedByToken() });
      this.fail("");
    }
    this.side.hidden = this.blind && !this.models.length;
    this.newModel.root.hidden = this.blind;
    await this.choose();
  }

  async lookAtState() {
    const { ready, reason } = await askJson("GET", "/ready").catch((error) => {
      if (error.status !== 503) throw error;
      return error.body.startsWith("{") ? JSON.parse(error.body) : { ready: false, reason: error.message };
    });
    say(this.state, ready ? "learning" : `read-only: ${reason}`);
    this.state.dataset.ready = ready;
  }

  askToken() {
    this.token.hidden = false;
    this.token.querySelector("input").focus();
  }

  chosenName() {
    try {
      const name = decodeURIComponent(location.hash.slice(1));
      if (this.blind && !this.models.length) return name || null;
      return this.models.some((model) => model.name === name) ? name : this.models[0]?.name;
    } catch {
      return this.models[0]?.name; // a damaged address
    }
  }

  show(view, content) {
    this.view?.close();
    this.view = view;
    this.place.replaceChildren(content);
  }

  async choose({ focus = false } = {}) {
    const name = this.chosenName();
    const description = this.blind && name && !this.models.length ? unseen(name) : this.models.find((model) => model.name === name);
    this.list.show(this.models, name);
    if (!description) {
      this.show(null, this.blind ? this.byName
        : element("p", { class: "welcome" }, "A model learns from examples, predicts, says why, and forgets. Create one, then teach it here or over HTTP."));
      this.newModel.root.open = !this.blind;
      return;
    }
    if (!this.view?.isOf(description)) {
      const view = new ModelView(description, this.forgetting, () => this.look());
      this.show(view, view.root);
      document.title = `${name} · Rosenblatt service`;
    }
    if (focus) this.view.root.querySelector("h2").focus();
    await this.view.update(description);
  }
}

// The models that a token is for, of which it may know no more than the names.
async function namedByToken() {
  const { models } = await askJson("GET", "/v1/token").catch(() => ({ models: null }));
  return (models ?? []).map(unseen);
}

new Page();
