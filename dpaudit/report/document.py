"""What does a page say? Sections of blocks: plain data, made from evidence, that a renderer draws.

A renderer has one way to draw each kind of block, and knows nothing of evidence; for pages that is
``html/blocks.html.j2``. All text is text: nothing in it is markup, but for the drawings of figures.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, TypeAlias

# --- text -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that is set apart: as "code", "strong", "sup", "note", "differs", "link", "break"."""

    kind: str
    text: Content = ""
    link: str = ""  # where a link leads to, or an anchor that links lead to


Content: TypeAlias = "str | Span | tuple[Content, ...]"
"""Text, or parts of one that follow each other."""

BREAK = Span("break")


def code(text: str) -> Span:
    """Return text as code."""
    return Span("code", text)


def strong(text: str) -> Span:
    """Return text that stands out."""
    return Span("strong", text)


def note(text: Content) -> Span:
    """Return text that explains what stands before it."""
    return Span("note", text)


# --- words that are always the same -----------------------------------------------------------------------

_MARKS = re.compile(r"`(?P<code>.+?)`|\*\*(?P<strong>.+?)\*\*|\^(?P<sup>.+?)\^|\[\[(?P<note>.+?)\]\]|(?P<break>\n)")


@cache
def words() -> dict[str, Any]:
    """Return the words of pages, by section (``words.toml``)."""
    return tomllib.loads(files("dpaudit.report").joinpath("words.toml").read_text(encoding="utf-8"))


def said(key: str, **values: object) -> Content:
    """Return words by their key, such as "cite.check"; nothing in the values that are filled in is a mark."""
    name, _, member = key.partition(".")
    return marked(words()[name][member], **values)


def plainly(key: str, **values: object) -> str:
    """Return words without marks by their key."""
    name, _, member = key.partition(".")
    return str(words()[name][member]).format(**values)


def marked(text: str, **values: object) -> Content:
    """Return text with its marks as spans, and values in their places."""
    parts, at = list[Content](), 0
    for mark in _MARKS.finditer(text):
        kind = mark.lastgroup or ""
        parts += [text[at : mark.start()].format(**values), Span(kind, marked(mark[kind].strip("\n"), **values))]
        at = mark.end()
    return (*parts, text[at:].format(**values)) if parts else text.format(**values)


# --- rows: what evidence states, for renderings of every length ------------------------------------------


class Importance(IntEnum):
    """Where a row is shown: in every rendering that shows rows of this importance or less."""

    OWN = 0  # only if it is selected by its key or section
    FULL = 1  # where there is room for everything: Markdown
    SUMMARY = 2  # in a terminal
    BRIEF = 3  # in the message of a failed test
    EVERYWHERE = 4  # even in a row of a table, since it is worse for the mechanism or its audit than the verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One statement of evidence."""

    key: str  # by which it is selected; several rows may share one
    # its subject, in at most 12 characters; empty if it continues the row above. name: the same as a heading.
    label: str
    name: str
    cell: str  # the bare statement, for a column of a table. note: an explanation, or its confidence.
    line: str = ""  # the statement as a line of a summary. text: the statement in full, as sentences if needed.
    text: str = ""
    note: str = ""
    importance: Importance = Importance.FULL
    # the part of a report that it belongs to: "scope", "bounds", "beside", "limits", "again", or none
    section: str = ""
    order: float = math.nan  # the sort key in tables
    code: bool = False  # whether it is shown as code and never broken

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", self.line or self.cell)
        object.__setattr__(self, "text", self.text or self.cell)

    @property
    def stated(self) -> str:
        """The cell with its note, such as a bound with its confidence."""
        return f"{self.cell} {self.note}".rstrip()

    @property
    def is_urgent(self) -> bool:
        """Whether no rendering is short enough to leave it out."""
        return self.importance is Importance.EVERYWHERE


# --- blocks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; ``kind`` is what it is for, such as "note" or "beside", ``anchor`` where links lead to."""

    block: ClassVar[str] = "text"
    content: Content
    kind: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section."""

    block: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Names, each with what is stated of it."""

    block: ClassVar[str] = "facts"
    rows: Sequence[tuple[Content, Content]]
    kind: str = "scope"


@dataclass(frozen=True, slots=True)
class TextCell:
    """A cell of a table, or an item of a list, that is more than its text.

    ``kind`` is how it looks, such as "number"; ``name`` the head of its column, for screens where columns stand one
    below the other; ``order`` the number by which it is sorted.
    """

    content: Content
    kind: str = ""
    head: bool = False
    columns: int = 1
    rows: int = 1
    name: str = ""
    order: float | None = None


