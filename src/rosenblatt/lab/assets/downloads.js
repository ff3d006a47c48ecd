// What a person takes home: the data and the trace, as CSV and as JSON, or the page itself.

import { featureNames } from "./engine.js";
import { label, rowNumber } from "./sentences.js";

const plainLabel = (words) => words.replaceAll("−", "-"); // as other programs read a minus

function csv(lines) {
  const field = (value) => {
    const words = String(value);
    return /[",\n\r]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  };
  return lines.map((line) => `${line.map(field).join()}\n`).join("");
}

const json = (value) => `${JSON.stringify(value, null, 1)}\n`;

export function dataCsv(document) {
  const rows = [...document.points, ...document.held_out].map(([x, y, side]) => [x, y, plainLabel(label(document, side))]);
  return csv([[...document.names, "label"], ...rows]);
}

// One record a visit, as `rosenblatt trace --json` writes them.
export function traceRecords(training) {
  const { document, visits, rows } = training;
  return Array.from({ length: training.length }, (_, t) => {
    const row = visits.row[t];
    const record = {
      pass: visits.pass[t], row: rowNumber(row), x: document.points[row].slice(0, 2), y: plainLabel(label(document, rows.y[row])),
      activation: visits.activation[t], mistake: visits.mistake[t] === 1, step: visits.tau[t],
    };
    if (training.hasKernel) return record;
    const [weights, average] = [[...training.weights(t + 1)], [...training.average(t + 1)]];
    const linear = { ...record, w: weights.slice(0, -1), b: weights.at(-1), average_w: average.slice(0, -1), average_b: average.at(-1) };
    if (!training.isUncertain) return linear;
    const variances = [...training.variances(t + 1)];
    return { ...linear, variance: visits.variance[t], beta: visits.beta[t], variance_w: variances.slice(0, -1), variance_b: variances.at(-1) };
  });
}

export function traceCsv(training) {
  const { names, map } = training.document;
  const features = featureNames(names, map);
  const flat = (record) => Object.entries(record).flatMap(([key, value]) => (
    Array.isArray(value) ? value.map((one, j) => [`${key} ${(key === "x" ? names : features)[j]}`, one]) : [[key, value]]
  ));
  const records = traceRecords(training).map(flat);
  return csv([(records[0] ?? [["pass"], ["row"]]).map(([name]) => name), ...records.map((record) => record.map(([, value]) => value))]);
}

// The page as one file that begins with this document at this step; null where it is not a page of its own.
export function pageText(document, at) {
  const data = window.document.getElementById("given");
  if (!data) return null;
  const copy = window.document.documentElement.cloneNode(true);
  const given = { ...JSON.parse(data.textContent), document, at };
  copy.querySelector("#given").textContent = JSON.stringify(given).replaceAll("<", "\\u003c");
  copy.querySelector("#lab").replaceChildren();
  return `<!doctype html>\n${copy.outerHTML}\n`;
}

export const FILES = {
  "data.csv": ["text/csv", ({ document }) => dataCsv(document)],
  "data.json": ["application/json", ({ document }) => json(document)],
  "trace.csv": ["text/csv", traceCsv],
  "trace.json": ["application/json", (training) => json(traceRecords(training))],
  "lab.html": ["text/html", ({ document }, at) => pageText(document, at)],
};
