// A document: checked where it enters, and written into a link.

import { DEFAULTS, LARGEST, LONGEST_NAME, MAPS, MOST_POINTS, RULES, SETTINGS } from "./shared.js";

const LISTS = ["points", "held_out"];
const TEXTS = ["names", "labels", "view"];

// Returns the document, whole, or throws an error whose message is a sentence.
export function checked(given) {
  const document = { ...DEFAULTS, ...given };
  for (const name of Object.keys(document)) {
    if (!(name in DEFAULTS)) throw new Error(`A document has no part ${name}.`);
  }
  for (const [name, setting] of Object.entries(SETTINGS)) {
    if (!fits(document[name], setting)) throw new Error(`${name} must be ${requirement(setting)}; got ${shortly(document[name])}.`);
  }
  if (document.kernel !== "none" && RULES[document.rule].order === 2) throw new Error(`The rule ${document.rule} has no kernel; choose the kernel none.`);
  for (const name of LISTS) checkPoints(document[name], name);
  for (const name of ["names", "labels"]) {
    const words = document[name];
    const good = Array.isArray(words) && words.length === 2 && words[0] !== words[1] && words.every((word) => typeof word === "string" && word.length > 0 && word.length <= LONGEST_NAME);
    if (!good) throw new Error(`${name} must be two different names of at most ${LONGEST_NAME} characters; got ${shortly(words)}.`);
  }
  const [left, right, bottom, top] = Array.isArray(document.view) ? document.view : [];
  const wide = 1e-9 * Math.max(...[left, right, bottom, top].map(Math.abs));
  if (!(right - left > wide && top - bottom > wide && wide <= 1e-8 * LARGEST)) throw new Error(`view must be four numbers, left < right and bottom < top; got ${shortly(document.view)}.`);
  const { start } = document;
  const width = MAPS[document.map] + 1;
  const numbers = Array.isArray(start) && start.every((value) => isNumber(value) && Math.abs(value) <= LARGEST);
  if (!numbers || (start.length && start.length !== width)) throw new Error(`start must be ${width} numbers, the bias last, or none; got ${shortly(start)}.`);
  return document;
}

function fits(value, { values, low, high, whole }) {
  if (values) return values.includes(value);
  return isNumber(value) && value >= low && value <= high && (!whole || Number.isInteger(value));
}

function requirement({ values, low, high, whole }) {
  return values ? `one of ${values.join(", ")}` : `a ${whole ? "whole " : ""}number from ${low} to ${high}`;
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function checkPoints(points, name) {
  if (!Array.isArray(points)) throw new Error(`${name} must be a list of points; got ${shortly(points)}.`);
  if (points.length > MOST_POINTS) throw new Error(`The lab takes at most ${MOST_POINTS} points; got ${points.length}.`);
  points.forEach((point, i) => {
    const good = Array.isArray(point) && point.length === 3 && point.every(isNumber) && Math.abs(point[0]) <= LARGEST && Math.abs(point[1]) <= LARGEST && Math.abs(point[2]) === 1;
    if (!good) throw new Error(`Point ${i + 1} must be two numbers up to ${LARGEST} and a class; got ${shortly(point)}.`);
  });
}

function shortly(value) {
  const words = JSON.stringify(value) ?? String(value);
  return words.length > 60 ? `${words.slice(0, 59)}…` : words;
}

// ---- Links ----

function pointsText(points) {
  return points.map(([x, y, side]) => `${x},${y},${side > 0 ? "p" : "n"}`).join("~");
}

function pointsOf(words) {
  return words.split("~").filter(Boolean).map((part) => {
    const [x, y, side, ...more] = part.split(",");
    if (more.length || !["p", "n"].includes(side)) throw new Error(`The link is damaged: ${shortly(part)} is no point.`);
    return [numberOf(x), numberOf(y), side === "p" ? 1 : -1];
  });
}

function numberOf(words) {
  const value = words.trim() === "" ? NaN : Number(words);
  if (!Number.isFinite(value)) throw new Error(`The link is damaged: ${shortly(words)} is not a number.`);
  return value;
}

// What stands behind the # for a document at a step; only what differs from the defaults.
export function addressOf(document, at, more = {}) {
  const parts = [];
  const add = (name, words) => parts.push(`${name}=${words}`);
  for (const name of Object.keys(SETTINGS)) {
    if (document[name] !== DEFAULTS[name]) add(name, encodeURIComponent(document[name]));
  }
  for (const name of TEXTS) {
    const words = JSON.stringify(document[name]);
    if (words !== JSON.stringify(DEFAULTS[name])) add(name, encodeURIComponent(words));
  }
  if (document.start.some(Boolean)) add("start", document.start.join());
  add("points", pointsText(document.points));
  if (document.held_out.length) add("held_out", pointsText(document.held_out));
  if (at) add("at", at);
  for (const [name, value] of Object.entries(more)) if (value) add(name, encodeURIComponent(value));
  return parts.join("&");
}

// What an address says: a scene and its page, or a document and a step; null where it says nothing.
// Throws an error whose message is a sentence where it is damaged.
export function stateOf(address) {
  let parts;
  try {
    decodeURIComponent(address);
    parts = new URLSearchParams(address.replace(/^#/, ""));
  } catch {
    throw new Error("The link is damaged: it was cut off, or changed on its way.");
  }
  const panel = parts.get("panel");
  const at = parts.has("at") ? Math.max(0, Math.trunc(Number(parts.get("at"))) || 0) : null;
  const [scene, bare] = [parts.get("scene"), parts.has("bare")];
  const page = Math.trunc(Number(parts.get("page") ?? 1)) || 1;
  if (scene !== null && !parts.has("points")) return { scene, page, document: null, at, panel, bare };
  const known = [...Object.keys(DEFAULTS), "at"];
  if (![...parts.keys()].some((name) => known.includes(name))) return null;
  if (!parts.has("points")) throw new Error("The link is damaged: it has no points.");
  const given = {};
  for (const [name, { values }] of Object.entries(SETTINGS)) {
    if (!parts.has(name)) continue;
    const words = parts.get(name);
    given[name] = values ? values.find((value) => String(value) === words) ?? words : numberOf(words);
  }
  for (const name of TEXTS) {
    if (!parts.has(name)) continue;
    try {
      given[name] = JSON.parse(parts.get(name));
    } catch {
      throw new Error(`The link is damaged: its ${name} cannot be read.`);
    }
  }
  for (const name of LISTS) if (parts.has(name)) given[name] = pointsOf(parts.get(name));
  if (parts.has("start")) given.start = parts.get("start").split(",").map(numberOf);
  return { scene, page, document: checked(given), at: at ?? 0, panel, bare };
}
