"""Which functions draw noise, by which law, and which mechanisms of libraries are followed as wholes?

A library draws its noise where it cannot be followed, or element by element. What it states is enough: a unit takes its
input on D and on D′, and says what it loses between the two. Its output is released there and then, so that what is
made of it costs nothing more, and the run on D′ goes on with what the recorded run was given.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS, UNIFORM, UNKNOWN, NoiseLaw, geometric_scale
from dpaudit.reading import draws
from dpaudit.tracing.recording import NoiseForm, Recorder, active, site
from dpaudit.tracing.values import array_of, closed, followed, is_followed, plain

# --- Which functions draw noise, and by which law? -------------------------------------------------------

MOST_OPTIONS = 64  # of a choice whose outcomes are all tried

_asarray, _shape, _broadcast_to, _zeros = np.asarray, np.shape, np.broadcast_to, np.zeros


@dataclass(frozen=True, slots=True)
class DrawingFunction:
    """A function that draws location + noise, as a row of `dpaudit.reading.draws` says."""

    law: NoiseLaw  # of the noise
    names: Mapping[str, Any]  # its arguments in their order, with their defaults
    location: str  # which of them is added to the noise; empty where none is
    scale: Callable[..., Any]  # the scale of the noise, from all arguments

    @classmethod
    def of(cls, row: draws.Law) -> DrawingFunction:
        """Return what a trace needs of a row."""
        names = {name: None if each is draws.REQUIRED else each for name, each in row.parameters.items()}
        scale = (lambda p: geometric_scale(p)) if row.name == "geometric" else row.scale or (lambda **_: np.nan)
        return cls(LAWS.get(row.name, UNKNOWN), names, row.location, scale)

    def at_zero(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the same draw with location 0."""
        if not self.location:
            return given
        arguments = {**given, self.location: np.zeros_like(given[self.location], dtype=float)}
        if self.law is UNIFORM:
            high = list(given)[1]
            arguments[high] = np.subtract(given[high], given[self.location])
        return arguments


def drawing(name: str, row: DrawingFunction, original: Callable[..., Any], *, bound: bool) -> Callable[..., Any]:
    """Return the followed version of a function that draws location + noise."""

    def drawn(*args: Any, **keywords: Any) -> Any:
        recorder = active()
        if recorder is None or keywords.get("out") is not None:
            return original(*_each_plain(args), **{key: plain(value) for key, value in keywords.items()})
        own, rest = (args[:1], args[1:]) if bound else ((), args)
        given = dict(row.names)
        more = list(rest[len(given) :])
        given.update(zip(given, rest, strict=False))
        given.update({key: keywords.pop(key) for key in list(keywords) if key in given})
        offset: Any = array_of(given[row.location]) if row.location else 0.0
        given = {key: plain(value) if key == row.location else closed(array_of(value)) for key, value in given.items()}
        where = site()
        with recorder.own_work():
            scale = row.scale(**given)
            drawn_values = original(*own, *row.at_zero(given).values(), *_each_plain(more), **keywords)
            return noted(recorder, row.law, scale, offset, drawn_values, where, name)

    drawn.__name__ = name
    drawn.__doc__ = original.__doc__
    return drawn


def _each_plain(args: Sequence[Any]) -> list[Any]:
    return [plain(each) for each in args]


def noted(recorder: Recorder, law: NoiseLaw, scale: Any, offset: Any, drawn: Any, where: str, name: str) -> Any:
    """Note a draw, and return what it gives, followed."""
    shape = _shape(drawn)
    flat = _asarray(drawn, dtype=np.float64).reshape(-1)
    spread = _broadcast_to(_asarray(plain(scale), dtype=np.float64), shape).reshape(-1)
    base = _asarray(plain(offset), dtype=np.float64)
    if is_followed(offset):
        offset.mark.used = True
        places = _broadcast_to(np.arange(base.size).reshape(base.shape), shape).reshape(-1)
        added = offset.mark.form.take(places)
    else:
        added = NoiseForm.constant(_broadcast_to(base, shape))
    form, values = recorder.draw(law, spread, added, flat, where, name)
    return followed(values.reshape(shape), form, where, recorder)


