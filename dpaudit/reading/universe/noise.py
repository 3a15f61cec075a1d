"""What does noise hide? Draws, which are linear and protect one private number once, and what is released by them.

A draw is a law and a scale. Added to a private number of known movement it gives a released value, and the price is
noted; added to anything else it is a random number that says nothing of the data. Laws: Laplace (Dwork, McSherry,
Nissim & Smith 2006), Gauss (Dwork & Roth 2014, Appendix A; Bun & Steinke 2016), the difference of two exponential or
two geometric draws (Ghosh, Roughgarden & Sundararajan 2009), the largest score with Gumbel noise and choices by
exponentials of scores (McSherry & Talwar 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.draws import Kind, NoiseSource
from dpaudit.reading.universe import decisions, numbers, sizes, steps
from dpaudit.reading.universe.columns import Sampling
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.state import NOISE_FIRST, Private, Released, current, line, refuse, refuse_form
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, RELEASED, Token, array, joined, number, sort_of

_TWO_SIDED = ("laplace", "gaussian", "discrete_laplace", "discrete_gaussian", "truncated_laplace")
_WHOLE = ("discrete_laplace", "discrete_gaussian", "geometric")
SO_MANY = "so many draws as something private or released says"
OFF_CENTRE = "noise for keys of the data around another number than 0"
ANOTHER_STEP = "noise drawn in the step that adds it"
ONE_DRAW_EACH = "size=len(x), one draw of noise for each number"


class Draw(Private):
    """Noise that was drawn and added to nothing yet.

    Attributes:
        law: its name.
        scales: of each draw: an array of the shape of the noise.
        used: which draws were used; shared by all that is taken out of one call.
        kind: the type of a single draw.
        places: of these among all draws of the call.
        details: further numbers of the law, by name.
        level: within which repeated steps it was drawn.
        record: for which record, or key; 0 for none.
        per: by which power of the public number of records its scales are divided.
        is_rounded: whether it is rounded to a whole number.
        threshold: that it became with a public number; None where it did not.
    """

    __slots__ = (
        "details", "is_rounded", "kind", "law", "level", "per", "places", "record", "scales", "threshold", "used",
    )  # fmt: skip
    noun = "noise"

    def __init__(
        self, law: str, scales: Any, used: Any, kind: str, places: Any, details: tuple[tuple[str, float], ...] = (),
        per: Fraction = Fraction(0),
    ) -> None:  # fmt: skip
        self.per, self.is_rounded = per, False
        self.threshold: decisions.Threshold | None = None
        self.law, self.scales, self.used, self.kind, self.places = law, scales, used, kind, places
        self.details, self.level, self.record = details, current().level, current().record

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the noise."""
        return tuple(self.scales.shape)

    @property
    def is_whole(self) -> bool:
        """Whether every draw is a whole number."""
        return self.law in _WHOLE or self.is_rounded

    def use(self, *, in_units: bool = False) -> None:
        """Use every draw, of which none may have been used, where what hides behind it may be in the same units."""
        same_step(self.level)
        if self.per and not in_units:
            refuse("noise whose scale hangs on the number of records in this form", numbers.ONE_SCALE)
        places = np.ravel(self.places)
        if self.used[places].any() or len(set(places.tolist())) < len(places):
            instead = ONE_DRAW_EACH if self.shape else "noise of its own for each: x + laplace(…), y + laplace(…)"
            refuse("one draw of noise that is used twice", instead)
        self.used[places] = True

    def like(self, scales: Any, places: Any = None) -> Draw:
        """Return the same draws at other scales."""
        places = self.places if places is None else places
        draw = Draw(self.law, scales, self.used, self.kind, places, self.details, self.per)
        draw.level, draw.record, draw.is_rounded = self.level, self.record, self.is_rounded
        return draw

    def rounded(self) -> Draw:
        """``round(noise)``: on a whole number it is the sum that is rounded, but where a draw ends in a half."""
        if self.shape or self.law != "laplace" or self.per:
            refuse("noise that is rounded before it is added", "round(n + laplace(…))")
        whole = self.like(self.scales)
        whole.is_rounded, whole.kind = True, "int"
        return whole

    def added_to(self, public: Any) -> Any:
        """Return the sum with something public; one that hides nothing may be added to several numbers."""
        if self.threshold is None or self.shape or type(public) not in (int, float):
            total = meet(self, public, 1)
            self.threshold = decisions.threshold_of(current(), total)
            return total
        same_step(self.level)
        total = number(joined(self.kind, "float"))
        self.threshold.tokens += 1
        decisions.followed(current(), total, self.threshold)
        return total

    def times(self, factor: Any) -> Draw:
        """Return a multiple by public numbers."""
        if self.law not in ("laplace", "gaussian") or self.is_rounded:
            refuse(f"a multiple of {'rounded' if self.is_rounded else self.law} noise", "its scale")
        if (
            isinstance(factor, Private | Token)
            or not _is_finite(factor)
            or isinstance(factor, pd.Series | pd.DataFrame)
        ):
            refuse("noise times what is no finite public number", "the scale of the noise")
        numbers.refuse_small(factor)
        if np.broadcast_shapes(np.shape(factor), self.shape) != self.shape:
            refuse("one draw of noise in several places", ONE_DRAW_EACH)
        with np.errstate(over="ignore"):  # an infinite scale is refused where the noise is added
            multiple = self.like(np.abs(np.asarray(factor, float)) * self.scales)
        multiple.kind = joined(self.kind, "np.float64" if isinstance(factor, np.generic) else "float")
        return multiple

    def in_units(self, of: Any) -> Draw:
        """Return a multiple by a power of the number of records, times a public number."""
        factor, per = sizes.unit(of)
        multiple = self.times(factor)
        multiple.kind, multiple.per = "np.float64" if multiple.shape else "number", multiple.per + per
        return multiple

    def negative(self) -> Draw:
        """Return minus the noise."""
        if self.law not in _TWO_SIDED:
            refuse(f"minus {self.law} noise", "noise of two sides")
        return self.like(self.scales)  # another one: a threshold of minus the noise is not that of the noise

    def at(self, key: Any) -> Draw:
        """Return some of the draws, by public places."""
        keys = key if isinstance(key, tuple) else (key,)
        if not all(type(each) is int or isinstance(each, slice | np.integer) for each in keys):
            refuse("a choice among draws by a list or a mask, which may take one draw twice", "places: z[0], z[1:3]")
        if not self.shape:
            refuse("a part of a single draw", "size=…")
        some = self.like(np.asarray(self.scales[key]), np.asarray(self.places[key]))
        some.kind = "np.float64" if not some.shape else self.kind
        return some

    def parts(self) -> list[Draw]:
        """Return the draws one by one."""
        return (
            [self.at(place) for place in range(self.shape[0])]
            if self.shape
            else refuse_form("a loop over a single draw")
        )

    def alone(self) -> Token:
        """Return the draws as random numbers that hide nothing."""
        self.use(in_units=True)
        return array(self.shape) if self.shape else number(self.kind)


