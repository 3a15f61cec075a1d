"""How does a pair look on search runs? The runs of a search, and what they say of each pair so far.

Most pairs of a search have a side in common, the data themselves. Its runs count for all of these pairs, so it needs
to be run only now and then, and a pair costs little more than the runs of its other side.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.auditing.pair import both_sides, numbers_a_run
from dpaudit.auditing.question import LEAST_RUNS, Question
from dpaudit.events import quick_predict
from dpaudit.sampling.blocks import Block, Experiment, Phase, block_size
from dpaudit.sampling.outputs import Outputs, concatenate
from dpaudit.sampling.play import play_each

Pair = tuple[Any, Any]

_COMMON = 6  # a side that many pairs share is run so much more often than any other
_AGAINST, _ENOUGH = 8, 5_000  # and a pair is held against so many more of its runs than its own side has
_OWN = "data"
_MOST_NUMBERS = 20_000_000  # that the outputs of all pairs may hold together


@dataclass(eq=False)
class RacedPair:
    """A pair and what its search runs were.

    Attributes:
        number: of its streams of random numbers; no two pairs of a search have the same.
        name: what changes in it.
        make: makes the pair; it is made anew for every round, so that a long list of pairs takes no memory.
        common: for each side, what it has in common with the same side of other pairs, or None.
        sides: the outputs of each side.
        runs, blocks: executions spent on it, and the blocks that they came in.
        outlook: the bound that is predicted of it.
        silent: whether every run of both sides raises the same.
    """

    number: int
    name: str
    make: Callable[[], Pair]
    common: tuple[Hashable | None, Hashable | None] = (None, None)
    sides: tuple[list[Outputs], list[Outputs]] = field(default_factory=lambda: ([], []))
    runs: int = 0
    blocks: int = 0
    outlook: float = -np.inf
    silent: bool = False


class Race:
    """Runs pairs for a search, and says what measuring them would probably show.

    Attributes:
        measuring: runs that will measure the winner, which predictions are made for.
        runs: executions so far, of all pairs.
        width: numbers that a run puts out.
    """

    def __init__(self, question: Question, data: Any = None) -> None:
        """Take what is audited, and the data that most pairs have as one of their sides."""
        self.question, self.data = question, data
        self.measuring, self.runs, self.width = LEAST_RUNS, 0, 1
        self._pool: dict[Hashable, list[Outputs]] = {}

    def meet(self, pairs: Sequence[RacedPair]) -> None:
        """See what pairs have in common. Where both sides of a pair are common, only the commoner one counts as such.

        So pairs that are alike are told alike: a side that is known from more runs looks worse than it would alone.
        """
        for one in pairs:
            if self.data is not None:
                pair = one.make()
                one.common = (_OWN if pair[0] is self.data else None, _OWN if pair[1] is self.data else None)
        shared = Counter(key for one in pairs for key in set(one.common) - {None})
        for one in pairs:
            often = [0 if key is None else shared[key] for key in one.common]
            side = int(often[1] > often[0])
            key = one.common[side] if often[side] > 1 else None
            one.common = (key, None) if side == 0 else (None, key)

    def cost(self, pairs: Sequence[RacedPair]) -> float:
        """Return how many runs it takes to give each side of these pairs one run that it has in common with none."""
        shared = Counter(key for one in pairs for key in one.common)
        return sum(sum(_weights(one, shared)) for one in pairs)

    def run(self, pairs: Sequence[RacedPair], each: int) -> None:
        """Run each pair ``each`` times more a side, a common side less often."""
        numbered = {one.number: one for one in pairs}
        shared = Counter(key for one in pairs for key in one.common)

        def parts() -> Iterator[tuple[Experiment, Block]]:
            for one in pairs:
                # no digests: the search itself looks whether anything has changed
                experiment = dataclasses.replace(self.question.experiment, pairs={one.number: one.make()}, digests=())
                for block in self._blocks(one, each, _weights(one, shared)):
                    yield experiment, block

        for played in play_each(parts(), both_sides, workers=self.question.workers):
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
        """Renew the outlook of pairs; all of them that share a side are held against the same runs of it."""
        joined = {key: concatenate(parts) for key, parts in self._pool.items()}
        for one in pairs:
            own = [concatenate(side) for side in one.sides]
            counts = [len(side) for side in own]
            for side, key in enumerate(one.common):
                if key is not None:
                    against = max(min(_AGAINST * counts[1 - side], _ENOUGH), counts[0], counts[1])
                    own[side] = joined[key].first(against)
            one.silent = _silent(own[0], own[1])
            one.outlook = -np.inf if one.silent else self.outlook(own[0], own[1])

    def shown_by(self, number: int, pair: Pair, runs: int) -> float:
        """Return the outlook of a pair that is no candidate, from so many runs a side of its own."""
        tried = RacedPair(number, "", lambda: pair)
        self.run([tried], runs)
        self.look([tried])
        return tried.outlook

    def outlook(self, side0: Outputs, side1: Outputs) -> float:
        """Return what measuring a pair with such outputs would probably show, with a heavy penalty for luck."""
        error = 1 - self.question.confidence
        return quick_predict(side0, side1, claim=self.question.notion, measuring=self.measuring, error=error)

    def affordable(self, pairs: int) -> int:
        """Return how many more runs a side so many pairs may have, for all outputs to stay in memory."""
        return max(_MOST_NUMBERS // (2 * pairs * self.width), 1)

    def _blocks(self, one: RacedPair, each: int, weights: tuple[float, float]) -> list[Block]:
        size = block_size(self.question.runs_as, self.width)
        runs, chance = round(each * sum(weights)), weights[1] / sum(weights)
        sizes = [size] * (runs // size) + [runs % size] * (runs % size > 0)
        return [Block(Phase.SEARCH, one.number, one.blocks + i, own, chance) for i, own in enumerate(sizes)]


def _weights(one: RacedPair, shared: Counter[Hashable | None]) -> tuple[float, float]:
    """How often each side of a pair is run, against a side that it has in common with no other pair."""
    side0, side1 = (1.0 if key is None else min(_COMMON / shared[key], 1.0) for key in one.common)
    return side0, side1


def _silent(side0: Outputs, side1: Outputs) -> bool:
    """Whether every run of both sides raised the same, so that nothing can be told."""
    forms = {side.forms for side in (side0, side1) if len(side)}
    return len(forms) == 1 and len(only := next(iter(forms))) == 1 and only[0].startswith("raises ")
