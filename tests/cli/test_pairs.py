"""train --pairs and --triples: what a line cannot separate, it can with conjunctions."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy import sparse

from rosenblatt import FeatureConjunctions
from rosenblatt.cli import main
from rosenblatt.data import conjunctions, files
from rosenblatt.data.encoding import encoding_from, numbered
from rosenblatt.errors import InputError
from rosenblatt.estimators.storage import load
from rosenblatt.models.file import read, write
from tests.cli.running import invoked
from tests.cli.test_trace import csv_file
from tests.cli.test_train import svmlight_file, table_file
from tests.data.reading import read_svmlight
from tests.examples import XOR_X, XOR_Y

LAST = ["--memory", "last", "--no-early-stopping", "--no-scale"]


def test_xor(tmp_path: Path) -> None:
    """With the pair of its features XOR is learned, and the pair has a name."""
    path = csv_file(tmp_path / "xor.csv", [list(map(int, x)) for x in XOR_X], list(XOR_Y))
    assert invoked("train", path, "--pairs", *LAST, "-o", "m").exit_code == 0
    predicted = invoked("predict", "m", path).stdout.split()
    assert predicted == [str(label) for label in XOR_Y]
    assert "x1-and-x2" in invoked("weights", "m").stdout
    assert json.loads(invoked("evaluate", "m", path, "--json").stdout)["error"] == 0.0


@pytest.mark.filterwarnings("ignore:Perceptron stopped after max_iter")
@pytest.mark.parametrize(("flag", "degree"), [("--pairs", 2), ("--triples", 3)])
def test_the_columns_are_those_of_the_transformer(tmp_path: Path, flag: str, degree: int) -> None:
    """The model from a file is the one that the transformer and the estimator make in Python."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=100)
    invoked("train", path, flag, *LAST, "--shuffle", "no", "--max-iter", "3", "-o", "m")
    rows = read_svmlight(path)
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, 12))
    expanded = FeatureConjunctions(degree).fit_transform(X)
    model = load("m")
    assert (model.n_features_in_, model.coef_.shape[1]) == (12, expanded.shape[1])
    again = type(model)(**model.get_params())
    again.fit(expanded, rows.label_values())
    assert again.coef_.tolist() == model.coef_.tolist()
    assert again.predict(expanded).tolist() == model.predict(X).tolist()


def test_tables_with_numbers_words_and_missing_values(tmp_path: Path) -> None:
    """Scaled numbers and words are combined too, in small buffers as in one."""
    path = table_file(tmp_path / "table.csv")
    found = []
    for size in ("64M", "20K"):
        options = ["--buffer", size, "--shuffle", "no", "--no-early-stopping", "--max-iter", "2"]
        assert invoked("train", path, "--pairs", *options, "-o", "m").exit_code == 0
        found.append(read("m").weights.tobytes())
    assert found[0] == found[1]
    assert "age-and-city=Rome" in invoked("weights", "m", "--all").stdout
    assert invoked("predict", "m", path).exit_code == 0


def test_too_many_are_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above a size conjunctions share columns by their hash, and the model works as well."""
    path = csv_file(tmp_path / "xor.csv", [list(map(int, x)) for x in XOR_X], list(XOR_Y))
    monkeypatch.setattr(files, "MOST_CONJUNCTIONS", 8)
    toy = svmlight_file(tmp_path / "toy.svm", n_rows=100)
    invoked("train", toy, "--pairs", "-o", "m")
    model = read("m")
    assert model.n_features == 12 + 8
    assert model.encoding is not None
    assert encoding_from(model.encoding, model.encoding_arrays).name(12) == "conjunction 0"
    assert invoked("predict", "m", toy).exit_code == 0
    assert invoked("train", path, "--pairs", *LAST, "-o", "x").exit_code == 0


def test_standard_input_is_refused() -> None:
    """Conjunctions need several readings."""
    result = CliRunner().invoke(main, ["train", "-", "--pairs"], input="1 1:1\n0 2:1\n")
    assert result.exit_code == 2
    assert "give files" in result.stderr


def test_damaged_models(tmp_path: Path) -> None:
    """A table of conjunctions that cannot be is told as damage."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=100)
    invoked("train", path, "--pairs", "-o", "m")
    model = read("m")
    encoding, arrays = model.encoding, model.encoding_arrays
    assert encoding is not None
    for changed in ({"pairs": arrays["pairs"][::-1]}, {"pairs": arrays["pairs"] + 10**6}):
        with pytest.raises(InputError, match="damaged"):
            encoding_from(encoding, arrays | changed)
    for entry in ({"degree": 4}, {"hash_bits": 99}, {"inner": encoding}):
        with pytest.raises(InputError):
            encoding_from(encoding | entry, arrays)
    write(replace(model, encoding=encoding | {"degree": 7}), "bad")
    assert invoked("predict", "bad", path).exit_code == 2


def test_memory_of_all_pairs_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows come in parts that give the same model; too many values are refused."""
    path = table_file(tmp_path / "a.csv")
    for name, most in (("whole", 1 << 23), ("parts", 40)):
        monkeypatch.setattr(numbered, "MOST_TOGETHER", most)
        assert invoked("train", path, "--pairs", *LAST, "-o", name).exit_code == 0
    whole, parts = read("whole"), read("parts")
    assert whole.weights.tolist() == parts.weights.tolist()
    assert whole.evaluate(path).error == parts.evaluate(path).error
    monkeypatch.setattr(conjunctions, "MOST_VALUES", 100)
    done = invoked("train", path, "--pairs", "-o", "m")
    assert done.exit_code == 2
    assert "more than 100 values" in done.stderr
    assert "--column-pairs 36, or fewer columns, --ignore." in done.stderr


@pytest.mark.parametrize("option", [["--pairs"], ["--column-pairs", "2"]], ids=str)
def test_standard_input_is_read_as_the_model_was_trained(tmp_path: Path, option: list[str]) -> None:
    """A model with pairs of columns takes rows of columns from standard input."""
    path = table_file(tmp_path / "a.csv")
    assert invoked("train", path, *option, "-o", "m").exit_code == 0
    rows = Path(path).read_bytes()
    done = CliRunner().invoke(main, ["predict", "m", "-"], input=rows)
    assert done.exit_code == 0, done.output
    assert done.stdout == invoked("predict", "m", path).stdout
