"""What is the exact privacy loss, where the law of the output is known?

From the exact laws of a program with discrete noise (`dpaudit.program.enumerate`): the largest ratio e^ε over
pairs, as a rational number or a quotient of exponentials. Over given pairs that is a lower bound of the mechanism's
loss, and refutes a claim that it exceeds. Over every neighbouring pair of an enumerated domain it is the loss itself,
for that domain and no larger one.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, cast

from dpaudit.decimals import short_decimal
from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation, parse_relation
from dpaudit.program.enumerate import (
    MOST_TRACES,
    Exact,
    OutputLaw,
    Weight,
    exact,
    exact_reading,
    output_text,
    parameter_of,
    parse_exact,
)
from dpaudit.targets.mechanism import Mechanism

Number = int | float | str | Fraction | Exact
_MOST_LETTERS = 2_000_000  # of all laws in a record: without them nobody can check it
_ROUNDINGS = 8  # how far the logarithm of a rounded quotient may be off, in units in the last place


@dataclass(frozen=True)
class EnumeratedScope:
    """What an exact number is about."""

    datasets: tuple[str, ...]  # the texts of the datasets whose laws were read
    pairs: int  # how many unordered pairs of them were compared
    # whether these are all neighbouring pairs of a whole domain, so that the number is also an upper bound over
    # that domain
    enumerated: bool
    traces: int  # how many execution traces of the program were followed
    digest: str  # SHA-256 of all laws in the order of the datasets

    @property
    def sides(self) -> tuple[str, ...]:
        """Which bounds of the loss the number gives: "lower", and over a whole domain also "upper"."""
        return ("lower", "upper") if self.enumerated else ("lower",)

    def __str__(self) -> str:
        if self.enumerated:
            return f"all {self.pairs:,} neighbouring pairs among the {len(self.datasets):,} datasets of the domain"
        return f"{self.pairs:,} given pair{'s' if self.pairs != 1 else ''}"


@dataclass(frozen=True)
class ExactLoss:
    """The exact pure loss ε, as e^ε, with the pair and output that reach it."""

    exp_epsilon: Weight | None  # the largest ratio P(output)/Q(output); None if it is infinite
    pair: tuple[int, int]  # indices of the datasets (of P, of Q) that reach it
    output: str  # the text of the output that reaches it
    laws: tuple[Mapping[str, Weight], Mapping[str, Weight]]  # the laws P and Q of that pair
    scope: EnumeratedScope  # what the number is about
    every: tuple[Mapping[str, Weight], ...] = ()  # the laws on all datasets, in the order of the datasets

    @property
    def epsilon(self) -> tuple[float, float]:
        """Floats below and above ε, in nats, at most 1e-12 apart (relative); equal if ε is 0 or infinite."""
        return (math.inf, math.inf) if self.exp_epsilon is None else log_interval(self.exp_epsilon)

    def within(self, epsilon: Number) -> bool:
        """Whether the loss is at most ``epsilon``, decided exactly; see `exp_of` for how a number is read."""
        return self.exp_epsilon is not None and not exact(self.exp_epsilon) > exp_of(epsilon, upward=True)

    def record(self) -> dict[str, Any]:
        """Return the loss as JSON values, from which `check_record` and `check_every` recompute it.

        The laws on all datasets are included if there are more than those of the pair and they are not too long.
        """
        laws = list(map(_texts, self.every))
        length = sum(len(text) + len(weight) for law in laws for text, weight in law.items())
        every = [[name, law] for name, law in zip(self.scope.datasets, laws, strict=False)]
        others = {"every": every} if len(laws) > 2 and length <= _MOST_LETTERS else {}
        return {
            "exp_epsilon": "inf" if self.exp_epsilon is None else str(self.exp_epsilon),
            "pair": [self.scope.datasets[index] for index in self.pair],
            "output": self.output,
            "laws": list(map(_texts, self.laws)),
            "datasets": len(self.scope.datasets),
            "pairs": self.scope.pairs,
            "enumerated": self.scope.enumerated,
            "traces": self.scope.traces,
            "digest": self.scope.digest,
            **others,
        }


# --- numbers ---------------------------------------------------------------------------------------------


def exact_number(value: Number) -> Exact:
    """Return a number exactly: a text is read, and a float counts as the decimal that Python writes."""
    if isinstance(value, str):
        try:
            return Exact(Fraction(value))
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"cannot read the number {value!r}; write 0.5, 1/2, 1e-6 or ln(3)") from None
    if not isinstance(value, float):
        return exact(value)
    if not math.isfinite(value):
        raise UsageError(f"a number must be finite, not {value!r}")
    return parameter_of(value)


def exp_of(epsilon: Number, *, upward: bool = False) -> Exact:
    """Return e^epsilon as an exact number.

    ``"ln(3)"`` gives 3, and a fraction or decimal its exponential. A float counts as the decimal that Python writes
    for it. A float of more than 15 digits was rounded (``math.log(2)`` is below ln 2): with ``upward`` it counts as
    the largest number that it may stand for, 8 units in the last place more.
    """
    if isinstance(epsilon, str) and epsilon.strip().startswith("ln(") and epsilon.strip().endswith(")"):
        number_read = exact_number(epsilon.strip()[3:-1])
        if not number_read > 0:
            raise UsageError(f"cannot read the number {epsilon!r}: a logarithm is of a number above 0")
        return number_read
    number = exact_number(epsilon)
    if upward and isinstance(epsilon, float) and short_decimal(epsilon) is None:
        number = Exact(Fraction(epsilon) + _ROUNDINGS * Fraction(math.ulp(epsilon)))
    return Exact.exponential(number)


def log_interval(value: Weight) -> tuple[float, float]:
    """Return floats low ≤ ln(value) ≤ high for a positive number, checked exactly."""
    number = exact(value)
    if number.sign() <= 0:
        raise UsageError(f"the logarithm of {number} does not exist")
    middle = number.logarithm()
    if number == 1:
        return 0.0, 0.0
    low = high = middle
    step = max(abs(middle), 1e-300) * 1e-15
    while Exact.exponential(Fraction(low)) > number:
        low, step = middle - step, 2 * step
    step = max(abs(middle), 1e-300) * 1e-15
    while Exact.exponential(Fraction(high)) < number:
        high, step = middle + step, 2 * step
    return low, high


# --- losses from laws ------------------------------------------------------------------------------------


def _scope(
    laws: Sequence[OutputLaw], pairs: Sequence[tuple[int, int]], names: Sequence[str], enumerated: bool
) -> EnumeratedScope:
    digest = digest_of_laws(laws)
    names = names or [f"dataset {index}" for index in range(len(laws))]
    return EnumeratedScope(tuple(names), len(pairs), enumerated, sum(law.traces for law in laws), digest)


def digest_of_laws(laws: Iterable[OutputLaw]) -> str:
    """Return the SHA-256 digest of the laws on all datasets, in the order of the datasets."""
    return _digest(_texts(law.weights) for law in laws)


def _texts(law: Mapping[str, Weight]) -> dict[str, str]:
    return {text: str(weight) for text, weight in law.items()}


def _digest(laws: Iterable[Mapping[str, str]]) -> str:
    state = hashlib.sha256()
    for law in laws:
        state.update(json.dumps(law, sort_keys=True).encode())
    return state.hexdigest()


def _both_orders(pairs: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for first, second in pairs:
        yield first, second
        yield second, first


def _above(ratio: Sequence[Any], best: Sequence[Any]) -> bool:
    """Whether the ratio found[0]/found[1] exceeds best[0]/best[1], decided exactly; division by 0 gives infinity."""
    ends = [exact(number).bounds() for number in (*ratio[:2], *best[:2])]
    if None not in ends:
        (p, p_high), (q, q_high), (r, r_high), (s, s_high) = cast("list[tuple[Fraction, Fraction]]", ends)
        if p * s > r_high * q_high or p_high * s_high <= r * q:
            return p * s > r_high * q_high
    return bool(ratio[0] * best[1] > best[0] * ratio[1])


def largest_ratio(law: Mapping[str, Weight], other: Mapping[str, Weight]) -> tuple[Weight, Weight, str]:
    """Return P(y), Q(y) and y where P(y)/Q(y) is largest; Q(y) is 0 if the ratio is infinite.

    Single outputs are enough: the ratio of an event lies between the ratios of its outputs.
    """
    best: tuple[Weight, Weight, str] | None = None
    for text, p in law.items():
        q = other.get(text, Fraction(0))
        if not p:
            continue
        if not q:
            return p, Fraction(0), text
        if best is None or _above((p, q), best):
            best = p, q, text
    if best is None:
        raise UsageError("a law without outputs has no loss")
    return best


def exact_privacy(
    laws: Sequence[OutputLaw], pairs: Sequence[tuple[int, int]], *, names: Sequence[str] = (), enumerated: bool = False
) -> ExactLoss:
    """Return the exact pure loss over pairs of laws, in both orders."""
    best: tuple[Weight, Weight, str] | None = None
    worst = (0, 0)
    for first, second in _both_orders(pairs):
        candidate = largest_ratio(laws[first].weights, laws[second].weights)
        if best is None or _above(candidate, best):
            best, worst = candidate, (first, second)
        if not candidate[1]:
            break
    if best is None:
        raise UsageError("an exact loss needs at least one pair of neighbouring datasets")
    p, q, text = best
    ratio = None if not q else _simple(exact(p) / q)
    sides = laws[worst[0]].weights, laws[worst[1]].weights
    every = tuple(law.weights for law in laws) if enumerated else ()
    return ExactLoss(ratio, worst, text, sides, _scope(laws, pairs, names, enumerated), every)


def _simple(number: Any) -> Weight:
    value = exact(number).simplified()
    return value if value.fraction is None else value.fraction


# --- from a program --------------------------------------------------------------------------------------

Neighbours = str | Relation | Callable[[Any, Any], bool]


def neighbouring(domain: Sequence[Any], relation: Neighbours) -> list[tuple[int, int]]:
    """Return the indices i < j of all pairs of neighbours in a domain.

    ``relation`` is a relation, its text, or a symmetric function of two datasets.
    """
    if isinstance(relation, str | Relation):
        relation_read = parse_relation(relation)
        if relation_read.kind == "declared":
            raise UsageError("a declared relation has no list of neighbours; give another relation, or pairs")
        accepts: Callable[[Any, Any], bool] = relation_read.accepts
    else:
        accepts = relation
    return [(i, j) for i, j in combinations(range(len(domain)), 2) if accepts(domain[i], domain[j])]


def laws_of(
    function: Callable[..., Any],
    datasets: Iterable[Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    most_traces: int = MOST_TRACES,
) -> list[OutputLaw]:
    """Return the exact law of a program's output on each dataset."""
    if isinstance(function, Mechanism):
        parameters, function = function.parameters_with(parameters), function.function
    return [exact_reading(function, data, parameters, most_traces=most_traces) for data in datasets]


