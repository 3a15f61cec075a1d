"""On which pair of neighbours does a release reveal the most? Search runs in, one pair out.

A replay of the noise singles out one candidate, for a few runs of each; it gets runs of its own, and stays in the race
until the end.

Pairs are compared by the bound that measuring them would probably show (`quick_predict`), on runs of a phase of their
own that no bound uses. `halve` repeatedly drops the less promising half, `climb` continues from
there over a declared domain, and `shrink` looks for a simpler pair that shows about as much. The result is a pair and
nothing else; it is learned and measured afresh at the full confidence, like a pair that a user gave.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from dpaudit.auditing.question import Question, SearchSpace
from dpaudit.auditing.race import LEAST, Pair, Race, RacedPair, halve, rounds_of, shrink
from dpaudit.auditing.sensitivity import worst_by_query
from dpaudit.errors import UsageError
from dpaudit.evidence import build, records
from dpaudit.evidence.evidence import Evidence
from dpaudit.neighbours.candidates.candidates import chosen, smaller
from dpaudit.neighbours.digest import digest, kept_text
from dpaudit.reading.callables import constants_of
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.sampling.runs import first_exception

if TYPE_CHECKING:
    from dpaudit.tracing.search import Worst

# measured by benchmarks/search.py, for given pairs; the shares of shrinking and climbing are chosen
_MOST_CANDIDATES, _RUNS_A_CANDIDATE = 500, 300
_FOR_ONE = 1.0  # learning and measuring the winner count as so many rounds of halving
_SHRINKING, _CLIMBING = 0.15, 0.25  # of the runs of the search
_LEADING = 0.1  # of them, for the pair that a replay of the noise singles out
_REPLAYING = 0.25  # as many executions as this part of all runs look, by replay, for that pair; they are no runs
_PROBE, _LEAST_TOTAL = 64, 1_000  # runs
_OWN, _HIGHER, _REPLAYED = 2_000_000, 2_000_001, 2_000_002  # numbers of the data, and of pairs found by climbing
DRAWN_PAIR = "a pair of small datasets over the domain"
_SHOWN = 12  # rows of a table in the report


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search."""

    question: Question  # the question about the pair that was found
    record: records.Search  # how it was found
    total: int  # the runs of the whole audit; ``left`` of them learn and measure the pair

    @property
    def left(self) -> int:
        """Runs that the search did not spend."""
        return self.total - self.record.runs


def find(question: Question, total: int) -> SearchResult:
    """Search for the pair that reveals most, with a share of the runs.

    Args:
        question: what is audited, with the space to search.
        total: the runs of the whole audit; those that the search leaves learn and measure the winner.

    Raises:
        UsageError: if the mechanism raises in every run, changes its data, or there are too few runs for the pairs.
        InvalidRunsError: if a worker dies.
    """
    space = question.space
    assert space is not None
    if total < _LEAST_TOTAL:
        raise UsageError(f"a search for the worst pair takes at least {_LEAST_TOTAL:,} runs, not {total:,}; give more")
    own = _own(question, space)
    unchanged = _Unchanged(own if space.source == "domain" else space.data, space.digest)
    race = Race(question, space.data if space.source == "data" else None)
    _probe(race, space, own)
    unchanged.check()
    pairs, left_out = _pairs(question, space, total)
    allowed = share_of(len(pairs), total)
    race.measuring = total - allowed
    led = _led(question, space, pairs, int(_REPLAYING * total))
    race.meet(pairs)
    if question.session is not None:
        question.session.tell("candidates")
    kept = _SHRINKING * space.made + _CLIMBING * (space.domain is not None) + _LEADING * (led is not None)
    ranked = halve(race, pairs, int((1 - kept) * allowed) - race.runs, unchanged.check)
    if not ranked:
        raise _nothing_ran(question, pairs[0].make()[0])
    if led is not None:
        ranked = _with_lead(race, ranked, led[1], int(_LEADING * allowed))
    best, climbed = ranked[0], None
    if space.domain is not None:
        from dpaudit.auditing.race import climb  # imports Hypothesis, which is slow to import

        runs = int(_CLIMBING * allowed)
        higher, climbed = climb(race, best, space.data, space.domain, question.relation, runs)
        best = best if higher is None else RacedPair(_HIGHER, DRAWN_PAIR, higher)
    claimed = 0.0 if question.claim is None else question.claim.value
    pair, steps = best.make(), 0
    if space.made:
        simpler = partial(smaller, relation=question.relation)
        pair, steps = shrink(race, best, simpler, claimed, allowed - race.runs)
    unchanged.check()
    record = _record(question, space, race, pairs, ranked, best.name, climbed, steps, pair, left_out)
    if led is not None:
        record = msgspec.structs.replace(record, led=str(led[0].word), replayed=led[0].runs)
    return SearchResult(_about(question, pair, led is not None), record, total)


