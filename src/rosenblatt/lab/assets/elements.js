// Elements and numbers: the few words in which everything else is said.

const SVG = "http://www.w3.org/2000/svg";

// An HTML element. Attributes that start with "on" are listeners; true and false switch one on or off.
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function button(words, title, onclick, attributes = {}) {
  return element("button", { type: "button", title, onclick, ...attributes }, words);
}

export function text(words, attributes) {
  const node = drawing("text", attributes);
  node.textContent = words;
  return node;
}

// Sets attributes only where they differ: a browser lays out what is written, changed or not.
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const words = String(value);
    if (node.getAttribute(name) !== words) node.setAttribute(name, words);
  }
}

export function say(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

// A number with four digits that count and a true minus.
export function shown(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  let words;
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    const [front, power] = value.toExponential(digits - 1).split("e");
    const short = front.includes(".") ? front.replace(/\.?0+$/, "") : front;
    words = `${short}·10${[...String(Number(power))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
  } else {
    words = String(Number(value.toPrecision(digits)) + 0);
  }
  return words.replaceAll("-", "−");
}

export function vector(values) {
  return `(${Array.from(values, (value) => shown(value)).join(", ")})`;
}

// "1 mistake", "2 mistakes".
export function counted(count, word, words = `${word}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? word : words}`;
}

// A name that fits; the whole of it belongs in a title.
export function shortened(name, most) {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

// About `count` round numbers between two ends.
export function ticks(low, high, count = 5) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

// Pixels that the labels of an axis take, with its title beside them.
export function labelRoom(values, least) {
  return Math.max(least, 28 + 7 * Math.max(0, ...values.map((value) => shown(value).length)));
}

// Calls `draw(width, height)` when an element gets another size; returns what ends it.
export function onSize(node, draw) {
  let known = "";
  const observer = new ResizeObserver(() => {
    const [width, height] = [Math.round(node.clientWidth), Math.round(node.clientHeight)];
    if (width > 0 && known !== `${width} ${height}`) {
      known = `${width} ${height}`;
      draw(width, height);
    }
  });
  observer.observe(node);
  return () => observer.disconnect();
}

// The mark of a class, circle or square, so that colour is never alone.
export function mark(side, x, y, size, attributes = {}) {
  const name = side > 0 ? "positive" : "negative";
  if (side > 0) return drawing("circle", { class: name, cx: x, cy: y, r: size, ...attributes });
  const half = size * 0.9;
  return drawing("rect", {
    class: name, x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx: 1.5, ...attributes,
  });
}

// The same mark as a part of a path: many of one class are then one node.
export function markPath(side, x, y, size) {
  const half = size * 0.9;
  if (side > 0) return `M${(x - size).toFixed(4)} ${y.toFixed(4)}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0`;
  return `M${(x - half).toFixed(4)} ${(y - half).toFixed(4)}h${2 * half}v${2 * half}h${-2 * half}z`;
}

export function symbol(side, ...more) {
  return drawing("svg", { class: "symbol", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, mark(side, 0, 0, 6), ...more);
}

export function icon(d) {
  return drawing("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, drawing("path", { d }));
}

// An arrow from one place to another, in pixels, as one path.
export function arrowPath([x1, y1], [x2, y2], head = 9) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1) return "";
  const size = Math.min(head, length * 0.6);
  const turn = Math.atan2(y2 - y1, x2 - x1);
  const wing = (angle) => `${x2 - size * Math.cos(turn + angle)} ${y2 - size * Math.sin(turn + angle)}`;
  return `M${x1} ${y1}L${x2} ${y2}M${wing(0.45)}L${x2} ${y2}L${wing(-0.45)}`;
}
