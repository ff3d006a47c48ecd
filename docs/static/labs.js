// Fills the places for a lab on a page of the site; other pages load nothing.

const places = document.querySelectorAll(".live-lab");

if (places.length) {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("lab.css", import.meta.url).href;
  const styled = new Promise((done) => (style.onload = done)); // a lab measures itself
  document.head.append(style);
  const { default: lab } = await import("./lab.js");
  await styled;
  for (const el of places) {
    const { scene, page, document: given } = el.dataset;
    // A scene is a figure among the words of its chapter: bare. Without one it is the whole lab, which greets.
    lab.render({ model: newModel(given), el }, scene ? { scene, page: Number(page), bare: true } : {});
  }
}

// What a notebook would keep; here it is gone with the page.
function newModel(given) {
  const values = { document: given ? JSON.parse(given) : {} };
  return { get: (name) => values[name], set: (name, value) => (values[name] = value), save_changes() {}, on() {}, off() {} };
}
