from pathlib import Path

from rosenblatt.kernels.compiling.store import (
    PackageCode,
    Record,
    packed,
    unpacked,
    write_package_code,
)

RECORD = Record("kernel(int64)", "None", "x86-64-v3", "0123456789abcdef", bytes(range(200)))
SYMBOLS = [f"kernel_{k:032x}" for k in range(3)]


def test_a_record_is_whole_or_nothing() -> None:
    """A record comes back as it was; one that is cut anywhere or has a wrong byte does not."""
    data = packed(RECORD)
    assert unpacked(data) == RECORD
    assert unpacked(b"") is None
    for k in range(len(data)):
        assert unpacked(data[:k]) is None, k
        assert unpacked(data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :]) is None, k


def test_the_code_of_a_package(tmp_path: Path) -> None:
    """Each record is found by its symbol; of a file that is cut none but whole ones are."""
    records = {s: RECORD._replace(name=s, code=s.encode() * 50) for s in SYMBOLS}
    path = tmp_path / "code" / "x.code"
    write_package_code(path, "0" * 64, records)
    code = PackageCode(path)
    assert (len(code), code.sources) == (3, "0" * 64)
    assert {s: code.load(s) for s in SYMBOLS} == records
    assert code.load(f"kernel_{7:032x}") is None
    whole = path.read_bytes()
    for k in range(len(whole)):
        path.write_bytes(whole[:k])
        found = [PackageCode(path).load(s) for s in SYMBOLS]
        assert all(record in {None, records[s]} for s, record in zip(SYMBOLS, found, strict=True))
        assert found[-1] is None
    path.unlink()
    assert PackageCode(path).load(SYMBOLS[0]) is None
