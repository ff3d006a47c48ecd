import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, os, sys
import numpy as np, polars as pl
from rosenblatt.data.encoding import TableEncoding, encoding_from
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.table import Table

def table(rows):
    return Table(pl.DataFrame({"label": ["a", "b"] * rows, "t": ["some words", "more"] * rows}),
                 "data", 1, None, 0)

sample = table(100)
encoding = TableEncoding.from_sample(sample, text=["t"], hash_bits=BITS)
encoding.encode(sample, Classes())
loaded = encoding_from(json.loads(json.dumps(encoding.as_json())), encoding.arrays())
small = loaded.encode(sample, None)
assert "llvmlite" not in sys.modules and "sklearn" not in sys.modules
large = loaded.encode(table(20_000), None)
assert ("llvmlite" in sys.modules) == ("ROSENBLATT_PLAIN" not in os.environ)
n = len(small.data)
assert np.array_equal(small.data, large.data[:n]), (small.data, large.data[:n])
assert np.array_equal(small.indices, large.indices[:n])
"""


@pytest.mark.parametrize("bits", ["None", "12"])
@pytest.mark.parametrize("environment", [{}, {"ROSENBLATT_PLAIN": "1"}])
def test_small_inputs_do_without_machine_code(bits: str, environment: dict[str, str]) -> None:
    """The compiler is imported only for more text than plain Python reads in its time.

    Where nothing is compiled, more of it is read all the same.
    """
    program = PROGRAM.replace("BITS", bits)
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, env=os.environ | environment)  # noqa: S603  # ours
