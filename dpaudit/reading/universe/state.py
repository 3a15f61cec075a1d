"""What happens along one pass of a reading? Refusals, which stay; decisions on released values; releases.

A pass is a process of its own. Where a released value decides, the process forks: one of both goes on with each answer,
so that what lies before a decision is read once, and nothing that one path does can reach another.
"""

from __future__ import annotations

import collections
import itertools
import os
import pickle
import sys
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dpaudit.reading.source import is_of_user
from dpaudit.reading.universe.steps import Step
from dpaudit.settings import fork

MOST_FORKS = 60  # decisions on one path
MOST_REFUSALS = 20
MOST_STEPS = 2_000_000
AGAIN = 3  # the exit code of a process that asks for another pass


class RefusalError(Exception):
    """A table does not know what happens; caught by the hook, which notes it and goes on with an unknown value."""


class Left(BaseException):
    """The pass is over: it was refused where it cannot go on, or has to start again with other cells."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that is not read."""

    line: str  # where, such as "release.py:7"; "?" where that is not known, or said by `what`
    what: str  # what was written, and why it is not read
    instead: str = ""  # what to write in its place; "" where nothing is known

    def __str__(self) -> str:
        where = "" if self.line == "?" else f"{self.line}: "
        return f"{where}{self.what}" + (f"; write instead: {self.instead}" if self.instead else "")


@dataclass(frozen=True)
class Released:
    """Noise on private numbers, or a choice by private scores, as it is told to the reader of all passes.

    Attributes:
        law: of the noise; "select" for the exponential mechanism.
        axes: the columns by whose cells records are told apart, sorted.
        low, high: what each kind adds to each number: (kinds, numbers).
        scales: of each number.
        selection: by whose rows the numbers are made: see `frames.Selection`.
        sample: number, rate and times of the Poisson sample that they are made of; None for all.
        line: where.
        details: further numbers of the law.
        times: how often it is done, within steps that are repeated.
        number: which of its path it is, counted from 1; 0 where nothing asks.
        is_ball: whether ``high`` is how far each kind moves all numbers together, as a vector in Euclidean length.
        made: how the numbers were made, for others to do again; None where no word fits.
    """

    law: str
    axes: tuple[str, ...]
    low: Any
    high: Any
    scales: Any
    selection: Any
    sample: tuple[int, float, int] | None
    line: str
    details: tuple[tuple[str, float], ...] = ()
    times: int = 1
    is_ball: bool = False
    number: int = 0
    made: Step | None = None


@dataclass
class Told:
    """What one process of a pass tells: what it released since it forked from its parent, and how it ended."""

    node: str
    parent: str
    releases: list[Released] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    cuts: dict[str, set[float]] = field(default_factory=dict)
    ended: str = "open"  # "forked", "returned", "raised", "left"
    ran: set[tuple[str, int]] = field(default_factory=set)
    blocks: set[tuple[str, int]] = field(default_factory=set)
    unknown_column: str = ""
    notes: set[str] = field(default_factory=set)
    sparse: list[tuple[Released, frozenset[int]]] = field(default_factory=list)  # in place of the releases numbered so
    granted: dict[str, bool] = field(default_factory=dict)  # statements on lines that were run: whether they are needed
    seconds: float = 0.0  # of the CPU
    at: str = "?"  # the line of the decision by which it forked


_COUNT = itertools.count()


def _node() -> str:
    return f"{os.getpid()}.{next(_COUNT)}"


