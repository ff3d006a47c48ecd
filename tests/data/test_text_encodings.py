import pytest

from rosenblatt.data.tables.separated import not_utf_8
from rosenblatt.data.text_encodings import MOST_NAMED, likely_encodings


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Zürich", "latin-1"),
        ("naïve cafés São Paulo", "latin-1"),
        ("it’s “fine”", "cp1252"),
        ("100 € now", "cp1252"),
        ("Привет, мир", "cp1251"),
        ("Привет, мир", "koi8-r"),
        ("Łódź", "cp1250"),
        ("Ελλάδα", "cp1253"),
        ("日本語のテキスト", "cp932"),
        ("日本", "cp932"),
        ("東京タワー,a", "euc_jp"),
        ("上海", "gb18030"),
        ("臺北市", "big5"),
        ("서울", "cp949"),
        ("İstanbul’da şehir", "cp1254"),
        ("القاهرة", "cp1256"),
        ("ירושלים", "cp1255"),
        ("กรุงเทพ", "cp874"),
        ("Москва", "cp866"),
        ("这是中文文本", "gb18030"),
        ("한국어 문장", "cp949"),
    ],
)
def test_encodings_that_decode_the_line_are_proposed(text: str, encoding: str) -> None:
    """The right encoding is among at most three, each of which decodes the line."""
    line = text.encode(encoding)
    found = likely_encodings(line)
    assert found[encoding] in text
    assert 0 < len(found) <= MOST_NAMED
    for name, word in found.items():
        assert word in line.decode(name)


def test_the_error_shows_what_each_encoding_reads() -> None:
    """A person sees the word as it would be read, and chooses."""
    assert str(not_utf_8(b"it\x92s here")) == (
        r"'it\x92s here' is not UTF-8 text; name the encoding of the file: encoding='cp1252' reads"
        " 'it’s', encoding='mac_roman' reads 'itís', or replace what cannot be read with"
        " encoding_errors='replace'"
    )
    assert "latin-1" not in str(not_utf_8(b"it\x92s here"))  # a control character there
