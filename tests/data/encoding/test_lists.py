import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from rosenblatt.cli import main
from rosenblatt.data.encoding import EncodingFit, TableEncoding
from rosenblatt.data.encoding.numbered import encoding_from
from rosenblatt.errors import InputError
from tests.data.encoding.samples import typed

LISTS: list[Any] = [["a", "b", "a"], [], None, ["b", None, " c", "NA"], ["c"]]


def _names(encoding: TableEncoding, column: Any) -> list[list[str]]:
    batch = encoding.encode(typed({"y": ["p", "q"] * 2 + ["p"], "t": column}), None)
    assert set(batch.data.tolist()) == {1.0}
    rows = [batch.indices[a:b] for a, b in zip(batch.indptr, batch.indptr[1:], strict=False)]
    return [sorted(encoding.names(row)) for row in rows]


@pytest.mark.parametrize("bits", [None, 12])
def test_lists_of_words_are_several_categories(bits: int | None) -> None:
    """Each word is a feature, once a row; an empty list has none, a missing one is missing."""
    table = typed({"y": ["p", "q"] * 2 + ["p"], "t": LISTS})
    fit = EncodingFit.from_sample(table, label="y", hash_bits=bits)
    fit.learn(table)
    encoding, _ = fit.encoding()
    assert [(one.name, one.role) for one in encoding.columns] == [("y", "label"), ("t", "list")]
    if bits:
        assert [len(row) for row in _names(encoding, LISTS)] == [2, 0, 1, 2, 1]
        return
    expected = [["t=a", "t=b"], [], ["t=(missing)"], ["t=b", "t=c"], ["t=c"]]
    assert _names(encoding, LISTS) == expected
    stored = encoding_from(encoding.as_json(), encoding.arrays())
    assert isinstance(stored, TableEncoding)
    assert _names(stored, pl.Series(LISTS, dtype=pl.List(pl.Categorical))) == expected
    assert _names(stored, ["a", "b", None, "c", "x"]) == [
        *[["t=a"], ["t=b"], ["t=(missing)"], ["t=c"], []]
    ]
    assert stored.owners() is not None
    assert np.all(stored.owners() == -1)  # a row has several: no pairs of columns
    with pytest.raises(InputError, match=r"column 't' holds .*, which can't be lists"):
        _names(stored, [[["a"]]] * 5)


def test_lists_of_numbers_are_categories_where_one_says_so() -> None:
    """With category= the numbers of lists of any length are categories: 3, not 3.0."""
    lists = [[3.0, 17.0], [3.0], [], [4.0, 5.0, 6.0], None]
    table = typed({"y": ["p", "q"] * 2 + ["p"], "t": lists})
    fit = EncodingFit.from_sample(table, label="y", category=["t"])
    fit.learn(table)
    assert _names(fit.encoding()[0], lists)[0] == ["t=17", "t=3"]


def test_lists_that_name_rows_are_left_out() -> None:
    """Where nearly every entry is another one, the column is named with the reason."""
    lists = [[f"x{k}", f"y{k}"] for k in range(40)]
    table = typed({"y": ["p", "q"] * 20, "t": lists, "n": [1.5, 2.5] * 20})
    encoding = EncodingFit.from_sample(table, label="y")
    reason = "it has 80 different values in 80 list entries"
    assert {one.name: one.reason for one in encoding.columns if one.reason} == {"t": reason}


def _written(folder: Path, *, form: str = "jsonl", new: bool = False) -> Path:
    file = folder / f"rows.{form}"
    rows = []
    for k in range(80):
        tags = [tag for bit, tag in enumerate(("red", "old", "big")) if k >> bit & 1]
        tags += [f"new {k % 7}"] * new
        user = {"age": 20 + k % 50, "home": {"city": ["Rome", "Oslo"][k % 2]}}
        rows.append({"user": user, "tags": tags, "kind": "yes" if "old" in tags else "no"})
    lines = (f"{json.dumps(row)}\n" for row in rows)
    file.write_text(json.dumps(rows, indent=1) if form == "json" else "".join(lines))
    if form == "parquet":
        pl.DataFrame(rows).write_parquet(file)
    return file


def test_commands_read_nested_rows_alike(tmp_path: Path) -> None:
    """Train, predict, evaluate, explain and diagnose: lines, documents and Parquet are the same."""
    run, model, printed = CliRunner(), str(tmp_path / "a.model"), []
    for form in ("jsonl", "json", "parquet"):
        file = str(_written(tmp_path, form=form))
        trained = run.invoke(main, ["train", file, "-o", model], catch_exceptions=False)
        assert "  numbers: 1: 'user.age'\n  categories: 1: 'user.home.city'\n" in trained.output
        assert "  lists of categories: 1: 'tags'\n" in trained.output
        found = [run.invoke(main, [*command, file]).stdout for command in (["predict", model],)]
        found += [
            run.invoke(main, ["diagnose", file, "--label", "kind"]).stdout.partition("read")[0]
        ]
        printed.append(found)
        assert "Error 0.00%" in run.invoke(main, ["evaluate", model, file]).stdout
        assert "tags=old" in run.invoke(main, ["explain", model, file, "--row", "3"]).stdout
    assert printed[0][0] == "no\nno\nyes\nyes\n" * 20
    assert "separable" in printed[0][1]
    assert printed[0] == printed[1] == printed[2]
    line = '{"tags": "old", "user": {"age": 30, "home": {"city": "Rome"}}}\n'
    assert run.invoke(main, ["predict", model, "-"], input=line).stdout == "yes\n"
    done = run.invoke(main, ["predict", model, str(_written(tmp_path, new=True))])
    assert "Column 'tags': 7 of its 10 values, in 40 % of the list entries, were not" in done.stderr
