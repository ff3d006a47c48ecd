"""``rosenblatt prune``: a file of a given size that keeps what decides most."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from tests.cli.running import ran, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Train on texts of which one word in forty decides, beside a number and a category."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 6_000, (1_500, 40))
    lines = [
        f"{'low' if k % 2 else 'high'},{'small' if k % 2 else 'large'} w{' w'.join(map(str, row))}"
        f",{k % 7},{'xyz'[k % 3]}"
        for k, row in enumerate(words)
    ]
    (tmp_path / "all.csv").write_text("\n".join(["label,text,number,kind", *lines]))
    (tmp_path / "test.csv").write_text("\n".join(["label,text,number,kind", *lines[:200]]))
    options: dict[str, Any] = {"text": "text", "numeric": "number", "category": "kind"}
    options |= {"word_pairs": False, "recipe": "plain"}
    model_from_files(str(tmp_path / "all.csv"), **options).save(tmp_path / "m.model")
    return tmp_path


def test_a_smaller_file_predicts_as_well(folder: Path) -> None:
    """The strongest features stay; it is no larger than it may be, and still learns."""
    before = (folder / "m.model").stat().st_size
    for share in (2, 8):
        told = ran(
            *("prune", "m.model", "--max-size", str(before // share), "-o", "s.model"),
            *("--test", "test.csv", "--json"),
            folder=folder,
        )
        found = json.loads(told)
        assert 0.9 * before / share < (folder / "s.model").stat().st_size == found["bytes"]
        assert found["bytes"] <= before // share
        assert found["errors"] == [0.0, 0.0]
        model = Model.load(folder / "s.model")
        names = [model.encoder.name(k) for k in range(model.n_features)]  # type: ignore[union-attr]
        assert {"text: small", "text: large", "number", "kind=x"} <= {*names}
        assert model.n_features == len(names) < 6_000
        assert model.training["pruned"]["of"] > len(names)
    ran("train", "--from", "s.model", "test.csv", "-o", "t.model", folder=folder)
    assert "features, the weakest" in ran(
        *("prune", "m.model", "--max-size", "30k", "-o", "s.model"), folder=folder
    )


def test_what_is_small_stays(folder: Path) -> None:
    """A file that is small enough is written as it is."""
    ran("prune", "m.model", "--max-size", "1G", "-o", "s.model", folder=folder)
    assert (folder / "s.model").read_bytes() == (folder / "m.model").read_bytes()


def test_a_size_that_cannot_be(folder: Path) -> None:
    """The sentence says how small the model can become."""
    result = run("prune", "m.model", "--max-size", "100", "-o", "s.model", folder=folder)
    assert result.returncode == 2
    assert "A file of 100 B is too small: without any feature" in result.stderr
    assert not (folder / "s.model").exists()
    wrong = run("prune", "m.model", "--max-size", "big", "-o", "s.model", folder=folder)
    assert "'big' is not" in wrong.stderr


def test_train_prunes_at_once(folder: Path) -> None:
    """The cost is that on test rows or on rows of validation, where there are any."""
    data: tuple[str, ...] = (
        "train",
        "all.csv",
        "--label",
        "label",
        "--text",
        "text",
        "--no-word-pairs",
    )
    data = (*data, "--recipe", "plain", "--max-size", "40k", "-o", "s.model")
    for options, words in (
        ((), "features, the weakest; --test or --validation would show what that costs."),
        (("--test", "test.csv"), "features, the weakest: error 0.00% before, 0.00% after."),
        (("--validation", "test.csv"), "features, the weakest: error 0.00% before, 0.00% after."),
    ):
        result = run(*data, *options, folder=folder)
        assert words in " ".join(result.stderr.split())
        assert (folder / "s.model").stat().st_size <= 40 << 10
    (folder / "s.model").unlink()
    small = run(*data[:-3], "100", "-o", "s.model", folder=folder)
    assert (small.returncode, (folder / "s.model").exists()) == (2, False)
