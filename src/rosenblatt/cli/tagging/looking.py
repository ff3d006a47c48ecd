"""How ``weights`` and ``explain`` look into a model of sequences."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rosenblatt.cli.screen import Screen
from rosenblatt.cli.tagging.learning import reading_of
from rosenblatt.cli.weights import IN_LINE, MOST_TABLES
from rosenblatt.data.sequences.words import columns_of
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.models.tag_explanation import (
    TagExplanation,
    explained_tag,
    tag_weights,
    token_leads,
)
from rosenblatt.wording import Bar, Cell, counted, number, percent, printable, signed


def weights(
    screen: Screen,
    model_path: str,
    n: int = 10,
    class_: str | None = None,
    everything: bool = False,
) -> None:
    """Show the largest weights for each tag: of features, and of steps from tag to tag."""
    model = Model.load(model_path)
    tagger = FileTagger(model).tagger
    tags = tagger.tags
    if class_ is not None and class_ not in (*tags.inner, *tags.outer):
        raise InputError(f"The model knows no tag {class_!r}; it knows {', '.join(tags.outer)}.")
    chosen = [
        k
        for k, (inner, said) in enumerate(zip(tags.inner, tags.said, strict=True))
        if class_ in (None, inner, said)
    ]
    rankings = {tags.inner[k]: tag_weights(tagger, k) for k in chosen}
    if everything:
        if not screen.wants_json:
            screen.write("tag\tname\tweight\n")
        for entry in (entry for ranking in rankings.values() for entry in ranking):
            if screen.wants_json:
                screen.write(f"{json.dumps(entry._asdict(), ensure_ascii=False)}\n")
            else:
                screen.write(f"{printable(entry.tag)}\t{printable(entry.name)}\t{entry.weight!r}\n")
        return
    ends = {tag: (one[:n], [*reversed(one[-n:])]) for tag, one in rankings.items()}
    if screen.wants_json:
        document = [
            {"tag": tag, "largest": [w[1:] for w in top], "smallest": [w[1:] for w in bottom]}
            for tag, (top, bottom) in ends.items()
        ]
        kept = {"model": model_path, "learner": model.learner, "tags": list(tags.outer)}
        screen.json(kept | {"features": tagger.encoding.n_features, "rankings": document})
        return
    features = counted(tagger.encoding.n_features, "feature")
    screen.show(f"{model.learner}: {counted(len(tags.outer), 'tag')}, {features}.")
    if len(ends) > MOST_TABLES:
        rows: list[list[Cell]] = [
            [
                tag,
                ", ".join(printable(w.name) for w in top[:IN_LINE]),
                ", ".join(printable(w.name) for w in bottom[:IN_LINE]),
            ]
            for tag, (top, bottom) in ends.items()
        ]
        screen.table(("tag", "largest weights", "smallest weights"), rows)
        screen.say("\nUse --class LABEL to show the weights of one tag.")
        return
    for tag, (top, bottom) in ends.items():
        for what, side in (("for", top), ("against", bottom)):
            longest = max((abs(w.weight) for w in side), default=0.0)
            lines: list[list[Cell]] = [
                [printable(w.name), signed(w.weight), Bar(w.weight, longest)] for w in side
            ]
            screen.table(("feature", "weight", ""), lines, f"Weights {what} {printable(tag)}")


def explain(
    screen: Screen,
    model_path: str,
    data: str,
    row: int = 1,
    word: int | None = None,
    n: int = 10,
    class_: str | None = None,
    format: str | None = None,  # noqa: A002  # as the option is called
    **given: Any,
) -> None:
    """Explain why a word of a sentence has its tag and not the next best one."""
    model = Model.load(model_path)
    tagger = FileTagger(model)
    words, columns = _sentence(tagger, data, row, format, reading_of(given))
    leads = token_leads(tagger.tagger, columns)[0]
    if len(tagger.tagger.tags.outer) < 2:
        raise InputError("The model knows one tag, which nothing can be held against.")
    sorted_leads = -leads.copy()
    sorted_leads.sort(axis=1)
    closest = sorted_leads[:, 1]
    if word is not None and word > len(words):
        raise InputError(f"The sentence has {counted(len(words), 'word')}; --word {word} is none.")
    token = int(closest.argmin()) if word is None else word - 1
    found = explained_tag(tagger.tagger, columns, token, class_)
    shares = None
    if tagger.fitted.calibration is not None:
        shares = tagger.confidence(columns, found.path)
    if screen.wants_json:
        kept = {"model": model_path, "data": data, "row": row, "words": words, "word": token + 1}
        terms = [term._asdict() for term in found.terms]
        document = kept | found._asdict() | {"terms": terms, "leads": closest.tolist()}
        screen.json(document | {"confidence": shares})
        return
    tags: list[Sequence[Any]] = [words, found.path, closest.tolist(), shares or [None] * len(words)]
    lines: list[list[Cell]] = [
        [t + 1, printable(one), tag, number(lead), *([] if shares is None else [percent(share)])]
        for t, (one, tag, lead, share) in enumerate(zip(*tags, strict=True))
    ]
    headings = ("word", "", "tag", "lead", *([] if shares is None else ["confidence"]))
    screen.table(headings, lines, "Best path; lead: over the best path with another tag there")
    _show_terms(screen, found, words, n)


def _sentence(
    tagger: FileTagger, data: str, row: int, format_: str | None, reading: dict[str, Any]
) -> tuple[list[str], Any]:
    """Return the words of a sentence of a file, or of the text itself, and its columns."""
    if " " in data and not Path(data).exists():
        if max(tagger.encoding.layout.columns, default=0):
            msg = "The templates of the model look at more columns than words: name a file."
            raise InputError(msg)
        words = data.split()
        return words, columns_of([words], tagger.encoding.layout.columns)
    file, before = tagger.file(data, format_, **reading), 0
    for block in file.blocks():
        n = block.n_sentences
        if row <= before + n:
            alone = block.only(row - before - 1)
            columns = tagger.columns(file, alone, tagger.label_of(file, None))
            return alone.columns.cells(0), columns
        before += n
    raise InputError(f"Sentence {row:,} does not exist; {data} has {counted(before, 'sentence')}.")


def _show_terms(screen: Screen, found: TagExplanation, words: list[str], n: int) -> None:
    shown, rest = found.terms[:n], found.terms[n:]
    longest = max((abs(term.amount) for term in shown), default=0.0)
    rows: list[list[Cell]] = [
        [
            "(step)" if t.token is None else f"{t.token + 1} {printable(words[t.token])}",
            printable(t.name),
            signed(t.amount),
            Bar(t.amount, longest),
        ]
        for t in shown
    ]
    if rest:
        amount = sum(term.amount for term in rest)
        rows.append(["", f"({counted(len(rest), 'other')})", signed(amount), ""])
    rows.append(["", "= lead", signed(found.lead), ""])
    other = [
        f"{words[t]} {one}"
        for t, (own, one) in enumerate(zip(found.path, found.rival_path, strict=True))
        if own != one
    ]
    title = (
        f"Why {printable(words[found.token])!r} is {found.tag} and not {found.rival}: the best "
        f"other path has {printable(', '.join(other))}"
    )
    screen.table(("word", "feature", "amount", ""), rows, title)
