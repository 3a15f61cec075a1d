"""On which neighbours does the noise have to move farthest? One run for each candidate, and more for the worst of them.

Large data are looked at in a part first, which holds every record that a candidate names: there each change is tried.
Those that show most are then tried on the data themselves. What is tried is counted in executions, so that the same
seed gives the same answer; of a function that takes a tenth of a second and more, as many are tried as there is time
for, and evidence says how many.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.neighbours import Relation
from dpaudit.neighbours.candidates import candidates, exhaustive
from dpaudit.privacy import Claim
from dpaudit.tracing.pair import Path, Traced, Word, first_look, trace_pair
from dpaudit.tracing.runs import FollowedRun, FollowedTarget

PART = 1_000
"""Records of large data that are looked at first, beside those that candidates name."""
DRAWN = 1 / 3
"""How many pairs over a domain are drawn for each candidate that was tried."""
_SLOW = 0.1  # seconds of a run; all others are counted, and no clock is asked
_WORK, _LEAST_OF_MANY = 12_000, 100  # of all first looks (`Target.work`), and candidates where a run has much
_LEAST_TRIED, _SHARE = 20, 0.3  # candidates of a slow function, and their share of the time: what follows looks again
_FIRST = 8  # candidates that say whether noise is followed at all
_AGAIN, _WHOLE = 6, 3  # of those that show most, how many are looked at from both sides, and of these on all records
_FAR_FETCHED = ("outlier", "odd value")  # kinds of change that say less than others where both break the claim
_OF_CODE = ("code", "behind the code")  # kinds of change whose values stand in the function itself
_TRIPS = 2  # exceptions over values that are made up, of which is told
_NEAR = 0.5  # of what a part of the data shows, a pair of all records that shows so much is shown
_ALIKE = 31  # pairs on which no less is found, among which runs may choose


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair on which most was found."""

    pair: tuple[Any, Any]  # the two datasets
    name: str  # what changes between them, without a value of the data
    tried: int  # how many candidates were traced; left_out: how many more were thought of
    left_out: int
    # by which the worst of several is the largest (`Path.rank`); None where no noise was followed
    rank: tuple[int, float] | None
    edges: tuple[str, ...] = ()  # what was found at edges (`is_edge`), and nothing like it elsewhere
    in_part: bool = False  # whether it is a pair of a part of the data
    alike: tuple[candidates.LazyPair, ...] = ()  # further ones that may show more


@dataclass(frozen=True, slots=True)
class Worst:
    """The pair of several on which a few runs show most."""

    place: int  # which it is
    word: Word  # what they show
    tried: int  # how many were looked at; ``runs``: executions for all of them
    runs: int
    rank: tuple[int, float] = (-1, 0.0)  # by which the worst of several is the largest (`Path.rank`)


def worst_neighbours(
    target: FollowedTarget,
    data: Any,
    relation: Relation,
    claim: Claim | None,
    *,
    domain: Any,
    beyond: bool,
    numbers: Sequence[Any] = (),
    seed: int,
    most: int,
    seconds: float | None = None,
    tell: Callable[[int, int], None],
) -> FoundPair:
    """Return the neighbours of a dataset on which a few runs show most."""
    pairs, left_out = candidates.chosen(
        data, relation, domain=domain, beyond_domain=beyond, seed=seed, limit=most, numbers=numbers
    )
    if pairs:
        fit = _fitting(target, pairs[0], seed, seconds)
        if fit < min(most, len(pairs)):
            pairs, left_out = candidates.chosen(
                data, relation, domain=domain, beyond_domain=beyond, seed=seed, limit=fit, numbers=numbers
            )
    small = exhaustive.on_fewer_records(pairs, PART)
    made_up = [each.made_up for each in small]
    looks = _Looks.at(target, [each.pair for each in small], claim, seed, made_up=made_up, tell=tell)
    if looks.nothing_followed:
        return FoundPair(pairs[0].pair(), pairs[0].name, len(pairs), left_out, None)
    again = looks.worst(_AGAIN, {place for place, each in enumerate(pairs) if _is_far_fetched(each)})
    place, rank = _from_both_sides(target, small, again, claim, seed)
    in_part = small[place] is not pairs[place]
    if in_part:
        ahead = [place, *(each for each in again if each != place)]
        whole, higher = _from_both_sides(target, pairs, ahead[:_WHOLE], claim, seed)
        if higher[0] > rank[0] or (higher[0] == rank[0] and higher[1] >= _NEAR * rank[1]):
            place, rank, in_part = whole, higher, False
    fewest = looks.of_few_records(rank, small)
    if fewest is not None:
        place, in_part = fewest, False
    shown = small if in_part else pairs
    pair, alike = shown[place], tuple(shown[each] for each in looks.alike(place, small))
    return FoundPair(pair.pair(), pair.name, len(pairs), left_out, rank, looks.at_edges(rank, pairs), in_part, alike)


