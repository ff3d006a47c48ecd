// How a model is doing: the share of wrong predictions, and how many examples come.

import { Chart } from "./chart.js";
import { counted, shown } from "./elements.js";

const HEIGHT = 190;
const BINS = 40; // of the rate
const RECENT = 20; // stretches out of which the latest error is taken
const SPANS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

export function percent(share) {
  return share === null || share === undefined ? "–" : `${shown(100 * share, share < 0.1 ? 2 : 3)} %`;
}

export class Curves {
  constructor() {
    this.error = new Chart("error", HEIGHT);
    this.rate = new Chart("rate", HEIGHT);
  }

  show(description) {
    this.error.show(description, drawError);
    this.rate.show({ ...description, now: Date.now() / 1000 }, drawRate);
  }

  close() {
    this.error.close();
    this.rate.close();
  }
}

// The share of wrong predictions among all examples so far, and among the latest of them.
export function errorCurves(curve) {
  const width = Math.max(1, Math.ceil(curve.length / RECENT));
  return curve.map((point, i) => {
    const before = i >= width ? curve[i - width] : { learned: 0, wrong: 0 };
    return {
      learned: point.learned,
      all: point.wrong / point.learned,
      recent: (point.wrong - before.wrong) / (point.learned - before.learned),
      stretch: point.learned - before.learned,
    };
  });
}

function drawError(chart, { curve }) {
  const points = errorCurves(curve);
  if (!points.length) return "No example yet.";
  const later = points.slice(Math.floor(points.length / 5)); // the first few are nearly all wrong
  const top = Math.min(1, Math.max(0.02, 1.15 * Math.max(...later.map((point) => Math.max(point.all, point.recent)))));
  const last = points.at(-1);
  const { X, Y } = chart.axes([0, last.learned], [0, 100 * top], ["examples learned", "% wrong"], {});
  for (const name of ["recent", "all"]) {
    let d = "";
    for (const point of points) {
      if (point[name] > top) continue;
      d += `${d ? "L" : "M"}${X(point.learned).toFixed(1)} ${Y(100 * point[name]).toFixed(1)}`;
    }
    if (points.length === 1) d += "h1";
    chart.line(d, name);
  }
  return `Line: of all ${counted(last.learned, "example")} so far ${percent(last.all)} were predicted wrong before they were learned. Dashes: of the latest ${last.stretch.toLocaleString("en")}, ${percent(last.recent)}.`;
}

// Examples learned by a time, where nothing but the curve is known.
export function learnedBy(curve, created) {
  const points = [{ time: created, learned: 0 }, ...curve];
  return (time) => {
    if (time >= points.at(-1).time) return points.at(-1).learned;
    const i = points.findIndex((point) => point.time > time);
    if (i <= 0) return 0;
    const [a, b] = [points[i - 1], points[i]];
    return a.learned + ((b.learned - a.learned) * (time - a.time)) / (b.time - a.time);
  };
}

function drawRate(chart, { curve, created, now }) {
  if (!curve.length) return "No example yet.";
  const learned = learnedBy(curve, created);
  const begin = Math.min(created, now - 1);
  const width = (now - begin) / BINS;
  const counts = Array.from({ length: BINS }, (_, k) => learned(begin + (k + 1) * width) - learned(begin + k * width));
  const most = Math.max(...counts) / width; // a second
  const [unit, seconds] = SPANS.toReversed().find(([, length]) => most * length >= 1) ?? SPANS[0];
  const [span, length] = SPANS.find(([, size]) => now - begin >= 2 * size) ?? SPANS.at(-1);
  const top = Math.max(most * seconds, 1e-9) * 1.1;
  const { X, Y, base } = chart.axes([(begin - now) / length, 0], [0, top], [`${span}s (0 is now)`, `examples a ${unit}`], {});
  let d = `M${X((begin - now) / length)} ${base}`;
  counts.forEach((count, k) => {
    d += `V${Y((count / width) * seconds).toFixed(1)}H${X((begin - now + (k + 1) * width) / length).toFixed(1)}`;
  });
  chart.line(`${d}V${base}Z`, "area");
  const all = curve.at(-1).learned / (now - begin);
  return `At most ${shown(most * seconds, 3)} examples a ${unit}, on average ${shown(all * seconds, 3)}.`;
}
