// Written by python -m rosenblatt.lab.translation from rules and lab; not to be edited.

// As Python's min and max of two: the first unless the second is really less, or more.
const least = (a, b) => (b < a ? b : a);
const most = (a, b) => (b > a ? b : a);

const SMALLEST = 2.2250738585072014e-308;

export const ZERO_CONVENTIONS = {"mistake": 0, "negative": -1, "positive": 1};

export function break_tie(margin, side, zero) {
  return ((margin === 0.0 && side === zero) ? SMALLEST : margin);
}

export const RULES = {
  perceptron: {
    title: "perceptron",
    formula: "η if y·a ≤ 0, else 0",
    fixedStep: true,
    order: 1,
    parameters: ["eta0"],
    tables: {},
    eta0: 1.0,
    get target() {
      return 0.0;
    },
    get stopsByItself() {
      return true;
    },
    step(margin, sqnorm) {
      return (margin > 0.0 ? 0.0 : this.eta0);
    },
  },
  margin: {
    title: "margin perceptron",
    formula: "η if y·a ≤ margin, else 0",
    fixedStep: true,
    order: 1,
    parameters: ["eta0", "margin"],
    tables: {},
    eta0: 1.0,
    margin: 1.0,
    get target() {
      return this.margin;
    },
    get stopsByItself() {
      return true;
    },
    step(margin, sqnorm) {
      return (margin > this.margin ? 0.0 : this.eta0);
    },
  },
  pa: {
    title: "passive-aggressive learner",
    formula: "ℓ/‖x‖²",
    fixedStep: false,
    order: 1,
    parameters: [],
    tables: {},
    target: 1.0,
    get stopsByItself() {
      return false;
    },
    step(margin, sqnorm) {
      if ((margin >= this.target || sqnorm === 0.0)) {
        return 0.0;
      }
      return (sqnorm < Infinity ? ((this.target - margin) / sqnorm) : NaN);
    },
  },
  pa1: {
    title: "passive-aggressive learner (PA-I)",
    formula: "min(C, ℓ/‖x‖²)",
    fixedStep: false,
    order: 1,
    parameters: ["C"],
    tables: {},
    C: 1.0,
    get target() {
      return 1.0;
    },
    get stopsByItself() {
      return false;
    },
    step(margin, sqnorm) {
      if ((margin >= 1.0 || sqnorm === 0.0)) {
        return 0.0;
      }
      let tau = (sqnorm < Infinity ? ((1.0 - margin) / sqnorm) : NaN);
      return least(tau, this.C);
    },
  },
  pa2: {
    title: "passive-aggressive learner (PA-II)",
    formula: "ℓ/(‖x‖² + 1/(2C))",
    fixedStep: false,
    order: 1,
    parameters: ["C"],
    tables: {},
    C: 1.0,
    get target() {
      return 1.0;
    },
    get stopsByItself() {
      return false;
    },
    step(margin, sqnorm) {
      if ((margin >= 1.0 || sqnorm === 0.0)) {
        return 0.0;
      }
      return (sqnorm < Infinity ? ((1.0 - margin) / (sqnorm + (0.5 / this.C))) : NaN);
    },
  },
  arow: {
    title: "confidence-weighted learner (AROW)",
    formula: "α = ℓ·β, β = 1/(xᵀΣx + r)",
    fixedStep: false,
    order: 2,
    parameters: ["r"],
    tables: {},
    r: 1.0,
    get target() {
      return 1.0;
    },
    get stopsByItself() {
      return false;
    },
    step(margin, variance) {
      if ((margin >= 1.0 || variance === 0.0)) {
        return [0.0, 0.0];
      }
      if (!(variance < Infinity)) {
        return [NaN, NaN];
      }
      let beta = (1.0 / (variance + this.r));
      return [((1.0 - margin) * beta), beta];
    },
  },
  cw: {
    title: "confidence-weighted learner (CW)",
    formula: "right with the confidence asked for",
    fixedStep: false,
    order: 2,
    parameters: ["confidence"],
    tables: {"confidence": {"0.6": {"phi": 0.2533471031357998}, "0.7": {"phi": 0.5244005127080407}, "0.8": {"phi": 0.8416212335729144}, "0.9": {"phi": 1.2815515655446008}, "0.95": {"phi": 1.6448536269514715}, "0.99": {"phi": 2.3263478740408408}}},
    phi: 1.2815515655446008,
    C: Infinity,
    get target() {
      return Infinity;
    },
    get stopsByItself() {
      return false;
    },
    step(margin, variance) {
      if ((margin >= (this.phi * Math.sqrt(variance)) || variance === 0.0)) {
        return [0.0, 0.0];
      }
      if (!(variance < Infinity)) {
        return [NaN, NaN];
      }
      let square = (this.phi * this.phi);
      let root = Math.sqrt((((((margin * margin) * square) * square) / 4.0) + ((variance * square) * (1.0 + square))));
      let alpha = ((root - (margin * (1.0 + (square / 2.0)))) / (variance * (1.0 + square)));
      alpha = least(alpha, this.C);
      let g = ((alpha * variance) * this.phi);
      return [alpha, (((2.0 * alpha) * this.phi) / (g + Math.sqrt(((g * g) + (4.0 * variance)))))];
    },
  },
  scw1: {
    title: "confidence-weighted learner (SCW-I)",
    formula: "as CW, and α ≤ C",
    fixedStep: false,
    order: 2,
    parameters: ["confidence", "C"],
    tables: {"confidence": {"0.6": {"phi": 0.2533471031357998}, "0.7": {"phi": 0.5244005127080407}, "0.8": {"phi": 0.8416212335729144}, "0.9": {"phi": 1.2815515655446008}, "0.95": {"phi": 1.6448536269514715}, "0.99": {"phi": 2.3263478740408408}}},
    phi: 1.2815515655446008,
    C: 1.0,
    get target() {
      return Infinity;
    },
    get stopsByItself() {
      return false;
    },
    step(margin, variance) {
      if ((margin >= (this.phi * Math.sqrt(variance)) || variance === 0.0)) {
        return [0.0, 0.0];
      }
      if (!(variance < Infinity)) {
        return [NaN, NaN];
      }
      let square = (this.phi * this.phi);
      let root = Math.sqrt((((((margin * margin) * square) * square) / 4.0) + ((variance * square) * (1.0 + square))));
      let alpha = ((root - (margin * (1.0 + (square / 2.0)))) / (variance * (1.0 + square)));
      alpha = least(alpha, this.C);
      let g = ((alpha * variance) * this.phi);
      return [alpha, (((2.0 * alpha) * this.phi) / (g + Math.sqrt(((g * g) + (4.0 * variance)))))];
    },
  },
  scw2: {
    title: "confidence-weighted learner (SCW-II)",
    formula: "as CW, softened by C",
    fixedStep: false,
    order: 2,
    parameters: ["confidence", "C"],
    tables: {"confidence": {"0.6": {"phi": 0.2533471031357998}, "0.7": {"phi": 0.5244005127080407}, "0.8": {"phi": 0.8416212335729144}, "0.9": {"phi": 1.2815515655446008}, "0.95": {"phi": 1.6448536269514715}, "0.99": {"phi": 2.3263478740408408}}},
    phi: 1.2815515655446008,
    C: 1.0,
    get target() {
      return Infinity;
    },
    get stopsByItself() {
      return false;
    },
    step(margin, variance) {
      if ((margin >= (this.phi * Math.sqrt(variance)) || variance === 0.0)) {
        return [0.0, 0.0];
      }
      if (!(variance < Infinity)) {
        return [NaN, NaN];
      }
      let square = (this.phi * this.phi);
      let n = (variance + (0.5 / this.C));
      let both = (n + (variance * square));
      let root = Math.sqrt((((((square * margin) * margin) * variance) * variance) + (((4.0 * n) * variance) * both)));
      let alpha = (((this.phi * root) - (margin * ((2.0 * n) + (square * variance)))) / ((2.0 * n) * both));
      let g = ((alpha * variance) * this.phi);
      return [alpha, (((2.0 * alpha) * this.phi) / (g + Math.sqrt(((g * g) + (4.0 * variance)))))];
    },
  },
};

