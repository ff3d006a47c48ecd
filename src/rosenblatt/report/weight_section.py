"""The part of the page on the weights."""

from rosenblatt.models.explanation import Ranking
from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import Cell, bar, paragraph, section, table, text
from rosenblatt.wording import counted, signed

MOST_TABLES = 6  # classes; more get one line each
IN_LINE = 8  # names in such a line


def weight_section(found: Findings) -> str:
    """Show which features decide."""
    note = ""
    if found.by_effect:
        note = paragraph(
            "Features vary over very different ranges, so they are ranked by weight × standard "
            "deviation."
        )
    if found.model.voted:
        note += paragraph("All weight vectors vote; these are the weights of their average.")
    if len(found.rankings) > MOST_TABLES:
        return section("weights", "Weights", note, _lines(found.rankings))
    tables = (_table(ranking, by_effect=found.by_effect) for ranking in found.rankings)
    return section("weights", "Weights", note, *tables)


def _table(ranking: Ranking, *, by_effect: bool) -> str:
    entries = [*ranking.top, *reversed(ranking.bottom)]
    sizes = [(w.effect or 0.0) if by_effect else w.weight for w in entries]
    longest = max(map(abs, sizes), default=0.0)
    rows: list[list[Cell]] = [
        [text(w.name), signed(w.weight), bar(size, longest)]
        for w, size in zip(entries, sizes, strict=True)
    ]
    rows.append(["bias", signed(ranking.bias), ""])
    against = "against it" if ranking.against is None else f"for {ranking.against}"
    caption = (
        f"Above 0 speaks for {ranking.label}, below {against} "
        f"({counted(ranking.n_nonzero, 'weight')} other than 0)"
    )
    return table(caption, ("feature", "weight", ""), rows)


def _lines(rankings: list[Ranking]) -> str:
    rows: list[list[Cell]] = [
        [
            text(ranking.label),
            signed(ranking.bias),
            ranking.n_nonzero,
            f"<span>{text(', '.join(weight.name for weight in ranking.top[:IN_LINE]))}</span>",
        ]
        for ranking in rankings
    ]
    return table("Classes", ("class", "bias", "weights", "what speaks for it most"), rows)
