"""How is evidence embedded in a page, and how is it read back?

The evidence file is in a ``<script type="application/json">`` block, which browsers treat as data and never run. In
JSON, ``<``, ``>`` and ``&`` only occur in strings, where they are written as escapes, so no text of the evidence can
end the block or begin another.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser

from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence

BLOCK_ID = "dpaudit-evidence"
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def embedded_json(evidence: Evidence) -> str:
    """Return the evidence file as JSON in ASCII, safe between ``<script>`` and ``</script>``."""
    text = json.dumps(evidence.document(), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def drawn_with(*, beside: Evidence | None = None) -> str:
    """Return the versions that render pages; equal versions give equal bytes. ``beside``: a baseline on the page."""
    parts = [f"{name} {installed_version(name)}" for name in ("dpaudit", "Jinja2", "matplotlib", "numpy")]
    return ", ".join(parts if beside is None else [*parts, f"beside {beside.id}"])


def generator(html: str) -> str:
    """Return the versions that a page says it was rendered with; empty if it does not say."""
    finder = _Finder()
    finder.feed(html)
    finder.close()
    return finder.generator


class _Finder(HTMLParser):
    """Collects the text of every data block with our id, and the generator of the page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._inside = False
        self.generator = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter a block."""
        if tag == "script" and dict(attrs).get("id") == BLOCK_ID:
            self._inside = True
            self.blocks.append("")
        elif tag == "meta" and dict(attrs).get("name") == "generator":
            self.generator = dict(attrs).get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        """Leave a block."""
        if tag == "script":
            self._inside = False

    def handle_data(self, data: str) -> None:
        """Store the content of a block."""
        if self._inside:
            self.blocks[-1] += data


def extract(html: str) -> Evidence:
    """Return the evidence embedded in ``html``; raise `UsageError` if there is not exactly one."""
    finder = _Finder()
    finder.feed(html)
    finder.close()
    if len(finder.blocks) != 1:
        found = f"{len(finder.blocks)} blocks of evidence" if finder.blocks else "no evidence"
        raise UsageError(
            f'the page holds {found}, expected one <script type="application/json" id="{BLOCK_ID}">; '
            "give an evidence file, or a page that dpaudit wrote"
        )
    return Evidence.from_json(finder.blocks[0], name="the evidence in the page")
