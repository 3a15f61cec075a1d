"""Was everything that can run of a program read? What was not is named.

The reading itself is traced. If a gap is left at the end in the code that it executed, or the program uses anything
besides data, noise and parameters, or a run executes code that no path read, nothing is proved.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from dpaudit.program.coverage.conditions import Dependence, line_at
from dpaudit.program.coverage.instructions import Coverage, Gap
from dpaudit.program.coverage.outside import KeptState, other_inputs
from dpaudit.program.fold import Fold


class WatchedProgram:
    """A program that is being read, with the code that was executed and the code that was not.

    Attributes:
        coverage: what the reading executed.
        runs: what concrete runs executed.
    """

    def __init__(self, function: Callable[..., Any], parameters: Iterable[str], *, is_fold: bool = False) -> None:
        """Watch a program."""
        self.coverage = Coverage(function)
        self.runs = Coverage(function, self.coverage)
        self._function, self._parameters, self._is_fold = function, tuple(parameters), is_fold
        self._state: KeptState | None = None
        self._known: tuple[tuple[int, int], Dependence] | None = None

    def following(self, decided: Callable[[], int] | None = None) -> AbstractContextManager[None]:
        """Trace one path; ``decided`` counts its comparisons of unknown numbers.

        Every path is traced: where no gap is left, a later one may still call a function that none before it called.
        Code of which all ran costs hardly any time.
        """
        self.coverage.counter = decided
        return self.coverage.following()

    def ended(self) -> None:
        """Finish reading a path (or a call of a program with discrete noise)."""
        if self._state is None:
            self._state = KeptState(self.coverage, self._function)

    def changed(self) -> str | None:
        """Return the name of a value that the program keeps between calls and changes, or None."""
        return None if self._state is None else self._state.changed()

    def observed(self, function: Any) -> Any:
        """Return a program whose calls are traced."""
        if isinstance(function, Fold):
            init = self.observed(function.init) if callable(function.init) else function.init
            finish = None if function.finish is None else self.observed(function.finish)
            return Fold(self.observed(function.step), init, finish)

        @functools.wraps(function)
        def called(*given: Any, **parameters: Any) -> Any:
            with self.following():
                result = function(*given, **parameters)
            self.ended()
            return result

        return called

    def looks(self) -> tuple[str, ...]:
        """Return what the program uses besides data, noise and parameters, in words."""
        return tuple(other_inputs(self.coverage, self._dependence()))

    def open(self) -> tuple[str, ...]:
        """Return what can run and was not read, in words; nothing is proved if there is any."""
        found = dict.fromkeys(self._gaps())
        for code, offset in self.runs.beyond(self.coverage):
            found.setdefault(f"not covered: {line_at(code, offset)}, which a run came through")
        return (*found, *other_inputs(self.coverage, self._dependence()))

    def _dependence(self) -> Dependence:
        ran = self.coverage.ran.values()
        size = len(ran), sum(len(each.callers) for each in ran)  # these only grow, and nothing else matters
        if self._known is None or self._known[0] != size:
            self._known = size, Dependence(self.coverage, self._parameters, is_fold=self._is_fold)
        return self._known[1]

    def _gaps(self) -> list[str]:
        """Return the gaps that the scope does not decide."""
        dependence = self._dependence()
        found = [_gap_text(gap) for gap in self.coverage.gaps() if not dependence.is_decided(gap)]
        untold = [code for code, ran in self.coverage.ran.items() if not ran.steps]
        found += [f"not covered: {line_at(code, 0)}, of which no instruction was told" for code in untold]
        return found + [
            f"not covered: {line_at(code, 0)}, which was made and never called" for code in self._uncalled()
        ]

    def _uncalled(self) -> list[types.CodeType]:
        return self.coverage.uncalled()


def _gap_text(gap: Gap) -> str:
    here = line_at(gap.code, gap.offset)
    if gap.target is None:
        return f"not covered: the exception that {here} may raise"
    there = line_at(gap.code, gap.target)
    return f"not covered: {there}" if there != here else f"not covered: another way of {here}"
