// The page of its own: a model as a notebook's, from the data in it.

import { render } from "./lab.js";

const place = document.getElementById("given");
const values = place ? JSON.parse(place.textContent) : {}; // the document, and the step of a page that was taken home
const model = {
  get: (name) => values[name],
  set: (name, value) => (values[name] = value),
  save_changes() {},
  on() {},
  off() {},
};

render({ model, el: document.getElementById("lab") }, { isPage: true });
