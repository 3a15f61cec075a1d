"""Is what was read of a program all that can run of it? What stays open is named.

The reading itself is followed, until there is no gap left in what it came through. Where a gap is left at the end, or
the program looks at something else than data, noise and parameters, or a run comes through what no path read, nothing
is proved.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dpaudit.program.coverage.conditions import Dependence, told
from dpaudit.program.coverage.instructions import Coverage, Gap
from dpaudit.program.coverage.outside import KeptState, strange
from dpaudit.program.fold import Fold

_MOST_CALLS = 2_000  # of a program with discrete noise


class WatchedProgram:
    """A program that is being read, and what of it was not.

    Attributes:
        coverage: what the reading came through.
        runs: what runs came through.
    """

    def __init__(self, function: Callable[..., Any], parameters: Iterable[str], *, is_fold: bool = False) -> None:
        self.coverage = Coverage(function)
        self.runs = Coverage(function, self.coverage)
        self._function, self._parameters, self._is_fold = function, tuple(parameters), is_fold
        self._state: KeptState | None = None
        self._followed = self._calls = 0
        self._is_whole = False
        self._looked: tuple[int, int] | None = None  # what had run when gaps were looked for
        self._known: tuple[tuple[int, int], Dependence] | None = None

    def begin(self) -> None:
        """Say that another part of the program is read from here on."""
        self._is_whole, self._followed, self._looked = False, 0, None

    def following(self, decided: Callable[[], int] | None = None) -> AbstractContextManager[None]:
        """Follow one path, as long as there are gaps; ``decided`` counts its comparisons of unknown numbers."""
        self.coverage.counter = decided
        return nullcontext() if self._is_whole else self.coverage.following()

    def ended(self) -> None:
        """Say that a path, or what goes for one, was read."""
        if self._state is None:
            self._state = KeptState(self.coverage, self._function)
        self._followed += 1
        if not self._is_whole and self._followed & (self._followed - 1) == 0:
            ran = self.coverage.ran.values()
            size = sum(len(each.steps) for each in ran), sum(len(each.callers) for each in ran)
            if size != self._looked:  # else nothing new ran, and the gaps are the same
                self._is_whole, self._looked = not self._gaps(every=True), size

    def changed(self) -> str | None:
        """Return the name of what the program keeps between calls and changes, if there is such a thing."""
        return None if self._state is None else self._state.changed()

    def observed(self, function: Any) -> Any:
        """Return a program that is followed in each of its calls, as long as they are few."""
        if isinstance(function, Fold):
            init = self.observed(function.init) if callable(function.init) else function.init
            finish = None if function.finish is None else self.observed(function.finish)
            return Fold(self.observed(function.step), init, finish)

        @functools.wraps(function)
        def called(*given: Any, **parameters: Any) -> Any:
            with self.following():
                result = function(*given, **parameters)
            self._calls += 1
            if self._state is None:
                self._state = KeptState(self.coverage, self._function)
            self._is_whole = self._calls > _MOST_CALLS
            return result

        return called

    def looks(self) -> tuple[str, ...]:
        """Return what the program looks at beside data, noise and parameters, in words."""
        return tuple(strange(self.coverage, self._dependence()))

    def open(self) -> tuple[str, ...]:
        """Return what was not read and can run, in words; nothing is proved where there is any."""
        found = dict.fromkeys(self._gaps())
        for code, offset in self.runs.beyond(self.coverage):
            found.setdefault(f"not covered: {told(code, offset)}, which a run came through")
        return (*found, *strange(self.coverage, self._dependence()))

    def _dependence(self) -> Dependence:
        ran = self.coverage.ran.values()
        size = len(ran), sum(len(each.callers) for each in ran)  # which only grow, and are all that it hangs on
        if self._known is None or self._known[0] != size:
            self._known = size, Dependence(self.coverage, self._parameters, is_fold=self._is_fold)
        return self._known[1]

    def _gaps(self, *, every: bool = False) -> list[str]:
        """Return the gaps that the scope does not decide; ``every``: also where only numbers decided so far."""
        dependence = self._dependence()
        listed = [gap for gap in self.coverage.gaps(every=every) if not dependence.is_decided(gap, for_good=every)]
        found = [_told(gap) for gap in listed]
        return found + [f"not covered: {told(code, 0)}, which was made and never called" for code in self._uncalled()]

    def _uncalled(self) -> list[types.CodeType]:
        return self.coverage.uncalled()


def _told(gap: Gap) -> str:
    here = told(gap.code, gap.offset)
    if gap.target is None:
        return f"not covered: the exception that {here} may raise"
    there = told(gap.code, gap.target)
    return f"not covered: {there}" if there != here else f"not covered: another way of {here}"
