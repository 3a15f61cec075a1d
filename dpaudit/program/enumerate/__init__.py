"""What does a program return, and with which exact probability? The exact reading of discrete noise.

A *trace* is one possible sequence of draws of a run; its weight is the product of the probabilities that the program
asked for. All traces together give the exact law of the output. Numbers stay exact on the way: parameters and data are
the decimals that are written (`Exact`, `Whole`), and ``math.exp`` of one is a symbol, not a float. So randomised
response at ε = 1 has the ratio e, not 2.718….

The numbers form the field of quotients of sums Σ c·e^r with rational c and r (`number`). If a program needs
something that is not exact (a float, a root), it is refused, and the message names the line (`number.refuse`). A float
that the program computes from its own literals counts as the decimal that Python writes for it, if that has at most 15
digits.
"""

from __future__ import annotations

import collections
import copy
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.decimals import decimal_of, short_decimal
from dpaudit.errors import UsageError
from dpaudit.program.enumerate.number import (
    READING,
    Exact,
    NotExactError,
    Whole,
    exact,
    exact_exponentials,
    exact_parameters,
    exactly,
    parameter_of,
    parse_exact,
    refuse,
)
from dpaudit.program.fold import Fold, Reached
from dpaudit.program.laws import LAWS
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import Raised, is_told, run_once, same, told_as_text
from dpaudit.program.symbolic.linear import count_path, spend

__all__ = [
    "MOST_TRACES",
    "Exact",
    "NotExactError",
    "OutputLaw",
    "Weight",
    "Whole",
    "exact",
    "exact_reading",
    "output_text",
    "parameter_of",
    "parse_exact",
]

# --- Which sequences of draws can one run have, and how likely is each? Every trace, with its weight ---
#
# The reading checks itself: traces are run again on plain numbers, and must agree.

MOST_TRACES = 200_000  # about a minute
MOST_DRAWS_OF_A_TRACE = 500  # beyond it a loop is taken to be endless
_CHECKED_TRACES = 4_096
_CLOSE = 1e-9  # the largest difference between a probability and its float

Weight = Fraction | Exact


@lru_cache(maxsize=4096)
def _rising(method: str, *arguments: Weight) -> tuple[list[Any], list[Weight]]:
    """Return the values of a draw with finite support in ascending order, and the probability of each."""
    known = LAWS[method].outcomes
    assert known is not None
    outcomes = sorted(known(*arguments).items())
    return [value for value, _ in outcomes], [weight for _, weight in outcomes]


