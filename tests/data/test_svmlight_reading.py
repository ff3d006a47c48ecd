import gzip
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.data import join, read_svmlight, svmlight_batches

SETS = ("a9a", "a9a.test", "w8a", "svmguide3", "rcv1_small", "rcv1_small.test", "mushrooms")


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("threads", [1, 3])
def test_real_files_are_read_as_scikit_learn_reads_them(
    name: str, threads: int, data_folder: Path
) -> None:
    """Rows, labels and features are those of load_svmlight_file, bit for bit."""
    from sklearn.datasets import load_svmlight_file

    file = data_folder / f"{name}.svm.gz"
    X, y = load_svmlight_file(str(file))
    batches = list(svmlight_batches(file, block_bytes=1 << 16, threads=threads))
    for rows in (join(batches), read_svmlight(file, threads=threads)):
        assert rows.data.tobytes() == X.data.tobytes()
        assert np.array_equal(rows.indices, X.indices)
        assert np.array_equal(rows.indptr, X.indptr)
        assert np.array_equal(rows.label_values(), y)
        assert rows.n_features == X.shape[1]
        assert rows.bytes_read == file.stat().st_size


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A file four times as long takes no more memory."""
    rows = "".join(f"{k % 3} {k + 1}:0.5 {k + 70}:1\n" for k in range(60_000)).encode()
    peaks = []
    for times in (4, 16):
        file = tmp_path / "rows.gz"
        file.write_bytes(b"".join(gzip.compress(rows, 1) for _ in range(times)))
        tracemalloc.start()
        for _ in svmlight_batches(file, block_bytes=1 << 17, threads=2):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < len(rows) * 4


@pytest.mark.parametrize("environment", [{}, {"NUMBA_DISABLE_JIT": "1"}])
def test_small_files_are_read_without_numba(environment: dict[str, str], tmp_path: Path) -> None:
    """A small file is read before numba could be imported, a large one with it, both alike."""
    file = tmp_path / "rows.svm"
    line = "1 3:0.5 7:1e-3\n"
    program = (
        "import sys; from rosenblatt.data import read_svmlight;"
        "rows = read_svmlight(sys.argv[1]);"
        "print(rows.n_rows, rows.data.sum() / rows.n_rows, 'numba' in sys.modules)"
    )
    for repeated, numba in ((10, "False"), (50_000, "True")):
        file.write_text(line * repeated)
        command = [sys.executable, "-c", program, str(file)]
        answer = subprocess.run(  # noqa: S603  # our own program
            command, capture_output=True, text=True, check=True, env=os.environ | environment
        ).stdout.split()
        assert answer[0] == str(repeated)
        assert float(answer[1]) == pytest.approx(0.501)
        assert answer[2] == numba


def test_rows_arrive_while_standard_input_is_still_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to be prompt, a batch comes for the lines that are there, without waiting for more."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        batches = svmlight_batches("-", zero_based=True, prompt=True)
        os.write(writing, b"1 1:1\n1 2")
        assert next(batches).indices.tolist() == [1]
        os.write(writing, b":1\n2\n")
        assert next(batches).n_rows == 2
        os.close(writing)
        assert list(batches) == []


def test_leaving_early_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whoever stops after the first batch leaves neither a thread nor an open file."""
    file = tmp_path / "rows.svm"
    file.write_text("1 1:1\n" * 10_000)
    for _ in range(5):
        for _batch in svmlight_batches(file, block_bytes=100, threads=2):
            break
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("rosenblatt")]
    for thread in ours:
        thread.join(timeout=5)
    assert not any(thread.is_alive() for thread in ours)
