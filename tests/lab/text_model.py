"""Weights of a real text model for the scene of Section 4.4: ``python -m tests.lab.text_model``.

An averaged perceptron on the words of 25,000 film reviews, each word 1 where it occurs. The page
holds the strongest weights alone, none of the reviews.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from rosenblatt import AveragedPerceptron

ASSETS = Path(__file__).parents[2] / "src" / "rosenblatt" / "lab" / "assets"
LEAST = 40  # reviews that a word must occur in
KEPT = 240  # words of either side
PASSES = 5


def reviews(name: str) -> tuple[list[str], list[set[str]]]:
    """Return labels and the sets of words of a file of film reviews."""
    path = Path(os.environ["ROSENBLATT_DATA"]) / f"imdb.{name}.tsv.gz"
    frame = pl.read_csv(path, separator="\t", has_header=False, quote_char=None)
    texts = (re.sub(r"<br />", " ", text.lower()) for text in frame[:, 2])
    return frame[:, 0].to_list(), [set(re.findall(r"[a-z']+", text)) for text in texts]


def rows(texts: list[set[str]], numbers: dict[str, int]) -> csr_array:
    """Return one row a text, 1 for each known word."""
    found = [sorted(numbers[word] for word in text if word in numbers) for text in texts]
    indptr = np.cumsum([0, *map(len, found)])
    indices = np.concatenate([np.array(one, np.int32) for one in found])
    shape = (len(texts), len(numbers))
    return csr_array((np.ones(len(indices)), indices, indptr), shape=shape)


def main() -> None:
    """Train, measure, and write the module of the page."""
    labels, texts = reviews("train")
    counts = Counter(word for text in texts for word in text)
    words = sorted(word for word, count in counts.items() if count >= LEAST)
    numbers = {word: i for i, word in enumerate(words)}
    model = AveragedPerceptron(max_iter=PASSES, random_state=0).fit(rows(texts, numbers), labels)
    test_labels, test_texts = reviews("test")
    error = 1 - model.score(rows(test_texts, numbers), test_labels)
    weights = model.coef_[0]
    order = np.argsort(weights)
    kept = [*order[:KEPT], *order[: -KEPT - 1 : -1]]
    plain = {words[i]: float(f"{weights[i]:.3g}") for i in kept}
    about = {
        "classes": [str(name) for name in model.classes_],
        "words": len(words),
        "error": round(error, 4),
        "bias": float(f"{model.intercept_[0]:.3g}"),
        "weights": plain,
    }
    head = "// Written by python -m tests.lab.text_model; not to be edited.\n\n"
    text = json.dumps(about, ensure_ascii=False)
    (ASSETS / "text_model.js").write_text(f"{head}export const TEXT_MODEL = {text};\n", "utf-8")
    print(error, [words[i] for i in order[:12]], [words[i] for i in order[:-13:-1]])  # noqa: T201


if __name__ == "__main__":
    main()