class DrawTrace(Noise):
    """The noise of one trace: it follows a prefix of choices, and from there on takes the first possible one."""

    __slots__ = ("_prefix", "asked", "branches", "refused", "taken", "weight")

    def __init__(self, prefix: Sequence[int] = (), asked: Sequence[Any] = ()) -> None:
        self._prefix = prefix
        self.asked: list[Any] = list(asked)
        self.taken: list[int] = []
        self.branches: list[tuple[int, int]] = []
        self.weight: Any = Fraction(1)
        self.refused: str | None = None

    def _branch(self, weights: list[Weight]) -> int:
        spend(4)
        position = len(self.taken)
        if position >= MOST_DRAWS_OF_A_TRACE:
            refuse(f"one run draws more than {MOST_DRAWS_OF_A_TRACE:,} times; a loop needs an end to be enumerated")
        if position < len(self._prefix):
            index = self._prefix[position]
            if weights != self.asked[position]:
                refuse("a second call asked for other probabilities; a program must keep no state between calls")
        else:
            index, *others = (option for option, weight in enumerate(weights) if weight)
            self.branches += [(position, other) for other in others]
            del self.asked[position:]
            self.asked.append(weights)
        self.weight = self.weight * weights[index]
        self.taken.append(index)
        return index

    def bernoulli(self, probability: Any, size: Any = None) -> Any:
        """True with the given exact probability."""
        if size is not None:
            return super().bernoulli(probability, size)
        chance = _weight("bernoulli", "a probability", probability)
        if isinstance(chance, Fraction) and 0 <= chance.numerator <= chance.denominator:  # faster than a comparison
            return self._draw("bernoulli", chance)
        return super().bernoulli(probability)

    def choice(self, options: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
        """One of the options, with exact probabilities."""
        options = list(options)
        if not options:
            raise ValueError("noise.choice: there must be at least one option")
        if weights is None:
            return options[self._branch([Fraction(1, len(options))] * len(options))]
        exact_weights = [_weight("choice", "a weight", weight) for weight in weights]
        if len(exact_weights) != len(options):
            raise ValueError(f"noise.choice: {len(options)} options, but {len(exact_weights)} weights")
        total = sum(exact_weights, Fraction(0))
        if any(weight < 0 for weight in exact_weights) or not total:
            raise ValueError("noise.choice: weights must be finite, not negative, and not all zero")
        return options[self._branch([plain_weight(weight / total) for weight in exact_weights])]

    def _pick(self, weights: Sequence[float]) -> int:
        raise NotImplementedError  # `choice` does not use it

    def _argument(self, method: str, what: str, value: Any) -> Any:
        return value if LAWS[method].outcomes is None else _weight(method, what, value)

    def _draw(self, method: str, *arguments: Any) -> Any:
        law = LAWS[method]
        if law.outcomes is not None:
            values, weights = _rising(method, *arguments)
            return values[self._branch(weights)]
        if law.is_discrete:
            refuse(
                f"noise.{method} has infinitely many values, and an exact reading follows every one; clamp it: "
                "noise.choice(range(low, high + 1), weights) with the weights written by math.exp"
            )
        refuse(f"noise.{method} is continuous, and an exact reading follows every value of discrete noise only")


def plain_weight(number: Any) -> Weight:
    """Return a number, as a `Fraction` if it is rational."""
    return exact_fraction if isinstance(number, Exact) and (exact_fraction := number.fraction) is not None else number


def _weight(method: str, what: str, value: Any) -> Weight:
    if type(value) is float and (decimal := short_decimal(value)) is not None:
        return decimal
    if isinstance(value, Fraction):
        return value
    try:
        return plain_weight(exact(value))
    except TypeError:
        raise TypeError(f"noise.{method}: {what} must be a number, not {type(value).__name__}") from None


class _Replayed(Noise):
    """The plain twin of a trace: the same choices, for a program that runs on plain numbers."""

    __slots__ = ("_asked", "_next", "_taken", "agrees")

    def __init__(self, trace: DrawTrace) -> None:
        self._taken, self._asked = trace.taken, trace.asked
        self._next = 0
        self.agrees = True

    def _follow(self, chances: Sequence[float]) -> int:
        position = self._next
        self._next += 1
        if position >= len(self._taken) or len(chances) != len(self._asked[position]):
            self.agrees = False
            return 0
        expected = map(nearest_float, self._asked[position])
        self.agrees &= all(abs(p - q) <= _CLOSE for p, q in zip(chances, expected, strict=True))
        return self._taken[position]

    def _draw(self, method: str, *arguments: Any) -> Any:
        known = LAWS[method].outcomes
        if known is None:
            self.agrees = False
            return 0
        outcomes = sorted(known(*map(float, arguments)).items())
        return outcomes[self._follow([chance for _, chance in outcomes])][0]

    def _pick(self, weights: Sequence[float]) -> int:
        return self._follow([weight / sum(weights) for weight in weights])

    @property
    def complete(self) -> bool:
        """Whether the run asked for all probabilities of the trace."""
        return self.agrees and self._next == len(self._taken)


def nearest_float(number: Any) -> float:
    """Return an exact or plain number as a float."""
    return number.approximate() if isinstance(number, Exact) else float(number)


class TraceBudget:
    """How many traces may still be followed, and how many will still be checked."""

    def __init__(self, traces: int) -> None:
        self.allowed = traces
        self.followed = 0
        self.checks = _CHECKED_TRACES

    def spend(self) -> None:
        """Use up one trace; `UsageError` if none is left."""
        if self.followed == self.allowed:
            raise UsageError(
                f"the program has more than {self.allowed:,} traces on one dataset; take less data, write it as a Fold "
                "(equal states are merged), or allow more traces"
            )
        self.followed += 1
        count_path()


def all_traces(
    read: Callable[[Noise], Any], plainly: Callable[[Noise], Any], budget: TraceBudget
) -> Iterator[tuple[Any, Weight]]:
    """Yield every trace of a program as its output (or `Raised`) and its weight."""
    pending: list[tuple[list[int], list[Any]]] = [([], [])]
    while pending:
        budget.spend()
        trace = DrawTrace(*pending.pop())
        output = followed(read, trace)
        if budget.checks or isinstance(output, Raised):
            budget.checks = max(0, budget.checks - 1)
            output = _checked(plainly, trace, output)
        pending += [([*trace.taken[:at], other], trace.asked[: at + 1]) for at, other in trace.branches]
        yield output, trace.weight


def followed(read: Callable[[Noise], Any], trace: DrawTrace) -> Any:
    """Run one trace; raise a refusal even if the program swallowed it."""
    token = READING.set(trace)
    try:
        output = run_once(read, trace)
    except NotExactError:
        output = None
    finally:
        READING.reset(token)
    if trace.refused is not None:
        raise UsageError(f"no exact reading: {trace.refused}")
    return output


def _checked(plainly: Callable[[Noise], Any], trace: DrawTrace, output: Any) -> Any:
    """Return the output of a trace after comparing it with a run on plain numbers.

    Both must ask for the same probabilities, and return the same value or raise the same exception; of an exception,
    the message of the plain run is kept.
    """
    noise = _Replayed(trace)
    output, before = _copied(output), floated(output)  # the plain run may fill the same list
    plain = run_once(plainly, noise)
    raised = isinstance(plain, Raised) and isinstance(output, Raised) and plain.kind == output.kind
    alike = raised or same(floated(plain), before)
    if not (alike and noise.complete):
        raise UsageError(
            "no exact reading: on the same draws the program behaves differently with exact numbers than with plain "
            f"ones ({output!r:.80} and {plain!r:.80}); it looks at the types of its parameters or keeps state"
        )
    return plain if raised else output


def _copied(value: Any) -> Any:
    """Return an output with its lists and dicts copied."""
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value


def floated(value: Any) -> Any:
    """Return an output with plain numbers in place of exact ones."""
    if isinstance(value, Exact):
        return value.approximate()
    if isinstance(value, Whole):
        return int(value)
    if isinstance(value, Raised):
        return Raised(value.kind, value.message, tuple((name, floated(member)) for name, member in value.details))
    if isinstance(value, Reached):
        return Reached(floated(value.state), floated(value.emitted), value.is_over)
    if type(value) in (list, tuple):
        return type(value)(map(floated, value))
    if type(value) is dict:
        return {floated(key): floated(item) for key, item in value.items()}
    return value


_NUMPY = (np.bool_, np.int64, np.float64, np.str_)


@dataclass(frozen=True)
class OutputLaw:
    """The exact law of an output on one dataset."""

    # the text of every possible output → its probability, a `Fraction` if it is rational; sorted
    weights: Mapping[str, Weight]
    traces: int  # how many execution traces of the program were followed


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
        raised = floated(output)
        if not is_told(raised):
            raise UsageError(f"an exact reading cannot tell exceptions apart that hold what no text tells ({raised})")
        if "at 0x" in str(raised):
            raise UsageError("an exact reading cannot tell exceptions apart that say where in memory an object lies")
        text = f"Raised(kind={raised.kind!r}, message={raised.message!r}"
        return text + "".join(f", {name}={told_as_text(value)}" for name, value in raised.details) + ")"
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
    budget = TraceBudget(most_traces)
    if isinstance(function, Fold):
        outcomes = _fold_outcomes(function, read, given, plain, budget)
    else:
        outcomes = all_traces(
            lambda noise: function(read, noise=noise, **given),
            lambda noise: function(copy.deepcopy(data), noise=noise, **plain),
            budget,
        )
    law: dict[str, Any] = {}
    with exact_exponentials():
        for output, weight in outcomes:
            text = output_text(output)
            law[text] = law.get(text, Fraction(0)) + weight
    if not same(floated(read), floated(before)):
        raise UsageError("no exact reading: the program changes its data")
    weights = {text: plain_weight(law[text]) for text in sorted(law)}
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
        targets = []
        for target, weight in merged.items():
            place = self._places.setdefault(str(weight), len(self._weights))
            if place == len(self._weights):
                self._weights.append(plain_weight(weight))
            targets.append((target, place))
        self.targets[state] = targets
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
    fold: Fold, data: Iterable[Any], given: Mapping[str, Any], plain: Mapping[str, Any], budget: TraceBudget
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
    fold: Fold, state: Reached, record: Any, given: Mapping[str, Any], plain: Mapping[str, Any], budget: TraceBudget
) -> Iterator[tuple[Any, Weight]]:
    return all_traces(
        lambda noise: fold.after(copy.deepcopy(state), record, noise, **given),
        lambda noise: fold.after(floated(copy.deepcopy(state)), floated(record), noise, **plain),
        budget,
    )


def _finished(fold: Fold, value: Any) -> Any:
    if isinstance(value, Raised):
        return value
    return followed(lambda _: fold.output(value), DrawTrace())