def enumerated_privacy(
    function: Callable[..., Any],
    domain: Sequence[Any],
    relation: Neighbours,
    parameters: Mapping[str, Any] | None = None,
    *,
    most_traces: int = MOST_TRACES,
) -> ExactLoss:
    """Return the exact pure loss of a program over every neighbouring pair of a domain: a lower and an upper bound."""
    texts = list(map(output_text, domain))
    if len(set(texts)) < len(texts):
        raise UsageError("the domain holds a dataset twice")
    # a tuple of one number reads back from what Python writes, and not from the text of an output
    names = [text if read_name(text) is not UNREAD else repr(data) for text, data in zip(texts, domain, strict=True)]
    pairs = neighbouring(domain, relation)
    laws = laws_of(function, domain, parameters, most_traces=most_traces)
    return exact_privacy(laws, pairs, names=names, enumerated=True)


# --- the check -------------------------------------------------------------------------------------------


def check_record(record: Mapping[str, Any]) -> None:
    """Recompute the loss of the recorded pair from its two laws; `UsageError` if it is not as stated.

    This checks the lower bound; `check_every` checks that no other pair of the domain is worse. To check that the laws
    are those of the program, read the program again and compare ``digest``.
    """
    try:
        laws = list(map(_read_law, record["laws"]))
        stated, output = record["exp_epsilon"], record["output"]
        p, q = (law.get(output, Fraction(0)) for law in laws)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"the record of an exact loss cannot be read: {error}") from None
    if not p or (stated == "inf") != (not q) or (q and exact(p) / q != parse_exact(stated)):
        raise UsageError(f"the laws of the record do not have the ratio {stated} at the output {output!r:.80}")
    top, bottom, _ = max((largest_ratio(laws[i], laws[1 - i]) for i in (0, 1)), key=_RatioOrder)
    if p * bottom != top * q:
        raise UsageError("the laws of the record have a larger ratio than the stated one")


