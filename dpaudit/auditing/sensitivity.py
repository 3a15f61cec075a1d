"""How far can one neighbour move a query? Searches for a counterexample to a declared sensitivity, before any noise.

Noise is scaled to the sensitivity of the query, so a query that moves farther than its author believes breaks the claim
whatever the noise is. The query is deterministic, so a single pair of neighbours that moves it too far settles the
matter, without a confidence level: this is the cheapest and most informative test there is. Finding no such pair proves
nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from dpaudit.auditing.question import Question, given_or_fresh, whole
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.loading import load, public_name
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.answers import AnswerMovement, QueryAnswer, answer_of, movement, norm_of, same
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.relation import as_pairs, inferred
from dpaudit.request import known_keywords
from dpaudit.settings import own_settings
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

if TYPE_CHECKING:
    from dpaudit.evidence.records import Moved

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
            found = f"{self.query} {first.what} ({first.candidate}): it moves without a bound"
            if self.finite is not None:
                found += f", and by {_number(self.finite)} ({self.finite_candidate}) where it gives numbers"
        else:
            found = f"{self.query} moves by {_number(self.largest)} ({self.candidate})"
        if self.claimed is None:
            return f"{found}; no sensitivity is declared"
        allowed = self.claimed * self.relation.group
        if self.exceeded:
            return f"{found}, and its declared sensitivity allows {_number(allowed)}"
        return f"{found}, of {_number(allowed)} that its declared sensitivity allows; tried: {self.tried}"

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
@own_settings()
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
    found = search(own, tried, chosen, claimed=claimed, norm=norm, name=_name(mechanism), listen=listen)
    return replace(found, seed=root)


def _name(mechanism: Mechanism) -> str:
    name = getattr(mechanism.query, "__name__", None)
    return public_name(mechanism) if mechanism.query is None else str(name or "the query")


def _bound(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Query:
    return lambda data: function(data, **parameters)


def _given(pairs: Sequence[tuple[Any, Any]], relation: Relation) -> list[Pairing]:
    found: list[Pairing] = []
    for number, pair in enumerate(as_pairs(pairs)):
        relation.check(*pair)
        found.append(GivenPair(f"pair {number}", (pair[0], pair[1])))
    return found


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
    found: list[AnswerMovement] = []
    for number, candidate in enumerate(tried):
        found.append(asked.moves(candidate.pair(), measured))
        if listen is not None:
            listen("sensitivity", number + 1, len(tried))
    if all(each.silent for each in found):
        answer = answer_of(query, tried[0].pair()[0])
        raise UsageError(f"{name} gives no number on any dataset: it {answer.trouble or 'returns NaN or an infinity'}")
    beyond = [limit is not None and each.exceeds(limit) for each in found]
    position = max(range(len(found)), key=lambda index: (beyond[index], found[index].distance, -index))
    best, pair = found[position], tried[position].pair()
    numbers = [index for index, each in enumerate(found) if not each.trouble and not each.silent]
    numeric = max(numbers, key=lambda index: (found[index].distance, -index), default=None)
    if beyond[position]:
        _refuse_other_answers(asked, tried[position])
    result = Sensitivity(
        query=name,
        relation=relation,
        norm=measured,
        claimed=None if claimed is None else float(claimed),
        largest=best.size,
        finite=None if numeric is None else found[numeric].size,
        finite_candidate="" if numeric is None else tried[numeric].name,
        exceeded=beyond[position],
        room=best.room,
        candidate=tried[position].name,
        position=position,
        pair=pair,
        smallest=None,
        smallest_distance=None,
        tried=len(found),
        silent=sum(each.silent for each in found),
        troubles=tuple(_troubles(found, tried)),
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
    found = [asked.moves(candidate.pair(), measured) for candidate in candidates]
    kinds: Counter[str] = Counter()
    keys = []
    for each in found:
        kinds[each.trouble] += bool(each.trouble)
        keys.append((kinds[each.trouble] > _ALIKE, -each.distance))
    return sorted(range(len(found)), key=lambda index: keys[index])


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


def _troubles(found: Sequence[AnswerMovement], tried: Sequence[Pairing]) -> Iterable[OneSidedError]:
    """Yield every kind of one-sided error once, with how many candidates show it and the first of them."""
    kinds: dict[str, list[int]] = {}
    for position, each in enumerate(found):
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

    found: Iterable[tuple[Any, Any]] = smaller(pair, relation)
    return found


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


def _number(value: float) -> str:
    return f"{value:.10g}"
