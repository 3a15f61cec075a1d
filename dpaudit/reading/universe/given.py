"""What does a program draw from the noise that it is given? Each method of `dpaudit.program.noise.Noise`.

Noise that is added to private numbers is a draw like that of any library. What is chosen among options is one way of
each of several, all of which are read, so that an option is a public value afterwards. A step that is repeated is read
once, from any state of its form: along a path ε, ρ, μ² and δ add up, so that rounds that go different ways cost no more
than as many rounds that all go the one that costs a kind of records most.

A bit of each record that a coin of its own turns over is randomised response (Warner 1965). Each report is released by
its own noise, at ln((1 − p)/p). How many there are is public where records are replaced.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.noise import WIDEST, Noise, shape_of_size
from dpaudit.reading.universe import columns, keys, noise, numbers, sizes, steps
from dpaudit.reading.universe.columns import Sampling
from dpaudit.reading.universe.frames import Frame
from dpaudit.reading.universe.noise import Draw, note, same_step
from dpaudit.reading.universe.sizes import column_sum
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current, current_domain, refuse
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, RELEASED, Token, array, number, sort_of

_FLIP = "mask ^ noise.bernoulli(p, size=len(df)) of the same df"


class FlippedRecords(Private):
    """A coin for each record."""

    __slots__ = ("is_used", "level", "probability", "rows")
    noun = "coin of each record"

    def __init__(self, probability: float, length: numbers.Number) -> None:
        rows = length.rows
        if rows is None or not rows.has_all or rows.selection.kind != "record" or rows.sample is not None:
            refuse("coins for rows that were chosen, of which the number is private", "size=len(df) of all records")
        if probability >= 1:
            refuse("coins that turn over every bit, which hides none", "a probability below 1")
        self.probability, self.rows, self.is_used, self.level = probability, rows, False, current().level

    def turned(self, mask: Any) -> Token:
        """``mask ^ flips``."""
        same_step(self.level)
        if not isinstance(mask, columns.Column) or not mask.is_mask or not mask.rows.same(self.rows):
            refuse("coins together with anything but a mask of the same rows", _FLIP)
        if self.is_used:
            refuse("coins that are used twice", "coins of their own for each report")
        self.is_used = True
        told, truth, rows = column_sum(mask), mask.step(), mask.rows.made
        told.terms = None if truth is None or rows is None else steps.alone(steps.MadeStep("reports", (rows, truth)))
        note("randomised_response", told, 1.0, (("probability", self.probability),))
        return Token()


def operated(name: str, left: Any, right: Any) -> Token:
    """``mask ^ flips``, in either order."""
    flips, mask = (left, right) if isinstance(left, FlippedRecords) else (right, left)
    return flips.turned(mask) if name == "xor" else refuse("coins of each record in another form", _FLIP)


__all__ = ["FlippedRecords", "operated"]

_FEW = 64  # options of which each is read


class Given(Private):
    """The noise that a program is given."""

    __slots__ = ()
    noun = "source of noise"

    def method(self, name: str) -> Any:
        """Return a method of noise."""
        return getattr(self, f"m_{name}", None) if hasattr(Noise, name) else None

    # --- noise that is added ------------------------------------------------------------------------------------

    def m_laplace(self, scale: Any, size: Any = None) -> Any:
        """Laplace noise (Dwork, McSherry, Nissim & Smith 2006)."""
        return self._draw("laplace", scale, size)

    def m_gaussian(self, sigma: Any, size: Any = None) -> Any:
        """Gaussian noise (Dwork & Roth 2014, Appendix A)."""
        return self._draw("gaussian", sigma, size)

    def m_gumbel(self, scale: Any, size: Any = None) -> Any:
        """Gumbel noise on scores, of which the largest may be seen (McSherry & Talwar 2007)."""
        return self._draw("gumbel", scale, size)

    def m_exponential(self, scale: Any, size: Any = None) -> Any:
        """Noise of one side; the difference of two is Laplace noise."""
        return self._draw("exponential", scale, size)

    def m_discrete_laplace(self, scale: Any, size: Any = None) -> Any:
        """Noise on whole numbers (Ghosh, Roughgarden & Sundararajan 2009)."""
        return self._draw("discrete_laplace", scale, size, kind="int", most=WIDEST)

    def m_discrete_gaussian(self, sigma: Any, size: Any = None) -> Any:
        """Noise on whole numbers (Canonne, Kamath & Steinke 2020, Definition 1)."""
        return self._draw("discrete_gaussian", sigma, size, kind="int", most=WIDEST)

    def m_truncated_laplace(self, scale: Any, bound: Any, size: Any = None) -> Any:
        """Laplace noise that is never larger than a bound, at a δ (Geng, Ding, Guo & Kumar 2020, Theorem 1)."""
        return self._draw("truncated_laplace", scale, size, details=(("bound", _positive("a bound of noise", bound)),))

    def _draw(
        self, law: str, scale: Any, size: Any, *, kind: str = "float", most: float = math.inf, details: Any = ()
    ) -> Any:
        if current().record and current().of_key is None:
            refuse("a draw for each record", "noise on the sum, or a sample: noise.poisson(df, 0.1)")
        scale, per = sizes.unit(scale) if law in ("laplace", "gaussian") else (scale, Fraction(0))
        size = sizes.as_number(size)
        if isinstance(scale, Token) and not isinstance(size, Private | Token):
            return Token()
        given = _positive("a scale", scale)
        if given > most:
            refuse(f"a scale of noise on whole numbers above {most:g}", "a smaller scale")
        many = noise.how_many(size)
        if isinstance(many, keys.HowMany) and not per:
            return many.draws(law, given)
        if isinstance(many, Private):
            refuse("noise for every record", "noise on the sum, or reports of each record: noise.bernoulli(p, len(df))")
        shape = () if size is None else shape_of_size(size)
        return noise.fresh(law, given, shape, "np.float64" if shape else kind, details, per=per)

    # --- coins and choices --------------------------------------------------------------------------------------

    def m_uniform(self, low: Any = 0.0, high: Any = 1.0) -> Token:
        """A random number that everybody sees."""
        _not_private("a bound of a random number", low, high)
        return number()

    def m_bernoulli(self, probability: Any, size: Any = None) -> Any:
        """A coin that everybody sees, or one for each row, to flip bits with."""
        _not_private("a probability", probability)
        size = sizes.as_number(size)
        if isinstance(size, numbers.Number):
            return FlippedRecords(_positive("a probability", probability, 1.0), size)
        if size is not None:
            refuse("several coins at once, but for one for each row of the data", "size=len(df)")
        return number("bool")

    def m_choice(self, options: Any, weights: Any = None) -> Any:
        """One of several public options, which chance alone decides."""
        _not_private("an option or a weight of a choice", options, weights)
        return _one_of(list(current_domain().iterate(options)))

    def m_argmax(self, values: Any) -> int:
        """The place of the largest of released values."""
        listed = list(current_domain().iterate(values))
        _not_private("noise.argmax", listed)
        return int(current().decide(range(len(listed)))) if listed else refuse("noise.argmax of no values")

    def m_select(self, options: Any, scores: Any, rate: Any) -> Any:
        """One of several options by their scores: the exponential mechanism (McSherry & Talwar 2007)."""
        listed, given = _scored(options, scores, 1)
        noise.select(given, _positive("a rate", rate))
        return _one_of(listed)

    def m_propose_test_release(self, options: Any, scores: Any, scale: Any, threshold: Any) -> Any:
        """The option of the largest score if it leads by far (Dwork & Lei 2009; Vadhan 2017, Section 3.2)."""
        listed, given = _scored(options, scores, 2)
        limit = (("threshold", _number("a threshold", threshold)),)
        noise.note("propose_test_release", given, _positive("a scale", scale), limit)
        return _one_of([None, *listed])

    # --- rows, released values and steps ------------------------------------------------------------------------

    def m_poisson(self, data: Any, rate: Any) -> Frame:
        """Each record with a probability, by itself (Balle, Barthe & Gaboardi 2018, Theorem 8)."""
        if not isinstance(data, Frame):
            refuse("noise.poisson of something else than a frame of the data", "noise.poisson(df, 0.1)")
        sample: Frame = data.select(Sampling(_positive("a rate of sampling", rate, 1.0), data.rows))
        return sample

    def m_post(self, function: Any, *values: Any, shape: Any = None) -> Any:
        """What a function makes of released values."""
        _not_private("noise.post of a private value", *values)
        result = current_domain().call(function, *values)
        if sort_of(result) == PRIVATE:
            refuse("a function of post-processing that returns a private value", NOISE_FIRST)
        if shape is None:
            return result
        current_domain().raises("any")
        sizes = shape_of_size(shape)
        return array(sizes) if sizes else number()

    def m_repeat(self, times: Any, step: Callable[[Any], Any], state: Any) -> Any:
        """A step that is done several times: it is read once, from any state of its form."""
        if type(times) is not int or times < 0:
            refuse("a step that is repeated how often no public whole number says", "noise.repeat(10, step, state)")
        if not times:
            return state
        now = current()
        before, within = now.times, now.level
        form, now.levels = _form(state), now.levels + 1
        now.times, now.level = now.times * times, (*now.level, now.levels)
        try:
            result = current_domain().call(step, _forgotten(state))
        finally:
            now.times, now.level = before, within
        if _form(result) != form:
            refuse(f"a repeated step that returns a state of another form: {_form(result)} after {form}")
        return _forgotten(result)


def _not_private(what: str, *values: Any) -> None:
    if sort_of(values) == PRIVATE:
        refuse(f"{what} that depends on data without noise", NOISE_FIRST)


def _number(what: str, value: Any) -> float:
    """Return a public finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        refuse(f"{what} that is no public number", "a constant")
    if not math.isfinite(value):
        refuse(f"{what} that is not finite", "a finite number")
    return float(value)


