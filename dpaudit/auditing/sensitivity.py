"""How far can one neighbour move a query? Searches for a counterexample to a declared sensitivity, before any noise.

Noise is scaled to the sensitivity of the query, so a query that moves farther than its author believes breaks the claim
whatever the noise is. The query is deterministic, so a single pair of neighbours that moves it too far settles the
matter, without a confidence level: this is the cheapest and most informative test there is. Finding no such pair proves
nothing.

An answer is a number, or numbers in lists, tuples, arrays, mappings and tables. Integers and fractions are compared
exactly. Floats are compared with a *tolerance for rounding*: a billionth of the largest number involved, for each
number of the answer, so that two ways to add up the same numbers are not a counterexample. A category that only one of
two mappings names counts as 0 in the other, as in a table of counts. NaN, an infinity, an exception, an answer of
another shape, or none, on only one side is infinitely far from any number.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dpaudit.auditing.question import Question, given_or_fresh, whole
from dpaudit.decimals import limit_of
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.records import Moved
from dpaudit.loading import load, public_name
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.relation import as_pairs, inferred
from dpaudit.request import known_keywords
from dpaudit.settings import lent
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

ROUNDING = 1e-9
"""The tolerance for rounding, as a share of the largest number involved."""

NORMS = ("1", "2", "inf")

Blocks = dict[tuple[str, ...], np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What a query answered."""

    blocks: Blocks  # its numbers, one-dimensional arrays by their position in the answer: floats, or exact objects
    shapes: dict[tuple[str, ...], tuple[int, ...]]  # the shape of everything in it that is not a mapping, by position
    trouble: str = ""  # what happened instead of an answer with numbers, such as "raises ValueError"; empty otherwise


@dataclass(frozen=True, slots=True)
class AnswerMovement:
    """How far one answer is from another."""

    # in the norm, exact if all numbers are, `math.inf` if there is trouble; in the norm 2 its square
    distance: Fraction | float
    room: float  # the tolerance for rounding of the distance; 0.0 if all numbers are exact
    norm: str  # "1", "2" or "inf"
    # what the query did on only one side, such as "returns NaN on the second dataset"; empty if it moved by numbers
    trouble: str = ""
    silent: bool = False  # whether nothing could be compared: neither side gave a number, in the same way

    @property
    def size(self) -> float:
        """The distance as a float."""
        if self.norm != "2":
            return float(self.distance)
        return math.sqrt(self.distance)

    def exceeds(self, limit: Fraction | float) -> bool:
        """Whether the distance exceeds a limit by more than rounding explains; computed exactly, without floats."""
        if self.trouble or self.distance == math.inf:
            return True
        allowed = Fraction(limit) + Fraction(max(self.room, ROUNDING * float(limit)) if self.room else 0)
        return Fraction(self.distance) > (allowed**2 if self.norm == "2" else allowed)


def norm_of(given: Any) -> str:
    """Return a norm as text; raises `UsageError` for anything but 1, 2 and "inf"."""
    text = "inf" if given == math.inf else str(given)
    if text not in NORMS or isinstance(given, bool):
        raise UsageError(f"the norm of a sensitivity is 1, 2 or 'inf', not {given!r:.40}")
    return text


