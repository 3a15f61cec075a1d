"""Which mechanisms of libraries are followed as wholes, and what do they lose by their own statement?

A library draws its noise where it cannot be followed, or element by element. What it states is enough: a unit takes its
input on D and on D′, and says what it loses between the two. Its output is released there and then, so that what is
made of it costs nothing more, and the run on D′ goes on with what the recorded run was given.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.tracing.operations import array_of
from dpaudit.tracing.recording import active
from dpaudit.tracing.values import closed, plain


@dataclass(frozen=True, slots=True)
class Stated:
    """What a unit loses between two inputs, as its library states it.

    Attributes:
        epsilon, delta: of (ε, δ)-differential privacy.
        mu: of Gaussian noise; composed as √Σμ².
        rho: of zero-concentrated differential privacy, where that is all that is stated.
        by: how far the inputs are apart, in the unit's own metric.
        unknown: why no loss is known; empty where one is.
    """

    epsilon: float = 0.0
    delta: float = 0.0
    mu: float = 0.0
    rho: float = 0.0
    by: float = 0.0
    unknown: str = ""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is lost."""
        return not (self.epsilon or self.delta or self.mu or self.rho or self.unknown)


@dataclass(frozen=True, slots=True)
class Unit:
    """One call of a mechanism of a library."""

    taken: Any  # what it was given
    settings: str  # its parameters, as text: they are not to depend on the data
    loss: Callable[[Any, Any], Stated]  # what is lost between two such inputs


def as_unit(
    original: Callable[..., Any],
    what: str,
    made: Callable[..., tuple[Any, str, Callable[[Any, Any], Stated]] | None],
    *,
    site: Callable[[], str],
    asked_again: bool = True,
) -> Callable[..., Any]:
    """Return the followed version of a method of a library."""

    def call(*args: Any, **keywords: Any) -> Any:
        recorder = active()
        if recorder is None:
            return original(*args, **keywords)
        args, keywords = _each_closed(args), {key: closed(array_of(value)) for key, value in keywords.items()}
        where = site()
        with recorder.own_work():
            found = made(*args, **keywords)
            if found is None:
                return original(*args, **keywords)
            taken = _kept(found[0])
            unit = Unit(taken, found[1], found[2])
            known = not asked_again and recorder.knows_outcome
            return _kept(recorder.unit(what, None if known else original(*args, **keywords), where, unit))

    call.__name__ = getattr(original, "__name__", what)
    call.__doc__ = original.__doc__
    return call


def _each_closed(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(closed(array_of(each)) for each in args)


def _kept(taken: Any) -> Any:
    """Return a copy of what may be changed later."""
    try:
        return copy.deepcopy(taken)
    except Exception:
        return taken


# --- how far two inputs are apart ---------------------------------------------------------------------------------


def apart(one: Any, other: Any, order: float = 1) -> float:
    """Return the distance of two numbers, or arrays of numbers, in a norm; infinite where their forms differ."""
    first, second = (np.asarray(plain(each), dtype=np.float64) for each in (one, other))
    if first.shape != second.shape:
        return math.inf
    with np.errstate(invalid="ignore"):
        unlike = np.where((first == second) | (np.isnan(first) & np.isnan(second)), 0.0, abs(first - second)).reshape(
            -1
        )
    if not np.all(np.isfinite(unlike)):
        return math.inf  # NaN, or an infinite number, on one side
    return float(np.linalg.norm(unlike, order)) if unlike.size else 0.0


def records_apart(one: Any, other: Any) -> int:
    """Return how many records are in one of two datasets and not in the other."""
    first, second = Counter(map(_told, records(one))), Counter(map(_told, records(other)))
    return sum(((first - second) + (second - first)).values())


def replaced(one: Any, other: Any) -> float:
    """Return how many records of one dataset are others in the other; infinite where their lengths differ."""
    moved = records_apart(one, other)
    return moved / 2 if len(list(records(one))) == len(list(records(other))) else math.inf


def records(data: Any) -> Iterator[Any]:
    """Go through the records of a list, an array or a frame."""
    if hasattr(data, "toPandas"):
        data = data.toPandas()
    if hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "itertuples"):
        return iter(data.itertuples(index=False, name=None))
    if hasattr(data, "iter_rows"):
        return iter(data.iter_rows())
    if isinstance(data, dict):
        return iter(zip(*data.values(), strict=False))
    return iter(data) if np.ndim(data) or isinstance(data, list | tuple | set) else iter([data])


def _told(record: Any) -> str:
    if isinstance(record, np.ndarray | list | tuple):
        return repr([each.item() if isinstance(each, np.generic) else each for each in record])
    return repr(record.item() if isinstance(record, np.generic) else record)


Made = tuple[Any, str, Callable[[Any, Any], Stated]]


@dataclass(frozen=True, slots=True)
class Row:
    """One method.

    Attributes:
        module, owner, method: where it is; a function of the module where ``owner`` is empty.
        below: whether the methods of subclasses count too, where they have their own.
        made: takes the arguments of a call and returns input, settings and loss, as `units.as_unit` has it.
        inherited: whether the method may be that of a class above.
        followed: makes the followed version of the method, where it is no unit.
    """

    module: str
    owner: str
    method: str
    made: Callable[..., Made | None] | None = None
    followed: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    below: bool = False
    inherited: bool = False


def group_price(epsilon: float, delta: float, times: float, moved: float) -> Stated:
    """Return (kε, k·e^((k−1)ε)·δ) of ``times`` changes, k (Dwork & Roth 2014, Theorem 2.2)."""
    if times == 0:
        return Stated()
    if not math.isfinite(times):
        return Stated(math.inf, by=moved)
    with np.errstate(over="ignore"):
        more = delta * times * float(np.exp(max(times - 1, 0) * epsilon)) if delta else 0.0
    return Stated(epsilon * times, min(more, 1.0), by=moved)
