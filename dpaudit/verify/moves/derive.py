"""What bound do the releases of a function of n numbers prove, and how far does one number move a query?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpaudit.auditing.question import given_or_fresh
from dpaudit.checker import FORMAT, VERSION, CertificateError
from dpaudit.checker.moves import MOST, MOST_NUMBERS, ROUNDING, check_moves, check_nodes, price, side
from dpaudit.checker.reading import ForgedError, Steps
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.loading import load, public_name
from dpaudit.neighbours.domain import is_two_numbers
from dpaudit.program.symbolic.linear import now
from dpaudit.reading.expressions.domain import GivenNoise
from dpaudit.reading.expressions.graph import ADDED, NotReadError, PlaceRelease, Value, exactly
from dpaudit.reading.expressions.ways import NumbersReading, plain_numbers, read, read_any
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.certificate import as_text
from dpaudit.verify.moves.bound import MovementBound, bounded, simplest, widest
from dpaudit.verify.moves.movement import farthest, written
from dpaudit.verify.moves.observed import RUNS, disagreement

# --- What bound do the releases of a function of n numbers prove? ----------------------------------------

__all__ = [
    "RUNS",
    "Derived",
    "NumberData",
    "Read",
    "Value",
    "derive",
    "exceeds_at",
    "listed",
    "moved_record",
    "nodes_of",
    "read_numbers",
]

SHOWN = 3
"""How many numbers the data hold that are measured, where the proof is for any number of them."""
_SLACK = Fraction(3, 10**9)  # of a bound that is rounded up, as the checker allows


@dataclass(frozen=True, slots=True)
class NumberData:
    """Data of n numbers within a range, one of which is replaced."""

    length: int | None  # None for any number of them
    low: Fraction
    high: Fraction

    @staticmethod
    def of(domain: Any, length: int | None) -> NumberData:
        """Read what is declared; raises `UsageError` for what is none."""
        if length is not None and not 1 <= length <= MOST_NUMBERS:
            raise UsageError(f"the length is {length}; expressions are read of 1 to {MOST_NUMBERS} numbers")
        low, high = map(_finite, domain)
        if low > high:
            raise UsageError(f"the domain starts at {low} and ends below, at {high}; give the lower end first")
        return NumberData(length, low, high)

    def data(self, values: Any, container: str) -> Any:
        """Return numbers as a function takes them."""
        return np.asarray(values, dtype=float) if container == "array" else [float(each) for each in values]

    @property
    def farthest(self) -> tuple[list[float], list[float]]:
        """A pair that differs by as much as numbers can."""
        low, high = float(self.low), float(self.high)
        length = SHOWN if self.length is None else self.length
        return [low] * length, [high, *[low] * (length - 1)]

    @property
    def scope(self) -> int | Literal["any"]:
        """How many there are, as a certificate says it."""
        return "any" if self.length is None else self.length

    @property
    def within(self) -> tuple[int, int]:
        """The range of each, as the checker has it."""
        return side(self.low, self.high)

    def __str__(self) -> str:
        many = f"any number of numbers, up to {MOST:,}," if self.length is None else f"{self.length} numbers"
        return f"{many} from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Read:
    """A function of n numbers, as it was read."""

    numbers: NumberData
    container: str  # "list" or "array"
    reading: NumbersReading | None
    refused: str  # why it was not read; empty where it was
    pair: tuple[Any, Any] | None = None  # that moves far where it is defined, of what is not defined everywhere


def _finite(end: Any) -> Fraction:
    try:
        return exactly(end)
    except NotReadError:
        raise UsageError(f"the domain has an end at {end!r:.40}; give the least and the largest number") from None


def read_numbers(mechanism: Mechanism, parameters: Mapping[str, Any], numbers: NumberData, seed: int) -> Read:
    """Read a function of lists, or where it takes no list, of arrays."""
    if mechanism.shape is Shape.SAMPLER:
        raise UsageError(
            f"{mechanism.name} returns many outputs a call (size), of which a proof says nothing; prove the function "
            "of one output, f(data, **parameters)"
        )
    given = given_of(mechanism)
    refused, pair = "", None
    for container in ("list", "array"):
        try:
            if numbers.length is None:
                reading = read_any(mechanism.function, container, parameters, given)
            else:
                reading = read(mechanism.function, numbers.length, container, parameters, given)
        except (NotReadError, UnreadableError) as error:
            refused = refused or str(error)
            if container == "list" and numbers.length is not None and "of numbers of the data: " not in refused:
                break
            continue
        except Exception as error:
            refused = refused or f"it raises {type(error).__name__}: {error}, of a {container} of {numbers}"
            continue
        refused, pair = _undefined(reading, numbers, seed)
        if not refused:
            why = disagreement(mechanism.function, reading, numbers, container, parameters, given, seed)
            if not why:
                return Read(numbers, container, reading, "")
            refused = f"what was read does not agree with runs: {why}"
        break
    return Read(numbers, "list", None, refused, pair)


def given_of(mechanism: Mechanism) -> dict[str, Callable[[], Any]]:
    """Return what makes the further arguments of a function, by name."""
    if mechanism.shape is Shape.PROGRAM:
        return {"noise": GivenNoise}
    return {"rng": np.random.default_rng} if "rng" in mechanism.asked else {}


def _undefined(reading: NumbersReading, numbers: NumberData, seed: int) -> tuple[str, Any]:
    """Say where an expression may be undefined, how far it moves elsewhere, and from where to where; or nothing."""
    try:
        check_nodes(nodes_of(reading), numbers.scope, numbers.within)
    except ForgedError as error:
        said = str(error).replace("the expressions are", "it is")
        if numbers.length is None:
            return f"{said}; give a length (--length 3)", None
        values = [*plain_numbers(reading.result), *(each for release in reading.releases for each in release.values)]
        box = [(numbers.low, numbers.high)] * numbers.length
        far, pair = max((widest(each, box, seed) for each in values[:_MOST_LOOKED_AT]), key=lambda one: one[0])
        first, second = map(listed, pair)
        return (
            f"{said}; elsewhere it moves by at least {far:.6g}, from {first} to {second}; declare a domain on which it "
            "is defined, or keep what it is taken of away from there, as by max(value, 0.001)"
        ), pair if far else None
    except CertificateError as error:
        return f"{error}; give a length (--length 3)" if numbers.length is None else str(error), None
    return "", None


_MOST_LOOKED_AT = 8


def listed(values: Any) -> str:
    """Return numbers as a list that people read."""
    return f"[{', '.join(f'{float(each):.10g}' for each in values)}]"


def nodes_of(reading: NumbersReading) -> list[list[Any]]:
    """Return the operations as a certificate has them."""
    return [[kind, str(of[0])] if kind == "const" else [kind, *of] for kind, *of in reading.graph.nodes]


@dataclass(frozen=True, slots=True)
class Derived:
    """What the releases of a function of n numbers prove."""

    bound: Fraction | None  # of the claim's parameter; None without a finite one
    certificate: dict[str, Any] | None
    open_ends: tuple[str, ...]  # why nothing is proved
    pair: tuple[Any, Any]  # that loses most, of those that were tried
    moves: tuple[MovementBound, ...]
    read: Read


def derive(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    numbers: NumberData,
    *,
    notion: str,
    delta: Fraction,
    seed: int = 0,
) -> Derived:
    """Derive a bound from what a function of n numbers releases, where one is replaced.

    Args:
        mechanism: takes a list or an array of numbers, and a generator or `Noise` where it asks for them.
        parameters: numbers are exact: a float counts as the decimal that is written.
        numbers: how many, and their range.
        notion, delta: what is bounded: "epsilon" (at a delta), "rho" or "mu".
        seed: of points that are tried.
    """
    now("reading what it releases")
    numbers_read = read_numbers(mechanism, parameters, numbers, seed)
    reading = numbers_read.reading
    pair = tuple(numbers.data(each, numbers_read.container) for each in numbers_read.pair or numbers.farthest)
    ends = [numbers_read.refused] if reading is None else _unprotected(reading)
    if reading is None or ends:
        return Derived(None, None, tuple(ends), pair, (), numbers_read)
    now("bounding how far a record moves them")
    for release in reading.releases:
        release.moving()
    nodes = nodes_of(reading)  # without those that only look for a pair
    expressions = check_nodes(nodes, numbers.scope, numbers.within)
    box = expressions.ranges
    graph, places = (reading.graph, None) if numbers.length is not None else written(expressions)
    moves: dict[int, MovementBound] = {}
    for release in reading.releases:
        for value in release.moving():
            if value.place not in moves:
                at = value if places is None else Value(graph, places[expressions.places[value.place]])
                moves[value.place] = bounded(at, box, expressions.replaced, seed=seed)
            if moves[value.place].most is None:
                ends.append(_unbounded(release, moves[value.place]))
    pair = _dearest(mechanism, parameters, numbers_read, moves, seed) or pair
    if ends:
        return Derived(None, None, tuple(dict.fromkeys(ends)), pair, tuple(moves.values()), numbers_read)
    certificate = _written(mechanism, parameters, numbers_read, reading, nodes, moves, notion, delta)
    try:
        bound = price(certificate, expressions)
    except ForgedError as error:
        return Derived(
            None, None, (f"{error}: its noise is of another kind",), pair, tuple(moves.values()), numbers_read
        )
    bound = simplest(bound, bound * (1 + _SLACK))
    certificate["bound"] = str(bound)
    return Derived(bound, certificate, (), pair, tuple(moves.values()), numbers_read)


def _dearest(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    numbers_read: Read,
    moves: Mapping[int, MovementBound],
    seed: int,
) -> tuple[Any, Any] | None:
    """Return the pair of those that were tried on which a release costs most; None where none costs anything."""
    numbers, reading = numbers_read.numbers, numbers_read.reading
    if numbers.length is None:
        moves = {}  # of other expressions
        numbers = replace(numbers, length=SHOWN)
        numbers_read = read_numbers(mechanism, parameters, numbers, seed)
        reading = numbers_read.reading
    dearest, pair = 0.0, None
    for release in () if reading is None else reading.releases:
        for value in release.telling():
            box = [(numbers.low, numbers.high)] * (numbers.length or 1)
            known = moves.get(value.place)
            far, pair_found = widest(value, box, seed) if known is None else (known.least, known.pair)
            if far / float(release.scale) > dearest:
                dearest = far / float(release.scale)
                pair = tuple(numbers.data(each, numbers_read.container) for each in pair_found)
    return pair


def _unprotected(reading: NumbersReading) -> list[str]:
    """Say what is returned without noise."""
    if not plain_numbers(reading.result):
        return []
    return ["it returns a number of the data without noise (dpaudit sensitivity bounds how far it moves)"]


def _unbounded(release: PlaceRelease, moved: MovementBound) -> str:
    what = "the number" if release.how == ADDED else "the scores"
    return (
        f"{release.line}: no bound was found of how far {what} of this release moves, with {moved.boxes:,} boxes; it "
        f"moves by {moved.least:.10g} at least"
    )


def _written(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    numbers_read: Read,
    reading: NumbersReading,
    nodes: list[list[Any]],
    moves: Mapping[int, MovementBound],
    notion: str,
    delta: Fraction,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "moves",
        "mechanism": {"name": mechanism.name, "source": f"sha256:{mechanism.digest}" if mechanism.digest else ""},
        "scope": {
            "data": "numbers",
            "container": numbers_read.container,
            "length": numbers_read.numbers.scope,
            "low": str(numbers_read.numbers.low),
            "high": str(numbers_read.numbers.high),
            "relation": "replace",
            "parameters": {name: as_text(value) for name, value in parameters.items()},
        },
        "bound": "0",
        "notion": notion,
        "delta": str(delta),
        "nodes": nodes,
        "moves": [moved_record(place, each) for place, each in moves.items()],
        "releases": releases_of(reading),
    }


def releases_of(reading: NumbersReading) -> list[dict[str, Any]]:
    """Return the releases as a certificate has them."""
    return [
        {
            "how": each.how,
            "law": each.law,
            "scale": str(each.scale),
            "values": [value.place for value in each.moving()],
            "line": each.line,
        }
        for each in reading.releases
    ]


def moved_record(place: int, moved: MovementBound) -> dict[str, Any]:
    """Return how far a node moves, as a certificate has it."""
    assert moved.most is not None and moved.trees is not None
    return {"node": place, "most": list(map(str, moved.most)), "trees": [list(each) for each in moved.trees]}


# --- For how many numbers would a bound be more than the claim? The proof's own price, of movements that are found. ---

_ROUNDS = 2  # of the search for a large movement: corners and a grid, and points close to the best
_NEAR = Fraction(1, 10**6)
_WAYS = 200  # that the data may decide in calls: a look, which is not to take longer than the proof


def exceeds_at(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    derived: Derived,
    limit: Fraction,
    *,
    notion: str,
    delta: Fraction,
    seed: int,
) -> int | None:
    """Return the first length at which the bound of a proof for n numbers would be above a limit.

    A bound is at least the price of movements that are found. Looked at are 2n + 1 numbers, and those between only
    where it is above there.

    Args:
        mechanism, parameters: what was read.
        derived: the proof, for a length that is given.
        limit: what is claimed.
        notion, delta: what is bounded.
        seed: of points that are tried.

    Returns:
        The length; None where 2n + 1 numbers, or as many as are read, keep it, or are not read.
    """
    length = derived.read.numbers.length
    assert length is not None
    last = min(2 * length + 1, MOST_NUMBERS)

    def above(many: int) -> bool:
        numbers = replace(derived.read.numbers, length=many)
        least = _least(mechanism, parameters, derived.read.container, numbers, notion, delta, seed)
        return least is not None and least > limit * (1 + _NEAR)

    if last == length or not above(last):
        return None
    return next((many for many in range(length + 1, last) if above(many)), last)


def _least(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    container: str,
    numbers: NumberData,
    notion: str,
    delta: Fraction,
    seed: int,
) -> Fraction | None:
    """Return a bound from below of what a proof for so many numbers would show; None where they are not read."""
    length = numbers.length
    assert length is not None
    try:
        reading = read(mechanism.function, length, container, parameters, given_of(mechanism), _WAYS)
    except Exception:  # as for the length that was asked for, where it would be told
        return None
    box = [(numbers.low, numbers.high)] * length
    moves = []
    for release in reading.releases:
        for value in release.moving():
            most = [Fraction(0)] * length
            for replaced in {0, length // 2, length - 1}:
                most[replaced] = Fraction(farthest(value, box, replaced, seed, _ROUNDS)[0])
            moves.append({"node": value.place, "most": most})
    nodes = nodes_of(reading)
    releases = releases_of(reading)
    try:
        expressions = check_nodes(nodes, numbers.scope, numbers.within)
        return price({"moves": moves, "releases": releases, "notion": notion, "delta": str(delta)}, expressions)
    except CertificateError:
        return None


# --- How far does one of n numbers move a query: at least, by a pair, and at most, by a certificate? -----

_STEPS = 200_000_000


@dataclass(frozen=True, slots=True)
class BothEnds:
    """How far one number moves a query, from both sides."""

    query: str  # its name
    scope: str  # which data it is about, in words
    least: float  # how far the pair moves it, computed by the function itself
    pair: tuple[Any, Any]  # two lists or arrays that differ in one number
    most: Fraction  # an upper bound, with a certificate that was checked
    claimed: Fraction | None  # what was declared; None where nothing was

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
    numbers = NumberData.of(tuple(domain), length)
    root = given_or_fresh(seed)
    numbers_read = read_numbers(mechanism, given, numbers, root)
    if numbers_read.reading is None:
        raise UsageError(f"{mechanism.name} is not bounded: {numbers_read.refused}")
    shown = plain_numbers(numbers_read.reading.result)
    if len(shown) != 1 or numbers_read.reading.releases:
        what = "adds noise" if numbers_read.reading.releases else f"returns {len(shown)} numbers of the data"
        raise UsageError(f"{mechanism.name} {what}; give a function that returns one number, without noise")
    moved = bounded(shown[0], [(numbers.low, numbers.high)] * length, range(length), seed=root)
    first, second = (numbers.data(each, numbers_read.container) for each in moved.pair)
    least = abs(float(mechanism.function(first, **given)) - float(mechanism.function(second, **given)))
    if moved.most is None:
        raise UsageError(
            f"{mechanism.name} is not bounded: {moved.boxes:,} boxes did not suffice; it moves by at least "
            f"{least:.10g}, from {listed(first)} to {listed(second)}; give a smaller length"
        )
    record = moved_record(shown[0].place, moved)
    certificate = {
        "nodes": nodes_of(numbers_read.reading),
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
    scope = (
        f"{numbers_read.container}s of {length} numbers from {numbers.low} to {numbers.high}, of which one is replaced"
    )
    return BothEnds(
        public_name(mechanism),
        scope,
        least,
        (first, second),
        most,
        None if claimed is None else limit_of(claimed, toward=0.0),
    )


def words(ends: BothEnds) -> str:
    """Return the result as text: the answer first."""
    answer = "COUNTEREXAMPLE" if ends.exceeded else "BOUNDED" if ends.kept else "NO CLAIM"
    if ends.claimed is not None and not ends.exceeded and not ends.kept:
        answer = "NOT BOUNDED BY THE CLAIM"
    rows = [
        ("declared", "none" if ends.claimed is None else f"{float(ends.claimed):.10g}"),
        ("from", listed(ends.pair[0])),
        ("to", listed(ends.pair[1])),
        ("certificate", "of the expression in real arithmetic, checked; floats may round beyond it"),
    ]
    return "\n".join([f"{answer}: {ends}", *(f"  {label:<11}  {text}" for label, text in rows)]) + "\n"