def answer_of(query: Callable[[Any], Any], data: Any) -> QueryAnswer:
    """Ask a query. An exception that it raises is an answer too, and warnings are suppressed."""
    try:
        with lent(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # the numbers are hostile on purpose
            given = query(data)
    except InvalidRunsError:
        raise
    except (Exception, SystemExit) as error:
        return QueryAnswer({}, {}, f"raises {type(error).__name__}")
    blocks: Blocks = {}
    shapes: dict[tuple[str, ...], tuple[int, ...]] = {}
    try:
        _into_blocks(given, (), blocks, shapes)
    except (_NoNumberError, RecursionError) as error:
        return QueryAnswer({}, {}, f"returns {error if isinstance(error, _NoNumberError) else 'something endless'}")
    return QueryAnswer(blocks, shapes)


def movement(answer0: QueryAnswer, answer1: QueryAnswer, norm: str) -> AnswerMovement:
    """Return how far two answers are from each other."""
    if answer0.trouble or answer1.trouble:
        if answer0.trouble == answer1.trouble:
            return AnswerMovement(Fraction(0), 0.0, norm, silent=True)
        said = [f"{own.trouble} on {DATASETS[side]}" for side, own in enumerate((answer0, answer1)) if own.trouble]
        return _infinite(norm, " and ".join(said))
    both = answer0.shapes.keys() & answer1.shapes.keys()
    if any(answer0.shapes[place] != answer1.shapes[place] for place in both):
        return _infinite(norm, "answers with another number of numbers")
    parts: list[np.ndarray[Any, Any]] = []
    scales: list[np.ndarray[Any, Any]] = []
    compared = 0
    for place in dict.fromkeys((*answer0.blocks, *answer1.blocks)):
        known = answer0.blocks.get(place), answer1.blocks.get(place)
        size = next(len(block) for block in known if block is not None)
        first, second = (np.zeros(size, dtype=object) if block is None else block for block in known)
        apart, scale, trouble = _distances(first, second)
        if trouble:
            return _infinite(norm, trouble)
        compared += len(apart) if size else 1
        parts.append(apart)
        scales.append(scale)
    if not compared and parts:
        return AnswerMovement(Fraction(0), 0.0, norm, silent=True)
    # combine distances by the norm; the tolerance for rounding is combined in the same way
    distances = [_one(part, norm) for part in parts]
    if any(distance == math.inf for distance in distances):
        return AnswerMovement(math.inf, 0.0, norm, "moves farther than floats reach")
    far = max(distances, default=Fraction(0)) if norm == "inf" else sum(distances, Fraction(0))
    return AnswerMovement(far, _room(np.concatenate([np.zeros(1), *scales]), norm), norm)


def same(answer0: QueryAnswer, answer1: QueryAnswer) -> bool:
    """Whether two answers are identical, to the last bit."""
    if (answer0.trouble, answer0.shapes) != (answer1.trouble, answer1.shapes):
        return False
    if answer0.blocks.keys() != answer1.blocks.keys():
        return False
    return all(_alike(own, answer1.blocks[place]) for place, own in answer0.blocks.items())


def _alike(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    nothing = (first != first) & (second != second)  # NaN on both sides
    return first.dtype == second.dtype and bool(np.all((first == second) | nothing))


def _infinite(norm: str, trouble: str) -> AnswerMovement:
    return AnswerMovement(math.inf, 0.0, norm, trouble)


# --- from an answer to its numbers ------------------------------------------------------------------------


class _NoNumberError(Exception):
    """An answer that holds something other than numbers."""


def _into_blocks(
    given: Any, place: tuple[str, ...], blocks: Blocks, shapes: dict[tuple[str, ...], tuple[int, ...]]
) -> None:
    """Put the numbers of an answer into ``blocks``, by position."""
    if hasattr(given, "to_dict") and hasattr(given, "index"):  # pandas: its labels are categories
        given = _labelled(given)
    elif hasattr(given, "to_numpy"):
        given = given.to_numpy()
    if isinstance(given, Mapping):
        for key, value in given.items():
            _into_blocks(value, (*place, f"{type(key).__name__} {key!r}"), blocks, shapes)
        return
    if isinstance(given, np.ndarray) and given.dtype.kind in "biuf" and given.dtype.itemsize <= 8:
        shapes[place], blocks[place] = given.shape, _block(given.ravel())
        return
    listed = given.ravel().tolist() if isinstance(given, np.ndarray) else given
    if isinstance(listed, list | tuple):
        shapes[place] = given.shape if isinstance(given, np.ndarray) else (len(listed),)
        if all(_is_number(item) for item in listed):
            blocks[place] = _block(np.array([_exact_or_float(item) for item in listed], dtype=object))
            return
        for number, item in enumerate(listed):
            _into_blocks(item, (*place, f"[{number}]"), blocks, shapes)
        return
    if not _is_number(given):
        raise _NoNumberError("None" if given is None else f"a {type(given).__name__}")
    shapes[place], blocks[place] = (), _block(np.array([_exact_or_float(given)], dtype=object))


def _labelled(table: Any) -> Any:
    """A pandas object as a mapping by its labels, or by position if a label occurs twice."""
    if not table.index.is_unique or not getattr(table, "columns", table.index).is_unique:
        return table.to_numpy()
    return table.to_dict()


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | Fraction | Decimal | np.bool_ | np.integer | np.floating)


def _exact_or_float(value: Any) -> Any:
    """A number as an int, a Fraction or a float: exact if its type is."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else float(value)
    return value if isinstance(value, Fraction) else float(value)


def _block(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers as floats if one of them is a float, else as exact objects."""
    if numbers.dtype.kind == "f" or any(type(number) is float for number in numbers.tolist()):
        return numbers.astype(np.float64)
    return np.array([int(number) if isinstance(number, bool) else number for number in numbers.tolist()], dtype=object)


# --- distances --------------------------------------------------------------------------------------------


def _distances(
    first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], str]:
    """Return how far numbers are apart, how large the inexact ones are, and what trouble there is.

    Numbers that are the same infinity, or NaN, on both sides are left out.
    """
    if first.dtype == object and second.dtype == object:
        return np.abs(second - first), np.zeros(len(first)), ""
    with np.errstate(all="ignore"):
        first, second = first.astype(np.float64), second.astype(np.float64)
        for side, own, other in ((0, first, second), (1, second, first)):
            if np.any(np.isnan(own) & ~np.isnan(other)):
                return first, first, f"returns NaN on {DATASETS[side]}"
        for side, own, other in ((0, first, second), (1, second, first)):
            if np.any(np.isinf(own) & (own != other)):
                return first, first, f"returns an infinity on {DATASETS[side]}"
        numbers = np.isfinite(first) & np.isfinite(second)
        apart = np.abs(second - first)[numbers]
        return apart, np.maximum(np.abs(first), np.abs(second))[numbers], ""