def _about(question: Question, pair: Pair, is_led: bool) -> Question:
    """Return the question about the pair, with what a replay of it points to."""
    question = question.about(pair)
    if not is_led:
        return question
    from dpaudit.auditing.race import leads_of
    from dpaudit.tracing.pair import trace_pair
    from dpaudit.tracing.runs import FollowedTarget

    target = FollowedTarget(question.mechanism, question.parameters, OutputSnapshot)
    traced = trace_pair(target, pair, question.claim, seed=question.seed % 2**31, quick=True)
    return replace(question, leads=(leads_of(traced),))


def least_of(space: SearchSpace) -> int:
    """Return the smallest number of runs of an audit that begins with such a search."""
    return _LEAST_TOTAL if space.made else max(_LEAST_TOTAL, 3 * LEAST * sum(rounds_of(len(space.data))))


def first_of(question: Question) -> Question:
    """Return the question about its first pair, if none was found because the runs cannot be trusted."""
    if question.pairs or question.space is None:
        return question
    return question.about(_first_pair(question, question.space).make())


def with_search(evidence: Evidence, searched: SearchResult) -> Evidence:
    """Return the evidence about the pair that was found, with the record of the search."""
    asked = None if evidence.asked is None else evidence.asked + searched.record.runs
    # Hypothesis draws the datasets
    climbed = {} if searched.record.climbed is None else {"hypothesis": build.installed_version("hypothesis")}
    versions = {**evidence.versions, **climbed}
    return msgspec.structs.replace(evidence, search=searched.record, asked=asked, versions=versions)


def share_of(pairs: int, total: int) -> int:
    """Return how many of all runs a search among so many pairs may use: none for one pair, most of them for many.

    Every halving gets the same number of runs, and so does learning and measuring the winner.
    """
    halvings = math.log2(max(pairs, 1))
    return int(total * halvings / (halvings + _FOR_ONE))


