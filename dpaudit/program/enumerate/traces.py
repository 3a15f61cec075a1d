"""Which sequences of draws can one run have, and how likely is each? Every trace, with its weight.

The reading checks itself: traces are run again on plain numbers, and must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpaudit.decimals import short_decimal
from dpaudit.errors import UsageError
from dpaudit.program.enumerate.given import Whole
from dpaudit.program.enumerate.number import Exact, exact
from dpaudit.program.enumerate.refusal import READING, NotExactError, refuse
from dpaudit.program.fold import Reached
from dpaudit.program.laws import LAWS
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import Raised, run_once, same
from dpaudit.program.symbolic.budget import count_path, spend

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


class Trace(Noise):
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
        found = [_weight("choice", "a weight", weight) for weight in weights]
        if len(found) != len(options):
            raise ValueError(f"noise.choice: {len(options)} options, but {len(found)} weights")
        total = sum(found, Fraction(0))
        if any(weight < 0 for weight in found) or not total:
            raise ValueError("noise.choice: weights must be finite, not negative, and not all zero")
        return options[self._branch([plain_weight(weight / total) for weight in found])]

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
    if type(value) is float and (found := short_decimal(value)) is not None:
        return found
    if isinstance(value, Fraction):
        return value
    try:
        return plain_weight(exact(value))
    except TypeError:
        raise TypeError(f"noise.{method}: {what} must be a number, not {type(value).__name__}") from None


class _Replayed(Noise):
    """The plain twin of a trace: the same choices, for a program that runs on plain numbers."""

    __slots__ = ("_asked", "_next", "_taken", "agrees")

    def __init__(self, trace: Trace) -> None:
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


class Budget:
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
    read: Callable[[Noise], Any], plainly: Callable[[Noise], Any], budget: Budget
) -> Iterator[tuple[Any, Weight]]:
    """Yield every trace of a program as its output (or `Raised`) and its weight."""
    pending: list[tuple[list[int], list[Any]]] = [([], [])]
    while pending:
        budget.spend()
        trace = Trace(*pending.pop())
        output = followed(read, trace)
        if budget.checks or isinstance(output, Raised):
            budget.checks = max(0, budget.checks - 1)
            output = _checked(plainly, trace, output)
        pending += [([*trace.taken[:at], other], trace.asked[: at + 1]) for at, other in trace.branches]
        yield output, trace.weight


def followed(read: Callable[[Noise], Any], trace: Trace) -> Any:
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


def _checked(plainly: Callable[[Noise], Any], trace: Trace, output: Any) -> Any:
    """Return the output of a trace after comparing it with a run on plain numbers.

    Both must ask for the same probabilities, and return the same value or raise the same exception; of an exception,
    the message of the plain run is kept.
    """
    noise = _Replayed(trace)
    output, before = _apart(output), floated(output)  # the plain run may fill the same list
    plain = run_once(plainly, noise)
    raised = isinstance(plain, Raised) and isinstance(output, Raised) and plain.kind == output.kind
    alike = raised or same(floated(plain), before)
    if not (alike and noise.complete):
        raise UsageError(
            "no exact reading: on the same draws the program behaves differently with exact numbers than with plain "
            f"ones ({output!r:.80} and {plain!r:.80}); it looks at the types of its parameters or keeps state"
        )
    return plain if raised else output


def _apart(value: Any) -> Any:
    """Return an output with its lists and dicts copied."""
    if type(value) in (list, tuple):
        return type(value)(map(_apart, value))
    if type(value) is dict:
        return {key: _apart(item) for key, item in value.items()}
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
