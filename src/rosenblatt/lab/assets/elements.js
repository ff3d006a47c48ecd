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
  node.append(...children.filter((child) => child !== null));
  return node;
}

// A number with four digits that count and a true minus, as the sentences have it.
export function shown(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  let text;
  if (size !== 0 && (size < 1e-4 || size >= 1e4)) {
    const [digits, power] = value.toExponential(3).split("e");
    const whole = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
    text = `${whole}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  } else {
    text = String(Number(value.toPrecision(4)) + 0);
  }
  return text.replaceAll("-", "−");
}

export function vector(values) {
  return `(${values.map(shown).join(", ")})`;
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

// Calls `draw(width)` when an element gets another width; returns what ends it.
export function onWidth(node, draw) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      draw(width);
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

export function symbol(side) {
  return drawing(
    "svg", { class: "symbol", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, mark(side, 0, 0, 6),
  );
}