export const SETTINGS = {
  rule: {"values": ["perceptron", "margin", "pa", "pa1", "pa2", "arow", "cw", "scw1", "scw2"]},
  eta0: {"low": 1e-06, "high": 1000000.0, "whole": false},
  margin: {"low": 0.0, "high": 1000000.0, "whole": false},
  C: {"low": 1e-06, "high": 1000000.0, "whole": false},
  r: {"low": 1e-06, "high": 1000000.0, "whole": false},
  confidence: {"values": [0.6, 0.7, 0.8, 0.9, 0.95, 0.99]},
  memory: {"values": ["last", "average", "vote"]},
  order: {"values": ["given", "once", "every pass"]},
  second_order: {"values": ["given", "once", "every pass"]},
  seed: {"low": 0, "high": 4294967295, "whole": true},
  zero: {"values": ["mistake", "negative", "positive"]},
  bias: {"values": [true, false]},
  map: {"values": ["none", "conjunction", "pairs"]},
  kernel: {"values": ["none", "polynomial", "rbf"]},
  degree: {"low": 1, "high": 8, "whole": true},
  gamma: {"low": 1e-06, "high": 1000000.0, "whole": false},
  coef0: {"low": 0.0, "high": 1000000.0, "whole": false},
  max_iter: {"low": 1, "high": 1000, "whole": true},
};

