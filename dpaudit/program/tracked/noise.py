"""What does a program draw, when its data are tracked? Noise that nobody has seen yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.coverage.instructions import Coverage
from dpaudit.program.coverage.outside import KeptState
from dpaudit.program.noise import Noise, shape_of_size
from dpaudit.program.tracked.arrays import Numbers
from dpaudit.program.tracked.draw import Draw, note
from dpaudit.program.tracked.frame import Frame
from dpaudit.program.tracked.groups import Size
from dpaudit.program.tracked.magnitude import of
from dpaudit.program.tracked.movement import Linear
from dpaudit.program.tracked.path import ANYTHING, NUMBER, PATH, Sample, refuse
from dpaudit.program.tracked.posted import code_within, refuse_private
from dpaudit.program.tracked.private import Number, Private
from dpaudit.program.tracked.released import (
    ReleasedArray,
    ReleasedNumber,
    fresh,
    is_private,
    magnitude_of,
    sureness,
)
from dpaudit.program.tracked.series import Series

RELEASING = ("laplace", "discrete_laplace", "gaussian", "discrete_gaussian")
"""The kinds of noise that release a private number which they are added to."""


class TrackedNoise(Noise):
    """The noise of one path of a tracked reading."""

    __slots__ = ()

    def _draw(self, method: str, *arguments: Any) -> Any:
        if method not in (*RELEASING, "gumbel"):
            known = ", ".join((*RELEASING, "gumbel"))
            refuse(f"noise.{method} on records; known are {known}, select, poisson, post and repeat")
        return Draw(method, magnitude_of(arguments[0]))

    def _draw_many(self, method: str, size: Any, *arguments: Any) -> Any:
        draw = self._draw(method, *arguments)
        draw.shape = size if isinstance(size, Size) else shape_of_size(size)
        return draw

    def _argument(self, method: str, what: str, value: Any) -> Any:
        if is_private(value):
            refuse(f"{what} that depends on data without noise")
        return value

    def _scale(self, method: str, name: str, value: Any, most: float = math.inf) -> Any:
        if is_private(value):
            refuse("a scale that depends on data without noise")
        magnitude_of(value)
        if not (value > 0 and value < math.inf and value <= most):
            raise ValueError(f"noise.{method}: {name} must be positive, finite and not too large")
        return value

    def _pick(self, weights: Sequence[float]) -> int:
        return int(PATH.get().fork(("pick", PATH.get().fresh()), range(len(weights))))

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the place of the largest of released values: a fork."""
        listed = list(values)
        if any(is_private(each) for each in listed):
            refuse("noise.argmax of private values; choose by noise.select, or release them first")
        if not listed:
            raise ValueError("noise.argmax: there must be at least one value")
        return int(PATH.get().fork(("argmax", PATH.get().fresh()), range(len(listed))))

    def select(self, options: Iterable[Any], scores: Iterable[Any], rate: Any) -> Any:
        """Choose by the exponential mechanism: a fork on what was chosen."""
        listed = list(options)
        given = list(scores) if isinstance(scores, Series | Numbers | np.ndarray | list | tuple) else _listed(scores)
        if is_private(options) or any(is_private(each) for each in listed):
            refuse("options from the data, which tell of them; give a public list")
        if not listed or len(given) != len(listed):
            raise ValueError(f"noise.select: {len(listed)} options, but {len(given)} scores")
        numbers = [each for each in given if isinstance(each, Number)]
        if any(is_private(each) and not isinstance(each, Number) for each in given) or not numbers:
            refuse("scores that are no private numbers")
        rate = self._scale("select", "rate", rate)
        if len({each.sample for each in numbers}) > 1:
            refuse("scores of several samples")
        scale = ReleasedNumber(of(Fraction(1))) / rate
        note("select", magnitude_of(scale), tuple(_moves(each) for each in given), numbers[0].sample)
        return listed[PATH.get().fork(("select", PATH.get().fresh()), range(len(listed)))]

    def poisson(self, data: Any, rate: Any) -> Any:
        """Sample each row with a probability, by itself."""
        given = magnitude_of(rate)
        if not isinstance(data, Frame):
            refuse("noise.poisson of something else than a frame of the data")
        if given.unit or not 0 < given.coefficient <= 1:
            refuse("a sampling rate that is no public number in (0, 1]")
        path = PATH.get()
        path.samples += 1
        path.levels[path.samples] = path.level
        return data.sampled(Sample(path.samples, given.coefficient, path.times))

    def post(self, function: Callable[..., Any], *values: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Hand released values to a function: what it returns is released."""
        refuse_private((function, values), function)
        PATH.get().posted.update(code_within(getattr(function, "__code__", None)))
        return fresh((), ANYTHING) if shape is None else fresh(shape_of_size(shape), NUMBER)

    def repeat(self, times: int, step: Callable[[Any], Any], state: Any) -> Any:
        """Do a step several times: it is read once, from any state of the same form."""
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise ValueError(f"noise.repeat: times is a whole number from 0 on, not {times!r}")
        if times == 0:
            return state
        path = PATH.get()
        before, path.times = path.times, path.times * times
        within, path.level = path.level, (*path.level, path.fresh())
        form = _form(state)
        kept = KeptState(Coverage(step), step)
        result = step(_forgotten(state))
        if kept.changed() is not None:
            refuse("a repeated step that changes what it closes over; hand it on as the state")
        path.times, path.level = before, within
        if _form(result) != form:
            refuse(f"a repeated step that returns a state of another form: {_form(result)} after {form}")
        return _forgotten(result)


def _moves(score: Any) -> Any:
    if isinstance(score, Number):
        return score.moves
    magnitude_of(score)
    return Linear(())


def _listed(scores: Any) -> list[Any]:
    if isinstance(scores, Private):
        refuse(f"scores that are a private {type(scores).__name__.lower()}; one private number for each option")
    return list(scores)


# --- states of a repeated step -----------------------------------------------------------------------------


def _form(state: Any) -> Any:
    """Return all of a state but its numbers."""
    if isinstance(state, ReleasedNumber | ReleasedArray) and sureness(state) < NUMBER:
        return "anything"
    if isinstance(state, ReleasedArray) or (isinstance(state, np.ndarray) and state.dtype.kind in "iuf"):
        return "array", state.shape
    if isinstance(state, ReleasedNumber | float | int | np.number) and not isinstance(state, bool):
        return "number"
    if isinstance(state, list | tuple):
        return type(state).__name__, *map(_form, state)
    if isinstance(state, dict):
        return "dict", *((key, _form(value)) for key, value in state.items())
    if state is None or isinstance(state, str | bool):
        return repr(state)
    return refuse(
        f"a state of a repeated step with a {type(state).__name__}; known are released numbers and arrays, and lists, "
        "tuples and dicts of them"
    )


def _forgotten(state: Any) -> Any:
    """Return any state of the same form: all numbers are released values of their own."""
    if isinstance(state, ReleasedNumber | ReleasedArray) and sureness(state) < NUMBER:
        return fresh((), ANYTHING)
    if isinstance(state, ReleasedArray | np.ndarray):
        return fresh(state.shape, NUMBER)
    if isinstance(state, list | tuple):
        return type(state)(map(_forgotten, state))
    if isinstance(state, dict):
        return {key: _forgotten(value) for key, value in state.items()}
    return state if state is None or isinstance(state, str | bool) else fresh((), NUMBER)
