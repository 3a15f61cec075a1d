"""On which pair of neighbours does a release reveal the most? Search runs in, one pair out.

A replay of the noise singles out one candidate, for a few runs of each; it gets runs of its own, and stays in the race
until the end.

Pairs are compared by the bound that measuring them would probably show (`quick_predict`), on runs of a phase of their
own that no bound uses. `successive_halving` repeatedly drops the less promising half, `hill_climbing` continues from
there over a declared domain, and `shrink` looks for a simpler pair that shows about as much. The result is a pair and
nothing else; it is learned and measured afresh at the full confidence, like a pair that a user gave.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from dpaudit.auditing.pair import both_sides, numbers_a_run
from dpaudit.auditing.question import LEAST_RUNS, Question, SearchSpace
from dpaudit.auditing.sensitivity import worst_by_query
from dpaudit.errors import UsageError
from dpaudit.events import quick_predict
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Search, Tried
from dpaudit.neighbours.candidates.candidates import chosen, smaller
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.serialise import kept_text
from dpaudit.reading.constants import constants_of
from dpaudit.sampling.blocks import Block, Experiment, Phase, block_size
from dpaudit.sampling.outputs import Outputs, OutputSnapshot, concatenate
from dpaudit.sampling.play import play_each
from dpaudit.sampling.runs import first_exception

if TYPE_CHECKING:
    from dpaudit.tracing.search import Worst


# --- What do search runs predict for each pair? Makes the runs of a search, and keeps the predictions ---
#
# Most pairs of a search share one side, the data themselves. Its runs count for all of these pairs, so it needs to be
# run only occasionally, and a pair costs little more than the runs of its other side.

Pair = tuple[Any, Any]

# measured by benchmarks/search.py
_COMMON = 6  # a side that many pairs share is run so many times as often as any other
_AGAINST, _ENOUGH = 8, 5_000  # a pair is compared with so many times its own runs of that side, up to so many runs
_OWN_DATA = "data"
_MOST_NUMBERS = 20_000_000  # in the outputs of all pairs together; bounds memory


@dataclass(eq=False)
class RacedPair:
    """A pair and its search runs.

    Attributes:
        number: selects its random streams; unique within a search.
        name: what changes in it.
        make: makes the pair; it is made anew for every round, so that a long list of pairs takes no memory.
        common: for each side, a key of what it shares with the same side of other pairs, or None.
        sides: the outputs of each side.
        runs, blocks: executions spent on it, and the blocks that they came in.
        predicted: the bound predicted for it.
        silent: whether every run of both sides raises the same.
    """

    number: int
    name: str
    make: Callable[[], Pair]
    common: tuple[Hashable | None, Hashable | None] = (None, None)
    sides: tuple[list[Outputs], list[Outputs]] = field(default_factory=lambda: ([], []))
    runs: int = 0
    blocks: int = 0
    predicted: float = -np.inf
    silent: bool = False


class Race:
    """Runs pairs for a search, and predicts what measuring them would show.

    Attributes:
        measuring: runs that will measure the winner, for which predictions are made.
        runs: executions so far, of all pairs.
        width: numbers in one output.
    """

    def __init__(self, question: Question, data: Any = None) -> None:
        """Take what is audited, and the data that most pairs have as one of their sides."""
        self.question, self.data = question, data
        self.measuring, self.runs, self.width = LEAST_RUNS, 0, 1
        self._pool: dict[Hashable, list[Outputs]] = {}

    def meet(self, pairs: Sequence[RacedPair]) -> None:
        """Find out which sides pairs share. If both sides of a pair are shared, only the more common one counts as
        such.

        This treats similar pairs alike: a side that is known from more runs would look worse than it does alone.
        """
        for one in pairs:
            if self.data is not None:
                pair = one.make()
                one.common = (_OWN_DATA if pair[0] is self.data else None, _OWN_DATA if pair[1] is self.data else None)
        shared = Counter(key for one in pairs for key in set(one.common) - {None})
        for one in pairs:
            often = [0 if key is None else shared[key] for key in one.common]
            side = int(often[1] > often[0])
            key = one.common[side] if often[side] > 1 else None
            one.common = (key, None) if side == 0 else (None, key)

    def cost(self, pairs: Sequence[RacedPair]) -> float:
        """Return the runs needed to run each unshared side of these pairs once, and shared sides less often."""
        shared = Counter(key for one in pairs for key in one.common)
        return sum(sum(_weights(one, shared)) for one in pairs)

    def run(self, pairs: Sequence[RacedPair], each: int) -> None:
        """Run each side of each pair ``each`` more times, a shared side less often."""
        numbered = {one.number: one for one in pairs}
        shared = Counter(key for one in pairs for key in one.common)

        def parts() -> Iterator[tuple[Experiment, Block]]:
            for one in pairs:
                # no digests: the search itself checks whether the data have changed
                experiment = dataclasses.replace(self.question.experiment, pairs={one.number: one.make()}, digests=())
                for block in self._blocks(one, each, _weights(one, shared)):
                    yield experiment, block

        for played in play_each(parts(), both_sides, workers=self.question.engine):
            one, block = numbered[played.block.pair], played.block
            for outputs, side, key in zip(played.result, one.sides, one.common, strict=True):
                side.append(outputs)
                if key is not None:
                    self._pool.setdefault(key, []).append(outputs)
            one.runs += block.size
            one.blocks += 1
            self.runs += block.size
            self.width = max(self.width, numbers_a_run(played.result))

    def look(self, pairs: Iterable[RacedPair]) -> None:
        """Update the predictions of pairs; all pairs that share a side are compared with the same runs of it."""
        joined = {key: concatenate(parts) for key, parts in self._pool.items()}
        for one in pairs:
            own = [concatenate(side) for side in one.sides]
            counts = [len(side) for side in own]
            for side, key in enumerate(one.common):
                if key is not None:
                    against = max(min(_AGAINST * counts[1 - side], _ENOUGH), counts[0], counts[1])
                    own[side] = joined[key].first(against)
            one.silent = _silent(own[0], own[1])
            one.predicted = -np.inf if one.silent else self.predicted_bound(own[0], own[1])

    def shown_by(self, number: int, pair: Pair, runs: int) -> float:
        """Return the predicted bound of a pair that is not a candidate."""
        tried = RacedPair(number, "", lambda: pair)
        self.run([tried], runs)
        self.look([tried])
        return tried.predicted

    def predicted_bound(self, side0: Outputs, side1: Outputs) -> float:
        """Return the bound predicted from these outputs, with a large penalty for luck."""
        error = 1 - self.question.confidence
        return quick_predict(side0, side1, claim=self.question.notion, measuring=self.measuring, error=error)

    def affordable(self, pairs: int) -> int:
        """Return how many more runs a side so many pairs can have while all outputs stay in memory."""
        return max(_MOST_NUMBERS // (2 * pairs * self.width), 1)

    def _blocks(self, one: RacedPair, each: int, weights: tuple[float, float]) -> list[Block]:
        size = block_size(self.question.runs_as, self.width, self.question.block_size)
        runs, chance = round(each * sum(weights)), weights[1] / sum(weights)
        sizes = [size] * (runs // size) + [runs % size] * (runs % size > 0)
        return [Block(Phase.SEARCH, one.number, one.blocks + i, own, chance) for i, own in enumerate(sizes)]


def _weights(one: RacedPair, shared: Counter[Hashable | None]) -> tuple[float, float]:
    """How often each side of a pair is run, relative to an unshared side."""
    side0, side1 = (1.0 if key is None else min(_COMMON / shared[key], 1.0) for key in one.common)
    return side0, side1


def _silent(side0: Outputs, side1: Outputs) -> bool:
    """Whether every run of both sides raised the same exception, so that nothing can be compared."""
    forms = {side.forms for side in (side0, side1) if len(side)}
    return len(forms) == 1 and len(only := next(iter(forms))) == 1 and only[0].startswith("raises ")


# --- Is there a simpler pair that reveals as much? The smaller the data, the clearer the reason ---
#
# Simpler pairs of the same relation are tried on search runs, the boldest simplification first, and each one that shows
# about as much replaces the pair before it. What "about as much" means is fixed beforehand, by runs of the pair that
# the search chose. Finally that pair and the simplest one are run afresh, and the simpler one is kept only if it still
# shows as much: the luckiest of many trials must not decide.

# chosen for a few dozen trials; no benchmark measures shrinking alone
_TRIALS = 30  # planned, approximately
_LEAST_RUNS, _MOST_RUNS = 512, 4_000  # runs of a trial
_FINAL = 2  # the final comparison makes so many times the runs of a trial
_KEPT = 0.6  # share of what the pair shows beyond the claim that a simpler one must show; allows for noise
_FIRST = 1_000_000  # number of the first pair tried, above those of all candidates


def shrink(
    race: Race,
    found: RacedPair,
    simpler: Callable[[Pair], Iterable[Pair]],
    claimed: float,
    runs: int,
) -> tuple[Pair, int]:
    """Return the simplest pair found, and how many steps led to it.

    Nothing is tried unless the pair clearly shows more than is claimed: otherwise there is nothing to explain.
    """
    start = race.runs
    each = min(max(runs // _TRIALS, _LEAST_RUNS), _MOST_RUNS)
    numbers = itertools.count(_FIRST)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    pair, steps = found.make(), 0
    if not each <= runs or (found.runs and not found.predicted > claimed):
        return pair, 0
    shown = look(pair)
    if not shown > claimed:
        return pair, 0
    least = claimed + _KEPT * (shown - claimed)
    original = pair

    def affordable() -> bool:
        return race.runs - start + (1 + 2 * _FINAL) * each <= runs

    going = True
    while going:
        going = False
        for other in simpler(pair):
            if not affordable():
                break
            if look(other) >= least:
                pair, steps, going = other, steps + 1, True
                break
    if steps and look(pair, _FINAL) < claimed + _KEPT * (look(original, _FINAL) - claimed):
        return original, 0
    return pair, steps


# --- Which of many pairs shows most? Successive halving (Karnin, Koren & Somekh 2013) ---
#
# In every round each remaining pair gets the same number of runs, and the less promising half is dropped. A pair is
# judged by all of its runs together, and most runs go to pairs that are hard to tell apart.

LEAST = 32  # smallest number of runs of a side in a round; fewer say nothing
_LARGEST_ROUND = 10_000  # largest one; more improve a prediction little (measured by benchmarks/search.py)


def rounds_of(pairs: int) -> list[int]:
    """Return how many pairs are left in each round, down to two."""
    left = [pairs]
    while left[-1] > 2:
        left.append(-(-left[-1] // 2))
    return left if pairs > 1 else []


def halve(race: Race, pairs: Sequence[RacedPair], runs: int, after: Callable[[], None]) -> list[RacedPair]:
    """Return the pairs that were left longest, best first.

    Pairs of which every run of both sides raises the same are dropped; if all are, none is returned.
    """
    left, last = list(pairs), list(pairs)
    rounds, start = rounds_of(len(left)), race.runs
    for number in range(len(rounds)):
        to_come = sum(rounds[number:]) * race.cost(left) / len(left)
        each = min(int((runs - race.runs + start) / to_come), _LARGEST_ROUND, race.affordable(len(left)))
        race.run(left, max(each, LEAST))
        after()
        race.look(left)
        last = sorted((one for one in left if not one.silent), key=lambda one: (-one.predicted, one.number))
        left = last[: -(-len(left) // 2)]
        if len(left) < 2:
            break
    return last


# --- What is the order of a search? candidates → replay → halving → climbing → shrinking → one pair ---

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
    record: Search  # how it was found
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
        from dpaudit.auditing.replayed import climb  # imports Hypothesis, which is slow to import

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
    from dpaudit.auditing.replayed import leads_of
    from dpaudit.tracing.pair import trace_pair
    from dpaudit.tracing.runs import Target

    target = Target(question.mechanism, question.parameters, OutputSnapshot)
    traced = trace_pair(target, pair, question.claim, seed=question.seed % 2**31, quick=True)
    return replace(question, leads=(leads_of(traced),))


def least_of(space: SearchSpace) -> int:
    """Return the smallest number of runs of an audit that begins with such a search."""
    return _LEAST_TOTAL if space.made else max(_LEAST_TOTAL, 3 * LEAST * sum(rounds_of(len(space.data))))


def first_of(question: Question) -> Question:
    """Return the question about its first pair, if none was found because the runs cannot be trusted."""
    if question.pairs or question.space is None:
        return question
    return question.about(_first(question, question.space).make())


def with_search(evidence: Evidence, found: SearchResult) -> Evidence:
    """Return the evidence about the pair that was found, with the record of the search."""
    asked = None if evidence.asked is None else evidence.asked + found.record.runs
    if found.question.fixed:  # so that the same search can be repeated
        asked = found.total
    # Hypothesis draws the datasets
    climbed = {} if found.record.climbed is None else {"hypothesis": installed_version("hypothesis")}
    versions = {**evidence.versions, **climbed}
    return msgspec.structs.replace(evidence, search=found.record, asked=asked, versions=versions)


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
        return [RacedPair(number, one.name, one.pair) for number, one in enumerate(made)], left_out
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
    from dpaudit.tracing.runs import Target
    from dpaudit.tracing.search import DRAWN, worst_pair

    target, seed = Target(question.mechanism, question.parameters), question.seed % 2**31
    found = worst_pair(target, [one.make for one in pairs], question.claim, seed=seed, most=most)
    if found is None:
        return None
    lead = pairs[found.place]
    if space.domain is not None:
        from dpaudit.auditing.replayed import climb_by_replay  # imports Hypothesis, which is slow to import

        pair, higher, _ = climb_by_replay(
            target,
            question.claim,
            space.data,
            space.domain,
            question.relation,
            seed=seed,
            above=found.rank,
            trials=min(int(DRAWN * len(pairs)), (most - found.runs) * found.tried // max(found.runs, 1)),
        )
        replayed = found.runs + higher.runs
        if pair is not None:
            found, lead = higher, RacedPair(_REPLAYED, DRAWN_PAIR, partial(_given, pair))
        found = replace(found, runs=replayed)
    return (found, lead) if str(found.word) in LEADS else None


def _with_lead(race: Race, ranked: list[RacedPair], lead: RacedPair, runs: int) -> list[RacedPair]:
    """Return the pairs that were left longest with the lead among them, best first, after runs of its own."""
    race.run([lead], max(runs // 2, LEAST))
    race.look([lead])
    others = [one for one in ranked if one is not lead]
    return sorted([*others, *([] if lead.silent else [lead])], key=lambda one: (-one.predicted, one.number))


def _first(question: Question, space: SearchSpace) -> RacedPair:
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
    return _first(question, space).make()


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
    found: str,
    climbed: int | None,
    steps: int,
    pair: Pair,
    left_out: int,
) -> Search:
    sizes = [len(side) for side in pair if hasattr(side, "__len__")]
    return Search(
        source=space.source,
        candidates=len(pairs),
        left_out=left_out,
        raised=sum(one.silent for one in pairs),
        runs=race.runs,
        found=found,
        tried=tuple(Tried(one.name, one.runs, _rounded(one.predicted)) for one in ranked[:_SHOWN]),
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