UNREAD = object()
"""What is read of a name that does not show its dataset."""


def read_name(name: str) -> Any:
    """Return the dataset that a record names; `UNREAD` where its name does not show all of it."""
    try:
        data = ast.literal_eval(name)
        return data if name in (output_text(data), repr(data)) and "{" not in name else UNREAD
    except (ValueError, SyntaxError, MemoryError, RecursionError, UsageError):
        return UNREAD


def check_every(record: Mapping[str, Any], relation: str, domain: Sequence[Any] | None = None) -> bool:
    """Whether the record holds the laws on every dataset, and no pair of neighbours is worse than the stated one.

    False if it does not hold all laws, or does not show which datasets are neighbours; `UsageError` if another pair
    is worse. ``domain``: the datasets, in the order of the record, where they are known.
    """
    every = record.get("every")
    if every is None and record["datasets"] == 2 and record["pairs"] == 1:
        names, texts = record["pair"], record["laws"]
        order = next((each for each in ((0, 1), (1, 0)) if _digest(texts[i] for i in each) == record["digest"]), None)
        if order is None:
            raise UsageError("the laws of both datasets do not have the digest that is stated")
        every = [[names[i], texts[i]] for i in order]
    if every is None:
        return False
    names, texts = [name for name, _ in every], [law for _, law in every]
    if len(set(names)) != len(names) or len(names) != record["datasets"] or _digest(texts) != record["digest"]:
        raise UsageError("the laws on all datasets are not as many as stated, or have another digest")
    if [texts[names.index(name)] for name in record["pair"]] != record["laws"]:
        raise UsageError("the laws of the worst pair are not those of its datasets")
    listed = list(map(read_name, names)) if domain is None else list(domain)
    if any(each is UNREAD for each in listed):
        return False
    pairs = neighbouring(listed, relation)
    if len(pairs) != record["pairs"]:
        raise UsageError(f"{len(pairs)} pairs of the datasets are neighbours, and {record['pairs']} are stated")
    laws = list(map(_read_law, texts))
    worst = exact(Fraction(0)) if record["exp_epsilon"] == "inf" else parse_exact(record["exp_epsilon"])
    for first, second in _both_orders(pairs):
        p, q, _ = largest_ratio(laws[first], laws[second])
        if record["exp_epsilon"] != "inf" and (not q or exact(p) > worst * q):
            raise UsageError(f"the laws on {names[first]} and {names[second]} have a larger ratio than the stated one")
    return True


def _read_law(given: Mapping[str, str]) -> dict[str, Weight]:
    law = {str(text): _simple(parse_exact(weight)) for text, weight in given.items()}
    if any(weight < 0 for weight in law.values()) or sum(law.values(), Fraction(0)) != 1:
        raise UsageError("a law of the record is no law: its probabilities are not ≥ 0 with the sum 1")
    return law


class _RatioOrder:
    """A sort key: orders the ratios P/Q of `largest_ratio` exactly, infinite ones last."""

    def __init__(self, ratio: tuple[Weight, Weight, str]) -> None:
        self.p, self.q, _ = ratio

    def __lt__(self, other: _RatioOrder) -> bool:
        return bool(self.p * other.q < other.p * self.q)
