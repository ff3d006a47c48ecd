from rosenblatt.kernels.compiling.store import Record, packed, unpacked

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
