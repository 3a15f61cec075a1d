"""Does the wealth of a sequential audit follow from its bets, and its bound from the wealth?

The file contains what determines the wealth: for every epoch and event, the counts of the past and of the epoch's own
runs. It cannot show that these runs were read in their order, or that the events were chosen on earlier runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Counts, Epoch, Sequential, Stake, round_outward
from dpaudit.privacy import GaussianDP, PureDP
from dpaudit.review.check.finding import DIGITS, Finding, agrees, answered, failing
from dpaudit.stats.e_process import foresee_sequential, log_wealth, sequential_bound
from dpaudit.stats.methods import SEQUENTIAL

_POWER_DIGITS = 2e-3  # relative; the accuracy of the search for it


def check_bets(evidence: Evidence, sequential: Sequential) -> Iterator[Finding]:
    """Yield a finding for everything that follows from the bets."""
    notion = evidence.claimed or PureDP(0.0)
    wrong = _impossible(evidence, sequential)
    if wrong:
        yield failing("bets", wrong)
        return
    bound, pairs, error = evidence.attempts[0].bound, len(evidence.pairs), 1 - evidence.confidence
    enough = error if evidence.false_alarm is None else evidence.false_alarm
    wealth = log_wealth(sequential.epochs, pairs, notion)
    said = f"the bets leave a log wealth of {wealth:.6g}"
    yield answered("wealth", agrees(wealth, sequential.log_wealth, 1e3 * DIGITS), said)
    again = round_outward(sequential_bound(sequential.epochs, pairs, notion, error), "lower")
    refuted = again if enough == error else sequential_bound(sequential.epochs, pairs, notion, enough)
    stopped = evidence.claimed is not None and refuted > notion.value
    holds = agrees(again, bound.value) and stopped == sequential.stopped
    yield answered("bound", holds, f"{len(sequential.epochs)} epochs of bets reject up to {again:.10g}")
    yield _runs(evidence, sequential)
    if evidence.claimed is None:
        yield answered("power", evidence.detectable is None, "nothing was to be found")
        return
    limit = _limit(evidence)
    foreseen = foresee_sequential(sequential.epochs, limit, pairs, notion, enough)
    stated = evidence.detectable
    holds = stated is not None and agrees(foreseen.value, stated, _POWER_DIGITS)
    holds = holds and foreseen.where == evidence.detectable_on and not evidence.power
    said = f"{notion.symbol} of {foreseen.value:.6g} would have been found with probability 0.9"
    yield answered("power", holds, said)


def _impossible(evidence: Evidence, sequential: Sequential) -> str:
    """Say what is impossible, before anything is computed; empty if nothing is wrong."""
    if len(evidence.attempts) != 1 or evidence.attempts[0].bound.method != SEQUENTIAL:
        return "a sequential audit has one attempt, by bets"
    bound, notion = evidence.attempts[0].bound, evidence.claimed or PureDP(0.0)
    if evidence.attempts[0].pair != bound.pair:
        return "its attempt and its bound are about different pairs"
    if (bound.notion, bound.delta, bound.parameter) != (str(notion), notion.delta, notion.parameter):
        return f"it bounds {bound.parameter} of {bound.notion}, and the claim is {notion}"
    if bound.confidence != evidence.confidence or not 0 < bound.confidence < 1 or bound.weight is not None:
        return "its confidence is to be that of the whole, and it has no weight"
    for pair in range(len(evidence.pairs)):
        wrong = _disordered(
            [epoch for epoch in sequential.epochs if epoch.pair == pair], isinstance(notion, GaussianDP)
        )
        if wrong:
            return wrong
    if {epoch.pair for epoch in sequential.epochs} not in (set(), set(range(len(evidence.pairs)))):
        return "bets are made on all pairs of the evidence, and on no other"
    if bound.event is None:
        return "" if bound.counts is None else "counts stand there without an event"
    last = [epoch for epoch in sequential.epochs if epoch.pair == bound.pair][-1:]
    stakes = [stake for epoch in last for stake in epoch.stakes if stake.event == str(bound.event)]
    if not any(bound.counts in (None, stake.own) for stake in stakes):
        return "the event that is shown, or its counts, are not those of the last epoch"
    return ""


def _disordered(epochs: Sequence[Epoch], may_grade: bool) -> str:
    """Say what is wrong with the epochs of a pair: the past of each must be exactly the runs before it."""
    so_far: tuple[int, int] | None = None
    graded = may_grade and any(stake.own.bins is not None for epoch in epochs for stake in epoch.stakes)
    for epoch in epochs:
        if not epoch.stakes:
            return "an epoch has no event"
        if wrong := _misgraded(epoch.stakes, graded):
            return wrong
        own = epoch.stakes[0].own.runs
        for stake in epoch.stakes:
            if not (_whole(stake.past, stake.speaks) and _whole(stake.own, stake.speaks)):
                return "more runs point to a dataset than were made, or some to one that the event does not name"
            if stake.own.runs != own or stake.past.runs != epoch.stakes[0].past.runs:
                return "events of one epoch were counted on different runs"
        past = epoch.stakes[0].past.runs
        if so_far is not None and past != so_far:
            return "an epoch knows other runs than those before it"
        so_far = past[0] + own[0], past[1] + own[1]
    return ""


def _misgraded(stakes: Sequence[Stake], graded: bool) -> str:
    """Say what is wrong with degrees: they are those of the last event of every epoch, or there are none."""
    expected = [False] * (len(stakes) - 1) + [graded]
    told = [(stake.past.bins is not None, stake.own.bins is not None) for stake in stakes]
    if told != [(each, each) for each in expected]:
        return "degrees are bet on in the last event of every epoch or in none, and for a claim of μ alone"
    if not graded:
        return ""
    bins = [*(stakes[-1].past.bins or ()), *(stakes[-1].own.bins or ())]
    runs = (*stakes[-1].past.runs, *stakes[-1].own.runs)
    if len(stakes) < 2 or len({len(side) for side in bins}) > 1 or any(min(side, default=-1) < 0 for side in bins):
        return "the degrees of an event are counted differently before the epoch and in it"
    return "" if tuple(map(sum, bins)) == runs else "the degrees of an event do not add up to its runs"


def _whole(counts: Counts, speaks: tuple[bool, bool]) -> bool:
    filled = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    said = zip(speaks, (counts.toward0, counts.toward1), strict=True)
    named = all(names or not any(toward) for names, toward in said)
    return named and all(min(a, b) >= 0 and a + b <= runs for runs, a, b in filled)


def _runs(evidence: Evidence, sequential: Sequential) -> Finding:
    looked, own = sequential.looked, sum(sum(epoch.stakes[0].own.runs) for epoch in sequential.epochs)
    firsts = {epoch.pair: sum(epoch.stakes[0].past.runs) for epoch in reversed(sequential.epochs)}
    known = len(firsts) < len(evidence.pairs) or sum(firsts.values()) + looked == evidence.learning
    holds = own == evidence.measuring and known and (looked == 0 or (looked > 0 and sequential.stopped))
    holds = holds and evidence.learning + evidence.measuring - looked <= _limit(evidence)
    return answered("runs", holds, f"{own} runs were bet on, and {evidence.measuring} are stated")


def _limit(evidence: Evidence) -> int:
    """Return the largest number of runs that could have been bet on."""
    limit = evidence.budget
    return limit - (0 if evidence.search is None else evidence.search.runs)
