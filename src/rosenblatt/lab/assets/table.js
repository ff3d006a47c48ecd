// Points from a person's own table: a text, then two columns of numbers and one of labels.

import { PCG64, permutation } from "./engine.js";
import { counted } from "./elements.js";
import { LARGEST, LONGEST_NAME, MOST_POINTS } from "./shared.js";

const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?", "-", "."]);
const POINT = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const COMMA = /^[+-]?\d*,\d+(e[+-]?\d+)?$/i;
const MOST_LABELS = 50;
const ROOM = 0.12; // of the extent of the points, left free around them
const ALIKE = 3; // extents that differ less get one scale for both axes

// The columns of a text: { name, columns: [{ name, values, numbers, comma }], n, lines }. Throws an
// error whose message is a sentence.
export function tableOf(words, name) {
  const clean = words.replace(/^﻿/, "");
  const records = /^\s*\{/.test(clean) ? jsonRecords(clean, name) : separatedRecords(clean, name);
  const [heads, ...lines] = records.filter(({ fields }) => fields.length > 1 || fields[0].trim() !== "");
  if (!heads) throw new Error(`${name} is empty.`);
  if (heads.fields.length < 3) throw new Error(`${name} has ${counted(heads.fields.length, "column")}; the lab needs two of numbers and one of labels.`);
  const headless = heads.fields.some((field) => POINT.test(field.trim()));
  if (headless) lines.unshift(heads);
  if (!lines.length) throw new Error(`${name} has a line of names and no rows.`);
  const names = heads.fields.map((field, j) => (headless ? `column ${j + 1}` : field.trim() || `column ${j + 1}`));
  for (const { fields, line } of lines) {
    if (fields.length !== names.length) throw new Error(`${name}, line ${line}: ${counted(fields.length, "field")}, where the first line has ${names.length}.`);
  }
  const columns = names.map((column, j) => columnOf(column, lines.map(({ fields }) => fields[j].trim())));
  return { name, columns, n: lines.length, lines: lines.map(({ line }) => line) };
}

function columnOf(name, values) {
  const isMissing = (value) => MISSING.has(value.toLowerCase()) || /^[+-]?inf(inity)?$/i.test(value);
  const given = values.filter((value) => !isMissing(value));
  const comma = given.some((value) => COMMA.test(value)) && given.every((value) => COMMA.test(value) || POINT.test(value));
  const one = (value) => {
    if (isMissing(value)) return null;
    const words = comma ? value.replace(",", ".") : value;
    return POINT.test(words) ? Number(words) : undefined; // undefined: something else than a number
  };
  const numbers = values.map(one);
  const isNumeric = given.length > 0 && numbers.every((value) => value !== undefined);
  return { name, values, numbers, comma, isNumeric, isMissing: (i) => MISSING.has(values[i].toLowerCase()) };
}

function separatedRecords(words, name) {
  const first = words.split(/\r\n|\n|\r/, 20).join("\n").replace(/"(?:[^"]|"")*"/g, "");
  const separator = [";", "\t", ",", "|"].map((sign) => [sign, first.split(sign).length]).sort(([a, n], [b, m]) => m - n || ";\t,|".indexOf(a) - ";\t,|".indexOf(b));
  // A semicolon or a tab that is there at all separates: the commas are then decimal ones.
  const sign = [";", "\t"].find((other) => first.split("\n")[0].includes(other)) ?? separator[0][0];
  const records = [];
  let fields = [""];
  let line = 1;
  let begun = 1;
  let quoted = false;
  const end = () => {
    records.push({ fields, line: begun });
    fields = [""];
  };
  for (let i = 0; i < words.length; i++) {
    const c = words[i];
    if (c === "\n" || (c === "\r" && words[i + 1] !== "\n")) line += 1;
    if (quoted) {
      if (c !== '"') fields[fields.length - 1] += c;
      else if (words[i + 1] === '"') fields[fields.length - 1] += words[++i];
      else quoted = false;
    } else if (c === '"' && fields.at(-1).trim() === "") {
      fields[fields.length - 1] = "";
      quoted = true;
    } else if (c === sign) fields.push("");
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && words[i + 1] === "\n") continue;
      end();
      begun = line;
    } else fields[fields.length - 1] += c;
  }
  if (quoted) throw new Error(`${name}, line ${begun}: a quotation mark is never closed.`);
  if (fields.length > 1 || fields[0] !== "") end();
  return records;
}

function jsonRecords(words, name) {
  const objects = words.split(/\r?\n/).map((line, i) => ({ line: i + 1, words: line })).filter((entry) => entry.words.trim()).map(({ line, words: one }) => {
    try {
      return { line, value: JSON.parse(one) };
    } catch {
      throw new Error(`${name}, line ${line}: this is not a JSON object.`);
    }
  });
  const names = Object.keys(objects[0].value);
  return [{ fields: names, line: 0 }, ...objects.map(({ line, value }) => ({ line, fields: names.map((key) => String(value[key] ?? "")) }))];
}