def _from_both_sides(
    target: FollowedTarget, pairs: Sequence[candidates.LazyPair], places: Sequence[int], claim: Claim | None, seed: int
) -> tuple[int, tuple[int, float]]:
    """Return which of these pairs shows most when it is looked at from both sides, and its rank."""
    ranks = [trace_pair(target, pairs[place].pair(), claim, seed=seed, quick=True).worst.rank for place in places]

    def told(number: int) -> tuple[int, bool, float]:
        word, cost = ranks[number]
        return word, word < Word.NOT_SUPPORTED or not _is_far_fetched(pairs[places[number]]), cost

    best = max(range(len(places)), key=told)
    return places[best], ranks[best]


def worst_pair(
    target: FollowedTarget,
    pairs: Sequence[Callable[[], tuple[Any, Any]]],
    claim: Claim | None,
    *,
    seed: int,
    most: int | None = None,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Worst | None:
    """Return the pair on which a few runs show most, or None where no noise is followed, and some may be drawn."""
    before = target.runs
    looks = _Looks.at(target, pairs, claim, seed, most=most, tell=tell)
    if looks.nothing_followed:
        return None
    place = looks.worst(1, set())[0]
    path = looks.paths[place]
    seen = path.recorder
    if seen is not None and seen.unseen and not seen.blocks:  # what hides the change may be drawn where nobody looks
        return None
    return Worst(place, path.word, len(looks.paths), target.runs - before, path.rank)


def is_edge(pair: tuple[Any, Any], path: Path, made_up: bool = False) -> bool:
    """Whether a side holds no record, and no price but an exception, NaN or another form of the output tells of it.

    That is an edge that many functions share: it is said once, and does not hide what else there is. So is a value that
    nobody declared and no record has (``made_up``), over which the function trips.
    """
    return path.price is None and (_holds_none(pair) or (made_up and _trips(path)))


def _holds_none(pair: tuple[Any, Any]) -> bool:
    """Whether a side holds no record."""
    return any(hasattr(side, "__len__") and not len(side) for side in pair)


def _is_far_fetched(pair: candidates.LazyPair) -> bool:
    """Whether its change says less than others where both break the claim: nothing suggests that such a value comes."""
    return pair.kind in _FAR_FETCHED or (pair.made_up and pair.kind not in _OF_CODE)


def _trips(path: Path) -> bool:
    """Whether the function raises on one side alone."""
    return bool(path.raised[0]) != bool(path.raised[1])


def _fitting(target: FollowedTarget, first: candidates.LazyPair, seed: int, seconds: float | None) -> int:
    """Return how many candidates may be tried; these runs are no part of what is recorded.

    A look costs what a run does, which is counted, so that no answer hangs on the clock; only where seconds are given,
    slow calls leave time for fewer.
    """
    before = target.runs
    small = exhaustive.on_fewer_records([first], PART)[0]
    target.run(small.pair()[0], seed)
    fit = max(_LEAST_OF_MANY, _WORK // max(target.work, 1))
    if seconds is not None:
        data = first.pair()[0]
        target.run(data, seed)
        if target.seconds >= _SLOW:  # the first call may make what later ones find
            target.run(data, seed)
            fit = min(fit, max(_LEAST_TRIED, int(_SHARE * seconds / target.seconds)))
    target.runs = before
    return fit


@dataclass(slots=True)
class _Looks:
    """What first looks at pairs showed: a path of each, and whether it is an edge (`is_edge`)."""

    paths: list[Path] = field(default_factory=list)
    edges: list[bool] = field(default_factory=list)

    @classmethod
    def at(
        cls,
        target: FollowedTarget,
        pairs: Sequence[Callable[[], tuple[Any, Any]]],
        claim: Claim | None,
        seed: int,
        *,
        made_up: Sequence[bool] = (),
        most: int | None = None,
        tell: Callable[[int, int], None],
    ) -> _Looks:
        """Look at pairs, one after the other; at no more than the first few where no noise is followed."""
        looks, before = cls(), target.runs
        known: list[tuple[Any, FollowedRun]] = []
        for number, make in enumerate(pairs):
            pair = make()
            path = first_look(target, pair, claim, seed, known)
            looks.paths.append(path)
            looks.edges.append(is_edge(pair, path, bool(made_up) and made_up[number]))
            tell(number + 1, len(pairs))
            if (number + 1 == _FIRST and looks.nothing_followed) or (most is not None and target.runs - before >= most):
                break
        return looks

    @property
    def nothing_followed(self) -> bool:
        """Whether no noise was followed on any pair."""
        return all(path.word is Word.NOT_SEEN for path in self.paths)

    def worst(self, count: int, last: set[int]) -> list[int]:
        """Return which pairs show most, no two of one rank; edges only where there is nothing else.

        Where several do not keep the claim, those in ``last`` come after all others.
        """
        places = [place for place, edge in enumerate(self.edges) if not edge] or list(range(len(self.paths)))
        first: dict[tuple[int, bool, float], int] = {}
        for place in places:
            word, cost = self.paths[place].rank
            first.setdefault((word, word < Word.NOT_SUPPORTED or place not in last, cost), place)
        return [first[rank] for rank in sorted(first, reverse=True)[:count]]

    def of_few_records(self, rank: tuple[int, float], pairs: Sequence[candidates.LazyPair]) -> int | None:
        """Return the pair of fewest records on which as much shows, where the noise decides what is released.

        Runs have to measure such a pair, and what many records decide, no noise changes. None where it decides nothing.
        """
        sizes = {
            place: min(map(len, pairs[place].pair()))
            for place, path in enumerate(self.paths)
            if path.branches
            and path.rank == rank
            and not self.edges[place]
            and pairs[place].kind == "base"
            and not _is_far_fetched(pairs[place])
        }
        return min((place for place in sizes if sizes[place]), key=sizes.__getitem__, default=None)

    def alike(self, place: int, pairs: Sequence[candidates.LazyPair]) -> list[int]:
        """Return other pairs that may show more, evenly among them; none that is far-fetched, and no edge.

        On those the same is found; or, where a price explains what is, something that no price explains.
        """
        worst = self.paths[place]
        places = [
            other
            for other, path in enumerate(self.paths)
            if (path.word is worst.word if worst.is_open else path.is_open)
            and other != place
            and not self.edges[other]
            and not _is_far_fetched(pairs[other])
        ]
        return places[:: -(-len(places) // _ALIKE) or 1]

    def at_edges(self, rank: tuple[int, float], pairs: Sequence[candidates.LazyPair]) -> tuple[str, ...]:
        """Say what was found at edges, if that is more than was found elsewhere; else nothing."""
        if rank[0] >= Word.NOT_SUPPORTED:
            return ()
        at_edge = [
            (path, each)
            for path, edge, each in zip(self.paths, self.edges, pairs, strict=False)
            if edge and path.word > rank[0]
        ]
        said = []
        worst = max(
            (path for path, each in at_edge if not _tripped(path, each)), key=lambda path: path.rank, default=None
        )
        if worst is not None:
            said.append(f"where no record is left, {worst.found[0].text}")
        trips: dict[str, str] = {}
        for path, each in at_edge:
            if _tripped(path, each):
                trips.setdefault("".join(path.raised).partition(":")[0], each.name)
        for raised, name in itertools.islice(trips.items(), _TRIPS):
            said.append(
                f"it raises {raised} on a value that no record has ({name}), which tells that such a record is there: "
                "declare what may come (--domain), or let it do nothing else then"
            )
        return tuple(said)


def _tripped(path: Path, pair: candidates.LazyPair) -> bool:
    return pair.made_up and _trips(path)


def worst_of(traced: Sequence[Traced]) -> int:
    """Return the place of the pair on which most was found."""
    return max(range(len(traced)), key=lambda place: traced[place].worst.rank)
