"""Which functions draw noise, and by which law? One row for each, and how a call of it is followed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.reading import draws
from dpaudit.tracing.laws import OF_KIND, UNIFORM, UNKNOWN, NoiseLaw, geometric_scale
from dpaudit.tracing.operations import array_of
from dpaudit.tracing.recording import NoiseForm, Recorder, active, site
from dpaudit.tracing.values import closed, followed, is_followed, plain

MOST_OPTIONS = 64  # of a choice whose outcomes are all tried

_asarray, _shape, _broadcast_to, _zeros = np.asarray, np.shape, np.broadcast_to, np.zeros


@dataclass(frozen=True, slots=True)
class Drawn:
    """A function that draws location + noise, as a row of `dpaudit.reading.draws` says."""

    law: NoiseLaw  # of the noise
    names: Mapping[str, Any]  # its arguments in their order, with their defaults
    location: str  # which of them is added to the noise; empty where none is
    scale: Callable[..., Any]  # the scale of the noise, from all arguments

    @classmethod
    def of(cls, row: draws.Law) -> Drawn:
        """Return what a trace needs of a row."""
        names = {name: None if each is draws.REQUIRED else each for name, each in row.parameters.items()}
        scale = (lambda p: geometric_scale(p)) if row.name == "geometric" else row.scale or (lambda **_: np.nan)
        return cls(OF_KIND.get(row.name, UNKNOWN), names, row.location, scale)

    def at_zero(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the same draw with location 0."""
        if not self.location:
            return given
        found = {**given, self.location: np.zeros_like(given[self.location], dtype=float)}
        if self.law is UNIFORM:
            high = list(given)[1]
            found[high] = np.subtract(given[high], given[self.location])
        return found


def drawing(name: str, row: Drawn, original: Callable[..., Any], *, bound: bool) -> Callable[..., Any]:
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
                found = original(self, *_each_plain(args), **keywords)
                return recorder.choose(f"scipy.stats.{self.name}", found, told((args, keywords)))
        named = dict(zip(("loc", "scale", "size", "random_state"), args, strict=False)) | keywords
        offset = array_of(named.pop("loc", 0.0))
        scale = closed(array_of(named.pop("scale", 1.0)))
        where = site()
        with recorder.own_work():
            bare = np.zeros_like(plain(offset), dtype=float)
            found = original(self, loc=bare, scale=scale, **named)
            return noted(recorder, law, scale, offset, found, where, f"scipy.stats.{self.name}")

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
        found = draw(*rest, **keywords)
        return recorder.choose(name, found, told((rest, keywords)), _law_of(name, rest, keywords))

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
    found = draw(first, end, size)
    count = int(end) - int(first)

    def chance(outcome: Any) -> float:
        inside = bool(np.all((np.asarray(outcome) >= first) & (np.asarray(outcome) < end)))
        return -np.size(outcome) * math.log(count) if inside else -math.inf

    small = size is None and count <= MOST_OPTIONS
    options = [(first + step, 1 / count) for step in range(count)] if small else None
    return recorder.choose("integers", found, told((first, end, size)), chance, options)


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
    **{name: Drawn.of(row) for name, row in draws.OF_NUMPY.items() if name not in CHOICES_OF_NUMPY},
    "rand": Drawn.of(draws.OF_NUMPY["random"]),
    "randn": Drawn.of(draws.OF_NUMPY["standard_normal"]),
}
OF_RANDOM = {name: Drawn.of(row) for name, row in draws.OF_RANDOM.items()}
OF_SCIPY = {name: OF_KIND[law] for name, law in draws.OF_SCIPY.items() if law}


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
