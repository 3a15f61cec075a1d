"""How does a Matplotlib figure become part of a page?

As inline SVG without Matplotlib's prolog, with unique ids and with colours as CSS variables, so that one drawing
follows the light, dark and printed page. The same figure gives the same bytes. It is said in fewer characters:
Matplotlib repeats the style of every mark, names groups that nothing refers to, and indents: most of a page's text.
"""

from __future__ import annotations

import io
import itertools
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

# --- How is a drawing of Matplotlib said in fewer characters, and stays the same picture? ----------------

_TAG = re.compile(r"<[^>]*>")
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?:href="#|url\(#)([^")]*)')
_MARKS = re.compile(r"(?:<(?:use|path)\b[^>]*/>)+")
_BARE = re.compile(r"<g>((?:<(?:use|path)\b[^>]*/>|<text\b[^>]*>[^<]*</text>)*)</g>")
_SHARED = re.compile(r' (?:style|clip-path)="[^"]*"')
_INHERITED = re.compile(r"(?:(?:fill|stroke)(?:-[a-z]+)?: [^;]+(?:; |$))*")
_STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_EMPTY_PATH = re.compile(r'<path(?! d=)(?: (?!d=)[\w-]+="[^"]*")*/>')
_EMPTY_GROUP = re.compile(r"<g[^>]*></g>")
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^)]*\)"')


def compact(drawing: str, prefix: str) -> str:
    """Return an ``<svg>`` element of Matplotlib in fewer characters; what is drawn does not change."""
    text = re.sub(r">\s+<", "><", drawing)
    text = _NO_TURN.sub("", text)
    text = _TAG.sub(lambda tag: re.sub(r' d="[^"]*"', _path, tag[0]), text)
    text = _renamed(_EMPTY_PATH.sub("", text), prefix)
    while (shorter := _EMPTY_GROUP.sub("", _BARE.sub(r"\1", text))) != text:
        text = shorter
    return _MARKS.sub(_said_once, text)


def _path(match: re.Match[str]) -> str:
    """Write the steps of a path without spaces, and a line along an axis by the number that changes."""
    steps, at = [], ["", ""]
    for command, numbers in _STEP.findall(match[0][4:-1]):
        end = numbers.split()[-2:]
        if command == "L" and end[0] == at[0]:
            steps.append(f"V{end[1]}")
        elif command == "L" and end[1] == at[1]:
            steps.append(f"H{end[0]}")
        else:
            steps.append(command + numbers.strip())
        at = end if command in "MLCQ" else ["", ""]
    return f' d="{"".join(steps)}"'


def _said_once(marks: re.Match[str]) -> str:
    """Say of marks that follow each other once what is said of each of them alike, and is inherited."""
    parts = []
    for shared, alike in itertools.groupby(_TAG.findall(marks[0]), _inherited):
        tags = list(alike)
        if len(tags) > 1 and shared:
            for each in shared:
                tags = [tag.replace(each, "", 1) for tag in tags]
            tags = [f"<g{''.join(shared)}>", *tags, "</g>"]
        parts += tags
    return "".join(parts)


def _inherited(tag: str) -> tuple[str, ...]:
    """What a tag says of itself that a group around it could say as well; nothing if it is used or turned elsewhere."""
    if " id=" in tag or " transform=" in tag:
        return ()
    return tuple(each for each in _SHARED.findall(tag) if each.startswith(" clip") or _INHERITED.fullmatch(each[8:-1]))


def _renamed(text: str, prefix: str) -> str:
    """Give short names to what is referred to, in its order, and none to anything else."""
    referred = {name for tag in _TAG.findall(text) for name in _REFERENCE.findall(tag)}
    numbers, names = itertools.count(1), dict[str, str]()

    def named(match: re.Match[str]) -> str:
        if match[1] not in referred:
            return ""
        names.setdefault(match[1], f"{prefix}-{next(numbers)}")
        return f' id="{names[match[1]]}"'

    text = _TAG.sub(lambda tag: _ID.sub(named, tag[0]), text)
    return _TAG.sub(lambda tag: _REFERENCE.sub(lambda match: _replaced(match, names), tag[0]), text)


def _replaced(match: re.Match[str], names: dict[str, str]) -> str:
    return match[0].removesuffix(match[1]) + names.get(match[1], match[1])


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
