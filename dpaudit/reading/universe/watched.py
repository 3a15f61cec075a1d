"""Does a line do what is given of it? Real runs are watched: the value that it assigns, and all else that it does.

Part of the second net: nothing of the reading is used. Between neighbours the values of the line are compared in the
order in which they are assigned, with the draws shifted so that all noisy numbers are the same.
"""

from __future__ import annotations

import contextlib
import io
import math
import pickle
import random
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

_NUMBERS = (int, float, np.int64, np.float64)
_CHANGING = (list, dict, set, bytearray, np.ndarray, pd.Series, pd.DataFrame)
_SLACK = 1e-9


class Line(Protocol):
    """What is watched: see `assumed.Assumed`."""

    move: Any
    file: str
    first: int
    last: int
    name: str
    function: str


@dataclass
class Seen:
    """What a run showed of the lines."""

    values: list[tuple[Line, Any]] = field(default_factory=list)  # in the order in which they were assigned
    wrong: str | None = None  # the first thing that a line does besides, or assigns in place of a number


class _Before:
    """What there is before a line is run."""

    def __init__(self, line: Line, frame: types.FrameType, rng: np.random.Generator) -> None:
        self.line, self._rng, self._out = line, rng, io.StringIO()
        self._streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self._out
        self._state = self._now(frame)

    def _now(self, frame: types.FrameType) -> list[bytes]:
        local = {name: value for name, value in frame.f_locals.items() if name != self.line.name}
        names = {name: value for name, value in frame.f_globals.items() if isinstance(value, _CHANGING)}
        parts = [
            self._rng.bit_generator.state,
            np.random.get_state(),  # noqa: NPY002 – what a line may have moved
            random.getstate(),
            *local.items(),
        ]
        return [*map(_text, parts), *map(_text, (pair for pair in names.items() if pair[0][:2] != "__"))]

    def restored(self) -> None:
        """Give the streams back."""
        sys.stdout, sys.stderr = self._streams

    def wrong(self, frame: types.FrameType) -> str | None:
        """Say what the line did besides, or assigned in place of a number; None where it did as it should."""
        value = frame.f_locals.get(self.line.name)
        if type(value) not in _NUMBERS:
            return f"it assigns a {type(value).__name__}, and no number"
        if not math.isfinite(value):  # type: ignore[arg-type]
            return f"it assigns {value}"
        if self._out.getvalue():
            return "it prints"
        return "it draws, or changes something else" if self._now(frame) != self._state else None


def _text(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # what cannot be written is not compared
        return b""


@contextlib.contextmanager
def watching(lines: Sequence[Line], rng: np.random.Generator) -> Iterator[Seen]:
    """Watch lines of functions within this."""
    seen, opened = Seen(), dict[int, _Before]()
    files = {each.file for each in lines}

    def entered(frame: types.FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or code.co_filename not in files:
            return None
        mine = [each for each in lines if (each.file, each.function) == (code.co_filename, code.co_name)]
        if not mine:
            return None

        def within(frame: types.FrameType, event: str, arg: Any) -> Any:
            before = opened.get(id(frame))
            if before is not None:
                is_inside = before.line.first <= frame.f_lineno <= before.line.last
                if event == "exception":
                    seen.wrong = seen.wrong or f"{before.line.move.place} raises {arg[0].__name__}"
                elif event == "return" or not is_inside:
                    before.restored()
                    del opened[id(frame)]
                    why = before.wrong(frame)
                    seen.wrong = seen.wrong or (why and f"{before.line.move.place}: {why}")
                    seen.values.append((before.line, frame.f_locals.get(before.line.name)))
                else:
                    return within
            if event == "line":
                for each in mine:
                    if frame.f_lineno == each.first:
                        opened[id(frame)] = _Before(each, frame, rng)
            return within

        return within

    if not lines:
        yield seen
        return
    outer = sys.gettrace()
    sys.settrace(entered)
    try:
        yield seen
    finally:
        sys.settrace(outer)
        for each in opened.values():
            each.restored()


def refuted(first: Seen, second: Seen) -> str | None:
    """Say what two runs on neighbours show against what is given; None where it holds."""
    for each in (first, second):
        if each.wrong:
            return each.wrong
    for (line, one), (other, two) in zip(first.values, second.values, strict=False):
        if line is not other:
            return f"{line.move.place} is run on one side, and {other.move.place} on the other"
        apart, most = abs(float(one) - float(two)), float(line.move.by)
        if not apart <= most * (1 + _SLACK) + _SLACK * max(1.0, abs(float(one))):  # of floats; a proof is of numbers
            return f"{line.move.place} moves by {apart:.10g}, from {one:.10g} to {two:.10g}"
    return None


def differs(first: Seen, again: Seen) -> str | None:
    """Say whether a run that is made again, with the same draws, assigns something else; None where it does not."""
    for (line, one), (_, two) in zip(first.values, again.values, strict=False):
        if type(one) is not type(two) or one != two:
            return f"{line.move.place} assigns something else each time, from the same data"
    return None


__all__ = ["Seen", "differs", "refuted", "watching"]
