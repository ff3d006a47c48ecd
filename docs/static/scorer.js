// Order of search results: the page of a class or function that is asked for, then titles, last the list of changes.

// What people ask for under another name than ours, and the page that answers.
const ELSEWHERE = {
  confusionmatrix: "plots", confusiontable: "plots", license: "faq", licence: "faq", csv: "files", parquet: "files", regression: "compare",
  gpu: "faq", pickle: "model-file", modelcard: "report", featureimportance: "plots", logisticregression: "from-scikit-learn", alternatives: "compare",
};
const letters = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

var Scorer = {
  score: ([name, title, , , score]) => {
    const asked = letters(new URLSearchParams(window.location.search).get("q") ?? "");
    const own = letters(title.split(" > ").at(-1).split(".").at(-1));
    if (name.startsWith("generated/") && asked && own.startsWith(asked)) return score + 200;
    if (asked && letters(title).startsWith(asked)) return score + 100;
    if (name === ELSEWHERE[asked]) return score + 150;
    if (name === "changelog") return score - 50;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
