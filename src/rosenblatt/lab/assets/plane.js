// The plane: points, boundaries, band, weight vector. It draws what Python computed.

import { drawing, element, mark, onWidth, shown, ticks } from "./elements.js";

const PLANE_ROOM = { left: 46, right: 12, top: 12, bottom: 42 };
const POINT = 6.5; // radius in pixels
const UNITS = 1000; // on a side, of the paths that Python gives

export class Plane {
  constructor() {
    this.layers = {};
    this.svg = drawing("svg", {
      class: "plane", role: "application", tabindex: 0, "aria-roledescription": "plane of points",
    });
    this.root = element("div", { class: "plane-box" }, this.svg);
    for (const name of ["area", "axes", "band", "before", "boundaries", "feet", "rings", "points", "arrows", "cursor"]) {
      this.layers[name] = drawing("g", { class: name });
    }
    this.clip = `clip-${Math.random().toString(36).slice(2)}`;
    this.window = drawing("rect", {});
    this.svg.append(
      drawing("defs", {}, drawing("clipPath", { id: this.clip }, this.window)),
      ...Object.values(this.layers),
    );
    for (const name of ["area", "band", "before", "boundaries", "feet", "arrows"]) {
      this.layers[name].setAttribute("clip-path", `url(#${this.clip})`);
    }
    this.size = 0;
    this.close = onWidth(this.root, (width) => this.resize(width));
  }

