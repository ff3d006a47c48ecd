// Answers of the engine, one JSON text a line in and out: what a test in Python holds against the library.

import { createInterface } from "node:readline";

const assets = new URL("../../src/rosenblatt/lab/assets/", import.meta.url);
const { ClassTraining, SETS } = await import(new URL("classes.js", assets));
const { PathTraining, SENTENCES, TAGS } = await import(new URL("lattice.js", assets));
const { Rows, Training, permutation, PCG64 } = await import(new URL("engine.js", assets));
const { verdictOn } = await import(new URL("verdict.js", assets));
const { addressOf, checked, stateOf } = await import(new URL("documents.js", assets));
const { FILES } = await import(new URL("downloads.js", assets));
const { stepSentence } = await import(new URL("sentences.js", assets));
const { SCENES } = await import(new URL("scenes.js", assets));
const { pointsOfTable, suggestion, tableOf } = await import(new URL("table.js", assets));

// What went wrong, as the sentence that a person is shown.
function attempt(action) {
  try {
    return action();
  } catch (error) {
    return { error: error.message };
  }
}

const questions = {
  training({ document, gram = null }) {
    const training = new Training(document, { gram: gram && Float64Array.from(gram) });
    const { visits, length } = training;
    const held = new Rows(document, document.held_out);
    const columns = Object.fromEntries(Object.keys(visits).map((name) => [name, [...visits[name].slice(0, length)]]));
    const moments = Array.from({ length: length + 1 }, (_, at) => at);
    return {
      ...columns, length, stopReason: training.stopReason, cycle: training.cycle, passEnds: training.passEnds,
      weights: moments.map((at) => [...training.weights(at)]),
      variances: training.isUncertain ? moments.map((at) => [...training.variances(at)]) : null,
      averages: moments.map((at) => [...training.average(at)]),
      survivals: [...training.survivals(length)],
      gram: training.gram && [...training.gram],
      scores: Object.fromEntries(["last", "average", "vote"].map((memory) => [memory, [...training.scores(memory, length, held)]])),
    };
  },
  verdict({ document }) {
    return verdictOn(new Training(document));
  },
  link({ document, at }) {
    return addressOf(document, at);
  },
  open({ address }) {
    return attempt(() => stateOf(address));
  },
  check({ document }) {
    return attempt(() => checked(document));
  },
  table({ text, name, chosen = {} }) {
    return attempt(() => {
      const table = tableOf(text, name);
      return pointsOfTable(table, { ...suggestion(table), ...chosen });
    });
  },
  file({ name, document }) {
    return FILES[name][1](new Training(document));
  },
  sentences({ document }) {
    const training = new Training(document);
    return Array.from({ length: training.length + 1 }, (_, at) => stepSentence(training, at));
  },
  classes({ set }) {
    const training = new ClassTraining(SETS[set]);
    return { ...SETS[set], steps: training.steps, weights: training.weights };
  },
  paths() {
    const training = new PathTraining();
    const steps = training.steps.map(({ changes, ...step }) => ({ ...step, changes: Object.fromEntries(changes) }));
    return { sentences: SENTENCES, tags: TAGS, steps, weights: training.weights.map((one) => Object.fromEntries(one)) };
  },
  scenes() {
    return SCENES;
  },
  permutations({ seed, n, count }) {
    const generator = new PCG64(seed);
    return Array.from({ length: count }, () => [...permutation(n, generator)]);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  const answer = questions[question.kind](question);
  process.stdout.write(`${JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? String(value) : value))}\n`);
}
