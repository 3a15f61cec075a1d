"""What can be found on a path, and on a pair? How much each finding says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from dpaudit.tracing.alignment import Spent
from dpaudit.tracing.certain import Certain
from dpaudit.tracing.price import Price
from dpaudit.tracing.recording import Recorder
from dpaudit.tracing.runs import Run
from dpaudit.tracing.shift import Shift


class Word(IntEnum):
    """What is found on a path; the later, the worse."""

    NOT_SEEN = 0
    SUPPORTED = 1
    NOT_PRICED = 2
    NOT_SUPPORTED = 3
    VIOLATED = 4
    LEAKS = 5

    def __str__(self) -> str:
        return WORDS[self]


WORDS = {
    Word.NOT_SEEN: "not seen",
    Word.SUPPORTED: "supported on this path",
    Word.NOT_PRICED: "not priced",
    Word.NOT_SUPPORTED: "not supported",
    Word.VIOLATED: "violated, given the stated laws",
    Word.LEAKS: "leaks",
}


LEADS = tuple(str(word) for word in Word if word >= Word.NOT_SUPPORTED)
"""The words of what points to a violation."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found.

    Attributes:
        word: how much it says.
        text: in a sentence, without a full stop.
        where: the line, or the place of the output.
        met: the line of the first operation by which data that differ came to the noise; empty where it is not known.
        instead: what to write instead, as a sentence; empty where that is not known.
    """

    word: Word
    text: str
    where: str = ""
    met: str = ""
    instead: str = ""


@dataclass(slots=True)
class Path:
    """What was found on one path.

    Attributes:
        side: the dataset of the recorded run, 0 or 1.
        found: what was found, the worst first.
        price: of the shift; None where there is none.
        shift: the cheapest one that was found.
        recorder: of the recorded run, with its draws.
        stretch: how much the scale of the noise differs between the data: ln of the largest ratio.
        checked: whether a run with shifted noise returned the recorded output; None where none was made.
        branches: whether the run decided anything by its noise.
        stated: what mechanisms of libraries lose by their own statement.
        runs: the recorded run and the one that was frozen to it; None where that took no such path.
    """

    side: int
    found: list[Found]
    price: Price | None = None
    shift: Shift | None = None
    recorder: Recorder | None = None
    stretch: float = 0.0
    checked: bool | None = None
    branches: bool = False
    stated: Sequence[Spent] = ()
    runs: tuple[Run, Run] | None = None

    @property
    def word(self) -> Word:
        """The worst of what was found."""
        return max((each.word for each in self.found), default=Word.NOT_SEEN)

    @property
    def rank(self) -> tuple[int, float]:
        """By which the worst of several paths is the largest."""
        cost = 0.0 if self.price is None else self.price.epsilon + self.price.mu
        # what rounding makes of one price on two pairs is one price
        return int(self.word), float(f"{(cost if cost == cost else 0.0) + self.stretch:.9g}")


@dataclass(slots=True)
class Traced:
    """What was found on a pair.

    Attributes:
        paths: all that were tried, the worst first.
        certain: what is certain of the pair; None where nothing is.
        runs: how many runs it took; ``seconds``: how long one takes.
        unseen: what was not followed.
    """

    paths: list[Path]
    certain: Certain | None
    runs: int
    seconds: float
    unseen: list[str] = field(default_factory=list)

    @property
    def worst(self) -> Path:
        """The worst path."""
        return self.paths[0]
