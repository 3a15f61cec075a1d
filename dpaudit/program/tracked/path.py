"""What happens along one path of a tracked reading? Decisions on released values, releases, and refusals that stay.

A comparison of released values is a fork: the reading takes one way, and the function is run again for the other. Both
ways are taken whether or not numbers can go them, which can only make a bound larger.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

from dpaudit.program.symbolic.value import line_of

if TYPE_CHECKING:
    from dpaudit.program.tracked.movement import Movement

MOST_FORKS = 100  # of one path: a loop without end is refused within two seconds

PATH: ContextVar[Path] = ContextVar("path")
"""The path that is being read."""


class RefusedReading(BaseException):
    """The tracked reading does not know what the program does; the message names the line."""


class UnknownColumnError(RefusedReading):
    """The program asks for a column that the domain does not declare."""


def refuse(why: str) -> NoReturn:
    """Refuse the program at the line that is being run; it stays refused, whatever it catches."""
    path = PATH.get(None)
    text = f"{line_of(sys._getframe(1))}: {why}"
    if path is None:
        raise RefusedReading(text)
    path.refused = path.refused or text
    raise RefusedReading(path.refused)


ANYTHING, NUMBER, FINITE = 0, 1, 2  # what a token stands for: anything at all, a number or numbers, finite ones

Unit = tuple[tuple[int, int], ...]
"""A product of powers of released numbers: (token, power), …; empty for plain numbers."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A Poisson sample: each record is in it with this probability, by itself.

    Attributes:
        number: which sample of the path; each is drawn afresh.
        rate: the probability.
        times: how often the program draws it (`Noise.repeat`).
    """

    number: int
    rate: Fraction
    times: int


@dataclass(frozen=True, slots=True)
class Release:
    """Noise on private numbers, or a choice by private scores.

    Attributes:
        law: of the noise, by its name in `dpaudit.program.laws`; "select" for the exponential mechanism.
        scale: of the noise (1/rate for "select"), times a unit of released numbers.
        unit: empty for a scale that is public.
        values: what moves: the numbers that the noise was added to, or the scores.
        sample: what they are made of; None for all records.
        times: how often the program does this (`Noise.repeat`).
        line: where it does it.
        details: further numbers of the law, by name.
    """

    law: str
    scale: Fraction
    unit: Unit
    values: tuple[Movement, ...]
    sample: Sample | None
    times: int
    line: str = field(compare=False)
    details: tuple[tuple[str, Fraction], ...] = ()


class Path:
    """One path: the ways taken at forks, what was released, and which released numbers are known to be positive."""

    def __init__(self, tape: Sequence[Any]) -> None:
        self.tape = list(tape)
        self.left: list[list[Any]] = []
        self.taken = 0
        self.releases: list[Release] = []
        self.refused: str | None = None
        self.asks_for_more = False  # than the columns that the domain declares
        self.times = 1
        self.samples = 0
        self.level: tuple[int, ...] = ()  # which repeated steps this is within
        self.levels: dict[int, tuple[int, ...]] = {}  # of samples: within which steps they were drawn
        self.sure: dict[int, int] = {}  # of tokens
        self.posted: set[CodeType] = set()  # the code of post-processing
        self._known: dict[Hashable, Any] = {}
        self._tokens: dict[Hashable, int] = {}
        self._fresh = 0

    def token(self, *expression: Hashable) -> int:
        """Return the number of the token that an expression stands for: the same of the same expression."""
        return self._tokens.setdefault(expression, len(self._tokens))

    def fresh(self) -> int:
        """Return a token of its own."""
        self._fresh += 1
        return self.token("fresh", self._fresh)

    def is_number(self, unit: Unit) -> bool:
        """Whether a product of released values is one of numbers, for certain."""
        return all(self.sure.get(token, ANYTHING) >= NUMBER for token, _ in unit)

    def is_finite(self, unit: Unit) -> bool:
        """Whether it is one released number that is finite for certain."""
        return len(unit) == 1 and unit[0][1] == 1 and self.sure.get(unit[0][0], ANYTHING) == FINITE

    def fork(self, key: Hashable, ways: Sequence[Any]) -> Any:
        """Return the way that this path takes, and leave the others for later paths."""
        if key not in self._known:
            if self.taken >= len(self.tape):
                self.left += [[*self.tape, way] for way in ways[1:]]
                self.tape.append(ways[0])
            if self.taken >= MOST_FORKS:
                refuse(
                    f"more than {MOST_FORKS} forks on one path: decide on released values in noise.post, repeat a "
                    "step by noise.repeat, or bound the loop"
                )
            self._known[key] = self.tape[self.taken]
            self.taken += 1
        return self._known[key]

    def is_positive(self, unit: Unit) -> bool:
        """Whether a product of released numbers is positive on this path."""
        return self.is_number(unit) and all(
            power % 2 == 0 or self._known.get(("> 0", token)) is True for token, power in unit
        )

    def released(self, release: Release) -> None:
        """Note a release."""
        self.releases.append(release)
