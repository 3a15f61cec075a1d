"""How does a page become a PDF? WeasyPrint renders it with the page's print style; nothing is loaded."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator

from dpaudit.errors import UsageError

EXTRA = "pip install 'dpaudit[pdf]'"


def pdf(html: str) -> bytes:
    """Return a page from `dpaudit.report.html_page` as a PDF."""
    try:
        import weasyprint
        from weasyprint.urls import URLFetcher
    except ImportError:
        raise UsageError(f"a PDF needs WeasyPrint, which is not installed; {EXTRA}, or print the HTML page") from None
    except OSError as error:  # WeasyPrint is installed, but Pango is not
        raise UsageError(f"WeasyPrint does not find its libraries ({error}); or print the HTML page") from None
    logger = logging.getLogger("weasyprint")
    before = logger.level
    logger.setLevel(logging.CRITICAL)  # warnings about properties for screens only
    nothing = URLFetcher(allowed_protocols=())
    paper = weasyprint.CSS(string=".record { display: none }")  # the raw record, which browsers print collapsed
    try:
        opened = html.replace('<details class="part"', '<details open class="part"')
        with _without_clock():
            printed: bytes = weasyprint.HTML(string=_self_contained(opened), url_fetcher=nothing).write_pdf(
                stylesheets=[paper]
            )
    finally:
        logger.setLevel(before)
    return printed


@contextlib.contextmanager
def _without_clock() -> Iterator[None]:
    """Give the fonts within a page one date, so that a page printed twice is the same file."""
    before = os.environ.get(_DATE)
    os.environ[_DATE] = "0" if before is None else before
    try:
        yield
    finally:
        if before is None:
            del os.environ[_DATE]


_DATE = "SOURCE_DATE_EPOCH"  # of what is built; fontTools keeps to it
_DRAWING = re.compile(r"(<svg\b[^>]*>)(.*?)(</svg>)", re.DOTALL)  # ours: text of the evidence has no "<"
_SHEET = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_NESTED = re.compile(r"@[^{;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # rules for some media only
_VARIABLE = re.compile(r"(--[\w-]+)\s*:\s*([^;}]+)")


def _self_contained(html: str) -> str:
    """Return the page with styles copied into its drawings, since WeasyPrint does not look for them elsewhere."""
    sheet = _NESTED.sub("", "".join(_SHEET.findall(html)[:1]))
    tone = re.search(r'class="verdict ([\w-]+)"', html)
    values: dict[str, str] = {}
    for selector in (":root", *([f".{tone[1]}"] if tone else [])):
        for block in re.findall(rf"(?m)^{re.escape(selector)} \{{([^}}]*)\}}", sheet):
            values |= {name: value.strip().replace('"', "'") for name, value in _VARIABLE.findall(block)}

    def resolved(text: str) -> str:
        return re.sub(r"var\((--[\w-]+)\)", lambda found: values.get(found[1], "currentColor"), text)

    style = f"<style>{resolved(sheet)}</style>"

    def drawn(parts: re.Match[str]) -> str:
        inside = re.sub(r"<[^>]*>", lambda tag: resolved(tag[0]), parts[2])
        return f"{parts[1]}{style}{inside}{parts[3]}"

    return _DRAWING.sub(drawn, html)
