"""What is on a page, found by the parser of the standard library."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "link", "input", "img"}


class Page(HTMLParser):
    """The tables, the headings and the tags of a document that must be well formed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.headings: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.opened: list[str] = []
        self.words = ""
        self._open: list[str] = []
        self._caption = ""
        self._rows: list[list[str]] = []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a tag."""
        self.opened.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag in VOID:
            return
        self._open.append(tag)
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "h2":
            self.headings.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag without content."""
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """Close the tag that was opened last."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag
        if tag == "table":
            self.tables.setdefault(self._caption, self._rows)  # of equal captions the first

    def handle_data(self, data: str) -> None:
        """Keep text where it stands."""
        if "style" in self._open:
            return
        self.words += data
        if "caption" in self._open:
            self._caption = data
        elif self._open[-1:] == ["h2"]:
            self.headings[-1] += data
        elif {"td", "th"} & set(self._open):
            self._rows[-1][-1] += data
