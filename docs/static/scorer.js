// Order of search results: the page of a synonym, command, class or function that is asked for, then titles, last the list of changes.

const letters = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

// What people ask for under another name than ours, by the page that answers; conf.py puts these words into the index of that page.
const SYNONYMS = {
  "plots": ["confusion matrix", "confusion table", "feature importance", "decision boundary", "ROC curve", "AUC", "calibration curve", "learning curve", "partial dependence", "matplotlib"],
  "faq": ["license", "licence", "GPU", "CUDA", "deep learning", "BSD", "citation"],
  "files": ["CSV", "Parquet", "JSON", "Excel", "pandas", "polars", "dataframe", "data frame", "missing values", "NaN", "out of core", "data leakage", "libsvm", "encoding"],
  "compare": ["regression", "alternatives", "benchmark", "XGBoost", "LightGBM", "gradient boosting", "liblinear"],
  "model-file": ["pickle", "joblib", "serialization", "export", "ONNX"],
  "report": ["model card", "HTML report"],
  "from-scikit-learn": ["logistic regression", "sklearn", "SGDClassifier", "LinearSVC", "pipeline"],
  "speed": ["memory usage", "runtime", "performance", "scaling up"],
  "examples": ["tutorial", "spam filter", "text classification", "adult census", "tagging"],
  "sequences": ["named entity recognition", "NER", "part of speech", "POS tagging", "CRF", "Viterbi", "BIO"],
  "multilabel": ["multi-label", "multi label", "tags"],
  "commands/explain": ["SHAP", "LIME", "interpretability", "explainability", "feature attribution"],
  "commands/tune": ["hyperparameter", "hyperparameters", "grid search", "GridSearchCV", "AutoML", "halving"],
  "commands/evaluate": ["cross validation", "cross-validation", "McNemar", "precision and recall", "F1 score"],
  "defaults": ["imbalanced", "class imbalance", "feature engineering"],
  "guarantee": ["conformal prediction", "abstain", "reject option", "selective classification", "uncertainty"],
  "audit": ["label noise", "noisy labels", "cleanlab", "mislabeled"],
  "service": ["REST", "HTTP", "API server", "deployment", "docker", "unlearning", "GDPR"],
  "online": ["streaming", "incremental learning", "partial_fit", "concept drift", "river"],
  "separation": ["perfect separation", "quasi-complete separation", "Firth", "infinite coefficients"],
  "embeddings": ["transformers", "BERT", "sentence embeddings", "vectors"],
  "distributed": ["Dask", "cluster", "Spark", "parallel"]
};
const ELSEWHERE = new Map(Object.entries(SYNONYMS).flatMap(([page, words]) => words.map((word) => [letters(word), page])));

var Scorer = {
  score: ([name, title, , , score]) => {
    const asked = letters(new URLSearchParams(window.location.search).get("q") ?? "");
    const own = letters(title.split(" > ").at(-1).split(".").at(-1));
    if (name === ELSEWHERE.get(asked)) return score + 300;
    if (name === `commands/${asked}`) return score + 250;
    if (name.startsWith("generated/") && asked && own.startsWith(asked)) return score + 200;
    if (asked && letters(title).startsWith(asked)) return score + 100;
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
