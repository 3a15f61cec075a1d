"""Which of many pairs shows most? Successive halving (Karnin, Koren & Somekh 2013).

In every round each remaining pair gets the same number of runs, and the less promising half is dropped. A pair is
judged by all of its runs together, and most runs go to pairs that are hard to tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpaudit.auditing.search.race import Race, RacedPair

LEAST = 32  # smallest number of runs of a side in a round; fewer say nothing
_MOST = 10_000  # largest one; more improve a prediction little (measured by benchmarks/search.py)


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
        each = min(int((runs - race.runs + start) / to_come), _MOST, race.affordable(len(left)))
        race.run(left, max(each, LEAST))
        after()
        race.look(left)
        last = sorted((one for one in left if not one.silent), key=lambda one: (-one.predicted, one.number))
        left = last[: -(-len(left) // 2)]
        if len(left) < 2:
            break
    return last
