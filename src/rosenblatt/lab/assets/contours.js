// Where a function on the plane is zero, and where it is positive: marching squares, as SVG paths.
//
// Values stand at the nodes of a grid of cells × cells over the unit square, row after row from the
// top. Between nodes they are taken as linear along the edges.

const rounded = (value) => Math.round(value * 1e5) / 1e5;

// The corners of a cell in turn, as places in the list of values.
function corners(r, c, width) {
  const at = r * width + c;
  return [at, at + 1, at + width + 1, at + width];
}

// Where the value is 0 between two corners of a cell, in units of the square.
function crossing(values, r, c, k, cells) {
  const around = corners(r, c, cells + 1);
  const [first, second] = [values[around[k]], values[around[(k + 1) % 4]]];
  const share = first / (first - second);
  const [x, y] = [[c + share, r], [c + 1, r + share], [c + 1 - share, r + 1], [c, r + 1 - share]][k];
  return [rounded(x / cells), rounded(y / cells)];
}

function path(places) {
  return `M${places.map(([x, y]) => `${x} ${y}`).join("L")}`;
}

// Calls `visit(r, c, crossed, around)` for every cell that the zero line passes through.
function eachCrossed(values, cells, visit) {
  const width = cells + 1;
  for (let r = 0; r < cells; r++) {
    for (let c = 0, at = r * width; c < cells; c++, at++) {
      const count = (values[at] > 0) + (values[at + 1] > 0) + (values[at + width] > 0) + (values[at + width + 1] > 0);
      if (count === 0 || count === 4) continue;
      const around = corners(r, c, width);
      visit(r, c, around.map((place) => values[place] > 0), around);
    }
  }
}

// At a saddle the mean of the corners says whether the positive ones hang together.
function together(values, around) {
  return around.reduce((sum, at) => sum + values[at], 0) > 0;
}

// The lines on which the values change their sign.
export function zeroLine(values, cells) {
  const pieces = [];
  eachCrossed(values, cells, (r, c, signs, around) => {
    const crossed = [0, 1, 2, 3].filter((k) => signs[k] !== signs[(k + 1) % 4]);
    const link = (j, k) => pieces.push(path([crossing(values, r, c, j, cells), crossing(values, r, c, k, cells)]));
    if (crossed.length === 2) link(...crossed);
    else {
      const joined = together(values, around);
      for (const k of [0, 1, 2, 3]) if (signs[k] !== joined) link((k + 3) % 4, k);
    }
  });
  return pieces.join("");
}

// The area in which the values are positive.
export function positiveArea(values, cells) {
  const width = cells + 1;
  const pieces = [];
  const isWhole = (at) => values[at] > 0 && values[at + 1] > 0 && values[at + width] > 0 && values[at + width + 1] > 0;
  for (let r = 0; r < cells; r++) {
    for (let c = 0; c < cells; c++) {
      const start = c;
      while (c < cells && isWhole(r * width + c)) c++;
      if (c > start) pieces.push(path([[start, r], [c, r], [c, r + 1], [start, r + 1]].map(([x, y]) => [rounded(x / cells), rounded(y / cells)])), "Z");
    }
  }
  eachCrossed(values, cells, (r, c, signs, around) => {
    const outline = [];
    signs.forEach((sign, k) => {
      const [x, y] = [[c, r], [c + 1, r], [c + 1, r + 1], [c, r + 1]][k];
      if (sign) outline.push({ place: [rounded(x / cells), rounded(y / cells)], corner: true });
      if (sign !== signs[(k + 1) % 4]) outline.push({ place: crossing(values, r, c, k, cells), corner: false });
    });
    if (outline.length === 6 && !together(values, around)) {
      outline.forEach(({ corner }, i) => {
        if (corner) pieces.push(path([5, 0, 1].map((j) => outline[(i + j) % 6].place)), "Z");
      });
    } else pieces.push(path(outline.map(({ place }) => place)), "Z");
  });
  return pieces.join("");
}

// The line w·x + b = level within a view, as the places where it enters and leaves, or none.
export function lineWithin([w1, w2, b], [left, right, bottom, top], level = 0) {
  const value = (x, y) => w1 * x + w2 * y + b - level;
  const ring = [[left, bottom], [right, bottom], [right, top], [left, top]];
  const found = [];
  ring.forEach((here, k) => {
    const there = ring[(k + 1) % 4];
    const [a, c] = [value(...here), value(...there)];
    if (a > 0 === c > 0) return;
    const share = a / (a - c);
    found.push([here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])]);
  });
  return found.length === 2 ? found : [];
}

// The corners of the part of a view in which w·x + b > 0.
export function halfPlane([w1, w2, b], [left, right, bottom, top]) {
  const value = ([x, y]) => w1 * x + w2 * y + b;
  const ring = [[left, bottom], [right, bottom], [right, top], [left, top]];
  const found = [];
  ring.forEach((here, k) => {
    const there = ring[(k + 1) % 4];
    const [a, c] = [value(here), value(there)];
    if (a > 0) found.push(here);
    if (a > 0 !== c > 0) {
      const share = a / (a - c);
      found.push([here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])]);
    }
  });
  return found;
}
