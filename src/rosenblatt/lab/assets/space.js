// The three features x₁, x₂ and x₁ ∧ x₂ as a space, with the plane that separates there.

import { drawing, element, mark, onSize, say, set, text } from "./elements.js";

const RISE = 0.42; // of the view from above, as a sine

export class Space {
  constructor() {
    this.turn = -0.62; // radians
    this.svg = drawing("svg", { class: "space", role: "img" });
    this.slider = element("input", { type: "range", min: -180, max: 180, value: (this.turn * 180) / Math.PI, "aria-label": "Turn the space", oninput: () => this.turnTo((Number(this.slider.value) * Math.PI) / 180) });
    this.note = element("p", { class: "note" });
    this.box = element("div", { class: "chart-box" }, this.svg);
    this.root = element("div", { class: "panel" }, this.box, element("label", { class: "turn" }, "Turn", this.slider), this.note);
    this.svg.addEventListener("pointerdown", (event) => {
      this.grip = { x: event.clientX, turn: this.turn };
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => this.grip && this.turnTo(this.grip.turn + (event.clientX - this.grip.x) / 120));
    this.svg.addEventListener("pointerup", () => (this.grip = null));
    this.close = onSize(this.box, (width) => {
      this.width = width;
      if (this.state) this.show(this.state);
    });
  }

  turnTo(angle) {
    this.turn = angle;
    this.slider.value = (angle * 180) / Math.PI;
    if (this.state) this.show(this.state);
  }

  show(state) {
    this.state = state;
    const { document, training, picture } = state;
    if (!this.width) return;
    this.size = Math.max(260, Math.min(this.width, 440, (state.room - 70) / 0.95));
    if (document.map !== "conjunction" || training.hasKernel) {
      set(this.svg, { width: this.width, height: 40 });
      this.svg.replaceChildren();
      say(this.note, "Choose the feature map x₁ ∧ x₂ in the settings: the points then lie in three dimensions.");
      return;
    }
    const height = this.size * 0.95;
    set(this.svg, { width: this.width, height, viewBox: `0 0 ${this.width} ${height}` });
    const cube = boxOf(document.points.map(([x, y]) => [x, y, x * y]));
    const project = (place) => this.project(place.map((value, j) => (value - cube[j][0]) / (cube[j][1] - cube[j][0]) - 0.5), height);
    const weights = picture.weights();
    const nodes = [...this.frame(cube, project, document.names)];
    if (weights) nodes.push(...sheet(weights, cube, project));
    const wrong = new Set(picture.wrong());
    const drawn = document.points.map(([x, y, side], row) => ({ row, side, place: [x, y, x * y] }));
    for (const { row, side, place } of drawn.sort((a, b) => project(a.place)[2] - project(b.place)[2])) {
      const [px, py] = project(place);
      const [fx, fy] = project([place[0], place[1], cube[2][0]]);
      nodes.push(drawing("path", { class: "stem", d: `M${px} ${py}L${fx} ${fy}` }));
      nodes.push(mark(side, px, py, 7));
      if (wrong.has(row)) nodes.push(drawing("path", { class: "cross", d: `M${px - 3} ${py - 3}l6 6m0 -6l-6 6` }));
      if (row === picture.row) nodes.push(drawing("circle", { class: "current", cx: px, cy: py, r: 11 }));
    }
    this.svg.replaceChildren(...nodes);
    this.svg.setAttribute("aria-label", "The points with the product of their coordinates as height, and the plane of the weights.");
    say(this.note, `Height is ${document.names[0]} ∧ ${document.names[1]}, the product. ${wrong.size ? `${wrong.size} of ${document.points.length} points are on the wrong side of the sheet.` : "The sheet has every point on its side."} Drag to turn.`);
  }

  // Pixels, and how near.
  project([x, y, z], height) {
    const [c, s] = [Math.cos(this.turn), Math.sin(this.turn)];
    const [across, deep] = [c * x - s * y, s * x + c * y];
    return [this.width / 2 + across * this.size * 0.56, height * 0.54 - z * this.size * 0.52 + deep * this.size * RISE * -0.56, -deep];
  }

  frame(cube, project, names) {
    const [xs, ys, zs] = cube;
    const corner = (i, j, k) => project([xs[i], ys[j], zs[k]]);
    const edge = (a, b) => drawing("path", { class: "edge", d: `M${a[0]} ${a[1]}L${b[0]} ${b[1]}` });
    const nodes = [];
    for (const [a, b] of [[[0, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [0, 0]]]) nodes.push(edge(corner(...a, 0), corner(...b, 0)));
    nodes.push(edge(corner(0, 0, 0), corner(0, 0, 1)));
    const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + 14];
    const name = (words, [x, y]) => text(words, { class: "title", x, y, "text-anchor": "middle" });
    nodes.push(name(names[0], middle(corner(0, 0, 0), corner(1, 0, 0))), name(names[1], middle(corner(0, 0, 0), corner(0, 1, 0))));
    const [tx, ty] = corner(0, 0, 1);
    nodes.push(text(`${names[0]} ∧ ${names[1]}`, { class: "title", x: tx, y: ty - 8, "text-anchor": "middle" }));
    return nodes;
  }
}

function boxOf(places) {
  return [0, 1, 2].map((j) => {
    const values = places.map((place) => place[j]);
    const [low, high] = [Math.min(0, ...values), Math.max(1e-9, ...values)];
    const room = 0.12 * (high - low);
    return [low - room, high + room];
  });
}

// The part of the plane w·x + b = 0 that is inside the box.
function sheet(weights, cube, project) {
  const value = ([x, y, z]) => weights[0] * x + weights[1] * y + weights[2] * z + weights[3];
  const corners = [0, 1].flatMap((i) => [0, 1].flatMap((j) => [0, 1].map((k) => [i, j, k])));
  const place = ([i, j, k]) => [cube[0][i], cube[1][j], cube[2][k]];
  const cuts = [];
  for (const a of corners) {
    for (const b of corners) {
      const differ = a.reduce((sum, digit, axis) => sum + (digit !== b[axis]), 0);
      if (differ !== 1 || a.join() > b.join()) continue;
      const [p, q] = [place(a), place(b)];
      const [u, v] = [value(p), value(q)];
      if (u > 0 === v > 0) continue;
      cuts.push(p.map((start, axis) => start + (u / (u - v)) * (q[axis] - start)));
    }
  }
  if (cuts.length < 3) return [];
  const flat = cuts.map(project);
  const middle = [0, 1].map((j) => flat.reduce((sum, at) => sum + at[j], 0) / flat.length);
  flat.sort((a, b) => Math.atan2(a[1] - middle[1], a[0] - middle[0]) - Math.atan2(b[1] - middle[1], b[0] - middle[0]));
  return [drawing("path", { class: "sheet", d: `M${flat.map(([x, y]) => `${x} ${y}`).join("L")}Z` })];
}