def _positive(what: str, value: Any, most: float = math.inf) -> float:
    checked = _number(what, value)
    return checked if 0 < checked <= most else refuse(f"{what} that is {value!r}", f"a number above 0{_at_most(most)}")


def _at_most(most: float) -> str:
    return f" and at most {most:g}" if math.isfinite(most) else ""


def _one_of(options: list[Any]) -> Any:
    """Return one of several options on each of so many ways."""
    if sort_of(options) != PUBLIC or len(options) > _FEW:
        return Token()
    return current().decide(options)


def _scored(options: Any, scores: Any, least: int) -> tuple[list[Any], numbers.Number]:
    """Return options, and as many private scores."""
    if sort_of(options) > RELEASED:
        refuse("options that depend on data without noise", "a public list")
    listed = list(current_domain().iterate(options))
    given = list(current_domain().iterate(scores))
    if len(listed) < least or len(given) != len(listed):
        refuse(f"{len(listed)} options, but {len(given)} scores", "one score for each option")
    first = next((each for each in given if isinstance(each, numbers.Number)), None)
    if first is None:
        refuse("scores that are no private numbers", "sums or counts of the data, one for each option")
    private_scores = []
    for each in given:
        if not isinstance(each, numbers.Number):
            if not isinstance(each, int | float | Token) or (isinstance(each, Token) and not each.is_number):
                refuse("a score that is no number", "sums or counts of the data")
            each = first.times(0)
        if each.shape:
            refuse("a score that is no single number", "one number for each option")
        private_scores.append(each)
    return listed, numbers.stacked(private_scores)


