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
    """One thing that was found."""

    word: Word  # how much it says
    text: str  # in a sentence, without a full stop
    where: str = ""  # the line, or the place of the output
    # the line of the first operation by which data that differ came to the noise; empty where it is not known
    met: str = ""
    instead: str = ""  # what to write instead, as a sentence; empty where that is not known


@dataclass(slots=True)
class Path:
    """What was found on one path."""

    side: int  # the dataset of the recorded run, 0 or 1
    found: list[Found]  # what was found, the worst first
    price: Price | None = None  # of the shift; None where there is none
    shift: Shift | None = None  # the cheapest one that was found
    recorder: Recorder | None = None  # of the recorded run, with its draws
    stretch: float = 0.0  # how much the scale of the noise differs between the data: ln of the largest ratio
    # whether a run with shifted noise returned the recorded output; None where none was made
    checked: bool | None = None
    branches: bool = False  # whether the run decided anything by its noise
    stated: Sequence[Spent] = ()  # what mechanisms of libraries lose by their own statement
    # the recorded run and the one that was frozen to it; None where that took no such path
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
    """What was found on a pair."""

    paths: list[Path]  # all that were tried, the worst first
    certain: Certain | None  # what is certain of the pair; None where nothing is
    runs: int  # how many runs it took; ``seconds``: how long one takes
    seconds: float
    unseen: list[str] = field(default_factory=list)  # what was not followed

    @property
    def worst(self) -> Path:
        """The worst path."""
        return self.paths[0]
