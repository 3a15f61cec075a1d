"""Which outputs does a program have, and exactly how likely is each? The law of one dataset."""

from __future__ import annotations

import collections
import copy
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.decimals import decimal_of
from dpaudit.errors import UsageError
from dpaudit.program.enumerate.given import Whole, exact_exponentials, exact_parameters, exactly
from dpaudit.program.enumerate.number import Exact, exact
from dpaudit.program.enumerate.traces import (
    MOST_TRACES,
    Budget,
    Trace,
    Weight,
    all_traces,
    floated,
    followed,
    plain_weight,
)
from dpaudit.program.fold import Fold, Reached
from dpaudit.program.outcome import Raised, is_told, same, told_as_text

_NUMPY = (np.bool_, np.int64, np.float64, np.str_)


@dataclass(frozen=True)
class OutputLaw:
    """The exact law of an output on one dataset.

    Attributes:
        weights: the text of every possible output → its probability, a `Fraction` if it is rational; sorted.
        traces: how many execution traces of the program were followed.
    """

    weights: Mapping[str, Weight]
    traces: int


def output_text(output: Any) -> str:
    """Return a text that distinguishes outputs by type and value; `UsageError` for an object without such a text."""
    kind = type(output)
    if kind in _NUMPY:
        return output_text(output.item())
    if kind is Exact:
        return _float_text(output)
    if issubclass(kind, Enum):
        return f"{kind.__qualname__}.{output.name}"
    if kind in (int, Whole):
        return repr(int(output))
    if kind is float and math.isnan(output):
        return struct.pack(">d", output).hex() if math.copysign(1, output) < 0 or _payload(output) else "nan"
    if output is None or kind in (bool, float, str, bytes):
        return repr(output)
    if kind is Raised:
        return _exception_text(output)
    if kind is np.ndarray:
        plain = output.dtype.name in ("bool", "int64", "float64", "object")
        return f"array({'' if plain and output.size else output.dtype.str}{output_text(output.tolist())})"
    if kind in (list, tuple, set, frozenset) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        parts = list(map(output_text, tuple.__iter__(output) if issubclass(kind, tuple) else output))
        name = "" if kind in (list, tuple, set) else kind.__qualname__
        opening, closing = ("[", "]") if kind is list else ("(", ")")
        if kind in (set, frozenset):
            opening, closing = "{", "}"
        return name + opening + ", ".join(sorted(parts) if kind in (set, frozenset) else parts) + closing
    if kind in (dict, collections.OrderedDict):
        return "{" + ", ".join(f"{output_text(key)}: {output_text(item)}" for key, item in output.items()) + "}"
    if is_dataclass(kind):
        names = [field.name for field in fields(output)]
        names += [name for name in getattr(output, "__dict__", {}) if name not in names]
        parts = [f"{name}={output_text(object.__getattribute__(output, name))}" for name in names]
        return f"{kind.__qualname__}({', '.join(parts)})"
    raise UsageError(
        f"an exact reading cannot tell outputs of the type {kind.__qualname__} apart; return plain numbers, texts, "
        "lists, tuples, dicts, sets or arrays"
    )


def _float_text(output: Exact) -> str:
    """Write an exact number as a float, since it stands for a float of the plain program, and never as an int."""
    number = output.fraction
    if number is None:
        return str(output)
    try:
        near = number.numerator / number.denominator if number else output.approximate()
    except OverflowError:
        near = math.inf
    if math.isfinite(near) and decimal_of(near) == number:
        return repr(near)
    return str(output) + (".0" if number.denominator == 1 else "")


def _payload(number: float) -> int:
    """Return the bits of a NaN, which distinguish it from others."""
    return int.from_bytes(struct.pack(">d", number), "big") & ((1 << 51) - 1)


def _exception_text(output: Raised) -> str:
    found = floated(output)
    if not is_told(found):
        raise UsageError(f"an exact reading cannot tell exceptions apart that hold what no text tells ({found})")
    if "at 0x" in str(found):
        raise UsageError("an exact reading cannot tell exceptions apart that say where in memory an object lies")
    text = f"Raised(kind={found.kind!r}, message={found.message!r}"
    return text + "".join(f", {name}={told_as_text(value)}" for name, value in found.details) + ")"


