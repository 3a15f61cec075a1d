"""How does a Matplotlib figure become part of a page?

As inline SVG without Matplotlib's prolog, with unique ids and with colours as CSS variables, so that one drawing
follows the light, dark and printed page. The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from dpaudit.report.figures.compact import compact

# Placeholder colours that are replaced in the SVG; the style sheet of the page defines their look.
INK, MUTED, GRID = "#010101", "#020202", "#030303"
SIDE0, SIDE1, CLAIM, PROOF, PANEL = "#040404", "#050505", "#060606", "#070707", "#080808"
_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    SIDE0: "side0",
    SIDE1: "side1",
    CLAIM: "claim",
    PROOF: "proved",
    PANEL: "panel",
}
SIDES = (SIDE0, SIDE1)
_NUMBER = re.compile(r"-?\d+\.\d+")
WIDTH, NARROW_WIDTH = 7.4, 3.8  # inches; the drawing scales with the page, the narrow one is for phones
_NARROW = (False, True)  # the kinds of a drawing

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a "$" in a name is a dollar
    "axes.unicode_minus": True,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "hatch.linewidth": 0.7,
    "figure.facecolor": "none",
}


@contextmanager
def canvas(name: str, height: float, *, narrow: bool = False) -> Iterator[Figure]:
    """Provide a figure to draw on, in the page's style, independent of Matplotlib's configuration elsewhere.

    The figure must be turned into SVG inside the block (`svg`).

    Args:
        name: a seed for ids, different for every figure of a page.
        height: inches.
        narrow: draw for a phone.
    """
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the browser's font has glyphs that ours lacks
        matplotlib.rcdefaults()
        settings: Any = {**_STYLE, "svg.hashsalt": f"dpaudit-{name}"}
        matplotlib.rcParams.update(settings)
        yield Figure(figsize=(NARROW_WIDTH if narrow else WIDTH, height), layout="constrained")


def svg(figure: Figure, name: str, label: str, *, narrow: bool = False) -> str:
    """Return the drawing as an ``<svg>`` element."""
    text, kind = _printed(figure), "narrow" if narrow else "wide"
    name = f"{name}-{kind}"
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<style type=\"text/css\">[^<]*</style>", "", text)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = _without_strokes(compact(re.sub(r"<[^>]*>", lambda tag: _own(tag[0]), text).strip(), name))
    view = re.search(r'viewBox="[^"]*"', text)
    start = f'<svg {view[0] if view else ""} class="drawing {kind}" role="img" aria-label="{escape(label)}">'
    return re.sub(r"^<svg[^>]*>", lambda _: start, text, count=1)


def _printed(figure: Figure) -> str:
    """Return the bytes of a transparent `savefig`, which would draw the figure once more for its layout."""
    figure.set_dpi(72)  # the points of SVG
    page, layout, buffer = _Canvas(figure), figure.get_layout_engine(), io.StringIO()
    # without metadata the SVG has no date and no URLs
    page.renderer = _Renderer(  # type: ignore[no-untyped-call]
        *figure.bbox.size,
        buffer,
        image_dpi=72,
        metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
    )
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    figure.draw(page.renderer)
    page.renderer.finalize()  # type: ignore[no-untyped-call]
    return buffer.getvalue()


class _Renderer(RendererSVG):
    """Knows how large a text is that it has measured before, in any figure: a fifth of a page went into measuring."""

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        return _extent(s, prop, ismath)


@lru_cache(maxsize=4096)
def _extent(text: str, font: FontProperties, ismath: Any) -> tuple[float, float, float]:
    return text_to_path.get_text_width_height_descent(text, font, ismath)


class _Canvas(FigureCanvasSVG):
    """Measures with the renderer that draws."""

    renderer: _Renderer

    def get_renderer(self) -> _Renderer:
        return self.renderer


def both(draw: Callable[[bool], str]) -> Markup:
    """Return a drawing for wide pages and one for phones; the style sheet shows one of them.

    Matplotlib escapes text in a drawing and `svg` escapes its label, so both are safe as markup.
    """
    return Markup("".join(map(draw, _NARROW)))


def alone(drawing: str) -> Markup:
    """Return a drawing for phones as the only one of its kind: every page shows it, at any width."""
    return Markup(drawing.replace('class="drawing narrow"', 'class="drawing"', 1))


def _own(tag: str) -> str:
    """Rewrite one tag: colours and fonts become those of the page."""
    tag = tag.replace("xlink:href=", "href=")
    tag = re.sub(r'\b(?:d|x|y)="[^"]*"', lambda place: _NUMBER.sub(_shorter, place[0]), tag)
    tag = re.sub(r"'DejaVu Sans', sans-serif|'DejaVu Sans'", "var(--sans)", tag)
    tag = re.sub(r"#0[1-8]0[1-8]0[1-8]\b", lambda colour: _variable(colour[0]), tag)
    if tag.startswith("<text"):  # of the usual font and colour, as the style sheet says
        tag = re.sub(r"; font-family: var\(--sans\)|; fill: var\(--ink\)(?=[;\"])", "", tag)
    return tag


def _without_strokes(text: str) -> str:
    """Leave out the stroke of what shows a marker that has the same one."""
    marked = set(re.findall(r'<path id="([^"]+)"[^>]* style="stroke', text))

    def shorter(tag: re.Match[str]) -> str:
        return re.sub(r"; stroke[\w-]*: [^;\"]*", "", tag[0]) if tag[1] in marked else tag[0]

    return re.sub(r'<use href="#([^"]+)"[^>]*>', shorter, text)


def _shorter(number: re.Match[str]) -> str:
    """Round a coordinate to a tenth of a point, which is invisible; a page has thousands of coordinates."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _variable(colour: str) -> str:
    return f"var(--{_VARIABLES[colour]})" if colour in _VARIABLES else colour
