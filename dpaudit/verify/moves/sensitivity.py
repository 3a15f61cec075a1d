"""How far does one of n numbers move a query: at least, by a pair, and at most, by a certificate?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.auditing.question import given_or_fresh
from dpaudit.checker.moves import ROUNDING, check_moves, side
from dpaudit.checker.reading import Steps
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.loading.named import load, public_name
from dpaudit.neighbours.domain import is_two_numbers
from dpaudit.reading.expressions.ways import plain_numbers
from dpaudit.targets.mechanism import Mechanism
from dpaudit.verify.moves.bound import bounded
from dpaudit.verify.moves.derive import Numbers, listed, moved_record, nodes_of, read_numbers

_STEPS = 200_000_000


@dataclass(frozen=True, slots=True)
class BothEnds:
    """How far one number moves a query, from both sides.

    Attributes:
        query: its name.
        scope: which data it is about, in words.
        least: how far the pair moves it, computed by the function itself.
        pair: two lists or arrays that differ in one number.
        most: an upper bound, with a certificate that was checked.
        claimed: what was declared; None where nothing was.
    """

    query: str
    scope: str
    least: float
    pair: tuple[Any, Any]
    most: Fraction
    claimed: Fraction | None

    @property
    def exceeded(self) -> bool:
        """Whether the pair moves it farther than declared, beyond rounding."""
        return self.claimed is not None and self.least > float(self.claimed) * (1 + 1e-9)

    @property
    def kept(self) -> bool:
        """Whether the upper bound is at most what is declared, to one part in 10⁹."""
        return self.claimed is not None and self.most <= self.claimed * (1 + ROUNDING)

    def __str__(self) -> str:
        both = f"at least {self.least:.10g} (this pair), at most {float(self.most):.10g} (certificate)"
        return f"{self.query} moves by {both}, for {self.scope}"


def both_ends(
    query: str | Mechanism | Callable[..., Any],
    *,
    domain: Any,
    length: int,
    claimed: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> BothEnds:
    """Bound how far a query of n numbers moves where one of them is replaced.

    Args:
        query: a function of a list or an array of numbers, without noise; its name; or a mechanism that exposes it.
        domain: the range of each number, as (low, high).
        length: how many numbers.
        claimed: a declared sensitivity.
        parameters: of the function; the others keep their defaults.
        seed: of points that are tried.

    Raises:
        UsageError: if the query is not read, may be undefined, or no bound is found; with what is known so far.
    """
    if not is_two_numbers(domain):
        raise UsageError("with a length, the domain is the range of the numbers: domain=(0, 1) (--domain '[0, 1]')")
    mechanism = load(query)
    given = mechanism.parameters_with(parameters)
    numbers = Numbers.of(tuple(domain), length)
    root = given_or_fresh(seed)
    found = read_numbers(mechanism, given, numbers, root)
    if found.reading is None:
        raise UsageError(f"{mechanism.name} is not bounded: {found.refused}")
    shown = plain_numbers(found.reading.result)
    if len(shown) != 1 or found.reading.releases:
        what = "adds noise" if found.reading.releases else f"returns {len(shown)} numbers of the data"
        raise UsageError(f"{mechanism.name} {what}; give a function that returns one number, without noise")
    moved = bounded(shown[0], [(numbers.low, numbers.high)] * length, range(length), seed=root)
    first, second = (numbers.data(each, found.container) for each in moved.pair)
    least = abs(float(mechanism.function(first, **given)) - float(mechanism.function(second, **given)))
    if moved.most is None:
        raise UsageError(
            f"{mechanism.name} is not bounded: {moved.boxes:,} boxes did not suffice; it moves by at least "
            f"{least:.10g}, from {listed(first)} to {listed(second)}; give a smaller length"
        )
    record = moved_record(shown[0].place, moved)
    certificate = {
        "nodes": nodes_of(found.reading),
        "moves": [record],
        "releases": [],
        "notion": "epsilon",
        "delta": "0",
    }
    check_moves(certificate, length, side(numbers.low, numbers.high), Steps(_STEPS))
    most = max(moved.most)
    if not least <= float(most) * (1 + 1e-6) + 1e-9 or not math.isfinite(least):
        raise UsageError(
            f"{mechanism.name} is not bounded: the bound {float(most):.10g} contradicts a run of {least:.10g}"
        )
    scope = f"{found.container}s of {length} numbers from {numbers.low} to {numbers.high}, of which one is replaced"
    return BothEnds(
        public_name(mechanism),
        scope,
        least,
        (first, second),
        most,
        None if claimed is None else limit_of(claimed, toward=0.0),
    )


def words(found: BothEnds) -> str:
    """Return the result as text: the answer first."""
    answer = "COUNTEREXAMPLE" if found.exceeded else "BOUNDED" if found.kept else "NO CLAIM"
    if found.claimed is not None and not found.exceeded and not found.kept:
        answer = "NOT BOUNDED BY THE CLAIM"
    rows = [
        ("declared", "none" if found.claimed is None else f"{float(found.claimed):.10g}"),
        ("from", listed(found.pair[0])),
        ("to", listed(found.pair[1])),
        ("certificate", "of the expression in real arithmetic, checked; floats may round beyond it"),
    ]
    return "\n".join([f"{answer}: {found}", *(f"  {label:<11}  {text}" for label, text in rows)]) + "\n"
