// The state of the page in its address, short where it can be and readable where it matters.

const NUMBER_PARTS = ["eta0", "C", "margin", "seed", "degree", "gamma", "coef0", "max_iter"];
const WORD_PARTS = ["rule", "memory", "order", "zero", "map", "kernel"];

// What stands behind the # for a document at a step; only what differs from the defaults.
export function addressOf(document, at, defaults) {
  const parts = [];
  const add = (name, text) => parts.push(`${name}=${text}`);
  for (const name of [...WORD_PARTS, ...NUMBER_PARTS]) {
    if (document[name] !== defaults[name]) add(name, encodeURIComponent(document[name]));
  }
  for (const name of ["names", "labels", "view"]) {
    const text = JSON.stringify(document[name]);
    if (text !== JSON.stringify(defaults[name])) add(name, encodeURIComponent(text));
  }
  add("points", document.points.map(([x, y, side]) => `${x},${y},${side > 0 ? "p" : "n"}`).join("~"));
  if (at) add("at", at);
  return parts.join("&");
}

// The document and step that an address names; null where it names none. Python checks the rest.
export function stateOf(address, defaults) {
  const parts = new URLSearchParams(address.replace(/^#/, ""));
  if (!parts.has("points")) return null;
  const document = { ...defaults };
  for (const name of WORD_PARTS) if (parts.has(name)) document[name] = parts.get(name);
  for (const name of NUMBER_PARTS) if (parts.has(name)) document[name] = Number(parts.get(name));
  try {
    for (const name of ["names", "labels", "view"]) {
      if (parts.has(name)) document[name] = JSON.parse(parts.get(name));
    }
  } catch {
    return null;
  }
  document.points = parts.get("points").split("~").filter(Boolean).map((text) => {
    const [x, y, side] = text.split(",");
    return [Number(x), Number(y), side === "p" ? 1 : -1];
  });
  return { document, at: Math.max(0, Math.trunc(Number(parts.get("at") ?? 0)) || 0) };
}