class _Scores(Private):
    """Private numbers of which all that is seen may be which is largest."""

    __slots__ = ("number",)
    number: Number

    def method(self, name: str) -> Any:
        """``.argmax()``, and ``.idxmax()`` of a series."""
        is_series = self.number.labels is not None
        return {"argmax": self.m_argmax, "idxmax": self.m_idxmax if is_series else None}.get(name)

    def m_argmax(self) -> Any:
        """Which is largest, by its place."""
        token = one_sided([self]) if isinstance(self, Half) else largest([self])
        return decisions.place(token, self.number.shape[0])

    def m_idxmax(self) -> Any:
        """Which is largest, by its label."""
        self.m_argmax()
        return decisions.among(Token(), list(self.number.labels))

    def get(self, name: str) -> Any:
        """Nothing else is known."""
        refuse(f".{name} of a {self.noun} is not known", "np.argmax(noisy)")


class Perturbed(_Scores):
    """Private scores with Gumbel noise: which is largest may be seen, at a price."""

    __slots__ = ("is_used", "level", "scale")
    noun = "score with Gumbel noise"

    def __init__(self, scores: Number, scale: float) -> None:
        self.number, self.scale, self.is_used, self.level = scores, scale, False, current().level


class Half(_Scores):
    """A private number with the first of two draws, whose difference is noise of two sides."""

    __slots__ = ("draw", "is_used", "sign")
    noun = "number with noise of one side"

    def __init__(self, exact: Number, draw: Draw, sign: int) -> None:
        self.number, self.draw, self.sign, self.is_used = exact, draw, sign, False

    def use(self) -> None:
        """Use the noise, once."""
        same_step(self.draw.level)
        if self.is_used:
            refuse("noise of one side that is looked at twice", "noise of its own for each")
        self.is_used = True

    def meets(self, other: Any, sign: int) -> Any:
        """Return the sum with the second draw."""
        law = self.draw.law
        self.use()
        fits = (
            isinstance(other, Draw)
            and other.law == law
            and sign == -self.sign
            and np.array_equal(other.scales, self.draw.scales)
        )
        if not fits:
            refuse(
                f"{law} noise of one side alone, by which some outputs are impossible", "np.random.laplace(0, scale)"
            )
        other.use()
        return release(self.number, _difference(self.draw))