  resize(width) {
    this.size = width;
    this.side = width - PLANE_ROOM.left - PLANE_ROOM.right;
    const height = this.side + PLANE_ROOM.top + PLANE_ROOM.bottom;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const [name, value] of Object.entries({ x: PLANE_ROOM.left, y: PLANE_ROOM.top, width: this.side, height: this.side })) {
      this.window.setAttribute(name, value);
    }
    if (this.shownState) this.show(this.shownState);
  }

  // Pixels of a place, and back.
  pixels([x, y]) {
    const [left, right, bottom, top] = this.shownState.document.view;
    return [
      PLANE_ROOM.left + ((x - left) / (right - left)) * this.side,
      PLANE_ROOM.top + ((top - y) / (top - bottom)) * this.side,
    ];
  }

  place(px, py) {
    const [left, right, bottom, top] = this.shownState.document.view;
    return [
      left + ((px - PLANE_ROOM.left) / this.side) * (right - left),
      top - ((py - PLANE_ROOM.top) / this.side) * (top - bottom),
    ];
  }

  show(state) {
    this.shownState = state;
    if (!this.size) return;
    this.drawAxes();
    this.drawPoints();
    this.drawRings();
    const { frame } = state;
    const scale = `translate(${PLANE_ROOM.left} ${PLANE_ROOM.top}) scale(${this.side / UNITS})`;
    const path = (d, name) => drawing("path", { d, class: name, transform: scale });
    const layer = (name, ...nodes) => this.layers[name].replaceChildren(...nodes);
    layer("area", ...(frame ? [this.background(), path(frame.area, "cover"), path(frame.area, "positive-area")] : []));
    layer("band", ...(frame?.band && state.shows.band ? frame.band.lines.map((d) => path(d, "edge")) : []));
    const changed = frame?.changed && state.shows.before;
    layer("before", ...(changed ? [path(frame.before, "old")] : []));
    const names = ["vote", "average", "last"].filter((name) => state.shows[name]);
    layer("boundaries", ...(frame ? names.map((name) => path(frame.lines[name] ?? "", name)) : []));
    layer("arrows", ...(frame?.arrows && state.shows.arrows ? this.arrows(frame.arrows) : []));
    layer("feet", ...(frame && state.shows.feet ? this.feet() : []));
  }

  background() {
    return drawing("rect", {
      class: this.shownState.frame.updates ? "negative-area" : "no-area",
      x: PLANE_ROOM.left, y: PLANE_ROOM.top, width: this.side, height: this.side,
    });
  }

  // The weight vector before and after; where both end at one place, one name is enough.
  arrows(all) {
    const tips = all.map(({ to }) => this.pixels(to));
    const close = tips.length > 1 && Math.hypot(tips[0][0] - tips[1][0], tips[0][1] - tips[1][1]) < 34;
    return all.map((arrow) => this.arrow(arrow, arrow.name === "after" ? "w" : close ? "" : "w before"));
  }

  arrow({ name, from, to }, word) {
    const [x1, y1] = this.pixels(from);
    const [x2, y2] = this.pixels(to);
    const turn = Math.atan2(y2 - y1, x2 - x1);
    const wing = (angle) => `${x2 - 10 * Math.cos(turn + angle)} ${y2 - 10 * Math.sin(turn + angle)}`;
    const head = `M${wing(0.45)}L${x2} ${y2}L${wing(-0.45)}`;
    const anchor = Math.cos(turn) < -0.3 ? "end" : "start";
    const label = drawing("text", { x: x2 + 9 * Math.cos(turn), y: y2 + 12 * Math.sin(turn) + 4, class: "halo", "text-anchor": anchor });
    label.textContent = word;
    return drawing("g", { class: `arrow ${name}` }, drawing("path", { d: `M${x1} ${y1}L${x2} ${y2}` }), drawing("path", { d: head, class: "head" }), label);
  }

  // From each point to its foot on the boundary: the distance that the axis below shows.
  feet() {
    const { document, frame } = this.shownState;
    return (frame.feet ?? []).map((foot, row) => {
      const [x1, y1] = this.pixels(document.points[row]);
      const [x2, y2] = this.pixels(foot);
      return drawing("path", { d: `M${x1} ${y1}L${x2} ${y2}` });
    });
  }

  drawAxes() {
    const { view, names } = this.shownState.document;
    const bottom = PLANE_ROOM.top + this.side;
    const right = PLANE_ROOM.left + this.side;
    const nodes = [];
    const text = (words, attributes) => {
      const node = drawing("text", attributes);
      node.textContent = words;
      nodes.push(node);
    };
    const count = this.side < 360 ? 4 : 6;
    for (const x of ticks(view[0], view[1], count)) {
      const [px] = this.pixels([x, 0]);
      nodes.push(drawing("path", { class: x === 0 ? "zero" : "grid", d: `M${px} ${PLANE_ROOM.top}V${bottom}` }));
      text(shown(x), { x: px, y: bottom + 16, "text-anchor": "middle" });
    }
    for (const y of ticks(view[2], view[3], count)) {
      const [, py] = this.pixels([0, y]);
      nodes.push(drawing("path", { class: y === 0 ? "zero" : "grid", d: `M${PLANE_ROOM.left} ${py}H${right}` }));
      text(shown(y), { x: PLANE_ROOM.left - 6, y: py + 4, "text-anchor": "end" });
    }
    nodes.push(drawing("rect", { class: "border", x: PLANE_ROOM.left, y: PLANE_ROOM.top, width: this.side, height: this.side }));
    const short = (name) => (name.length > 32 ? `${name.slice(0, 31)}…` : name);
    text(short(names[0]), { class: "title", x: PLANE_ROOM.left + this.side / 2, y: bottom + 35, "text-anchor": "middle" });
    const middle = PLANE_ROOM.top + this.side / 2;
    text(short(names[1]), { class: "title", x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` });
    this.layers.axes.replaceChildren(...nodes);
  }

  drawPoints() {
    const { document, frame } = this.shownState;
    const wrong = new Set(frame?.wrong ?? []);
    const nodes = [];
    document.points.forEach(([x, y, side], row) => {
      const [px, py] = this.pixels([x, y]);
      nodes.push(mark(side, px, py, POINT));
      if (wrong.has(row)) {
        const k = POINT * 0.5;
        nodes.push(drawing("path", { class: "wrong", d: `M${px - k} ${py - k}L${px + k} ${py + k}M${px + k} ${py - k}L${px - k} ${py + k}` }));
      }
      nodes.push(drawing("circle", { class: "hit", cx: px, cy: py, r: 14, "data-row": row }));
    });
    this.layers.points.replaceChildren(...nodes);
  }

  // Apart from the points, which must stay where they are while a finger comes down on one.
  drawRings() {
    const { document, frame, verdict, selected, shows } = this.shownState;
    const nodes = [];
    const ring = (row, name, size) => {
      if (row === null || row === undefined || row >= document.points.length) return;
      const [cx, cy] = this.pixels(document.points[row]);
      nodes.push(drawing("circle", { class: name, cx, cy, r: POINT + size }));
    };
    if (shows.proof) for (const [row] of verdict?.rows ?? []) ring(row, "proof", 7);
    ring(frame?.row, frame?.changed ? "current taught" : "current", 4);
    ring(selected, "selected", 10);
    this.layers.rings.replaceChildren(...nodes);
  }

  drawCursor(place) {
    if (!place || !this.size) return this.layers.cursor.replaceChildren();
    const [x, y] = this.pixels(place);
    this.layers.cursor.replaceChildren(drawing("path", { d: `M${x - 12} ${y}H${x + 12}M${x} ${y - 12}V${y + 12}` }));
  }
}