def _room(scale: np.ndarray[Any, Any], norm: str) -> float:
    largest = float(scale.max())
    if largest == 0.0:
        return 0.0
    return ROUNDING * largest * float(np.linalg.norm(scale / largest, float(norm)))  # so that no square overflows


def _one(part: np.ndarray[Any, Any], norm: str) -> Fraction | float:
    """The distance of one block, its square in the norm 2; inexact sums are rounded once."""
    if part.dtype == object:
        numbers = part.tolist()
        if norm == "inf":
            return Fraction(max(numbers, default=0))
        return Fraction(sum(numbers) if norm == "1" else sum(number**2 for number in numbers))
    if not np.all(np.isfinite(part)):
        return math.inf
    with np.errstate(over="ignore"):
        values = part**2 if norm == "2" else part
    try:
        distance = float(np.max(values, initial=0.0)) if norm == "inf" else math.fsum(values.tolist())
    except OverflowError:
        distance = math.inf
    return Fraction(distance) if math.isfinite(distance) else math.inf


Query = Callable[[Any], Any]
Listener = Callable[[str, int, int], None]

# chosen so that a search takes seconds for a query that takes a millisecond
_SHRINKING = 2_000  # pairs that shrinking may try
_CANDIDATES = 500
_ALIKE = 4  # candidates of one kind of one-sided error that come before all others


class Pairing(Protocol):
    """A candidate: two neighbouring datasets, built on demand, with a name that says what changes."""

    @property
    def name(self) -> str:
        """What changes between the two, without showing values of the data."""

    def pair(self) -> tuple[Any, Any]:
        """Return the two datasets."""


