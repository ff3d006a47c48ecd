import pytest

from tests.processes import printed

PROGRAM = """
import hashlib, json, sys
import polars as pl
from rosenblatt.data.encoding import EncodingFit, encoding_from
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.table import Table

def table(rows):
    columns = {"label": ["a", "b"] * rows, "t": ["some words", "Möre, more"] * rows}
    return Table(pl.DataFrame(columns), "data", 1, None, 0)

sample = table(100)
fit = EncodingFit.from_sample(sample, text=["t"], hash_bits=BITS)
fit.parse(sample, Classes())
encoding, _ = fit.encoding()
loaded = encoding_from(json.loads(json.dumps(encoding.as_json())), encoding.arrays())
rows = loaded.encode(table(1_000), None)
for part in (rows.data, rows.indices, rows.indptr):
    print(hashlib.sha256(part.tobytes()).hexdigest(), len(part))
print("llvmlite" in sys.modules)
"""


@pytest.mark.parametrize("bits", ["None", "12"])
def test_texts_are_the_same_without_machine_code(bits: str) -> None:
    """Where nothing is compiled or loaded, the same text gives the same features."""
    program = PROGRAM.replace("BITS", bits)
    told = [printed(program, ROSENBLATT_PLAIN=plain).split() for plain in ("0", "1")]
    assert told[0][:-1] == told[1][:-1]
    assert [parts[-1] for parts in told] == ["True", "False"]
