// The plane: points, boundaries, band, and the weight vector with the row that is added to it.

import { arrowPath, drawing, element, labelRoom, mark, onSize, set, shortened, shown, text, ticks } from "./elements.js";

const ROOM = { left: 44, right: 10, top: 10, bottom: 44 };
const POINT = 6.5; // radius in pixels
const FINGER = 14; // and of what a finger hits
const TURN = 250; // milliseconds in which an update is seen
const HANDLE = 8; // radius of the handle of w
const LAYERS = ["area", "axes", "band", "voters", "before", "boundaries", "star", "feet", "proof", "arrows", "rings", "points", "counts", "grip", "cursor"];
const CLIPPED = ["area", "band", "voters", "before", "boundaries", "star", "feet", "arrows"];

export class Plane {
  constructor() {
    this.svg = drawing("svg", { class: "plane", role: "application", tabindex: 0, "aria-roledescription": "plane of points" });
    this.card = element("div", { class: "point-card", hidden: true });
    this.root = element("div", { class: "plane-box" }, this.svg, this.card);
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, drawing("g", { class: name })]));
    this.clip = `clip-${Math.random().toString(36).slice(2)}`;
    this.window = drawing("rect", {});
    // Where points of both classes are at one place, each shows its half of the mark.
    const halves = [1, -1].map((side) => drawing("clipPath", { id: `${this.clip}-${side}` }, drawing("rect", { x: side > 0 ? -FINGER : 0, y: -FINGER, width: FINGER, height: 2 * FINGER })));
    this.svg.append(drawing("defs", {}, drawing("clipPath", { id: this.clip }, this.window), ...halves), ...Object.values(this.layers));
    for (const name of CLIPPED) this.layers[name].setAttribute("clip-path", `url(#${this.clip})`);
    this.paths = Object.fromEntries(["negative-area", "cover", "positive-area"].map((name) => [name, drawing("path", { class: name })]));
    this.layers.area.append(...Object.values(this.paths));
    this.handle = drawing("circle", { class: "handle", r: HANDLE, tabindex: 0, role: "slider", "aria-label": "Starting weights", "data-handle": "w", "aria-valuemin": -180, "aria-valuemax": 180 });
    this.leash = drawing("path", { class: "leash" });
    this.layers.grip.append(this.leash, this.handle); // it stays in its place, and so keeps the focus
    this.marks = { points: [], held: [] };
    this.size = 0;
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.close = onSize(this.root, (width) => this.resize(width));
  }

  resize(width) {
    this.size = width;
    set(this.svg, { width, height: width, viewBox: `0 0 ${width} ${width}` });
    if (this.state) this.show(this.state);
  }

  // The frame: as much room on the left as the labels there need.
  frame() {
    const [, , low, high] = this.state.document.view;
    this.levels = ticks(low, high, this.size < 414 ? 4 : 7);
    this.left = labelRoom(this.levels, ROOM.left);
    this.side = this.size - this.left - ROOM.right;
    this.height = this.size - ROOM.top - ROOM.bottom;
    set(this.window, { x: this.left, y: ROOM.top, width: this.side, height: this.height });
  }

  // Pixels of a place, and back.
  pixels([x, y]) {
    const [left, right, bottom, top] = this.state.document.view;
    return [this.left + ((x - left) / (right - left)) * this.side, ROOM.top + ((top - y) / (top - bottom)) * this.height];
  }

  place(px, py) {
    const [left, right, bottom, top] = this.state.document.view;
    return [left + ((px - this.left) / this.side) * (right - left), top - ((py - ROOM.top) / this.height) * (top - bottom)];
  }

  isInside(px, py) {
    return px >= this.left && px <= this.left + this.side && py >= ROOM.top && py <= ROOM.top + this.height;
  }

  // Draws a state. `turning`: the update is to be seen, from the weights before it.
  show(state, { turning = false } = {}) {
    this.state = state;
    if (!this.size) return;
    cancelAnimationFrame(this.turn);
    const { picture } = state;
    this.frame();
    this.unit = `translate(${this.left} ${ROOM.top}) scale(${this.side} ${this.height})`;
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
    const star = training.isLine ? (panel === "theorem" ? verdict?.star : shows.star && verdict?.witness) : null;
    layer("star", star ? [this.path(picture.boundary(star).line, "widest")] : []);
    layer("proof", (shows.proof || panel === "proof") && verdict ? this.proof() : []);
  }

  // The chosen boundary and the weight vector, on the way from the old ones to the new.
  drawMoving(weights, share) {
    const { picture, document, shows } = this.state;
    const { memory } = document;
    const { line, area } = weights === null || share === 1 ? picture.kept(memory) : picture.boundary(weights);
    const nothing = picture.isBlank;
    set(this.paths["negative-area"], { d: nothing ? "" : "M0 0H1V1H0Z", transform: this.unit });
    set(this.paths.cover, { d: nothing ? "" : area, transform: this.unit });
    set(this.paths["positive-area"], { d: nothing ? "" : area, transform: this.unit });
    this.layers.boundaries.replaceChildren(...this.others, this.path(line, `line chosen ${memory}`));
    this.layers.arrows.replaceChildren(...(shows.arrows ? this.arrows(weights, share) : []));
    if (!shows.arrows) set(this.layers.grip, { visibility: "hidden" });
  }

  // w from the origin, as long as it is; where it has just changed, the old one and y·x laid on its tip.
  arrows(weights, share) {
    const { picture, training, document, at } = this.state;
    set(this.layers.grip, { visibility: "hidden" });
    if (!training.isLine || weights === null) return [];
    const [left, right, bottom, top] = document.view;
    if (!(left < 0 && right > 0 && bottom < 0 && top > 0)) return this.freeArrow(weights);
    const tip = (w) => this.pixels([w[0], w[1]]);
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
    if (share === 1 && Math.hypot(end[0] - origin[0], end[1] - origin[1]) > 4) nodes.push(this.nameOfW(weights, end, origin));
    nodes.push(drawing("circle", { class: "origin", cx: origin[0], cy: origin[1], r: 2.5 }), ...this.starArrow(weights, origin));
    if (at === 0 && document.memory !== "vote") this.placeHandle(end, weights, origin);
    return nodes;
  }

  // Its name at the tip; where that is out of sight, at the frame, with its length.
  nameOfW(weights, end, origin) {
    if (this.isInside(...end)) return this.tipWord("w", end, origin);
    const inside = [[this.left, this.left + this.side], [ROOM.top, ROOM.top + this.height]].map(([low, high], j) => {
      const way = end[j] - origin[j];
      return way > 0 ? (high - origin[j]) / way : way < 0 ? (low - origin[j]) / way : 1;
    });
    const share = Math.min(...inside) - 24 / Math.hypot(end[0] - origin[0], end[1] - origin[1]);
    const [x, y] = [0, 1].map((j) => origin[j] + share * (end[j] - origin[j]));
    const words = `w, ${shown(Math.hypot(weights[0], weights[1]), 3)} long`;
    return text(words, { class: "halo", x: x < this.left + this.side / 2 ? x + 10 : x - 10, y: Math.max(y, ROOM.top + 30), "text-anchor": x < this.left + this.side / 2 ? "start" : "end" });
  }

  // The theorem's w*, of length 1, and the angle between it and w; with a bias it is no arrow of the plane.
  starArrow(weights, origin) {
    const { panel, verdict, document } = this.state;
    if (panel !== "theorem" || document.bias || !verdict?.star) return [];
    const end = this.pixels(verdict.star);
    const nodes = [drawing("path", { class: "arrow star", d: arrowPath(origin, end) }), this.tipWord("w*", end, origin)];
    if (!weights[0] && !weights[1]) return nodes;
    const turns = [weights, verdict.star].map(([x, y]) => {
      const [px, py] = this.pixels([x, y]);
      return Math.atan2(py - origin[1], px - origin[0]);
    });
    const turn = Math.atan2(Math.sin(turns[1] - turns[0]), Math.cos(turns[1] - turns[0]));
    const at = (angle, far) => `${origin[0] + far * Math.cos(angle)} ${origin[1] + far * Math.sin(angle)}`;
    nodes.push(drawing("path", { class: "angle", d: `M${at(turns[0], 34)}A34 34 0 0 ${turn > 0 ? 1 : 0} ${at(turns[1], 34)}` }));
    const degrees = (Math.acos(Math.min(1, (weights[0] * verdict.star[0] + weights[1] * verdict.star[1]) / Math.hypot(weights[0], weights[1]))) * 180) / Math.PI;
    const [x, y] = at(turns[0] + turn / 2 + Math.PI, 24).split(" ").map(Number); // behind the arrows, where nothing is
    nodes.push(text(`${shown(degrees, 3)}°`, { class: "halo", x, y: y + 4, "text-anchor": "middle" }));
    return nodes;
  }

  // One deviation of the weights around the tip of w: how sure a second-order rule is of each.
  sureness([cx, cy], variances) {
    const [left, right, bottom, top] = this.state.document.view;
    const [rx, ry] = [this.side / (right - left), this.height / (top - bottom)].map((unit, j) => Math.sqrt(variances[j]) * unit);
    return drawing("ellipse", { class: "sureness", cx, cy, rx, ry });
  }

  // The handle stands at the tip of w, or beside it where a point would be hidden.
  placeHandle(end, weights, origin) {
    const { points, held_out: held } = this.state.document;
    const places = [...points, ...held].map((point) => this.pixels(point));
    const away = ([x, y]) => Math.min(Infinity, ...places.map(([px, py]) => Math.hypot(px - x, py - y)));
    const turn = Math.atan2(end[1] - origin[1], end[0] - origin[0]);
    const around = [28, 44].flatMap((far) => Array.from({ length: 8 }, (_, k) => turn + ((k % 2 ? 1 : -1) * Math.ceil(k / 2) * Math.PI) / 4).map((angle) => [end[0] + far * Math.cos(angle), end[1] + far * Math.sin(angle)]));
    const open = [end, ...around].filter((place) => this.isInside(...place));
    const [cx, cy] = open.find((place) => away(place) > FINGER + HANDLE) ?? open.sort((a, b) => away(b) - away(a))[0] ?? end;
    this.grip = [cx - end[0], cy - end[1]];
    const degrees = (Math.atan2(weights[1], weights[0]) * 180) / Math.PI;
    set(this.layers.grip, { visibility: "visible" });
    set(this.leash, { d: cx === end[0] && cy === end[1] ? "" : `M${end.join(" ")}L${cx} ${cy}` });
    set(this.handle, { cx, cy, "aria-valuenow": Math.round(degrees), "aria-valuetext": `w is (${shown(weights[0])}, ${shown(weights[1])})` });
  }

  // Where the origin is out of sight, w stands on the boundary: as long as it is if that can be seen, else its direction.
  freeArrow(weights) {
    const [left, right, bottom, top] = this.state.document.view;
    const centre = [(left + right) / 2, (bottom + top) / 2];
    const square = weights[0] ** 2 + weights[1] ** 2;
    if (!square) return [];
    const away = (weights[0] * centre[0] + weights[1] * centre[1] + weights[2]) / square;
    const foot = [centre[0] - away * weights[0], centre[1] - away * weights[1]];
    if (foot[0] < left || foot[0] > right || foot[1] < bottom || foot[1] > top) return [];
    const from = this.pixels(foot);
    const to = this.pixels([foot[0] + weights[0], foot[1] + weights[1]]);
    const far = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (far > 20 && this.isInside(...to)) return [drawing("path", { class: "arrow now", d: arrowPath(from, to) }), this.tipWord("w", to, from)];
    const end = [0, 1].map((j) => from[j] + ((to[j] - from[j]) / far) * 0.16 * this.size);
    return [drawing("path", { class: "arrow now", d: arrowPath(from, end) }), this.tipWord("direction of w", end, from)];
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

  // The line along w through the origin, and from each point to its foot on it: the value that the axis shows.
  feet() {
    const { document, picture, training } = this.state;
    const w = picture.weights();
    const square = training.isLine && w !== null ? w[0] ** 2 + w[1] ** 2 : 0;
    if (!square) return [];
    const far = Math.max(...document.view.map(Math.abs), 1) * 4;
    const [a, b] = [-far, far].map((length) => this.pixels([0, 1].map((j) => (length * w[j]) / Math.sqrt(square))));
    const along = drawing("line", { class: "along", x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
    return [along, ...document.points.map(([x, y]) => {
      const reach = (w[0] * x + w[1] * y) / square;
      return drawing("path", { d: `M${this.pixels([x, y]).join(" ")}L${this.pixels([reach * w[0], reach * w[1]]).join(" ")}` });
    })];
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
    const [bottom, right] = [ROOM.top + this.height, this.left + this.side];
    const count = this.side < 360 ? 4 : 7;
    const nodes = [];
    for (const x of ticks(view[0], view[1], count)) {
      const [px] = this.pixels([x, view[2]]);
      nodes.push(drawing("path", { class: x === 0 ? "zero" : "grid", d: `M${px} ${ROOM.top}V${bottom}` }));
      nodes.push(text(shown(x), { x: px, y: bottom + 15, "text-anchor": "middle" }));
    }
    for (const y of this.levels) {
      const [, py] = this.pixels([view[0], y]);
      nodes.push(drawing("path", { class: y === 0 ? "zero" : "grid", d: `M${this.left} ${py}H${right}` }));
      nodes.push(text(shown(y), { x: this.left - 6, y: py + 4, "text-anchor": "end" }));
    }
    nodes.push(drawing("rect", { class: "border", "data-view": JSON.stringify(view), x: this.left, y: ROOM.top, width: this.side, height: this.height }));
    const most = Math.floor(this.side / 9);
    nodes.push(text(shortened(names[0], most), { class: "title", x: this.left + this.side / 2, y: bottom + 33, "text-anchor": "middle" }));
    const middle = ROOM.top + this.height / 2;
    nodes.push(text(shortened(names[1], most), { class: "title", x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }));
    this.layers.axes.replaceChildren(...nodes);
  }

  // Nodes of points stay where they are from picture to picture; only what changed is written.
  drawPoints() {
    const { document, picture } = this.state;
    const wrong = new Set(picture.isBlank ? [] : picture.wrong());
    const heldWrong = document.held_out.length && !picture.isBlank ? new Set(picture.wrong(document.memory, picture.heldOut)) : new Set();
    const places = new Map();
    for (const point of [...document.held_out, ...document.points]) {
      const key = `${point[0]} ${point[1]}`;
      places.set(key, [...(places.get(key) ?? []), point]);
    }
    const isShared = ([x, y]) => new Set(places.get(`${x} ${y}`).map(([, , side]) => side)).size > 1;
    this.drawList("held", document.held_out, heldWrong, isShared);
    this.drawList("points", document.points, wrong, isShared);
    this.layers.counts.replaceChildren(...[...places.values()].filter(({ length }) => length > 1).map((points) => {
      const [x, y] = this.pixels(points[0]);
      return text(`×${points.length}`, { class: "halo", x: x + POINT + 3, y: y - POINT });
    }));
  }

  drawList(kind, points, wrong, isShared) {
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
      if (own.shared !== isShared(point)) {
        own.shared = isShared(point);
        if (own.shared) own.node.setAttribute("clip-path", `url(#${this.clip}-${side})`);
        else own.node.removeAttribute("clip-path");
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
    return { node, side, x: NaN, y: NaN, wrong: false, shared: false };
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