def exact_reading(
    function: Callable[..., Any],
    data: Any,
    parameters: Mapping[str, Any] | None = None,
    *,
    most_traces: int = MOST_TRACES,
) -> OutputLaw:
    """Return the exact law of a program's output on one dataset.

    Args:
        function: ``f(data, noise, **parameters)``, or a `Fold`, whose equal states are merged.
        data: the dataset; floats in it count as the decimals that are written.
        parameters: all parameters; floats count as decimals, so 0.75 is ¾.
        most_traces: how many execution traces may be followed.

    Raises:
        UsageError: if the program draws continuous or infinitely many values, needs a number that is not exact, has
            too many traces, or depends on anything besides its data, parameters and noise. The message names the line.
    """
    plain = dict(parameters or {})
    read, given = exactly(data), exact_parameters(plain)
    before = copy.deepcopy(read)
    budget = Budget(most_traces)
    if isinstance(function, Fold):
        outcomes = _fold_outcomes(function, read, given, plain, budget)
    else:
        outcomes = all_traces(
            lambda noise: function(read, noise=noise, **given),
            lambda noise: function(copy.deepcopy(data), noise=noise, **plain),
            budget,
        )
    found: dict[str, Any] = {}
    with exact_exponentials():
        for output, weight in outcomes:
            text = output_text(output)
            found[text] = found.get(text, Fraction(0)) + weight
    if not same(floated(read), floated(before)):
        raise UsageError("no exact reading: the program changes its data")
    weights = {text: plain_weight(found[text]) for text in sorted(found)}
    if sum(weights.values(), Fraction(0)) != 1:
        raise UsageError("no exact reading: the traces do not sum to 1; the program keeps state between calls")
    return OutputLaw(weights, budget.followed)


class _States:
    """States, numbered in the order of their first appearance; states with equal texts are equal."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[tuple[bool, str], int] = {}

    def number(self, value: Any) -> int:
        """Return the number of a state."""
        over = isinstance(value, Raised) or value.is_over
        key = (over, output_text(value if isinstance(value, Raised) else [value.state, value.emitted]))
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]

    def ended(self, number: int) -> bool:
        """Whether the loop is over in this state."""
        value = self.values[number]
        return isinstance(value, Raised) or value.is_over


class _Moves:
    """Where one record (or the start) leads from each state, as numerators over one denominator, ``scale``."""

    def __init__(self) -> None:
        self.targets: dict[int, list[tuple[int, int]]] = {}
        self.numerators: list[Any] = []
        self.scale: Any = 1
        self._weights: list[Weight] = []
        self._places: dict[str, int] = {}

    def learn(self, state: int, outcomes: Iterable[tuple[Any, Weight]], states: _States) -> None:
        """Record what a step does in one state."""
        merged: dict[int, Any] = {}
        for value, weight in outcomes:
            target = states.number(value)
            merged[target] = merged.get(target, Fraction(0)) + weight
        found = []
        for target, weight in merged.items():
            place = self._places.setdefault(str(weight), len(self._weights))
            if place == len(self._weights):
                self._weights.append(plain_weight(weight))
            found.append((target, place))
        self.targets[state] = found
        self.numerators, self.scale = _common(self._weights)


def _common(weights: Sequence[Weight]) -> tuple[list[Any], Any]:
    """Return numerators of the weights over a common denominator, and that denominator; integers if possible."""
    rational = [weight for weight in weights if isinstance(weight, Fraction)]
    if len(rational) == len(weights):
        scale = math.lcm(*(weight.denominator for weight in rational))
        return [weight.numerator * (scale // weight.denominator) for weight in rational], scale
    parts = [exact(weight).parts for weight in weights]
    bottoms = {str(bottom): bottom for _, bottom in parts}
    numerators = []
    for top, bottom in parts:
        others = (factor for text, factor in bottoms.items() if text != str(bottom))
        numerators.append(math.prod(others, start=top))
    return numerators, math.prod(bottoms.values(), start=Exact(1))


def _fold_outcomes(
    fold: Fold, data: Iterable[Any], given: Mapping[str, Any], plain: Mapping[str, Any], budget: Budget
) -> Iterator[tuple[Any, Weight]]:
    """Propagate the law of the state from record to record, each state once."""
    states, start = _States(), _Moves()
    known: dict[str, _Moves] = {}
    begin = all_traces(lambda noise: fold.start(noise, **given), lambda noise: fold.start(noise, **plain), budget)
    start.learn(-1, begin, states)
    law: dict[int, Any] = {target: start.numerators[place] for target, place in start.targets[-1]}
    total: Any = start.scale
    for record in data:
        moves = known.setdefault(output_text(record), _Moves())
        for state in law:
            if state not in moves.targets and not states.ended(state):
                moves.learn(state, _step(fold, states.values[state], record, given, plain, budget), states)
        after: dict[int, Any] = {}
        for state, mass in law.items():
            if states.ended(state):
                after[state] = after.get(state, 0) + mass * moves.scale
                continue
            for target, place in moves.targets[state]:
                after[target] = after.get(target, 0) + mass * moves.numerators[place]
        law, total = after, total * moves.scale
    for state, mass in law.items():
        value = states.values[state]
        yield _finished(fold, value), Fraction(mass, total) if isinstance(mass, int) else mass / exact(total)


def _step(
    fold: Fold, state: Reached, record: Any, given: Mapping[str, Any], plain: Mapping[str, Any], budget: Budget
) -> Iterator[tuple[Any, Weight]]:
    return all_traces(
        lambda noise: fold.after(copy.deepcopy(state), record, noise, **given),
        lambda noise: fold.after(floated(copy.deepcopy(state)), floated(record), noise, **plain),
        budget,
    )


def _finished(fold: Fold, value: Any) -> Any:
    if isinstance(value, Raised):
        return value
    return followed(lambda _: fold.output(value), Trace())