def _pairs(question: Question, space: SearchSpace, total: int) -> tuple[list[RacedPair], int]:
    """Return the pairs to compare, and how many were left out.

    If pairs are constructed, there are as many as the runs can tell apart.
    """
    if space.made:
        most = min(max(total // _RUNS_A_CANDIDATE, 1), _MOST_CANDIDATES)
        query = question.mechanism.query_for(question.parameters)
        made, left_out = chosen(
            space.data,
            question.relation,
            domain=space.domain,
            beyond_domain=space.beyond,
            seed=question.seed,
            limit=most if query is None else _MOST_CANDIDATES,
            numbers=constants_of(question.mechanism.function),
        )
        if query is not None:  # candidates that move the query farthest are always compared
            worst = [made[place] for place in worst_by_query(made, query)]
            made, left_out = worst[:most], left_out + len(worst[most:])
        return [RacedPair(n, one.name, one.pair, made_up=one.made_up) for n, one in enumerate(made)], left_out
    needed = least_of(space)
    if total < needed:
        raise UsageError(f"a search among {len(space.data)} pairs takes at least {needed:,} runs, not {total:,}")
    given = [
        RacedPair(number, f"pair {number}", partial(_given, pair), (digest(pair[0]), digest(pair[1])))
        for number, pair in enumerate(space.data)
    ]
    return given, 0


def _led(
    question: Question, space: SearchSpace, pairs: Sequence[RacedPair], most: int
) -> tuple[Worst, RacedPair] | None:
    """Return the pair that a few replayed runs of each single out, and what they found; None where none leads.

    Over a domain, further pairs are drawn where noise has to move farther. ``most``: executions for all of that, about:
    a number and no time, so that the same search can be repeated.
    """
    if not space.made or len(pairs) < 2:
        return None
    from dpaudit.tracing.pair import LEADS
    from dpaudit.tracing.runs import FollowedTarget
    from dpaudit.tracing.search import DRAWN, worst_pair

    target, seed = FollowedTarget(question.mechanism, question.parameters), question.seed % 2**31
    worst = worst_pair(target, [one.make for one in pairs], question.claim, seed=seed, most=most)
    if worst is None:
        return None
    lead = pairs[worst.place]
    if space.domain is not None:
        from dpaudit.auditing.race import climb_by_replay  # imports Hypothesis, which is slow to import

        pair, higher, _ = climb_by_replay(
            target,
            question.claim,
            space.data,
            space.domain,
            question.relation,
            seed=seed,
            above=worst.rank,
            trials=min(int(DRAWN * len(pairs)), (most - worst.runs) * worst.tried // max(worst.runs, 1)),
        )
        replayed = worst.runs + higher.runs
        if pair is not None:
            worst, lead = higher, RacedPair(_REPLAYED, DRAWN_PAIR, partial(_given, pair))
        worst = replace(worst, runs=replayed)
    return (worst, lead) if str(worst.word) in LEADS else None


def _with_lead(race: Race, ranked: list[RacedPair], lead: RacedPair, runs: int) -> list[RacedPair]:
    """Return the pairs that were left longest with the lead among them, best first, after runs of its own."""
    race.run([lead], max(runs // 2, LEAST))
    race.look([lead])
    others = [one for one in ranked if one is not lead]
    return sorted([*others, *([] if lead.silent else [lead])], key=lambda one: (-one.predicted, one.number))


def _first_pair(question: Question, space: SearchSpace) -> RacedPair:
    """Return the pair that would be compared first."""
    return _pairs(question, space, _RUNS_A_CANDIDATE if space.made else least_of(space))[0][0]


def _given(pair: Pair) -> Pair:
    return pair


class _Unchanged:
    """Checks that the searched data have not changed: early, and after every round."""

    def __init__(self, data: Any, before: str | None) -> None:
        self.data, self.before = data, before or digest(data)

    def check(self) -> None:
        """Refuse data that have changed."""
        if digest(self.data) != self.before:
            raise UsageError("the mechanism changes its data: later runs would see other data; let it work on a copy")


def _own(question: Question, space: SearchSpace) -> Pair:
    """Return what to try first: the data themselves, or the first pair."""
    if space.source == "data":
        return space.data, space.data
    return _first_pair(question, space).make()


def _probe(race: Race, space: SearchSpace, own: Pair) -> None:
    """Run a pair a few times; refuse a mechanism that raises in every run on the data."""
    probed = RacedPair(_OWN, "", partial(_given, own))
    race.run([probed], _PROBE // 2)
    race.look([probed])
    if probed.silent and space.source == "data":
        raise _nothing_ran(race.question, space.data)


def _nothing_ran(question: Question, data: Any) -> UsageError:
    what = first_exception(question.mechanism, data, question.parameters)
    return UsageError(f"{question.mechanism.name} raises in every run, so nothing can be measured: {what}")


def _record(
    question: Question,
    space: SearchSpace,
    race: Race,
    pairs: Sequence[RacedPair],
    ranked: Sequence[RacedPair],
    pair_name: str,
    climbed: int | None,
    steps: int,
    pair: Pair,
    left_out: int,
) -> records.Search:
    sizes = [len(side) for side in pair if hasattr(side, "__len__")]
    return records.Search(
        source=space.source,
        candidates=len(pairs),
        left_out=left_out,
        raised=sum(one.silent for one in pairs),
        runs=race.runs,
        found=pair_name,
        tried=tuple(records.Tried(one.name, one.runs, _rounded(one.predicted)) for one in ranked[:_SHOWN]),
        climbed=climbed,
        shrunk=steps,
        records=(sizes[0], sizes[1]) if steps and len(sizes) == len(pair) else None,
        data=space.digest,
        domain=None if space.domain is None else kept_text(space.domain),
        beyond=space.beyond,
        kept=kept_text(space.data) if question.keep_data and space.source in ("data", "given") else None,
    )


def _rounded(value: float) -> float:
    """Keep 6 digits: the last bits of logarithms differ between processors, and evidence should not."""
    return float(f"{value:.6g}")