def scipy_rvs(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return the followed version of ``rvs`` of the distributions of SciPy."""

    def rvs(self: Any, *args: Any, **keywords: Any) -> Any:
        recorder = active()
        law = OF_SCIPY.get(getattr(self, "name", ""))
        if recorder is None:
            return original(self, *args, **keywords)
        if law is None:
            with recorder.own_work():
                drawn = original(self, *_each_plain(args), **keywords)
                return recorder.choose(f"scipy.stats.{self.name}", drawn, told((args, keywords)))
        named = dict(zip(("loc", "scale", "size", "random_state"), args, strict=False)) | keywords
        offset = array_of(named.pop("loc", 0.0))
        scale = closed(array_of(named.pop("scale", 1.0)))
        where = site()
        with recorder.own_work():
            bare = np.zeros_like(plain(offset), dtype=float)
            drawn = original(self, loc=bare, scale=scale, **named)
            return noted(recorder, law, scale, offset, drawn, where, f"scipy.stats.{self.name}")

    return rvs


# --- what is discrete -------------------------------------------------------------------------------------


def told(value: Any) -> str:
    """Return arguments as text, to be compared."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}:{value.dtype}:{hash(value.tobytes()) if value.dtype != object else value.tolist()}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(told, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key}={told(each)}' for key, each in value.items())})"
    return (
        repr(value) if isinstance(value, int | float | str | bytes | bool | None | np.generic) else type(value).__name__
    )


def choosing(name: str, original: Callable[..., Any], *, bound: bool) -> Callable[..., Any]:
    """Return the followed version of a function that draws something discrete, or of a law that is not shifted."""
    special = _SPECIAL.get(name)

    def chosen(*args: Any, **keywords: Any) -> Any:
        recorder = active()
        if recorder is None:
            return original(*args, **keywords)
        own, rest = (args[:1], args[1:]) if bound else ((), args)
        rest = tuple(closed(array_of(each)) for each in rest)
        keywords = {key: closed(array_of(each)) for key, each in keywords.items()}

        def draw(*arguments: Any, **more: Any) -> Any:
            with recorder.own_work():
                return original(*own, *arguments, **more)

        if special is not None:
            try:
                return special(recorder, draw, *rest, **keywords)
            except _NotSpecialError:
                pass
        drawn = draw(*rest, **keywords)
        return recorder.choose(name, drawn, told((rest, keywords)), _law_of(name, rest, keywords))

    chosen.__name__ = name
    chosen.__doc__ = original.__doc__
    return chosen


class _NotSpecialError(Exception):
    """The call is one whose chances are not worked out."""


def _law_of(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Callable[[Any], float] | None:
    """Return ln P(outcome) of laws that SciPy knows."""
    if name not in ("binomial", "poisson"):
        return None
    from scipy import stats

    names = {"binomial": ("n", "p"), "poisson": ("lam",)}[name]
    given = {**dict(zip(names, args, strict=False)), **keywords}
    law = stats.binom if name == "binomial" else stats.poisson
    values = [given[each] for each in names if each in given]
    return lambda outcome: float(np.sum(law.logpmf(outcome, *values)))


def choose_one(
    recorder: Recorder, what: str, options: Sequence[Any], chances: Sequence[float], place: int, **more: Any
) -> Any:
    """Note that one of several options was drawn; return the one to go on with."""
    texts = [told(each) for each in options]

    def chance(outcome: Any) -> float:
        text = told(outcome)
        total = math.fsum(p for own, p in zip(texts, chances, strict=True) if own == text)
        return math.log(total) if total > 0 else -math.inf

    listed = list(zip(options, map(float, chances), strict=True)) if len(options) <= MOST_OPTIONS else None
    arguments = told((texts, [float(p) for p in chances]))
    return recorder.choose(what, options[place], arguments, chance, listed, **more)


def _choice(
    recorder: Recorder,
    draw: Any,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    *more: Any,
    **other: Any,
) -> Any:
    options = list(range(a)) if isinstance(a, int | np.integer) else list(a)
    if size not in (None, 1, (1,)) or more or other or len(options) > 100_000:
        raise _NotSpecialError
    chances = [1 / len(options)] * len(options) if p is None else [float(each) for each in p]
    place = int(draw(len(options), p=p)) if p is not None else int(draw(len(options)))
    chosen = choose_one(recorder, "choice", options, chances, place)
    return chosen if size is None else np.array([chosen])


def _one_of(recorder: Recorder, draw: Any, seq: Any) -> Any:
    options = list(seq)
    place = int(draw(range(len(options))))
    return choose_one(recorder, "choice", options, [1 / len(options)] * len(options), place)


def _picks(
    recorder: Recorder, draw: Any, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
) -> Any:
    options = list(population)
    if k != 1 or cum_weights is not None:
        raise _NotSpecialError
    total = 1.0 if weights is None else math.fsum(weights)
    chances = [1 / len(options)] * len(options) if weights is None else [each / total for each in weights]
    place = draw(range(len(options)), weights)[0]
    return [choose_one(recorder, "choices", options, chances, place)]


def _integers(
    recorder: Recorder, draw: Any, low: Any, high: Any = None, size: Any = None, *more: Any, **other: Any
) -> Any:
    if more or other or np.ndim(low) or np.ndim(high):
        raise _NotSpecialError
    first, end = (0, low) if high is None else (low, high)
    drawn = draw(first, end, size)
    count = int(end) - int(first)

    def chance(outcome: Any) -> float:
        inside = bool(np.all((np.asarray(outcome) >= first) & (np.asarray(outcome) < end)))
        return -np.size(outcome) * math.log(count) if inside else -math.inf

    small = size is None and count <= MOST_OPTIONS
    options = [(first + step, 1 / count) for step in range(count)] if small else None
    return recorder.choose("integers", drawn, told((first, end, size)), chance, options)


def _permuted(recorder: Recorder, draw: Any, x: Any, **other: Any) -> Any:
    if other:
        raise _NotSpecialError
    count = int(x) if isinstance(x, int | np.integer) else len(x)
    order = recorder.choose("permutation", np.asarray(draw(count)), told(count))
    return order if isinstance(x, int | np.integer) else np.asarray(x)[order]


_SPECIAL: dict[str, Callable[..., Any]] = {
    "choice": _choice,
    "choice of random": _one_of,
    "choices": _picks,
    "integers": _integers,
    "permutation": _permuted,
}
CHOICES_OF_NUMPY = (
    "choice", "integers", "randint", "random_integers", "binomial", "multinomial", "poisson", "permutation", "bytes",
    "dirichlet", "negative_binomial", "hypergeometric", "multivariate_hypergeometric", "multivariate_normal",
    "permuted", "logseries", "zipf", "vonmises", "wald", "power", "f", "noncentral_chisquare", "noncentral_f",
)  # fmt: skip
CHOICES_OF_RANDOM = ("choice", "choices", "sample", "randint", "randrange", "getrandbits", "randbytes", "betavariate",
                     "gammavariate", "lognormvariate", "paretovariate", "triangular", "vonmisesvariate",
                     "weibullvariate")  # fmt: skip

OF_NUMPY = {
    **{name: DrawingFunction.of(row) for name, row in draws.OF_NUMPY.items() if name not in CHOICES_OF_NUMPY},
    "rand": DrawingFunction.of(draws.OF_NUMPY["random"]),
    "randn": DrawingFunction.of(draws.OF_NUMPY["standard_normal"]),
}
OF_RANDOM = {name: DrawingFunction.of(row) for name, row in draws.OF_RANDOM.items()}
OF_SCIPY = {name: LAWS[law] for name, law in draws.OF_SCIPY.items() if law}


def of_numpy(name: str, original: Callable[..., Any], *, bound: bool) -> Callable[..., Any]:
    """Return the followed version of a function of ``numpy.random``."""
    if name in OF_NUMPY:
        return drawing(name, OF_NUMPY[name], original, bound=bound)
    return choosing("integers" if name == "randint" else name, original, bound=bound)


def of_random(name: str, original: Callable[..., Any], *, bound: bool) -> Callable[..., Any]:
    """Return the followed version of a function of ``random``."""
    if name in OF_RANDOM:
        return drawing(name, OF_RANDOM[name], original, bound=bound)
    return choosing("choice of random" if name == "choice" else name, original, bound=bound)


# --- Which mechanisms of libraries are followed as wholes, and what do they lose by their own statement? ---


@dataclass(frozen=True, slots=True)
class Stated:
    """What a unit loses between two inputs, as its library states it."""

    # epsilon, delta: of (ε, δ)-differential privacy
    epsilon: float = 0.0
    delta: float = 0.0
    mu: float = 0.0  # of Gaussian noise; composed as √Σμ²
    rho: float = 0.0  # of zero-concentrated differential privacy, where that is all that is stated
    by: float = 0.0  # how far the inputs are apart, in the unit's own metric
    unknown: str = ""  # why no loss is known; empty where one is

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
            unit_made = made(*args, **keywords)
            if unit_made is None:
                return original(*args, **keywords)
            taken = _kept(unit_made[0])
            unit = Unit(taken, unit_made[1], unit_made[2])
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
    first, second = Counter(map(_told_text, records(one))), Counter(map(_told_text, records(other)))
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


def _told_text(record: Any) -> str:
    if isinstance(record, np.ndarray | list | tuple):
        return repr([each.item() if isinstance(each, np.generic) else each for each in record])
    return repr(record.item() if isinstance(record, np.generic) else record)


Made = tuple[Any, str, Callable[[Any, Any], Stated]]


@dataclass(frozen=True, slots=True)
class DrawingMethod:
    """One method."""

    # module, owner, method: where it is; a function of the module where ``owner`` is empty
    module: str
    owner: str
    method: str
    # takes the arguments of a call and returns input, settings and loss, as `units.as_unit` has it
    made: Callable[..., Made | None] | None = None
    # makes the followed version of the method, where it is no unit
    followed: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    below: bool = False  # whether the methods of subclasses count too, where they have their own
    inherited: bool = False  # whether the method may be that of a class above


def group_price(epsilon: float, delta: float, times: float, moved: float) -> Stated:
    """Return (kε, k·e^((k−1)ε)·δ) of ``times`` changes, k (Dwork & Roth 2014, Theorem 2.2)."""
    if times == 0:
        return Stated()
    if not math.isfinite(times):
        return Stated(math.inf, by=moved)
    with np.errstate(over="ignore"):
        more = delta * times * float(np.exp(max(times - 1, 0) * epsilon)) if delta else 0.0
    return Stated(epsilon * times, min(more, 1.0), by=moved)
