import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data import sources
from rosenblatt.data.sources import PADDING, ByteSource, StoredBytes, TextBlock, whole_lines
from rosenblatt.errors import InputError


class Trickle(io.BytesIO):
    """A stream of which each read gives a few bytes only, as a pipe may."""

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill at most three bytes."""
        return super().readinto(buffer[:3])


def _source(stream: io.BytesIO) -> ByteSource:
    return ByteSource(StoredBytes(stream, "text"))


def _text(block: TextBlock) -> bytes:
    return block.text[: block.length].tobytes()


@given(
    st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b" ")), max_size=20),
    st.integers(1, 30),
    st.booleans(),
    st.booleans(),
)
def test_blocks_are_the_text_cut_behind_newlines(
    lines: list[bytes], size: int, trickling: bool, prompt: bool
) -> None:
    """Joined, the blocks are the text; each is whole lines and stands where it says."""
    text = b"1 " + b"\n".join(lines)  # not the first bytes of a packed file
    stream = Trickle(text) if trickling else io.BytesIO(text)
    found = list(whole_lines(_source(stream), size, prompt=prompt))
    assert b"".join(map(_text, found)) == text + b"\n" * (not text.endswith(b"\n"))
    offset = 0
    for block in found:
        assert _text(block).endswith(b"\n")
        assert len(block.text) >= block.length + PADDING
        assert block.offset == offset
        offset += block.length
    assert found[-1].bytes_read == len(text)


def test_an_empty_stream_has_no_blocks() -> None:
    """Nothing in, nothing out."""
    assert list(whole_lines(_source(io.BytesIO()), 10)) == []


def test_a_byte_order_mark_is_left_out() -> None:
    """The mark that some programs put before UTF-8 text is no part of the first label."""
    (block,) = whole_lines(_source(io.BytesIO(b"\xef\xbb\xbf1 1:1\n")), 100)
    assert _text(block) == b"1 1:1\n"


def test_prompt_blocks_do_not_wait_for_more() -> None:
    """Lines that have arrived are handed over before the next read."""
    found = whole_lines(_source(Trickle(b"1\n2\n3\n4\n")), 1000, prompt=True)
    assert _text(next(found)) == b"1\n"


def test_a_line_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream without newlines is refused before it takes all memory."""
    monkeypatch.setattr(sources, "LONGEST_LINE", 1 << 20)
    with pytest.raises(InputError, match=r"^text has a line of more than 1 MiB\.$"):
        list(whole_lines(_source(io.BytesIO(b"1" * (5 << 20))), 1000))
