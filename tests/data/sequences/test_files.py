"""Sentences of files: told by content, the same in blocks of any size, and written as they came."""

from pathlib import Path

import pytest

from rosenblatt.data.formats import SentenceFormat, detect_format, sentence_format
from rosenblatt.data.sequences.files import SentenceFile, joined
from rosenblatt.errors import InputError

CONLL = "-DOCSTART- O\n\nI PRP\nam VBP\r\n\n\n# 1 of 2\n# NN\nRome NNP \n   \nZoë NNP\n"
CONLLU = (
    "# text = I am\n1\tI\ti\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2-3\tam\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\ta\tbe\tAUX\tVBP\t_\t0\troot\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)
TEXTS = {
    SentenceFormat.CONLL: CONLL,
    SentenceFormat.CONLLU: CONLLU * 3,
    SentenceFormat.TAGGED: "I/PRP am/VBP\n\n1/2/CD cups/NNS\n",
    SentenceFormat.JSON_LINES: '{"tokens": ["I", "am"], "tags": ["PRP", null]}\n' * 3,
}


def cells(file: SentenceFile, block_bytes: int) -> list[list[list[str]]]:
    """Return the cells of the tokens of the sentences of a file, read in such blocks."""
    found = []
    for block in file.blocks(block_bytes):
        rows = [*zip(*(block.columns.cells(k) for k in range(block.n_columns)), strict=True)]
        found += block.columns.in_sentences([[*row] for row in rows])
    return found


@pytest.mark.parametrize("kind", TEXTS)
def test_blocks_of_any_size_are_the_whole(kind: SentenceFormat, tmp_path: Path) -> None:
    """Where a block ends changes nothing, nor what is written back."""
    path = tmp_path / "a.conll" if kind is SentenceFormat.CONLL else tmp_path / "a.txt"
    path.write_bytes(TEXTS[kind].encode())
    assert sentence_format(path) is kind
    whole = cells(SentenceFile.of(path), 1 << 20)
    written = set()
    for size in (1, 7, 16, 1 << 20):
        file = SentenceFile.of(path)
        assert cells(file, size) == whole
        lines = b""
        for block in file.blocks(size):
            lines += file.written(block, ["T"] * block.columns.n_tokens, 2)
        written.add(lines)
    assert len(written) == 1
    assert written.pop().count(b"\n") == TEXTS[kind].count("\n")


def test_cells_are_what_lines_say(tmp_path: Path) -> None:
    """Comments, documents, ranges and empty nodes are no tokens; what looks like one may be."""
    (tmp_path / "a.conll").write_text(CONLL)
    found = cells(SentenceFile.of(tmp_path / "a.conll"), 1 << 20)
    assert found == [
        [["I", "PRP"], ["am", "VBP"]],
        [["#", "NN"], ["Rome", "NNP"]],
        [["Zoë", "NNP"]],
    ]
    (tmp_path / "b.txt").write_text(CONLLU)
    (sentence,) = cells(SentenceFile.of(tmp_path / "b.txt"), 1 << 20)
    assert [token[0] for token in sentence] == ["I", "a"]
    (tmp_path / "c.txt").write_text("Zoe\u0308\tN\n\nb\tN\n\nc\tN\n\n", "utf-8")
    assert cells(SentenceFile.of(tmp_path / "c.txt"), 1 << 20)[0] == [["Zoë", "N"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b\n1,2\n\n3,4\n\n5,6\n"),
        ("t.txt", "a b c\nfree text of other length\n\nand more\n\nyes\n"),
        ("t.svm", "1 1:1\n\n2 2:1\n\n1 1:1\n"),
        ("t.txt", "1 1:1\n\n2 2:1\n\n1 1:1\n"),
        ("t.tsv", "x\ty\n1\ta\n2\tb\n"),
        ("t.jsonl", '{"tags": ["a"], "text": "b"}\n'),
        ("t.txt", "__label__a/b c/d\n"),
        ("t.txt", "docs/a\ndocs/b\n"),
        ("t.txt", "1/2 3/4\n5/6 7/8\n"),
    ],
)
def test_tables_are_no_sentences(name: str, text: str, tmp_path: Path) -> None:
    """What was a table before is one still."""
    (tmp_path / name).write_text(text)
    assert sentence_format(tmp_path / name) is None
    detect_format(tmp_path / name)


def test_files_are_joined(tmp_path: Path) -> None:
    """The sentences of blocks stand one behind the other; other widths are refused by line."""
    path = tmp_path / "a.conll"
    path.write_text("a X\n\nb Y\nc Z\n\n" * 5)
    file = SentenceFile.of(path)
    block = joined(file.blocks(4))
    assert block.columns.cells(1) == ["X", "Y", "Z"] * 5
    assert block.n_sentences == 10
    path.write_text("a X\n\nb Y\n\n" * 5 + "c\n")
    with pytest.raises(InputError, match=r"line 21: 1 column, and the first token has 2: 'c'"):
        joined(SentenceFile.of(path).blocks(4))
