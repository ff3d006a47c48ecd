"""Long texts are encoded in slices that give what the whole gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rosenblatt
from rosenblatt.data import files
from rosenblatt.data.encoding import text_column

WORDS = [
    "le",
    "vent",
    "du",
    "nord",
    "apporte",
    "une",
    "pluie",
    "froide",
    "sur",
    "la",
    "côte",
    "et",
    "les",
    "îles",
    "—",
    "🙂",
]


def _fitted(path: Path, **how: Any) -> Any:
    return rosenblatt.train_files(path, label="y", text="t", recipe="plain", max_iter=2, **how)


@pytest.mark.parametrize("how", [{"char_ngrams": (2, 3)}, {"hash_bits": 12}, {"word_pairs": False}])
def test_slices_of_texts_give_what_the_whole_gives(
    how: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terms, their numbers and the rows that are learned from are the same."""
    draw = np.random.default_rng(4)
    lines = [f"{'ab'[i % 2]},{' '.join(draw.choice(WORDS, 9))} {i % 40}\n" for i in range(900)]
    lines[431] = "a,too,many\n"
    path = tmp_path / "texts.csv"
    path.write_text("y,t\n" + "".join(lines), encoding="utf-8")
    whole = _fitted(path, bad_rows="skip", max_bad_share=0.5, **how)
    for module, name in ((text_column, "FEW_BYTES"), (text_column, "MANY_BYTES")):
        monkeypatch.setattr(module, name, 999)
    monkeypatch.setattr(files, "SLICE_BYTES", 5000)
    sliced = _fitted(path, bad_rows="skip", max_bad_share=0.5, **how)
    np.testing.assert_array_equal(whole.coef_, sliced.coef_)
    for name, array in whole.model_.encoding_arrays.items():
        np.testing.assert_array_equal(array, sliced.model_.encoding_arrays[name])
    assert whole.model_.training["bad_rows"] == sliced.model_.training["bad_rows"]
    texts = ["la pluie froide 🙂" * n for n in range(300)]
    monkeypatch.undo()
    at_once = whole.predict(texts)
    monkeypatch.setattr(text_column, "MANY_BYTES", 999)
    np.testing.assert_array_equal(at_once, whole.predict(texts))
