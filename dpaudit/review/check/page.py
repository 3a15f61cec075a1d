"""Does the visible text of a page follow from its evidence?

The page is rendered again from the evidence embedded in it and compared byte for byte. If it differs although the same
versions rendered it, the page was edited. With other versions, or where nothing can be rendered, only the verdict is
compared, with what stands around it: a page that shows another one fails everywhere.
"""

from __future__ import annotations

from html.parser import HTMLParser

from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence
from dpaudit.report import html_page
from dpaudit.report.html.embedded_json import drawn_with, generator
from dpaudit.review.check.fields import Finding, answered, failing, unchecked


def page_finding(html: str, evidence: Evidence) -> Finding:
    """Check that a page is rendered from its evidence."""
    try:
        again = html_page(evidence, script="<script>" in html)  # as it was drawn, with its script or without
    except ImportError:
        why = "it cannot be drawn here; dpaudit check draws it and compares it to the byte"
        return _by_its_verdict(html, evidence, why)
    except Exception as error:  # inconsistent evidence may be impossible to render
        return failing("page", f"its evidence cannot be drawn: {type(error).__name__}: {error}")
    if again.strip() == html.strip():
        return answered("page", True, "what it shows is drawn from its evidence, to the byte")
    stated, own = generator(html), drawn_with()
    if stated == own:
        return failing("page", "it does not show what its evidence gives: the visible text was edited")
    by = "no version that it names" if not stated else f"{stated:.80}"
    return _by_its_verdict(html, evidence, f"it was drawn by {by}, and this is {own}; draw it anew with dpaudit report")


def _by_its_verdict(html: str, evidence: Evidence, why: str) -> Finding:
    """Compare what a page shows of its verdict; the rest is left, for the reason that is given."""
    from dpaudit.report.view import view

    found = _Shown()
    found.feed(html)
    found.close()
    try:
        shown = view(evidence)
        head = shown.headline
        beside = [f"{each.name}. {each.text}" for each in shown.beside]
        whole = ["Verdict:", head.word, head.sentence, shown.cell("reason", ""), head.caution, *beside]
    except ImportError:
        return unchecked("page", f"what it shows was not compared with its evidence: {why}", decides=True)
    except Exception as error:  # as above
        return failing("page", f"its evidence cannot be drawn: {type(error).__name__}: {error}")
    title = f"{head.word}: {evidence.target.name} – dpaudit"
    same = generator(html).split(",")[0] == f"dpaudit {installed_version('dpaudit')}"
    if _plain(found.title) != _plain(title) or _plain(found.word) != _plain(f"Verdict: {head.word}"):
        return failing("page", f"it does not show the verdict of its evidence, {head.word} for {evidence.target.name}")
    if same and _plain(found.verdict) != _plain(" ".join(whole)):
        return failing("page", "what it shows beside its verdict is not what its evidence gives: the text was edited")
    said = "the verdict that it shows is that of its evidence, and the rest of the page was not compared"
    return unchecked("page", f"{said}: {why}", decides=True)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


_UNSEEN = ("svg", "style", "script")
_EMPTY = ("meta", "link", "br", "img", "hr", "input", "wbr")


class _Shown(HTMLParser):
    """Collects what a page shows as its title, its verdict, and the word of it; all of them where it has several."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = self.verdict = self.word = ""
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        if tag not in _EMPTY:
            self._open.append((tag, dict(attrs).get("id") or ""))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, with all that it left open."""
        names = [name for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Keep text that people see."""
        names = {name for name, _ in self._open}
        ids = {own for _, own in self._open}
        if not names.isdisjoint(_UNSEEN) and "verdict" in ids:
            return
        if "title" in names and "svg" not in names:
            self.title += data
        if "verdict-word" in ids:
            self.word += data
        if "verdict" in ids:
            self.verdict += f" {data} "