Cells: TypeAlias = "Sequence[Content | TextCell]"
"""A row of a table; its first cell names it, unless it is a `TextCell` that does not."""


def number(content: Content) -> TextCell:
    """Return a cell with a number."""
    return TextCell(content, "number")


def head(content: Content, kind: str = "") -> TextCell:
    """Return the cell that names its row."""
    return TextCell(content, kind, head=True)


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table.

    ``label`` is read aloud; ``above`` is a row of heads over the others; ``total`` a row that stands apart.
    """

    block: ClassVar[str] = "table"
    label: str
    heads: Cells
    rows: Sequence[Cells]
    caption: Content = ""
    kind: str = ""
    above: Cells = ()
    total: Cells = ()
    sorted: bool = False  # whether a click on a head sorts it, where scripts may run


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    block: ClassVar[str] = "bullets"
    items: Sequence[Content | TextCell | Group]
    kind: str = "limits"


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, in the markup of `dpaudit.report.figures`, with the name that is read aloud."""

    block: ClassVar[str] = "figure"
    drawing: str
    name: str


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval: where it lies on the axis, in percent, and whether its upper end lies beyond it."""

    name: str
    text: str
    left: float
    width: float
    open: bool


@dataclass(frozen=True, slots=True)
class Bars:
    """Intervals on one axis from 0; ``label`` is read aloud."""

    block: ClassVar[str] = "bars"
    label: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text whose line breaks stay, such as a "command"."""

    block: ClassVar[str] = "verbatim"
    content: Content
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks that belong together."""

    block: ClassVar[str] = "group"
    kind: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are shown when they are asked for."""

    block: ClassVar[str] = "folded"
    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class StepsBlock:
    """Steps from one thing to another, each with its name; ``spoken`` says in words what is seen."""

    block: ClassVar[str] = "steps"
    title: str
    spoken: str
    steps: Sequence[tuple[str, Sequence[Block]]]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Banner:
    """A verdict with its mark; ``spoken`` says what kind of verdict it is, ``blocks`` stand below the word."""

    block: ClassVar[str] = "banner"
    tone: str
    word: str
    spoken: str
    blocks: Sequence[Block]


Block: TypeAlias = (
    Text | Heading | Facts | TableBlock | Bullets | Figure | Bars | Verbatim | Group | Folded | StepsBlock | Banner
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page."""

    name: str  # its anchor
    title: str  # its heading, and its name in the table of contents if it has no other
    blocks: Sequence[Block]
    contents: str = ""  # its name in the table of contents
    kind: str = ""
    headless: bool = False  # whether it has no heading: then its title is read aloud


@dataclass(frozen=True, slots=True)
class Page:
    """What every page has: the title of its window, what kind of page it is, its heading and lead, and its sections."""

    window: str
    kicker: Content
    title: str
    sections: Sequence[Section]
    lead: Content = ""
    kind: str = ""  # by which the style sheet knows it
    script: str = ""  # one that the policy allows
    footer: str = "Drawn by dpaudit from the evidence alone. Nothing on this page is loaded from elsewhere."
    by: str = "dpaudit"  # what drew it, in the title of the window


def section(name: str, *blocks: Block | None, title: str = "", kind: str = "", headless: bool = False) -> Section:
    """Return a section of the blocks that are there, under the title in `words` if no other is given."""
    known, there = words().get(name, {}), [each for each in blocks if each is not None]
    contents = known.get("contents", "")
    return Section(name, title or known["title"], there, contents, kind, headless)


def table(
    key: str, rows: Sequence[Cells], *, kind: str = "", heads: Cells = (), total: Cells = (), **values: object
) -> TableBlock:
    """Return a table with the label, the heads and the caption in `words`; ``heads`` are further ones.

    Args:
        key: the name of a section, or of a table within one, such as "training.losses".
        rows: the rows.
        kind: what it is for, if it has a look of its own.
        heads: after those in `words`.
        total: a row that stands apart.
        values: what is filled into label and caption.
    """
    known = words()
    for each in key.split("."):
        known = known[each]
    label, caption = (known.get(name, "").format(**values) for name in ("label", "caption"))
    return TableBlock(label, [*map(marked, known.get("heads", ())), *heads], rows, caption, kind, total=total)


def texts(sentences: Sequence[str], kind: str = "") -> list[Text]:
    """Return a paragraph for each sentence."""
    return [Text(sentence, kind) for sentence in sentences]


def points(rows: Sequence[tuple[str, str]]) -> Bullets:
    """Return a list of (name, text)."""
    return Bullets([(strong(f"{name}."), f" {text}") for name, text in rows])
