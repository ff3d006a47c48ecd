import gzip
from pathlib import Path

import polars as pl
import pytest

from rosenblatt.data.encoding import EncodingFit
from rosenblatt.data.tables.table import Table

pytestmark = pytest.mark.data

SETS = [
    ("imdb.test.tsv.gz", 0, {"text": 1, "numeric": 1}),
    ("20news.test.tsv.gz", 0, {"text": 1}),
    ("sms_spam.tsv.gz", 0, {"text": 1}),
    ("debian_paths.test.tsv.gz", 0, {"text": 1}),
    ("kdd99.test.csv.gz", 41, {"numeric": 38, "category": 3}),
    ("adult.train.csv.gz", 14, {"numeric": 6, "category": 8}),
    ("small/banknote_authentication.csv", 4, {"numeric": 4}),
    ("small/breast-cancer-wisconsin.csv", 9, {"numeric": 9}),
    ("small/glass.csv", 9, {"numeric": 9}),
    ("small/haberman.csv", 3, {"numeric": 3}),
    ("small/ionosphere.csv", 34, {"numeric": 34}),
    ("small/iris.csv", 4, {"numeric": 4}),
    ("small/mammography.csv", 6, {"numeric": 6}),
    ("small/phoneme.csv", 5, {"numeric": 5}),
    ("small/pima-indians-diabetes.csv", 8, {"numeric": 8}),
    ("small/sonar.csv", 60, {"numeric": 60}),
    ("small/wine.csv", 13, {"numeric": 13}),
]


@pytest.mark.parametrize(("name", "label", "roles"), SETS)
def test_columns_of_real_data_are_found_out(
    data_folder: Path, name: str, label: int, roles: dict[str, int]
) -> None:
    """The label and the kinds of columns are those that the data sets state."""
    path = data_folder / name
    with path.open("rb") as file, gzip.open(file) as unpacked:
        packed = name.endswith(".gz")
        text = (unpacked if packed else file).read(1 << 20).rpartition(b"\n")[0]
    tabs = ".tsv" in name
    frame = pl.read_csv(
        text,
        has_header=False,
        separator="\t" if tabs else ",",
        quote_char=None if tabs else '"',
        infer_schema=False,
    ).select(pl.all().str.strip_chars())
    encoding = EncodingFit.from_sample(Table(frame, name, 1, None, 0))
    assert encoding.label == frame.columns[label]
    found = [column.role for column in encoding.columns if column.required]
    assert {role: found.count(role) for role in set(found)} == roles