@dataclass(frozen=True, slots=True)
class GivenPair:
    """A pair that was given, as a candidate."""

    name: str
    datasets: tuple[Any, Any]

    def pair(self) -> tuple[Any, Any]:
        """Return the two datasets."""
        return self.datasets


@dataclass(frozen=True, slots=True)
class OneSidedError:
    """What the query does on only one side of a pair instead of returning comparable numbers."""

    what: str
    candidate: str  # the first that shows it
    pairs: int  # how many do

    def __str__(self) -> str:
        return f"{self.what}, on {self.pairs} pair{'' if self.pairs == 1 else 's'}; the first: {self.candidate}"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The farthest that one pair of neighbours moved a query."""

    query: str  # its name
    relation: Relation  # which datasets are neighbours
    norm: str  # the norm that distances are measured in: "1", "2" or "inf"
    claimed: float | None  # the declared sensitivity, for one neighbouring step; None if none was declared
    largest: float  # the largest distance found; `math.inf` if the query returns numbers on only one side
    # the largest distance among the pairs on which the query returns numbers, shown by ``finite_candidate``; None
    # if there are none
    finite: float | None
    finite_candidate: str
    exceeded: bool  # whether it is larger than the claim, decided exactly, beyond the tolerance for rounding
    room: float  # the tolerance for rounding of this distance: 0.0 if all numbers of the answer are exact
    candidate: str  # what changes between the two datasets that show it
    position: int  # the index of that candidate
    # those datasets. They may be personal data, and are not recorded in evidence.
    pair: tuple[Any, Any] = field(repr=False)
    # a smaller pair that is also a counterexample, or the same pair; None if there is none
    smallest: tuple[Any, Any] | None = field(repr=False)
    smallest_distance: float | None  # how far that pair moves the query
    tried: int  # how many candidates there were
    silent: int  # how many of them gave no number on either side, in the same way
    troubles: tuple[OneSidedError, ...]  # every kind of one-sided error
    seed: int | None = None  # of the sample of candidates; None if they are those of an audit

    def __str__(self) -> str:
        if self.largest == math.inf and self.troubles:
            first = self.troubles[0]
            text = f"{self.query} {first.what} ({first.candidate}): it moves without a bound"
            if self.finite is not None:
                text += f", and by {_number_text(self.finite)} ({self.finite_candidate}) where it gives numbers"
        else:
            text = f"{self.query} moves by {_number_text(self.largest)} ({self.candidate})"
        if self.claimed is None:
            return f"{text}; no sensitivity is declared"
        allowed = self.claimed * self.relation.group
        if self.exceeded:
            return f"{text}, and its declared sensitivity allows {_number_text(allowed)}"
        return f"{text}, of {_number_text(allowed)} that its declared sensitivity allows; tried: {self.tried}"

    def record(self) -> Moved:
        """Return the record for the evidence; it holds no data."""
        from dpaudit.evidence.records import Moved

        return Moved(
            norm=self.norm,
            claimed=self.claimed,
            largest=self.largest,
            exceeded=self.exceeded,
            change=self.candidate,
            finite=self.finite,
            finite_change=self.finite_candidate,
            tried=self.tried,
            silent=self.silent,
            room=self.room,
            troubles=tuple(map(str, self.troubles)),
            digests=(digest(self.pair[0]), digest(self.pair[1])),
        )


@known_keywords
def sensitivity(
    query: str | Mechanism | Callable[..., Any],
    *,
    data: Any = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | Relation | None = None,
    domain: Any = None,
    beyond_domain: bool = False,
    claimed: Any = None,
    norm: int | float | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    limit: int = _CANDIDATES,
    listen: Listener | None = None,
) -> Sensitivity:
    """Search neighbours for the pair that moves a deterministic query farthest.

    Args:
        query: a function of the data and of parameters, its name ("package.module:function", "file.py:function"), or a
            mechanism that exposes its query. It returns a number, or several in lists, arrays, mappings or tables.
        data: a dataset; every neighbour of it that `dpaudit.neighbours.candidates.candidates` makes is tried.
        pairs: neighbouring datasets, instead of ``data`` or in addition to it.
        relation: which datasets are neighbours; by default the mechanism's own, else "add-remove" with ``data`` or a
            domain, and otherwise the relation of which the pairs are one step.
        domain, beyond_domain: which values records may have, and whether others are tried too; as for `audit`. A domain
            without data stands for all small datasets over it.
        claimed: the declared sensitivity for one neighbouring step, in the unit of the answer; a float counts as its
            decimal notation. By default the mechanism's own; without any, the largest movement is reported.
        norm: 1, 2 or "inf": the norm in which movements of several numbers are measured; by default the declared one,
            else 1.
        parameters: parameters of the query; the others keep their defaults.
        seed: of the sample of candidates, if there are more than ``limit``; by default a fresh one.
        limit: the largest number of candidates.
        listen: called with ("sensitivity", candidates done, candidates in all).

    Returns:
        The farthest movement found, with the pair that shows it.

    Raises:
        UsageError: if the query asks for noise, answers differently when it is asked twice, changes its data, or
            returns no number on any candidate; if there is nothing to try, or pairs are not neighbours.
    """
    mechanism = load(query)
    if mechanism.query is None and mechanism.shape is not Shape.OPAQUE:
        raise UsageError(
            f"{mechanism.name} asks for {', '.join(sorted(mechanism.asked))}, so it is no deterministic query; name "
            "the query within it, or expose it: @mechanism(query=…, sensitivity=…)"
        )
    merged = mechanism.parameters_with(parameters)
    own = mechanism.query_for(merged)
    if own is None:
        own = _bound(mechanism.function, merged)
    stated = mechanism.sensitivity_for(merged)
    if claimed is None and stated is not None:
        claimed = stated[0]
    if norm is None:
        norm = 1 if stated is None else stated[1]
    told = relation if relation is not None else mechanism.relation_for(merged)
    if told is not None:
        chosen = parse_relation(told)
    else:
        made = data is not None or domain is not None or not pairs
        chosen = Relation("add-remove") if made else inferred(as_pairs(pairs or ()))
    root = whole("seed", given_or_fresh(seed), least=0)
    tried = [*_given(pairs or (), chosen), *_made(data, chosen, domain, beyond_domain, root, limit)]
    if not tried:
        raise UsageError("there is nothing to try the query on; give data=…, domain=…, or pairs=[(data0, data1)]")
    movement_found = search(own, tried, chosen, claimed=claimed, norm=norm, name=_name(mechanism), listen=listen)
    return replace(movement_found, seed=root)


def _name(mechanism: Mechanism) -> str:
    name = getattr(mechanism.query, "__name__", None)
    return public_name(mechanism) if mechanism.query is None else str(name or "the query")


def _bound(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Query:
    return lambda data: function(data, **parameters)


def _given(pairs: Sequence[tuple[Any, Any]], relation: Relation) -> list[Pairing]:
    given_pairs: list[Pairing] = []
    for number, pair in enumerate(as_pairs(pairs)):
        relation.check(*pair)
        given_pairs.append(GivenPair(f"pair {number}", (pair[0], pair[1])))
    return given_pairs


def _made(data: Any, relation: Relation, domain: Any, beyond_domain: bool, seed: int, limit: int) -> Sequence[Pairing]:
    if data is None and domain is None:
        return ()
    from dpaudit.neighbours.candidates.candidates import candidates

    return candidates(data, relation, domain=domain, beyond_domain=beyond_domain, seed=seed, limit=limit)


def search(
    query: Query,
    tried: Sequence[Pairing],
    relation: Relation,
    *,
    claimed: Any = None,
    norm: Any = 1,
    name: str = "the query",
    listen: Listener | None = None,
) -> Sensitivity:
    """Ask the query on both sides of every candidate.

    Args:
        query: a deterministic function of the data.
        tried: the candidates, at least one.
        relation: which datasets are neighbours.
        claimed, norm, listen: as for `sensitivity`.
        name: of the query.

    Returns:
        The farthest movement found, with the pair that shows it.

    Raises:
        UsageError: as for `sensitivity`.
    """
    measured = norm_of(norm)
    limit = None if claimed is None else _exact(claimed) * relation.group
    asked = _Asked(query)
    _refuse_other_answers(asked, tried[0])
    movements: list[AnswerMovement] = []
    for number, candidate in enumerate(tried):
        movements.append(asked.moves(candidate.pair(), measured))
        if listen is not None:
            listen("sensitivity", number + 1, len(tried))
    if all(each.silent for each in movements):
        answer = answer_of(query, tried[0].pair()[0])
        raise UsageError(f"{name} gives no number on any dataset: it {answer.trouble or 'returns NaN or an infinity'}")
    beyond = [limit is not None and each.exceeds(limit) for each in movements]
    position = max(range(len(movements)), key=lambda index: (beyond[index], movements[index].distance, -index))
    best, pair = movements[position], tried[position].pair()
    numbers = [index for index, each in enumerate(movements) if not each.trouble and not each.silent]
    numeric = max(numbers, key=lambda index: (movements[index].distance, -index), default=None)
    if beyond[position]:
        _refuse_other_answers(asked, tried[position])
    result = Sensitivity(
        query=name,
        relation=relation,
        norm=measured,
        claimed=None if claimed is None else float(claimed),
        largest=best.size,
        finite=None if numeric is None else movements[numeric].size,
        finite_candidate="" if numeric is None else tried[numeric].name,
        exceeded=beyond[position],
        room=best.room,
        candidate=tried[position].name,
        position=position,
        pair=pair,
        smallest=None,
        smallest_distance=None,
        tried=len(movements),
        silent=sum(each.silent for each in movements),
        troubles=tuple(_troubles(movements, tried)),
    )
    return _shrunk(result, asked, best, limit) if limit is not None and result.exceeded else result


def exposing(mechanism: Mechanism, query: Callable[..., Any] | None, sensitivity: Any) -> Mechanism:
    """Return a mechanism with the given query and sensitivity."""
    if query is not None:
        mechanism = replace(mechanism, query=query)
    if sensitivity is None:
        return mechanism
    if mechanism.query is None:
        raise UsageError(f"a sensitivity is that of a query, and {mechanism.name} exposes none; give it: query=…")
    return replace(mechanism, sensitivity=sensitivity)


def sensitivity_of(question: Question, listen: Listener | None = None) -> Sensitivity | None:
    """Search the pairs of a question, and the neighbours of its data, for the one that moves the query farthest.

    Returns None if the mechanism exposes no query. Raises `UsageError` as `sensitivity` does.
    """
    mechanism, space = question.mechanism, question.space
    query = mechanism.query_for(question.parameters)
    if query is None:
        return None
    pairs = question.pairs if space is None or space.made else tuple(space.data)
    tried: list[Pairing] = [GivenPair(f"pair {number}", pair) for number, pair in enumerate(pairs)]
    if space is not None and space.made:
        tried += _made(space.data, question.relation, space.domain, space.beyond, question.seed, _CANDIDATES)
    stated = mechanism.sensitivity_for(question.parameters)
    claimed, norm = (None, 1) if stated is None else stated
    name = _name(mechanism)
    return search(query, tried, question.relation, claimed=claimed, norm=norm, name=name, listen=listen)


def worst_by_query(candidates: Sequence[Pairing], query: Query, norm: Any = 1) -> list[int]:
    """Return the positions of candidates ordered by how far they move a query, the farthest first.

    If the query returns numbers on only one side of a candidate, the movement is infinite. Only a few candidates of
    each such kind come first and the others last: they are alike, and must not crowd out finite movements. Ties keep
    their order.
    """
    asked, measured = _Asked(query), norm_of(norm)
    movements = [asked.moves(candidate.pair(), measured) for candidate in candidates]
    kinds: Counter[str] = Counter()
    keys = []
    for each in movements:
        kinds[each.trouble] += bool(each.trouble)
        keys.append((kinds[each.trouble] > _ALIKE, -each.distance))
    return sorted(range(len(movements)), key=lambda index: keys[index])


@dataclass(slots=True)
class _Asked:
    """A query that remembers its answer to one side: most candidates share one side, which is asked only once."""

    query: Query
    _known: list[tuple[Any, QueryAnswer]] = field(default_factory=list)

    def moves(self, pair: tuple[Any, Any], norm: str) -> AnswerMovement:
        """Return how far apart the answers to the two datasets are."""
        return movement(self._answer(pair[0], 0), self._answer(pair[1], 1), norm)

    def _answer(self, data: Any, side: int) -> QueryAnswer:
        for own, answer in self._known:
            if own is data:
                return answer
        answer = answer_of(self.query, data)
        if side == 0:
            self._known[:] = [(data, answer)]
        return answer


def _refuse_other_answers(asked: _Asked, candidate: Pairing) -> None:
    """Raise if the query answers differently when it is asked twice, or changes its data."""
    for data in candidate.pair():
        before = digest(data)
        answers = [answer_of(asked.query, data) for _ in range(2)]
        if digest(data) != before:
            raise UsageError(
                "the query changes its data: later answers would be about other data; let it work on a copy"
            )
        if not same(*answers):
            raise UsageError(
                "the query answers differently when it is asked twice about the same data, so it is not deterministic; "
                "give it without its noise"
            )


def _troubles(movements: Sequence[AnswerMovement], tried: Sequence[Pairing]) -> Iterable[OneSidedError]:
    """Yield every kind of one-sided error once, with how many candidates show it and the first of them."""
    kinds: dict[str, list[int]] = {}
    for position, each in enumerate(movements):
        if each.trouble:
            kinds.setdefault(each.trouble, []).append(position)
    for what, positions in kinds.items():
        yield OneSidedError(what, tried[positions[0]].name, len(positions))


def _shrunk(result: Sensitivity, asked: _Asked, best: AnswerMovement, limit: Fraction) -> Sensitivity:
    """Make the pair smaller while it remains a counterexample, with the same one-sided error if it shows one."""
    pair, here, left = result.pair, best, _SHRINKING
    going = result.relation.kind in ("add-remove", "replace")
    while going and left > 0:
        going = False
        for smaller in _smaller(pair, result.relation):
            left -= 1
            moved = asked.moves(smaller, result.norm)
            if moved.trouble == best.trouble and moved.exceeds(limit):
                pair, here, going = smaller, moved, True
                break
            if left <= 0:
                break
    return replace(result, smallest=pair, smallest_distance=here.size)


def _smaller(pair: tuple[Any, Any], relation: Relation) -> Iterable[tuple[Any, Any]]:
    from dpaudit.neighbours.candidates.candidates import smaller

    pairs: Iterable[tuple[Any, Any]] = smaller(pair, relation)
    return pairs


def _exact(claimed: Any) -> Fraction:
    """Return a declared sensitivity exactly: the largest number that a float may stand for."""
    try:
        if isinstance(claimed, bool):
            raise TypeError
        plain = isinstance(claimed, int | Fraction | Decimal)
        exact = Fraction(claimed) if plain else limit_of(float(claimed), toward=math.inf)
    except (TypeError, ValueError, OverflowError):
        exact = Fraction(-1)
    if exact < 0:
        raise UsageError(f"a sensitivity is a number of at least 0, not {claimed!r:.40}")
    return exact


def _number_text(value: float) -> str:
    return f"{value:.10g}"
