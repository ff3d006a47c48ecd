"""Tags of tokens: file to model and tagging, against CRFsuite's averaged perceptron.

Both learn the English Web Treebank by ten passes with the same features, which CRFsuite's users
make in Python, once for each word, as here. Only processor time counts.
"""

import gzip
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.figure import Amount, Figure, Skipped, Target, speed_up
from benchmarks.stopwatch import Scale, median_times
from reproduction.data_sets import MissingDataError, data_file
from rosenblatt.data.sequences.templates import (
    NAMES,
    Macro,
    edge_text,
    function_text,
    template_name,
    word_templates,
)
from rosenblatt.models.sentence_files import FileTagger, train_sentences

PEER = "CRFsuite, averaged perceptron"
PASSES = 10
COLUMNS = {"universal": 1, "Penn": 2}
WORDS_A_SECOND = {"universal": 1_000_000.0, "Penn": 700_000.0}
AT_LEAST = {  # times as fast, file to model
    "universal": (4.0, None),
    "Penn": (4.0, 3.0),
}
Sentences = list[list[list[str]]]  # of tokens, of cells


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield how fast models are made of files, and how fast they tag."""
    try:
        import pycrfsuite

        train, test = (data_file(f"ewt.{part}.conll.gz") for part in ("train", "test"))
    except (MissingDataError, ModuleNotFoundError) as missing:
        yield Skipped("tags", str(missing))
        return
    for name, column in COLUMNS.items():
        yield from _of_column(name, column, (train, test), pycrfsuite, scale)


def _of_column(
    name: str, column: int, files: tuple[Path, Path], crfsuite: Any, scale: Scale
) -> Iterator[Figure]:
    train, test = files
    label = str(column + 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crf.model"
        made = {
            "same passes": lambda: train_sentences([str(train)], label=label, max_iter=PASSES),
            "default": lambda: train_sentences([str(train)], label=label),
            PEER: lambda: _fit_peer(crfsuite, _read(train), column, path),
        }
        times = median_times(made, Scale(scale.divisor, 2, 0.0))
        for setting, target in zip(("same passes", "default"), AT_LEAST[name], strict=True):
            what = f"EWT, {name} tags, file to model, {setting}"
            yield speed_up(what, times[setting], times[PEER], PEER, target)
        model = train_sentences([str(train)], label=label)
        model.save(Path(folder) / "ours.model")
        words = Path(folder) / "words.conll"
        sentences = _read(test)
        words.write_text("\n".join("".join(f"{t[0]}\n" for t in s) for s in sentences), "utf-8")
        tagger, peer = FileTagger(model), crfsuite.Tagger()
        peer.open(str(path))
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda: _tag(tagger, words),
            PEER: lambda: [peer.tag(one) for one in _features(sentences)],
        }
        seconds, n = median_times(runs, scale), sum(map(len, sentences))
        ours, theirs = n / seconds["ours"], n / seconds[PEER]
        what = f"EWT, {name} tags, words tagged a second, from a file"
        least = Target("≥", WORDS_A_SECOND[name], "ours")
        amounts = Amount(ours, "/s"), Amount(theirs, "/s")
        yield Figure(what, *amounts, PEER, Amount(ours / theirs, "×"), least)
        sizes = [one.stat().st_size / 1e6 for one in (Path(folder) / "ours.model", path)]
        both = Amount(sizes[0], "MB"), Amount(sizes[1], "MB")
        what = f"EWT, {name} tags, model file"
        yield Figure(what, *both, PEER, Amount(sizes[0] / sizes[1], "×"))
        own = tagger.evaluation([tagger.file(str(test))], label=label).accuracy or 0.0
        said = [tag for one in _features(sentences) for tag in peer.tag(one)]
        true = [token[column] for one in sentences for token in one]
        other = sum(map(str.__eq__, said, true)) / n
        right = Amount(100 * own, "%"), Amount(100 * other, "%")
        what = f"EWT, {name} tags, tokens right by default"
        yield Figure(what, *right, PEER, Amount(100 * (own - other), "%"), Target("≥", 0.0))


def _tag(tagger: FileTagger, words: Path) -> int:
    """Tag a file, bytes in and bytes out; return how many bytes these are."""
    file, n = tagger.file(str(words)), 0
    for block, _, tags in tagger.tagged(file):
        n += len(file.written(block, tags, tagger.line.label))
    return n


def _read(path: Path) -> Sentences:
    text = gzip.decompress(path.read_bytes()).decode()
    return [[line.split("\t") for line in one.split("\n")] for one in text.strip().split("\n\n")]


def _fit_peer(crfsuite: Any, sentences: Sentences, column: int, path: Path) -> None:
    trainer = crfsuite.Trainer(verbose=False)
    for features, one in zip(_features(sentences), sentences, strict=True):
        trainer.append(features, [token[column] for token in one])
    trainer.select("ap")
    trainer.set_params({"max_iterations": PASSES})
    trainer.train(str(path))


def _features(sentences: Sentences) -> Iterator[list[list[str]]]:
    """Yield the features of the tokens of sentences by our templates, as lists of names."""
    templates = [(template_name(one), one) for one in word_templates()]
    value = cache(_value)
    for one in sentences:
        words, n = [token[0] for token in one], len(one)
        found = []
        for t in range(n):
            own = []
            for name, macros in templates:
                texts = [
                    value(macro.function, words[t + macro.offset])
                    if 0 <= t + macro.offset < n
                    else _outside(macro, t, n)
                    for macro in macros
                ]
                if None not in texts:
                    own.append(f"{name}={'|'.join(map(str, texts))}")
            found.append(own)
        yield found


def _outside(macro: Macro, t: int, n: int) -> str:
    place = t + macro.offset
    return edge_text(-place, before=True) if place < 0 else edge_text(place - n + 1, before=False)


def _value(function: int, word: str) -> str | None:
    """Return what a function makes of a word; None where it makes nothing."""
    name = NAMES[function]
    if name.startswith(("suffix", "prefix")) and len(word) < int(name[6:]):
        return None
    if name == "hyphen" and "-" not in word[1:-1]:
        return None
    if name == "digit" and not any(map(str.isdigit, word)):
        return None
    return function_text(function, word)
