"""Does the function itself compute what was read? Run by Python on numbers of the domain, with all noise 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpaudit.reading import draws, python
from dpaudit.reading.expressions import domain, graph, ways
from dpaudit.verify.moves.movement import LENGTHS, evaluated, evaluated_any

RUNS = 40
_NEAR = 1e-9


class Observed(python.Python):
    """Python itself, where noise is 0 and the likeliest option is chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.chances: list[list[float]] = []

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's; draws are what they are added to."""
        source = draws.source_of(function)
        if source is None:
            return function() if draws.is_maker(function) else super().foreign(function, args, keywords)
        if source.name in ("choice", "choices"):
            return self._chosen(source.name, args, keywords)
        if source.name in _ORDERS and args:
            return _in_order(args[0])
        if source.name in ("binomial", "bernoulli"):
            return int(float(keywords.get("p", args[-1] if args else 0)) > _HEAD)
        if source.law is None or source.law.name == "uniform":
            return _HEAD
        bound_call = source.bound(args, keywords)
        assert bound_call is not None and source.law is not None  # as it was read
        location = bound_call[0].get(source.law.location, 0.0) if source.law.location else 0.0
        return location + np.zeros(bound_call[1]) if bound_call[1] is not None else location * 1.0

    def _chosen(self, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        names = ("a", "size", "replace", "p") if name == "choice" else ("population", "weights")
        given = {**dict(zip(names, args, strict=False)), **keywords}
        options, chances, size = _in_order(given[names[0]]), given.get("p", given.get("weights")), given.get("size")
        if chances is not None:
            total = math.fsum(chances) if name == "choices" else 1.0
            self.chances.append([float(each) / total for each in chances])
        elif size == len(options) and given.get("replace") is False:
            return options
        chosen = options[0 if chances is None else int(np.argmax(chances))]
        return [chosen] if name == "choices" or size is not None else chosen

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        return _nothing if isinstance(owner, domain.GivenNoise) else super().attribute(owner, name)


_ORDERS = ("permutation", "shuffle", "sample")
_HEAD = 1 - 5e-10  # a coin shows its head where its chance is 1


def _in_order(items: Any) -> Any:
    return np.arange(items) if isinstance(items, int | np.integer) else items


def _nothing(scale: Any = 1.0) -> Any:
    return np.zeros(np.shape(scale)) if np.shape(scale) else 0.0


def disagreement(
    function: Callable[..., Any],
    reading: ways.NumbersReading,
    numbers: Any,
    container: str,
    parameters: Mapping[str, Any],
    given: Mapping[str, Callable[[], Any]],
    seed: int,
) -> str:
    """Say where runs of the function differ from what was read of it; empty where they do not."""
    rng = np.random.default_rng(seed)
    lengths = LENGTHS if numbers.length is None else (numbers.length,)
    evaluate = evaluated_any if numbers.length is None else evaluated
    for length in lengths:
        low, high, shape = float(numbers.low), float(numbers.high), (RUNS // len(lengths), length)
        points = rng.uniform(low, high, shape)
        ends = rng.random(shape) < 0.25
        half = shape[0] // 2
        points[:half] = np.where(ends, np.where(rng.random(shape) < 0.5, low, high), points)[:half]
        if why := _on(points, function, reading, evaluate, container, parameters, given):
            return why
    return ""


def _on(
    points: Any,
    function: Callable[..., Any],
    reading: ways.NumbersReading,
    evaluate: Callable[[graph.Value, Any], Any],
    container: str,
    parameters: Mapping[str, Any],
    given: Mapping[str, Callable[[], Any]],
) -> str:
    """Say where runs on these lists, one a row, differ from what was read."""
    wanted = [[evaluate(value, points) for value in release.values] for release in reading.releases]
    chosen = [number for number, each in enumerate(reading.releases) if each.how == graph.CHOSEN]
    for run, point in enumerate(points):
        observed = Observed()
        data: Any = point.copy() if container == "array" else point.tolist()
        with np.errstate(all="ignore"):
            try:
                result = observed.run(function, data, **parameters, **{name: make() for name, make in given.items()})
            except Exception as error:
                return f"on {_numbers_text(point)} it raises {type(error).__name__}: {error}"
        if len(observed.chances) != len(chosen):
            return f"on {_numbers_text(point)} it makes {len(observed.chances)} choices, and {len(chosen)} were read"
        for number, chances in zip(chosen, observed.chances, strict=True):
            read = np.array([float(each[run]) for each in wanted[number]])
            if reading.releases[number].law == graph.SCORES:
                read = np.exp(read - read.max()) / np.exp(read - read.max()).sum()
            if len(read) != len(chances) or not np.allclose(chances, read, rtol=_NEAR, atol=1e-12):
                return f"on {_numbers_text(point)} it chooses by other chances than were read"
        if why := _unlike(reading, reading.result, result, run, wanted, (evaluate, points)):
            return f"on {_numbers_text(point)} {why}"
    return ""


def _unlike(reading: ways.NumbersReading, shown: Any, result: Any, run: int, wanted: Any, points: Any) -> str:
    """Say how a result differs from what was read."""
    if isinstance(shown, graph.Seen):
        if len(shown.form) != 2 or shown.form[0] != "release":
            return ""  # made of outputs with noise
        release, values = reading.releases[shown.form[1]], wanted[shown.form[1]]
        if release.how == graph.ADDED:
            return _deviation_text(result, values[0][run])
        scores = sorted(float(each[run]) for each in values)
        if release.how == graph.SELECTED and scores[-1] - scores[-2] > _NEAR:
            best = max(range(len(values)), key=lambda place: values[place][run])
            return "" if int(result) == best else f"the largest is number {int(result)}, and number {best} was read"
        return ""
    if isinstance(shown, graph.Value):
        return _deviation_text(result, float(points[0](shown, points[1][run : run + 1])[0]))
    if isinstance(shown, list):
        parts = (
            list(result.values())
            if isinstance(result, dict)
            else np.ravel(result).tolist()
            if isinstance(result, np.ndarray)
            else list(result)
        )
        if len(parts) != len(shown):
            return f"it returns {len(parts)} numbers, and {len(shown)} were read"
        reasons = (_unlike(reading, one, other, run, wanted, points) for one, other in zip(shown, parts, strict=True))
        return next((each for each in reasons if each), "")
    return ""


def _deviation_text(result: Any, wanted: float) -> str:
    try:
        number = float(result)
    except (TypeError, ValueError):
        return f"it returns a {type(result).__name__}, and a number was read"
    if math.isfinite(number) and abs(number - wanted) <= _NEAR * max(1.0, abs(wanted)):
        return ""
    return f"it computes {number:.12g}, and {wanted:.12g} was read"


def _numbers_text(point: Any) -> str:
    return f"[{', '.join(f'{each:.6g}' for each in point)}]"
