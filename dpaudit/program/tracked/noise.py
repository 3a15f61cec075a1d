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
from dpaudit.program.tracked.reports import coins
from dpaudit.program.tracked.rows import Length
from dpaudit.program.tracked.series import Series

RELEASING = ("laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "truncated_laplace")
"""The kinds of noise that release a private number which they are added to."""


class TrackedNoise(Noise):
    """The noise of one path of a tracked reading."""

    __slots__ = ()

    def _draw(self, method: str, *arguments: Any) -> Any:
        if method not in (*RELEASING, "gumbel"):
            known = ", ".join((*RELEASING, "gumbel"))
            refuse(f"noise.{method} on records; known are {known}, select, poisson, post and repeat")
        if method == "truncated_laplace":
            scale, bound = map(magnitude_of, arguments)
            if scale.unit or bound.unit:
                refuse("truncated noise with a scale or a bound that was released; give public ones")
            return Draw(method, scale, (), (("bound", bound.coefficient),))
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

    def bernoulli(self, probability: Any, size: Any = None) -> Any:
        """Draw a coin that everybody sees, which is a fork; or one for each row of the data, to flip bits with."""
        given = magnitude_of(probability)
        if given.unit:
            refuse("a coin with a probability that was released; decide on a released number instead")
        if isinstance(size, Length):
            return coins(given.coefficient, size)
        if size is not None:
            refuse("several coins at once, but for one for each row of the data: size=len(frame)")
        if not 0 <= given.coefficient <= 1:
            raise ValueError("noise.bernoulli: the probability must lie in [0, 1]")
        return PATH.get().fork(("coin", PATH.get().fresh()), [True, False])

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
        listed, moves, sample = _scored("select", options, scores, 1)
        scale = ReleasedNumber(of(Fraction(1))) / self._scale("select", "rate", rate)
        note("select", magnitude_of(scale), moves, sample)
        return listed[PATH.get().fork(("select", PATH.get().fresh()), range(len(listed)))]

    def propose_test_release(self, options: Iterable[Any], scores: Iterable[Any], scale: Any, threshold: Any) -> Any:
        """Release the option of the largest score if it leads by far: a fork on which one, or none."""
        listed, moves, sample = _scored("propose_test_release", options, scores, 2)
        spread = magnitude_of(self._scale("propose_test_release", "scale", scale))
        limit = magnitude_of(self._argument("propose_test_release", "a threshold", threshold))
        if spread.unit or limit.unit:
            refuse("a test with a scale or a threshold that was released; give public ones")
        note("propose_test_release", spread, moves, sample, (("threshold", limit.coefficient),))
        return [None, *listed][PATH.get().fork(("propose", PATH.get().fresh()), range(len(listed) + 1))]

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


def _scored(
    method: str, options: Iterable[Any], scores: Iterable[Any], least: int
) -> tuple[list[Any], tuple[Any, ...], Sample | None]:
    """Return the options, how far the score of each moves, and what all are made of."""
    listed = list(options)
    given = list(scores) if isinstance(scores, Series | Numbers | np.ndarray | list | tuple) else _listed(scores)
    if is_private(options) or any(is_private(each) for each in listed):
        refuse("options from the data, which tell of them; give a public list")
    if len(listed) < least or len(given) != len(listed):
        raise ValueError(f"noise.{method}: {len(listed)} options, but {len(given)} scores")
    numbers = [each for each in given if isinstance(each, Number)]
    if any(is_private(each) and not isinstance(each, Number) for each in given) or not numbers:
        refuse("scores that are no private numbers")
    if len({each.sample for each in numbers}) > 1:
        refuse("scores of several samples")
    return listed, tuple(_moves(each) for each in given), numbers[0].sample


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
