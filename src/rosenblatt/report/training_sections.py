"""The parts of the page on the data, the verdict and the training."""

from fractions import Fraction
from typing import Any

from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import Cell, facts, paragraph, section, table, text
from rosenblatt.report.pictures import course_picture, survival_picture
from rosenblatt.wording import counted, number, percent

MOST_CLASSES = 30
MOST_PASSES = 60  # lines of the table of passes; the picture has all
MOST_PROOF_ROWS = 16

REASONS = {
    "converged": "a pass made no mistake: its last weights separate all the rows learned from",
    "early_stopping": "the error on held-out rows fell no more",
    "max_iter": "the number of passes asked for was reached",
    "time_limit": "the time limit was reached",
    "interrupted": "it was interrupted",
}

VERDICTS = {
    "separable": "A linear boundary separates the classes, and here is one that is proved to.",
    "inseparable": "No linear boundary separates the classes: that is proved.",
    "undecided": "Whether a linear boundary separates the classes could not be proved either way.",
}


def data_section(found: Findings) -> str:
    """Say what the model learned from."""
    model, training = found.model, found.model.training
    pairs = [("features", f"{model.n_features:,}"), ("classes", f"{len(model.classes):,}")]
    if "n_rows" in training:
        pairs.insert(0, ("rows", f"{training['n_rows']:,}"))
    if training.get("held_out_rows"):
        pairs.append(("held out", counted(training["held_out_rows"], "row")))
    if "files" in training:
        pairs.append(("files", ", ".join(text(name) for name in training["files"])))
        pairs.append(("format", text(training["format"])))
    return section("data", "Data", facts(pairs), _classes(found))


def _classes(found: Findings) -> str:
    counts = found.model.training.get("class_counts")
    if counts is None:
        return ""
    total = sum(counts)
    pairs = sorted(zip(found.model.classes, counts, strict=True), key=lambda pair: -pair[1])
    rows: list[list[Cell]] = [
        [text(label), n, percent(n / total)] for label, n in pairs[:MOST_CLASSES]
    ]
    kind = "Classes" if len(rows) == len(counts) else f"The {len(rows)} most frequent classes"
    return table(kind, ("class", "rows", "share"), rows)


def verdict_section(found: Findings) -> str:
    """Say whether a linear boundary separates the rows, with the proof where the model has one."""
    verdict = found.model.verdict
    if verdict is None:
        if found.model.outcome.get("stop_reason") == "converged":
            told = (
                "The rows learned from are separable: the last pass made no mistake, which proves "
                "it. The margin was not measured."
            )
        else:
            told = "Not known: train with --verdict, or ask rosenblatt diagnose."
        return section("verdict", "Verdict", paragraph(told))
    return section(
        "verdict",
        "Verdict",
        paragraph(f"<strong>{text(verdict['status'].capitalize())}.</strong> ")
        + paragraph(text(VERDICTS[verdict["status"]])),
        facts(_margin_facts(verdict)),
        _proof(verdict),
        "".join(paragraph(text(note)) for note in verdict["notes"]),
    )


def _margin_facts(verdict: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = []
    if verdict["status"] == "separable":
        ends = [number(verdict[name]) for name in ("margin_low", "margin_high")]
        told = f"{ends[0]} to {ends[1]}" if verdict["margin_high"] else f"at least {ends[0]}"
        pairs += [("margin γ", told), ("radius R", number(verdict["radius"]))]
        if verdict["bound"] is not None:
            pairs.append(("mistakes that theory allows", number(int(verdict["bound"]))))
    if verdict["mistakes"] is not None:
        pairs.append(("mistakes made", number(verdict["mistakes"])))
    if verdict["conflicts"]:
        pairs.append(("equal rows with several labels", f"{len(verdict['conflicts']):,} groups"))
    return pairs


def _proof(verdict: dict[str, Any]) -> str:
    """Show the weights on rows that no linear boundary can get round."""
    proof = verdict["certificate"]
    if proof is None:
        return ""
    if "positive" in proof:
        caption = "The proof: these mixtures of rows of either class are one point (rows from 0)"
        headings = ["class", "row", "weight"]
        lines = [
            [text(label), row, _weight(weight)]
            for side, label in (("positive", proof["labels"][1]), ("negative", proof["labels"][0]))
            for row, weight in zip(proof[side]["rows"], proof[side]["weights"], strict=True)
        ]
    else:
        caption = (
            "The proof: with these weights what the rows give to their class and take from the "
            "rival cancels out in every class (rows from 0)"
        )
        headings = ["class", "rival", "row", "weight"]
        columns = (proof[name] for name in ("labels", "rivals", "rows", "weights"))
        lines = [
            [text(label), text(rival), row, _weight(weight)]
            for label, rival, row, weight in zip(*columns, strict=True)
        ]
    shown: list[list[Cell]] = lines[:MOST_PROOF_ROWS]
    if len(lines) > len(shown):
        shown.append([counted(len(lines) - len(shown), "more row"), *[""] * (len(headings) - 1)])
    return table(caption, headings, shown)


def _weight(fraction: str) -> str:
    """Return an exact fraction, or its value where it is long.

    >>> _weight("1/2"), _weight("123456789/987654321")
    ('1/2', '0.125')
    """
    return fraction if len(fraction) <= 15 else f"{float(Fraction(fraction)):.4g}"


def course_section(found: Findings) -> str:
    """Show how mistakes and the error on held-out rows went from pass to pass."""
    model, history = found.model, found.model.history
    if not history:
        return ""
    outcome = model.outcome
    reason = REASONS.get(outcome.get("stop_reason", ""), "")
    sentence = f"{counted(len(history), 'pass')}"
    if reason:
        sentence += f"; training ended because {reason}"
    best = outcome.get("best_pass", len(history))
    if best != len(history):
        sentence += f". The weights of pass {best} are kept"
    return section(
        "training",
        "Training",
        paragraph(text(f"{sentence}.")),
        course_picture(history, best, outcome.get("n_learned"), model.learner),
        _passes(history),
    )


def _passes(history: tuple[dict[str, Any], ...]) -> str:
    held_out = any(record["validation_score"] is not None for record in history)
    headings = ["pass", "mistakes", "updates", "seconds"] + ["held-out error"] * held_out
    rows: list[list[Cell]] = [
        [str(record["pass_"]), record["mistakes"], record["updates"], f"{record['seconds']:.3f}"]
        + [percent(_error(record))] * held_out
        for record in history[:MOST_PASSES]
    ]
    caption = "Passes" if len(history) <= MOST_PASSES else f"The first {MOST_PASSES} passes"
    return f"<details><summary>Every pass</summary>{table(caption, headings, rows)}</details>"


def _error(record: dict[str, Any]) -> float | None:
    score = record["validation_score"]
    return None if score is None else 1.0 - score


def survival_section(found: Findings) -> str:
    """Show how long weight vectors lasted."""
    survival = found.survival
    if survival is None or not len(survival):
        return ""
    longest = int(survival.max())
    sentence = (
        f"{counted(len(survival), 'weight vector')} came about, the zero one and one by each "
        f"update; half of them lasted {counted(int(sorted(survival)[len(survival) // 2]), 'row')} "
        "or fewer, the longest "
        f"{counted(longest, 'row')}."
    )
    return section(
        "survival",
        "Survival",
        paragraph(text(sentence)),
        survival_picture(survival, found.model.learner),
    )