class Exponentials(Private):
    """exp of private scores; divided by their own sum they are the chances of the exponential mechanism."""

    __slots__ = ("scores", "what")
    noun = "exponentials of private scores"

    def __init__(self, scores: Number, what: str = "each") -> None:
        self.scores, self.what = scores, what

    def over(self, other: Any) -> Exponentials:
        """``e / e.sum()``."""
        if (
            isinstance(other, Exponentials)
            and other.what == "sum"
            and other.scores is self.scores
            and self.what == "each"
        ):
            return Exponentials(self.scores, "chances")
        return refuse("a quotient of exponentials other than e / e.sum()", "p = e / e.sum()")

    def total(self) -> Exponentials:
        """``e.sum()``."""
        return Exponentials(self.scores, "sum") if self.what == "each" else refuse_form("a sum of chances")

    def method(self, name: str) -> Any:
        """Return a method."""
        return {"sum": self.total}.get(name)

    def get(self, name: str) -> Any:
        """Return the public labels of a series."""
        if name == "index" and self.scores.labels is not None and self.what != "sum":
            return self.scores.labels
        return super().get(name)


class Shifted(Private):
    """Private scores less their own largest, or less the logarithm of the sum of their exponentials."""

    __slots__ = ("is_whole", "scores")
    noun = "scores less the largest"

    def __init__(self, scores: Number, *, is_whole: bool = False) -> None:
        self.scores, self.is_whole = scores, is_whole  # whether their exponentials are chances


class Normaliser(Private):
    """The logarithm of the sum of exponentials of private scores."""

    __slots__ = ("scores",)
    noun = "logarithm of a sum of exponentials of scores"

    def __init__(self, scores: Number) -> None:
        self.scores = scores


class RowCoins(Private):
    """A uniform number for each row."""

    __slots__ = ("is_used", "level", "rows")
    noun = "random number of each record"

    def __init__(self, rows: Any) -> None:
        self.rows, self.is_used, self.level = rows, False, current().level

    def below(self, rate: Any) -> Sampling:
        """``u < rate``."""
        same_step(self.level)
        if isinstance(rate, bool) or not isinstance(rate, int | float | np.floating | np.integer) or not 0 < rate <= 1:
            refuse(
                "a rate of sampling that is no public number above 0 and at most 1", "np.random.random(len(df)) < 0.1"
            )
        if self.is_used:
            refuse(
                "random numbers of records that are compared twice: the samples overlap",
                "random numbers of its own for each",
            )
        self.is_used = True
        return Sampling(float(rate), self.rows)


def same_step(level: tuple[int, ...]) -> None:
    """Refuse noise of another repeated step, which many of its rounds would share, or which would serve many."""
    if level != current().level:
        refuse("noise that is drawn outside of a repeated step and used in it, or the other way round", ANOTHER_STEP)


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.all(np.isfinite(np.asarray(value, float))))
    except (TypeError, ValueError):
        return False


def _difference(draw: Draw) -> Draw:
    law = "laplace" if draw.law == "exponential" else "discrete_laplace"
    difference = draw.like(draw.scales if draw.law == "exponential" else -1 / np.log1p(-draw.scales), draw.places)
    difference.law, difference.used = law, np.zeros(int(draw.used.size), bool)
    return difference


