"""What do search runs predict for each pair, which shows most, and is there a simpler one that shows as much?

Most pairs of a search share one side, the data themselves. Its runs count for all of these pairs, so it needs to be
run only occasionally, and a pair costs little more than the runs of its other side.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.auditing.pair import both_sides, numbers_a_run
from dpaudit.auditing.question import LEAST_RUNS, Question
from dpaudit.events import quick_predict
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock, block_size
from dpaudit.sampling.outputs import Outputs, concatenate
from dpaudit.sampling.play import play_each

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
        made_up: whether it holds a value that is neither declared nor among those of the data.
        silent: whether every run of both sides raises the same; or every run of one, over a value that is made up.
    """

    number: int
    name: str
    make: Callable[[], Pair]
    common: tuple[Hashable | None, Hashable | None] = (None, None)
    sides: tuple[list[Outputs], list[Outputs]] = field(default_factory=lambda: ([], []))
    runs: int = 0
    blocks: int = 0
    predicted: float = -np.inf
    made_up: bool = False
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

        def parts() -> Iterator[tuple[Experiment, RunBlock]]:
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
            one.silent = _silent(own[0], own[1]) or (one.made_up and any(map(_raises, own)))
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

    def _blocks(self, one: RacedPair, each: int, weights: tuple[float, float]) -> list[RunBlock]:
        size = block_size(self.question.runs_as, self.width, self.question.block_size)
        runs, chance = round(each * sum(weights)), weights[1] / sum(weights)
        sizes = [size] * (runs // size) + [runs % size] * (runs % size > 0)
        return [RunBlock(Phase.SEARCH, one.number, one.blocks + i, own, chance) for i, own in enumerate(sizes)]


def _weights(one: RacedPair, shared: Counter[Hashable | None]) -> tuple[float, float]:
    """How often each side of a pair is run, relative to an unshared side."""
    side0, side1 = (1.0 if key is None else min(_COMMON / shared[key], 1.0) for key in one.common)
    return side0, side1


def _raises(side: Outputs) -> bool:
    """Whether every run of a side raised."""
    return len(side) > 0 and all(form.startswith("raises ") for form in side.forms)


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