class Pass:
    """The state of the pass that is being read, of which there is one in a process."""

    def __init__(self, pipe: int, *, person: str | None, persons: bool, replaced: bool) -> None:
        self.pipe, self.person, self.persons, self.replaced = pipe, person, persons, replaced
        self.told = Told(_node(), "")
        self.depth = self.steps = self.samples = self.attempts = self.record = self.records = 0
        self.handlers: collections.Counter[tuple[str, ...] | None] = collections.Counter()  # that could see exceptions
        self.is_over = False
        self.times = 1
        self.levels = self.places = 0  # repeated steps, and computed columns, so far
        self.level: tuple[int, ...] = ()  # within which repeated steps this is
        self.sampled: dict[int, tuple[int, ...]] = {}  # within which each sample is drawn
        self.alive: weakref.WeakSet[Any] = weakref.WeakSet()
        self.released = 0  # numbers, so far on the path
        self.followed: dict[int, tuple[Any, Any]] = {}  # released numbers that are in nothing but comparisons
        self.chosen: list[list[Any]] = []  # noisy numbers of which the largest was asked, each time (`sparse`)
        self.tainted: dict[int, tuple[Any, Any]] = {}  # arrays and tables that were written into, and what they are now
        self.of_key: Any = None  # the count of a key of the data, within a loop over them
        self.assuming: Any = None  # the line that is evaluated of which it is given how far its value moves

    @property
    def scope(self) -> tuple[int, ...]:
        """Within which record and which repeated steps this is: what was made elsewhere may not be changed here."""
        return (self.record, *self.level)

    def tell(self) -> None:
        """Send what this process found."""
        self.told.seconds = time.process_time()
        data = pickle.dumps(self.told)
        written, whole = 0, len(data).to_bytes(8, "big") + data
        while written < len(whole):
            written += os.write(self.pipe, whole[written:])

    def decide(self, ways: Sequence[Any]) -> Any:
        """Return one way in this process, and each of the others in a process that forks from it."""
        if self.record:
            refuse("a decision on a released value within what is done with each record")
        self.depth += 1
        if self.depth > MOST_FORKS:
            refuse_and_leave(
                f"more than {MOST_FORKS} decisions on released values on one path",
                "bound the loop: for _ in range(10): …",
            )
        before = self.told
        before.ended, before.at = "forked", line()
        self.tell()
        for way in ways[1:]:
            child = fork()
            if child == 0:
                self.told = Told(_node(), before.node)
                return way
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status) == AGAIN:
                self.told = Told(_node(), before.node)
                self.leave()
        self.told = Told(_node(), before.node)
        return ways[0]

    def step(self) -> None:
        """Count an operation: a pass has an end; and one that is over stays over."""
        if self.is_over:
            raise Left
        self.steps += 1
        if self.steps > MOST_STEPS:
            refuse_and_leave(f"more than {MOST_STEPS:,} operations in one call", "")

    def note(self, refusal: Refused) -> None:
        """Keep a refusal; it stays, whatever the function catches.

        In a line of which it is given how far its value moves, the line keeps it (`assumed.evaluated`).
        """
        if self.assuming is not None and self.assuming.is_here():
            self.assuming.refused.append(refusal)
            return
        if refusal not in self.told.refused:
            self.told.refused.append(refusal)
        if len(self.told.refused) >= MOST_REFUSALS:
            self.leave()

    def leave(self) -> NoReturn:
        """End the pass."""
        self.is_over = True
        raise Left

    def cut(self, column: str, values: Sequence[float]) -> None:
        """Ask for cells that end at these values: the pass starts again with them."""
        self.told.cuts.setdefault(column, set()).update(values)
        self.leave()


_NOW: list[Pass] = []


def current() -> Pass:
    """Return the pass that is being read."""
    return _NOW[-1]


def forget(token: Any) -> None:
    """Follow a released value no longer: something looks at it (`sparse`)."""
    if _NOW:
        _NOW[-1].followed.pop(id(token), None)


def written_into(value: Any) -> Any:
    """Return what an array or table stands for that something released was written into; None for any other."""
    known = _NOW[-1].tainted.get(id(value)) if _NOW else None
    return known[1] if known is not None and known[0] is value else None


def begin(state: Pass) -> None:
    """Make a pass the one that is being read."""
    _NOW[:] = [state]


def line() -> str:
    """Return where the function is: file and line."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_of_user(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "?"
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def refuse(what: str, instead: str = "") -> NoReturn:
    """Say that something is not read."""
    raise RefusalError(what, instead)


def refuse_and_leave(what: str, instead: str) -> NoReturn:
    """Say that something is not read where the pass cannot go on."""
    state = current()
    state.note(Refused(line(), what, instead))
    state.leave()


class Private:
    """A value that depends on the data; all that it can do stands in the tables of its class."""

    __slots__ = ("__weakref__",)
    noun = "private value"
    to_release = "n + laplace(…)"  # what to write before it is returned

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """Make a value of the pass that is read."""
        made = super().__new__(cls)
        if _NOW:
            _NOW[-1].alive.add(made)
        return made

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        """Whatever decides by it, and did not ask the domain, is refused."""
        if _NOW:
            _NOW[-1].note(Refused("?", f"a branch on a {self.noun}", NOISE_FIRST))
        return True

    def __repr__(self) -> str:
        return f"<{self.noun}>"

    def __reduce__(self) -> Any:
        refuse(f"a copy of a {self.noun}")

    def method(self, name: str) -> Any:
        """Return the method of this name that the tables know; None if none."""
        return None

    def get(self, name: str) -> Any:
        """Return an attribute, or raise `RefusalError`."""
        refuse(f".{name} of a {self.noun} is not known", NOISE_FIRST)


class Unknown(Private):
    """What a refused operation gives: nothing more is said of it."""

    noun = "value that was refused"


NOISE_FIRST = "noisy = n + laplace(…); max(noisy, 0)"
"""Of a private number n: noise first, and then anything with what is released."""


def both(state: Pass) -> bool:
    """Decide on a released truth: both ways are read."""
    return bool(state.decide((True, False)))
