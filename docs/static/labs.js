// Fills the places for a lab on a page of the site; other pages load nothing.

const places = document.querySelectorAll(".live-lab");

if (places.length) {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("lab.css", import.meta.url).href;
  document.head.append(style);
  const { default: lab } = await import("./lab.js");
  for (const el of places) lab.render({ model: newModel(el.dataset.document), el }, { scene: el.dataset.scene || null });
}

// What a notebook would keep; here it is gone with the page.
function newModel(given) {
  const values = { document: given ? JSON.parse(given) : {} };
  return { get: (name) => values[name], set: (name, value) => (values[name] = value), save_changes() {}, on() {}, off() {} };
}