# --- states of a repeated step ------------------------------------------------------------------------------------


def _form(state: Any) -> Any:
    """Return all of a state but its numbers."""
    kind = type(state)
    if kind is Token:
        if not state.is_certain:
            refuse("a state of a repeated step of which the type hangs on the data", "float(…)")
        return "number" if state.is_number else ("array", state.shape) if state.is_array else "anything"
    if kind is np.ndarray and state.dtype.kind in "iuf":
        return "array", state.shape
    if kind in (int, float) or isinstance(state, np.integer | np.floating):
        return "number"
    if kind in (list, tuple):
        return kind.__name__, *map(_form, state)
    if kind is dict and sort_of(list(state)) == PUBLIC:
        return "dict", *((key, _form(value)) for key, value in state.items())
    if kind in (bool, str, type(None)):
        return repr(state)
    return refuse(
        f"a state of a repeated step with a {getattr(state, 'noun', kind.__name__)}",
        "released numbers and arrays, and lists, tuples and dicts of them",
    )


def _forgotten(state: Any) -> Any:
    """Return any state of the same form."""
    if isinstance(state, Token | np.ndarray):
        if isinstance(state, np.ndarray) or state.is_array:
            return array(state.shape or ())
        return number("number") if state.is_number else Token()
    if isinstance(state, list):
        return current_domain().born(list(map(_forgotten, state)))
    if isinstance(state, tuple):
        return tuple(map(_forgotten, state))
    if isinstance(state, dict):
        return current_domain().born({key: _forgotten(value) for key, value in state.items()})
    return state if isinstance(state, bool | str | None) else number("number")


__all__ = ["Draw", "Given"]
