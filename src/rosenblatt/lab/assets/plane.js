// The plane: points, boundaries, band, and the weight vector with the row that is added to it.

import { arrowPath, drawing, element, mark, onSize, set, shortened, shown, text, ticks } from "./elements.js";

const ROOM = { left: 44, right: 10, top: 10, bottom: 40 };
const POINT = 6.5; // radius in pixels
const FINGER = 14; // and of what a finger hits
const TURN = 250; // milliseconds in which an update is seen
const ARROW = 0.4; // of the view's width: the longest weight vector
const LAYERS = ["area", "axes", "band", "voters", "before", "boundaries", "star", "feet", "proof", "rings", "points", "arrows", "cursor"];
const CLIPPED = ["area", "band", "voters", "before", "boundaries", "star", "feet", "arrows"];

export class Plane {
  constructor() {
    this.svg = drawing("svg", { class: "plane", role: "application", tabindex: 0, "aria-roledescription": "plane of points" });
    this.card = element("div", { class: "point-card", hidden: true });
    this.root = element("div", { class: "plane-box" }, this.svg, this.card);
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, drawing("g", { class: name })]));
    this.clip = `clip-${Math.random().toString(36).slice(2)}`;
    this.window = drawing("rect", {});
    this.svg.append(drawing("defs", {}, drawing("clipPath", { id: this.clip }, this.window)), ...Object.values(this.layers));
    for (const name of CLIPPED) this.layers[name].setAttribute("clip-path", `url(#${this.clip})`);
    this.paths = Object.fromEntries(["negative-area", "cover", "positive-area"].map((name) => [name, drawing("path", { class: name })]));
    this.layers.area.append(...Object.values(this.paths));
    this.handle = drawing("circle", { class: "handle", r: 8, tabindex: 0, role: "slider", "aria-label": "Starting weights", "data-handle": "w", "aria-valuemin": -180, "aria-valuemax": 180 });
    this.marks = { points: [], held: [] };
    this.size = 0;
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.close = onSize(this.root, (width) => this.resize(width));
  }

  resize(width) {
    this.size = width;
    this.side = width - ROOM.left - ROOM.right;
    this.height = width - ROOM.top - ROOM.bottom;
    set(this.svg, { width, height: width, viewBox: `0 0 ${width} ${width}` });
    set(this.window, { x: ROOM.left, y: ROOM.top, width: this.side, height: this.height });
    this.axesKey = null;
    if (this.state) this.show(this.state);
  }

  // Pixels of a place, and back.
  pixels([x, y]) {
    const [left, right, bottom, top] = this.state.document.view;
    return [ROOM.left + ((x - left) / (right - left)) * this.side, ROOM.top + ((top - y) / (top - bottom)) * this.height];
  }

  place(px, py) {
    const [left, right, bottom, top] = this.state.document.view;
    return [left + ((px - ROOM.left) / this.side) * (right - left), top - ((py - ROOM.top) / this.height) * (top - bottom)];
  }

  isInside(px, py) {
    return px >= ROOM.left && px <= ROOM.left + this.side && py >= ROOM.top && py <= ROOM.top + this.height;
  }

  // Draws a state. `turning`: the update is to be seen, from the weights before it.
  show(state, { turning = false } = {}) {
    this.state = state;
    if (!this.size) return;
    cancelAnimationFrame(this.turn);
    const { picture } = state;
    this.unit = `translate(${ROOM.left} ${ROOM.top}) scale(${this.side} ${this.height})`;
    this.drawAxes();
    this.drawPoints();
    this.drawRings();
    this.drawStill();
    const [from, to] = [picture.before(), picture.weights()];
    const moves = turning && !this.calm.matches && from !== null && from.some((value, j) => value !== to[j]);
    if (!moves) {
      this.drawMoving(to, 1);
      return;
    }
    const begun = performance.now();
    const tick = (now) => {
      const share = Math.min(1, Math.max(0, (now - begun) / TURN));
      const eased = share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) ** 2;
      this.drawMoving(share < 1 ? from.map((value, j) => value + eased * (to[j] - value)) : to, eased);
      if (share < 1) this.turn = requestAnimationFrame(tick);
    };
    tick(begun);
  }

  path(d, name, attributes = {}) {
    return drawing("path", { d, class: name, transform: this.unit, ...attributes });
  }

  // What stays as it is while an update is seen.
  drawStill() {
    const { picture, shows, document, verdict, training, panel } = this.state;
    const layer = (name, nodes) => this.layers[name].replaceChildren(...nodes);
    const { memory } = document;
    const others = ["last", "average", "vote"].filter((name) => name !== memory && shows[name]);
    this.others = others.map((name) => this.path(picture.kept(name).line, `line ${name}`));
    const changed = picture.changed && shows.before && memory !== "vote";
    layer("before", changed ? [this.path(picture.boundary(picture.before()).line, "old")] : []);
    const voters = memory === "vote" && shows.voters ? picture.voters() : [];
    layer("voters", voters.map(({ share, line }) => this.path(line, "voter", { "stroke-opacity": Math.min(0.9, 0.12 + 1.6 * share).toFixed(2) })));
    const { band } = picture;
    layer("band", band && shows.band ? band.lines().map((d) => this.path(d, band.wanted ? "wanted" : "free")) : []);
    layer("feet", shows.feet ? this.feet() : []);
    const star = (shows.star || panel === "theorem") && training.isLine && verdict?.witness;
    layer("star", star ? [this.path(picture.boundary(verdict.witness).line, "widest")] : []);
    layer("proof", (shows.proof || panel === "proof") && verdict ? this.proof() : []);
  }

  // The chosen boundary and the weight vector, on the way from the old ones to the new.
  drawMoving(weights, share) {
    const { picture, document, shows } = this.state;
    const { memory } = document;
    const { line, area } = weights === null || share === 1 ? picture.kept(memory) : picture.boundary(weights);
    const nothing = !picture.at && !(picture.training.start.some(Boolean) && !picture.training.hasKernel);
    set(this.paths["negative-area"], { d: nothing ? "" : "M0 0H1V1H0Z", transform: this.unit });
    set(this.paths.cover, { d: nothing ? "" : area, transform: this.unit });
    set(this.paths["positive-area"], { d: nothing ? "" : area, transform: this.unit });
    this.layers.boundaries.replaceChildren(...this.others, this.path(line, `line chosen ${memory}`));
    this.layers.arrows.replaceChildren(...(shows.arrows ? this.arrows(weights, share) : []));
  }

  // How long w is drawn, for one unit of length: the longest of the training fits the view.
  get arrowScale() {
    const { training, document } = this.state;
    if (training.arrowScale === undefined) {
      let longest = Math.hypot(training.start[0], training.start[1]);
      const { weights } = training.updates;
      for (let k = 0; k < training.updatesAt(training.length); k++) longest = Math.max(longest, Math.hypot(weights[3 * k], weights[3 * k + 1]));
      const [left, right] = document.view;
      const fit = longest ? (ARROW * (right - left)) / longest : 1;
      training.arrowScale = fit >= 1 && fit < 4 ? 1 : 2 ** Math.floor(Math.log2(fit));
    }
    return training.arrowScale;
  }

  // w from the origin; where it has just changed, the old one and y·x laid on its tip.
  arrows(weights, share) {
    const { picture, training, document, at } = this.state;
    if (!training.isLine || weights === null) return [];
    const [left, right, bottom, top] = document.view;
    const scale = this.arrowScale;
    if (!(left < 0 && right > 0 && bottom < 0 && top > 0)) return this.freeArrow(weights);
    const tip = (w) => this.pixels([w[0] * scale, w[1] * scale]);
    const origin = this.pixels([0, 0]);
    const nodes = [];
    const before = picture.before();
    if (picture.changed && document.memory === "last") {
      const [x, y] = document.points[picture.row];
      const amount = picture.tau * training.rows.y[picture.row];
      const full = training.isUncertain ? training.weights(at) : [before[0] + amount * x, before[1] + amount * y];
      const side = training.rows.y[picture.row] > 0 ? "positive" : "negative";
      nodes.push(drawing("path", { class: "arrow old", d: arrowPath(origin, tip(before)) }));
      nodes.push(drawing("path", { class: `arrow step ${side}`, d: arrowPath(tip(before), tip(full)) }));
      const times = picture.tau === 1 ? "" : `${shown(picture.tau)}·`;
      const [a, b] = [tip(before), tip(full)];
      if (Math.hypot(b[0] - a[0], b[1] - a[1]) > 26) nodes.push(this.sideWord(`${amount > 0 ? "+" : "−"}${times}${training.isUncertain ? "Σx" : "x"}`, a, b, origin, `step ${side}`));
    }
    const end = tip(weights);
    if (training.isUncertain && document.memory === "last") nodes.unshift(this.sureness(end, training.variances(at)));
    nodes.push(drawing("path", { class: "arrow now", d: arrowPath(origin, end) }));
    if (share === 1) {
      const note = scale === 1 ? "w" : `w × ${shown(scale)}`;
      if (Math.hypot(end[0] - origin[0], end[1] - origin[1]) > 4) nodes.push(this.tipWord(note, end, origin));
    }
    nodes.push(drawing("circle", { class: "origin", cx: origin[0], cy: origin[1], r: 2.5 }));
    if (at === 0 && document.memory !== "vote") nodes.push(this.placedHandle(end, weights));
    return nodes;
  }

  // One deviation of the weights around the tip of w: how sure a second-order rule is of each.
  sureness([cx, cy], variances) {
    const [left, right, bottom, top] = this.state.document.view;
    const [rx, ry] = [this.side / (right - left), this.height / (top - bottom)].map((unit, j) => this.arrowScale * Math.sqrt(variances[j]) * unit);
    return drawing("ellipse", { class: "sureness", cx, cy, rx, ry });
  }

  placedHandle([cx, cy], weights) {
    const turn = (Math.atan2(weights[1], weights[0]) * 180) / Math.PI;
    set(this.handle, { cx, cy, "aria-valuenow": Math.round(turn), "aria-valuetext": `w is (${shown(weights[0])}, ${shown(weights[1])})` });
    return this.handle;
  }

  // Where the origin is out of sight, w stands on the boundary.
  freeArrow(weights) {
    const [left, right, bottom, top] = this.state.document.view;
    const centre = [(left + right) / 2, (bottom + top) / 2];
    const square = weights[0] ** 2 + weights[1] ** 2;
    if (!square) return [];
    const away = (weights[0] * centre[0] + weights[1] * centre[1] + weights[2]) / square;
    const foot = [centre[0] - away * weights[0], centre[1] - away * weights[1]];
    if (foot[0] < left || foot[0] > right || foot[1] < bottom || foot[1] > top) return [];
    const scale = this.arrowScale;
    const [from, to] = [this.pixels(foot), this.pixels([foot[0] + weights[0] * scale, foot[1] + weights[1] * scale])];
    return [drawing("path", { class: "arrow now", d: arrowPath(from, to) }), this.tipWord("w", to, from)];
  }

  tipWord(words, [x, y], [fx, fy]) {
    const turn = Math.atan2(y - fy, x - fx);
    const anchor = Math.cos(turn) < -0.3 ? "end" : Math.cos(turn) > 0.3 ? "start" : "middle";
    return text(words, { class: "halo", x: x + 9 * Math.cos(turn), y: y + 13 * Math.sin(turn) + 4, "text-anchor": anchor });
  }

  // A word beside the middle of an arrow, on the side away from a place.
  sideWord(words, a, b, from, name) {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const side = (dy * (x - from[0]) - dx * (y - from[1]) < 0 ? -15 : 15) / Math.hypot(dx, dy);
    return text(words, { class: `halo ${name}`, x: x + side * dy, y: y - side * dx + 4, "text-anchor": "middle" });
  }

  // From each point to its foot on the boundary: the distance that the axis shows.
  feet() {
    const { document, picture, training } = this.state;
    const weights = picture.weights();
    if (!training.isLine || weights === null) return [];
    const square = weights[0] ** 2 + weights[1] ** 2;
    if (!square) return [];
    const scores = picture.scores();
    return document.points.map(([x, y], i) => {
      const away = scores[i] / square;
      const [a, b] = [this.pixels([x, y]), this.pixels([x - away * weights[0], y - away * weights[1]])];
      return drawing("path", { d: `M${a.join(" ")}L${b.join(" ")}` });
    });
  }

  // The rows that the verdict rests on: mixtures that meet, or the nearest points of the two hulls.
  proof() {
    const { verdict, document, training } = this.state;
    const nodes = [];
    const places = (side) => verdict.rows.filter(([row]) => document.points[row]?.[2] === side).map(([row]) => this.pixels(document.points[row]));
    if (training.isLine && document.bias && verdict.status === "inseparable") {
      for (const side of [1, -1]) nodes.push(drawing("path", { class: side > 0 ? "mixture positive" : "mixture negative", d: `M${hullOrder(places(side)).map((p) => p.join(" ")).join("L")}${places(side).length > 2 ? "Z" : ""}` }));
      const [x, y] = this.pixels(verdict.meeting);
      nodes.push(drawing("path", { class: "meeting", d: `M${x - 6} ${y}H${x + 6}M${x} ${y - 6}V${y + 6}M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x + 4} ${y - 4}L${x - 4} ${y + 4}` }));
    } else if (training.isLine && verdict.nearest) {
      const [p, q] = verdict.nearest.map((place) => this.pixels(place));
      nodes.push(drawing("path", { class: "gap", d: `M${p.join(" ")}L${q.join(" ")}` }));
    }
    for (const [row] of verdict.rows) {
      if (!document.points[row]) continue;
      const [cx, cy] = this.pixels(document.points[row]);
      nodes.push(drawing("circle", { class: "proof-ring", cx, cy, r: POINT + 6 }));
    }
    return nodes;
  }

  drawAxes() {
    const { view, names } = this.state.document;
    const key = JSON.stringify([view, names, this.size]);
    if (key === this.axesKey) return;
    this.axesKey = key;
    const [bottom, right] = [ROOM.top + this.height, ROOM.left + this.side];
    const count = this.side < 360 ? 4 : 7;
    const nodes = [];
    for (const x of ticks(view[0], view[1], count)) {
      const [px] = this.pixels([x, view[2]]);
      nodes.push(drawing("path", { class: x === 0 ? "zero" : "grid", d: `M${px} ${ROOM.top}V${bottom}` }));
      nodes.push(text(shown(x), { x: px, y: bottom + 15, "text-anchor": "middle" }));
    }
    for (const y of ticks(view[2], view[3], count)) {
      const [, py] = this.pixels([view[0], y]);
      nodes.push(drawing("path", { class: y === 0 ? "zero" : "grid", d: `M${ROOM.left} ${py}H${right}` }));
      nodes.push(text(shown(y), { x: ROOM.left - 6, y: py + 4, "text-anchor": "end" }));
    }
    nodes.push(drawing("rect", { class: "border", "data-view": JSON.stringify(view), x: ROOM.left, y: ROOM.top, width: this.side, height: this.height }));
    const most = Math.floor(this.side / 9);
    nodes.push(text(shortened(names[0], most), { class: "title", x: ROOM.left + this.side / 2, y: bottom + 33, "text-anchor": "middle" }));
    const middle = ROOM.top + this.height / 2;
    nodes.push(text(shortened(names[1], most), { class: "title", x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }));
    this.layers.axes.replaceChildren(...nodes);
  }

  // Nodes of points stay where they are from picture to picture; only what changed is written.
  drawPoints() {
    const { document, picture } = this.state;
    const wrong = new Set(picture.wrong());
    const heldWrong = document.held_out.length ? new Set(picture.wrong(document.memory, picture.heldOut)) : new Set();
    this.drawList("held", document.held_out, heldWrong);
    this.drawList("points", document.points, wrong);
  }

  drawList(kind, points, wrong) {
    const marks = this.marks[kind];
    while (marks.length > points.length) marks.pop().node.remove();
    points.forEach((point, i) => {
      const side = point[2];
      if (marks[i] && marks[i].side !== side) {
        const fresh = this.newMark(kind, side, i);
        marks[i].node.replaceWith(fresh.node);
        marks[i] = fresh;
      } else if (!marks[i]) {
        marks[i] = this.newMark(kind, side, i);
        if (kind === "held") this.layers.points.insertBefore(marks[i].node, this.marks.points[0]?.node ?? null);
        else this.layers.points.append(marks[i].node);
      }
      const [x, y] = this.pixels(point);
      const own = marks[i];
      if (own.x !== x || own.y !== y) {
        Object.assign(own, { x, y });
        own.node.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
      }
      if (own.wrong !== wrong.has(i)) {
        own.wrong = wrong.has(i);
        own.node.classList.toggle("wrong", own.wrong);
      }
    });
  }

  newMark(kind, side, row) {
    const k = POINT * 0.5;
    const node = drawing(
      "g", { class: kind === "held" ? "point held" : "point" },
      mark(side, 0, 0, POINT), drawing("path", { class: "cross", d: `M${-k} ${-k}L${k} ${k}M${k} ${-k}L${-k} ${k}` }),
      drawing("circle", { class: "hit", r: FINGER, [`data-${kind === "held" ? "held" : "row"}`]: row }),
    );
    return { node, side, x: NaN, y: NaN, wrong: false };
  }

  // Rings around the row of this step, the chosen point and the one that is looked at.
  drawRings() {
    const { document, picture, selected, hovered } = this.state;
    const nodes = [];
    const ring = (point, name, more) => {
      if (!point) return;
      const [cx, cy] = this.pixels(point);
      nodes.push(drawing("circle", { class: name, cx, cy, r: POINT + more }));
    };
    if (picture.row !== null) ring(document.points[picture.row], picture.changed ? "current taught" : "current", 4.5);
    if (selected) ring(document[selected.list][selected.row], "selected", 9);
    if (hovered && !(selected && selected.row === hovered.row && selected.list === hovered.list)) ring(document[hovered.list][hovered.row], "looked-at", 9);
    this.layers.rings.replaceChildren(...nodes);
  }

  drawCursor(place) {
    if (!place || !this.size) return this.layers.cursor.replaceChildren();
    const [x, y] = this.pixels(place);
    this.layers.cursor.replaceChildren(drawing("path", { d: `M${x - 12} ${y}H${x + 12}M${x} ${y - 12}V${y + 12}` }));
  }

  // What is known of a point, beside it.
  showCard(point, lines) {
    this.card.hidden = !point;
    if (!point) return;
    this.card.replaceChildren(...lines.map(([name, value]) => element("div", {}, element("span", {}, name), element("b", {}, value))));
    const [x, y] = this.pixels(point);
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = x + 16 + width > this.size ? x - 16 - width : x + 16;
    const top = Math.min(Math.max(4, y - height / 2), this.size - height - 4);
    this.card.style.transform = `translate(${Math.max(2, left).toFixed(0)}px, ${top.toFixed(0)}px)`;
  }
}

// Places around their middle, so that a closed line through them does not cross itself.
function hullOrder(places) {
  const middle = [0, 1].map((j) => places.reduce((sum, place) => sum + place[j], 0) / places.length);
  return [...places].sort((a, b) => Math.atan2(a[1] - middle[1], a[0] - middle[0]) - Math.atan2(b[1] - middle[1], b[0] - middle[0]));
}