// What the page suggests: two columns of numbers and one of labels.
export function suggestion({ columns }) {
  const named = columns.find(({ name }) => /^(label|class|target|y|species|kind)$/i.test(name));
  const words = columns.filter(({ isNumeric, values }) => !isNumeric && new Set(values).size <= MOST_LABELS);
  const label = named ?? words.at(-1) ?? columns.at(-1);
  const [x, y] = columns.filter((column) => column.isNumeric && column !== label);
  return { x: x?.name ?? null, y: y?.name ?? null, label: label.name };
}

export function labelValues({ columns }, name) {
  const column = columns.find((other) => other.name === name);
  const values = [...new Set(column.values.filter((_, i) => !column.isMissing(i)))];
  const numeric = values.every((value) => POINT.test(value.replace("−", "-")));
  return values.sort((a, b) => (numeric ? Number(a.replace("−", "-")) - Number(b.replace("−", "-")) : a < b ? -1 : 1));
}

// The points of chosen columns: parts of a document, and sentences on what was left out or changed.
export function pointsOfTable(table, { x, y, label, positive, scale }) {
  const column = (role, name) => {
    const found = table.columns.find((other) => other.name === name);
    if (!found) throw new Error(`${table.name}: a column for ${role} is needed${name ? `; there is no ${name}` : ", and there is no other one of numbers"}.`);
    return found;
  };
  const chosen = [column("x", x), column("y", y), column("the label", label)];
  if (new Set(chosen).size < 3) throw new Error(`${table.name}: x, y and the label must be three different columns.`);
  const [a, b, c] = chosen;
  for (const { name, numbers, values } of [a, b]) {
    const i = numbers.indexOf(undefined);
    if (i >= 0) throw new Error(`${table.name}, line ${table.lines[i]}: “${values[i].slice(0, 30)}” in column ${name} is not a number.`);
  }
  const labels = labelValues(table, label);
  if (labels.length < 2 || labels.length > MOST_LABELS) throw new Error(`${table.name}: column ${label} has ${labels.length === 1 ? "only one label" : counted(labels.length, "different label")}; it must have 2 to ${MOST_LABELS}.`);
  const plus = positive ?? labels.at(-1);
  const kept = [];
  for (let i = 0; i < table.n; i++) if (a.numbers[i] !== null && b.numbers[i] !== null && !c.isMissing(i)) kept.push(i);
  const notes = [];
  const left = table.n - kept.length;
  if (left) notes.push(`${counted(left, "row")} with a missing value ${left === 1 ? "was" : "were"} left out.`);
  for (const { name, comma } of [a, b]) if (comma) notes.push(`The commas in column ${name} were read as decimal points.`);
  let rows = kept;
  if (kept.length > MOST_POINTS) {
    rows = [...permutation(kept.length, new PCG64(0)).slice(0, MOST_POINTS)].sort((i, j) => i - j).map((i) => kept[i]);
    notes.push(`${MOST_POINTS} of ${kept.length.toLocaleString("en")} rows were drawn at random.`);
  }
  if (!rows.length) throw new Error(`${table.name}: every row has a missing value in these columns.`);
  let places = rows.map((i) => [a.numbers[i], b.numbers[i]]);
  if (scale) {
    places = scaled(places);
    notes.push("Both columns were scaled to mean 0 and deviation 1.");
  }
  if (places.flat().some((value) => Math.abs(value) > LARGEST)) throw new Error(`${table.name}: numbers must be at most ${LARGEST.toLocaleString("en")}; scale the columns.`);
  const points = places.map(([u, v], k) => [u, v, c.values[rows[k]] === plus ? 1 : -1]);
  const others = labels.filter((value) => value !== plus);
  const minus = others.length === 1 ? others[0] : `not ${plus}`;
  const named = (words) => (scale ? `${words} (scaled)` : words).slice(0, LONGEST_NAME);
  return {
    document: {
      points, names: [named(a.name), named(b.name)], view: viewOf(places),
      labels: [minus.slice(0, LONGEST_NAME), plus.slice(0, LONGEST_NAME)],
    },
    notes,
  };
}

function scaled(places) {
  const columns = [0, 1].map((j) => {
    const values = places.map((place) => place[j]);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) || 1;
    return values.map((value) => (value - mean) / deviation);
  });
  return places.map((_, i) => [columns[0][i], columns[1][i]]);
}

// A view with room around places; one scale for both axes where that fits both.
export function viewOf(places) {
  const ends = [0, 1].map((j) => [Math.min(...places.map((place) => place[j])), Math.max(...places.map((place) => place[j]))]);
  const middle = ends.map(([low, high]) => (low + high) / 2);
  let extent = ends.map(([low, high], j) => (high > low ? high - low : Math.max(Math.abs(middle[j]), 1)));
  if (Math.max(...extent) < ALIKE * Math.min(...extent)) extent = extent.map(() => Math.max(...extent));
  const half = extent.map((value) => value * (0.5 + ROOM));
  return [middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1]];
}