export const DEFAULTS = {"points": [], "held_out": [], "names": ["x₁", "x₂"], "labels": ["−1", "+1"], "view": [-2.0, 2.0, -2.0, 2.0], "rule": "perceptron", "eta0": 1.0, "C": 1.0, "margin": 1.0, "r": 1.0, "confidence": 0.9, "memory": "last", "order": "given", "second_order": "every pass", "seed": 0, "zero": "mistake", "bias": true, "start": [], "map": "none", "kernel": "none", "degree": 2, "gamma": 1.0, "coef0": 1.0, "max_iter": 20};

export const MOST_POINTS = 500;

export const LARGEST = 1e+06;

export const LONGEST_NAME = 60;

export const MAPS = {"none": 2, "conjunction": 3, "pairs": 5};

export const TOYS = {
  "separable": {"points": [[-0.67, -0.17, -1], [0.25, 1.85, 1], [-0.77, -0.24, -1], [-1.39, -0.57, -1], [-0.75, -1.07, -1], [0.94, 1.48, 1], [1.35, 1.18, 1], [-1.49, -0.79, -1], [1.08, 0.7, 1], [1.04, 0.75, 1], [0.67, 1.5, 1], [-1.07, -0.3, -1], [0.79, 0.48, 1], [-1.62, -0.83, -1], [-1.29, -0.08, -1], [-0.56, -0.78, -1], [-0.02, -0.01, 1], [-0.4, -1.49, -1], [1.18, 0.78, 1], [0.9, 0.93, 1], [0.49, 0.93, 1], [0.23, 1.15, 1], [-1.61, -0.53, -1], [-1.29, -0.71, -1]], "view": [-2.5, 2.5, -2.5, 2.5]},
  "xor": {"points": [[0.0, 0.0, -1], [0.0, 1.0, 1], [1.0, 1.0, -1], [1.0, 0.0, 1]], "view": [-1.25, 2.25, -1.25, 2.25]},
  "circles": {"points": [[-0.9, 1.32, -1], [0.33, 1.6, -1], [0.75, -1.21, -1], [1.1, 1.18, -1], [-0.29, 0.54, 1], [1.26, -0.84, -1], [-1.41, -0.44, -1], [1.22, 0.36, -1], [0.25, 1.44, -1], [-1.47, 0.22, -1], [-0.05, -0.1, 1], [0.43, 1.58, -1], [-0.36, -0.41, 1], [1.17, 0.52, -1], [0.8, -1.03, -1], [1.4, -0.94, -1], [0.11, 0.06, 1], [0.05, -0.6, 1], [0.36, 0.31, 1], [-0.39, -0.19, 1], [-1.17, -0.98, -1], [-0.13, 0.09, 1], [0.1, -0.03, 1], [-0.3, 0.29, 1], [-0.03, -0.36, 1], [-0.45, -1.47, -1], [-1.27, 0.57, -1], [-0.04, 0.65, 1], [-0.87, -0.83, -1], [-1.27, 0.27, -1], [0.65, 0.16, 1], [-0.35, 0.01, 1], [-1.29, -0.22, -1], [0.32, -0.58, 1], [-0.49, -0.07, 1], [-0.39, 0.16, 1], [0.47, 0.05, 1], [1.07, 0.77, -1], [0.05, 0.2, 1], [-0.24, -0.34, 1]], "view": [-2.0, 2.0, -2.0, 2.0]},
  "overlapping": {"points": [[1.38, 0.36, 1], [-0.58, -0.32, -1], [1.22, 1.0, 1], [-0.09, 0.74, 1], [0.47, 1.21, 1], [0.09, 0.48, 1], [1.26, 1.76, 1], [-0.15, -1.36, -1], [1.19, 1.44, 1], [0.43, 0.56, 1], [0.38, -0.07, -1], [0.01, 0.71, -1], [-0.55, -0.33, -1], [0.29, 0.83, 1], [-0.49, 0.8, 1], [-1.78, -1.07, -1], [0.33, -0.52, -1], [0.8, 0.82, 1], [-0.09, -0.76, -1], [0.03, 0.11, -1], [-0.61, -0.71, -1], [0.09, 1.6, 1], [1.67, -0.9, 1], [-2.19, -0.2, -1], [0.49, 1.53, 1], [-1.48, -0.29, -1], [-0.61, 0.83, -1], [-0.27, 0.34, 1], [-0.6, -0.19, 1], [-0.73, 2.19, 1], [0.59, 1.37, -1], [0.66, 0.23, 1], [-0.35, -0.43, -1], [-0.22, -0.92, -1], [0.92, 0.29, 1], [-0.38, 1.47, -1], [1.05, -0.15, 1], [-1.37, -0.86, -1], [-1.28, 0.35, -1], [0.53, -1.11, -1], [0.37, 0.14, -1], [1.01, 1.32, 1], [-0.37, -0.1, -1], [-0.77, 0.94, 1], [-0.16, 0.69, 1], [-0.08, -1.85, -1], [0.23, -0.25, 1], [0.75, 0.14, 1], [-0.68, -1.12, -1], [0.0, 1.57, 1], [-0.23, -0.2, -1], [0.03, -2.08, -1], [-0.5, 0.27, 1], [0.06, -1.26, 1], [-1.22, -1.12, 1], [-0.56, -0.72, -1], [0.9, 0.16, -1], [-0.3, 0.56, 1], [-0.76, 0.55, -1], [0.15, -1.07, -1]], "view": [-3.0, 3.0, -3.0, 3.0]},
  "sorted labels": {"points": [[1.44, 2.09, 1], [1.55, 1.82, 1], [1.69, 1.74, 1], [1.62, 1.73, 1], [1.64, 1.7, 1], [1.5, 1.59, 1], [1.23, 2.27, 1], [1.22, 1.92, 1], [1.77, 1.94, 1], [1.57, 2.08, 1], [1.1, 1.35, 1], [1.35, 1.82, 1], [1.41, 1.87, 1], [1.81, 1.76, 1], [1.3, 1.74, 1], [0.72, 0.52, -1], [0.76, 0.96, -1], [0.89, 0.31, -1], [0.36, 0.66, -1], [0.3, 0.78, -1], [0.46, 0.69, -1], [0.71, 0.93, -1], [0.56, 0.9, -1], [0.46, 1.0, -1], [0.78, 1.05, -1], [0.39, 0.75, -1], [0.45, 0.22, -1], [0.66, 0.79, -1], [0.51, 0.79, -1], [0.27, 0.51, -1]], "view": [-0.5, 2.7, -0.5, 2.7]},
};