def drawn(source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return what a call of a source of randomness gives."""
    if "random_state" in keywords and keywords["random_state"] is not None:
        refuse("a fixed seed: the noise is the same in every run, which is none", "the call without random_state")
    args, keywords, per = _sized(source, args, keywords)
    if sort_of((args, keywords)) == RELEASED or any(isinstance(each, Token) for each in (*args, *keywords.values())):
        return _by_released(source, args, keywords)
    if not source.takes(args, keywords):
        refuse(f"{source.title} with arguments that it does not take, so that it raises", "those of its signature")
    if source.name == "choice" and source.kind in (Kind.GENERATOR, Kind.LEGACY):
        return _chosen(source, args, keywords)
    if source.name in ("rand", "randn") and not keywords:
        return _drawn("uniform" if source.name == "rand" else "gaussian", 1.0, 0.0, args or None, source)
    bound_call = source.bound(args, keywords)
    if bound_call is None:
        return _unbound(source, args, keywords)
    given, size = bound_call
    law = source.law
    assert law is not None
    if any(
        isinstance(each, Private) and not (name == law.location and isinstance(each, Number))
        for name, each in given.items()
    ):
        refuse(
            f"{source.title} with an argument that is private",
            "a public scale; the private number only as its location",
        )
    location = given.get(law.location, 0.0) if law.location else 0.0
    if isinstance(location, list | tuple) and any(isinstance(each, Private) for each in location):
        if not all(isinstance(each, Number) for each in location):
            refuse(f"{source.title} at a list of private and other values", "noise on each of them")
        location = numbers.stacked(location)
    others = [each for name, each in given.items() if name != law.location]
    if sort_of(others) != PUBLIC or (not isinstance(location, Number) and sort_of(location) != PUBLIC):
        refuse(f"{source.title} with an argument that is not public", "a public scale")
    if law.name == "geometric":
        return _drawn("geometric", given["p"], 0.0, size, source)
    if not law.name or law.name not in ("laplace", "gaussian", "gumbel", "exponential", "uniform", "logistic"):
        return _unbound(source, args, keywords)
    assert law.scale is not None
    return _drawn(law.name, law.scale(**given), location, size, source, per)


def _sized(
    source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Fraction]:
    """Return arguments with as many draws as records, and a scale in units of a power of their number."""
    if source.name in ("rand", "randn"):
        return tuple(map(sizes.as_number, args)), keywords, Fraction(0)
    law = source.law
    names = list(law.parameters) if law is not None else []
    if law is None or source.bound(args, keywords) is None:
        return args, keywords, Fraction(0)
    listed = dict(zip((*names, "size"), args, strict=False)) | keywords
    per, scale = Fraction(0), next((name for name in names if name != law.location), "")
    if law.name in ("laplace", "gaussian") and scale in listed:
        listed[scale], per = sizes.unit(listed[scale])
    if "size" in listed:
        listed["size"] = sizes.as_number(listed["size"])
    return (), listed, per


def how_many(size: Any) -> Any:
    """Return what a size asks for: the length of a frame, how many keys the data hold, or a shape that is public."""
    if isinstance(size, list | tuple) and len(size) == 1:
        (size,) = size
    is_known = isinstance(size, Number) and size.rows is not None
    if not (is_known or (isinstance(size, Private) and hasattr(size, "draws"))) and sort_of(size) != PUBLIC:
        refuse(SO_MANY, "size=len(VALUES), with VALUES of your own")
    return size


def _drawn(law: str, scale: Any, location: Any, size: Any, source: NoiseSource, per: Fraction = Fraction(0)) -> Any:
    size = how_many(size)
    if isinstance(size, Private):
        if per:
            refuse("noise whose scale hangs on the number of records in this form", numbers.ONE_SCALE)
        is_around_0 = not isinstance(location, Number) and np.ndim(location) == 0 and location == 0
        if not isinstance(size, Number):
            return size.draws(law, scale) if is_around_0 else refuse(OFF_CENTRE, "counts + noise")  # type: ignore[attr-defined]
        if law != "uniform":
            refuse("noise for every record", "noise on the sum, or reports of each record under the relation replace")
        if not is_around_0 or np.ndim(scale) or scale != 1:
            refuse("random numbers of records between other ends than 0 and 1", "np.random.random(len(df))")
        return RowCoins(size.rows)
    if isinstance(scale, pd.Series | pd.DataFrame) or not _is_finite(scale) or isinstance(scale, bool):
        refuse("noise of a scale that is no finite number", "a positive scale")
    if law in ("uniform", "logistic"):
        if isinstance(location, Number):
            refuse(f"{law} noise on a private number", "Laplace or Gaussian noise")
        return Token()
    if np.any(np.asarray(scale, float) <= 0) or (law == "geometric" and np.any(np.asarray(scale, float) >= 1)):
        refuse("noise of a scale that is not positive", "a positive scale")
    if size is not None:
        shape = tuple(int(each) for each in size) if np.ndim(size) else (int(size),)
    else:
        shape = np.broadcast_shapes(
            np.shape(scale), location.shape if isinstance(location, Number) else np.shape(location)
        )
    python = source.kind is Kind.PYTHON or not shape
    kind = "int" if law == "geometric" and not shape else "float"
    if source.kind is Kind.SCIPY and not shape:
        kind = "np.float64"
    draw = fresh(law, scale, shape, kind if python else "np.float64", per=per)
    if not isinstance(location, Number) and not np.any(np.asarray(location) != 0):
        return draw
    released = meet(draw, location.as_array() if isinstance(location, Number) else location, 1)
    of_numpy = source.kind in (Kind.GENERATOR, Kind.LEGACY)
    if not of_numpy or not isinstance(released, Token) or shape:
        return released
    return decisions.renamed(current(), released, number("float"))


def fresh(
    law: str, scale: Any, shape: tuple[int, ...], kind: str, details: tuple[tuple[str, float], ...] = (), *,
    per: Fraction = Fraction(0),
) -> Draw:  # fmt: skip
    """Return draws that nobody has seen."""
    scales = np.broadcast_to(np.asarray(scale, float), shape).copy()
    count = int(scales.size)
    return Draw(law, scales, np.zeros(count, bool), kind, np.arange(count).reshape(shape), details, per)


def _by_released(source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if sort_of((args, keywords)) == PRIVATE:
        refuse(f"{source.title} of a private number, with a released scale or size", "a public scale")
    return _picked(source, args, keywords)


def _unbound(source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    sort = sort_of((args, keywords))
    if sort > RELEASED:
        refuse(f"{source.title} of a private value, whose price is not known", NOISE_FIRST)
    if "out" in keywords:
        refuse(f"{source.title} with out=", "its result")
    if source.name in ("shuffle",):
        refuse(f"{source.title}, which changes its argument", "rng.permutation(x)")
    return _picked(source, args, keywords)


_PICKING = {
    "choice": ("a", "size", "replace", "p"), "integers": ("low", "high", "size", "dtype"),
    "randint": ("low", "high", "size", "dtype"),
}  # fmt: skip
"""The arguments of what returns so many of some options."""


def _picked(source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Token:
    """Return what is drawn from public and released options alone, of its length where that is public."""
    names = _PICKING.get(source.name, ()) if source.kind in (Kind.GENERATOR, Kind.LEGACY) else ()
    given = dict(zip(names, args, strict=False)) | keywords
    size, options = given.get("size"), given.get("a", 0)
    if type(size) is not int or size < 0 or given.keys() - set(names) or "dtype" in given:
        return Token()
    if isinstance(options, int | np.integer) or (isinstance(options, Token) and options.is_number):
        return array((size,))
    is_listed = isinstance(options, list | tuple) and all(type(each) is str for each in options)
    return Token((size,), frozenset(("texts",))) if is_listed else Token()


def _chosen(source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``choice(a, size=None, replace=True, p=None)``."""
    names = dict(zip(("a", "size", "replace", "p"), args, strict=False)) | keywords
    chances = names.get("p")
    if isinstance(chances, Exponentials):
        options: Any = names.get("a")
        if chances.what != "chances" or names.get("size") is not None or set(names) - {"a", "p", "size"}:
            refuse("a choice by private chances in this form", "np.random.choice(options, p=e / e.sum())")
        if sort_of(options) > RELEASED:
            refuse("a choice among private options", "public options")
        many = (
            int(options)
            if isinstance(options, int | np.integer)
            else len(options)
            if isinstance(options, list | tuple | range | np.ndarray | pd.Index)
            else -1
        )
        if many != chances.scores.shape[0]:
            refuse_form("a choice among another number of options than there are chances")
        token = select(chances.scores, 1.0)
        if many > decisions.MOST or sort_of(options) != PUBLIC:
            return token
        call = np.random.RandomState(0).choice if source.kind is Kind.LEGACY else np.random.default_rng(0).choice
        return decisions.among(token, [call(options, p=chance) for chance in np.eye(many)])
    if any(sort_of(each) > RELEASED for each in names.values()):
        refuse(
            "a choice by private chances", "e = np.exp(scores * epsilon / 2); np.random.choice(options, p=e / e.sum())"
        )
    return _picked(source, args, keywords)


def meet(draw: Draw, other: Any, sign: int) -> Any:
    """Return the sum of a draw (with its sign) and something."""
    if isinstance(other, Number):
        return release(other, draw, sign)
    if isinstance(other, Draw):
        if (
            draw.law == other.law
            and draw.law in ("exponential", "geometric")
            and sign < 0
            and np.array_equal(draw.scales, other.scales)
        ):
            other.use()
            draw.use()
            return _difference(draw)
        refuse("a sum of two draws, whose law is not known here", "one draw for each number")
    if isinstance(other, Private):
        refuse(f"noise together with a {other.noun}", "a sum or count first, and noise on it")
    if not isinstance(other, Token) and sort_of(other) != PUBLIC:
        refuse("noise on a collection that is not public", "noise on each of its values")
    shape = other.shape if isinstance(other, Token) else np.shape(other)
    draw.use(in_units=True)
    if isinstance(other, Token):
        if other.is_number and not draw.shape:
            return Token((), frozenset(joined(each, draw.kind) for each in other.kinds or ()))
        if other.is_array and shape == draw.shape:
            return array(draw.shape)
        if other.kinds == frozenset(("series",)) and shape == draw.shape:
            return Token(shape, other.kinds, other.labels)
        return Token()
    if not draw.shape and not shape and isinstance(other, int | float | np.generic):
        total = number(joined(draw.kind, "np.float64" if isinstance(other, np.generic) else "float"))
        if draw.law == "laplace" and not draw.per and not draw.is_rounded:
            decisions.followed(current(), total, decisions.Threshold(float(draw.scales)))
        return total
    return (
        array(np.broadcast_shapes(draw.shape, np.shape(other)))
        if isinstance(other, np.ndarray) or not shape
        else Token()
    )


def _refuse_shared(draw: Draw, shape: tuple[int, ...]) -> None:
    if draw.shape != shape:
        refuse("one draw of noise for several numbers", ONE_DRAW_EACH)


def release(exact: Number, draw: Draw, sign: int = 1) -> Any:
    """Add noise to a private number, and note what it costs."""
    if not np.all(np.isfinite(draw.scales)) or np.any(draw.scales <= 0):
        refuse("noise of a scale that is not positive and finite", "a positive scale")
    if draw.law == "gumbel":
        if sign < 0 or np.ptp(draw.scales) > 0 or draw.shape not in ((), exact.shape):
            refuse(
                "Gumbel noise of several scales, or of one draw for several scores",
                "np.random.gumbel(0, scale, size=len(scores))",
            )
        _refuse_shared(draw, exact.shape)
        draw.use()
        return Perturbed(exact, float(np.max(draw.scales)))
    if draw.law in ("exponential", "geometric"):
        if draw.law == "geometric" and not exact.is_whole:
            refuse("whole noise on a number that need not be whole", "np.random.laplace(0, scale)")
        draw.use()
        return Half(exact, draw, sign)
    if draw.law not in _TWO_SIDED:
        refuse(f"{draw.law} noise on a private number, which has no finite price", "Laplace or Gaussian noise")
    shape = np.broadcast_shapes(exact.shape, draw.shape)
    _refuse_shared(draw, shape)
    if exact.shape != shape:
        refuse("one private number with several draws of noise", "one draw for each number")
    if draw.is_whole and not exact.is_whole:
        refuse("whole noise on a number that need not be whole", "np.random.laplace(0, scale)")
    if shape and draw.law in _WHOLE and len(exact.of_array()) > 1:
        refuse("whole noise on a table whose type hangs on the data", ".astype(int) of the table")
    draw.use(in_units=True)
    note(draw.law, exact, draw.scales, draw.details, per=draw.per)
    if not shape:
        kinds = frozenset(joined(each, draw.kind) for each in exact.kinds)
        released = Token((), kinds if "?" not in exact.kinds else frozenset(("float", "np.float64")))
        if draw.law == "laplace" and exact.sample is None and not draw.per and not draw.is_rounded:
            state = current()
            decisions.followed(state, released, decisions.Query(exact, float(draw.scales), state.released, line()))
        return released
    if exact.columns is not None:
        return Token(shape, frozenset(("frame",)), exact.labels, exact.columns)
    released = array(shape) if exact.labels is None else Token(shape, frozenset(("series",)), exact.labels)
    if draw.law == "laplace" and exact.sample is None and not draw.per and len(shape) == 1 and np.ptp(draw.scales) == 0:
        state = current()
        decisions.followed(state, released, decisions.NoisyScores(exact, float(draw.scales[0]), state.released, line()))
    return released


def note(
    law: str, exact: Number, scales: Any, details: tuple[tuple[str, float], ...] = (), *, is_ball: bool = False,
    times: int = 1, per: Fraction = Fraction(0),
) -> None:  # fmt: skip
    """Note a release, by noise whose scales are divided by a power of the public number of records, perhaps."""
    state = current()
    if exact.per < per:
        refuse(numbers.FASTER, numbers.ONE_SCALE)
    if state.record:
        refuse("noise within what is done with each record", "noise on the sum")
    low, high = exact.low.reshape(len(exact.low), -1), exact.high.reshape(len(exact.high), -1)
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        refuse("a private number that may be missing or infinite", ".fillna(0).clip(low, high) first")
    selection, sample = exact.selection, exact.sample
    if sample is not None and state.sampled[sample[0]] != state.level[: len(state.sampled[sample[0]])]:
        refuse("a sample that is drawn anew in a repeated step, and used outside of it", "a sample of its own")
    state.released += 1
    state.told.releases.append(
        Released(
            law,
            exact.axes,
            low,
            high,
            np.broadcast_to(scales, exact.shape).reshape(-1).astype(float),
            (selection.kind, selection.times, selection.number),
            sample,
            line() + sizes.shown(per),
            details,
            state.times * times,
            is_ball,
            state.released,
            steps.vector(exact.terms),
        )
    )


def one_sided(halves: Sequence[Half]) -> Token:
    """Release which of several scores with exponential noise is largest: permute and flip (Ding et al. 2021)."""
    scales = np.concatenate([np.ravel(each.draw.scales) for each in halves])
    if any(each.draw.law != "exponential" or each.sign < 0 for each in halves) or np.ptp(scales) > 0:
        refuse("the largest of scores with noise of several kinds or scales", "noise of one scale on each score")
    if len(halves) == 1 and len(halves[0].number.shape) != 1:
        refuse_form("the largest of one score")
    for each in halves:
        _refuse_shared(each.draw, each.number.shape)
        each.use()
    scores = halves[0].number if len(halves) == 1 else numbers.stacked([each.number for each in halves])
    note("noisy_max", scores, float(scales[0]))
    return number("np.int64")


def select(scores: Number, factor: float) -> Token:
    """Release which score is largest, by exp(factor · score): the exponential mechanism."""
    if len(scores.shape) != 1 or not scores.shape[0]:
        refuse_form("a choice by something else than a list of scores")
    if not 0 < factor < math.inf:
        refuse_form("a choice by scores at a factor that is not positive")
    note("select", scores, 1.0 / factor)
    return Token((), None)


def largest(perturbed: Sequence[Any]) -> Token:
    """Release which of several scores with Gumbel noise is largest."""
    if not all(isinstance(each, Perturbed) for each in perturbed) or len({each.scale for each in perturbed}) > 1:
        refuse("the largest of scores with noise of several kinds or scales", "Gumbel noise of one scale on each score")
    for each in perturbed:
        same_step(each.level)
    if any(each.is_used for each in perturbed):
        refuse("Gumbel noise that is looked at twice", "noise of its own for each choice")
    for each in perturbed:
        each.is_used = True
    if len(perturbed) == 1:
        if not perturbed[0].number.shape:
            refuse_form("the largest of one score")
        return select(perturbed[0].number, 1.0 / perturbed[0].scale)
    return select(numbers.stacked([each.number for each in perturbed]), 1.0 / perturbed[0].scale)
