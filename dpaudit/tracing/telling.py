"""Which part of the output tells the two sides apart, as a few dozen runs show it?

A value that is often there on one side and never on the other is no proof, whatever the runs: what is said rests on
bounds of both probabilities, beside what the claim allows; thresholds come from other runs than those that count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpaudit.privacy import Claim, PureDP
from dpaudit.tracing.runs import Output, Target

LEAST = 32
"""Runs of each side; where a claim allows much, or something is rare, more are made."""
_LEVEL = 1e-4  # of each bound
_SELDOM = 8  # one in so many runs, at least, is worth more runs
_CLEARLY_APART = 0.5  # of the runs, on one side of a threshold
_MOST_PLACES = 500
_UNCLAIMED = PureDP(1.0)


def telling_place(target: Target, pair: tuple[Any, Any], claim: Claim | None, seed: int, most: int) -> str | None:
    """Return a place of the output that has, much more often on one side than the claim allows, one value; or None."""
    if most < LEAST:
        return None
    seen, above = _Counts(), _Counts()
    thresholds: dict[str, float] = {}
    made, wanted = 0, LEAST
    while True:
        outputs: tuple[list[Output], list[Output]] = ([], [])
        for side, data in enumerate(pair):
            for number in range(made, wanted):
                output = target.run(data, seed + 31 * (number + 1)).output
                if output is None:
                    return None
                outputs[side].append(output)
        seen.add(outputs, _values)
        above.add(outputs, partial(_above, thresholds))
        place = seen.telling(claim or _UNCLAIMED) or above.telling(claim or _UNCLAIMED)
        if made == 0:
            thresholds, above = _between(outputs), _Counts()
        made = wanted
        if place is not None or made >= most or not (seen.is_promising() or thresholds):
            return place
        wanted = min(2 * made, most)


class _Counts:
    """How many of the runs of each side have each of many properties."""

    def __init__(self) -> None:
        self._sides: tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]] = (Counter(), Counter())
        self._runs = 0

    def add(
        self, outputs: tuple[list[Output], list[Output]], properties: Callable[[Output], set[tuple[str, str]]]
    ) -> None:
        """Count as many further runs of each side."""
        for counts, own in zip(self._sides, outputs, strict=True):
            for output in own:
                counts.update(properties(output))
        self._runs += len(outputs[0])

    def is_promising(self) -> bool:
        """Whether there may be what more runs would show."""
        one, two = self._sides
        return any(
            count * _SELDOM >= self._runs and not other[key]
            for own, other in ((one, two), (two, one))
            for key, count in own.items()
        )

    def telling(self, claim: Claim) -> str | None:
        """Return the place of a property that one side has more often than a claim allows, or None."""
        from scipy.stats import beta

        one, two = self._sides
        for own, other in ((one, two), (two, one)):
            for (place, value), count in own.most_common():
                against, runs = other[place, value], self._runs
                if count * _SELDOM < runs:
                    break
                if against * 2 > count:
                    continue
                # Clopper & Pearson (1934)
                low = float(beta.ppf(_LEVEL, count, runs - count + 1))
                high = float(beta.ppf(1 - _LEVEL, against + 1, runs - against))
                if claim.least([low], [high])[0] > claim.value:
                    return place
        return None


def _between(outputs: tuple[list[Output], list[Output]]) -> dict[str, float]:
    """Return a threshold for each number that seems to be larger on one side; what it tells, other runs have to say."""
    numbers = [
        {place: [dict(zip(each.places, each.values.tolist(), strict=True)).get(place, np.nan) for each in own]
         for place in own[0].places[:_MOST_PLACES]}
        for own in outputs
    ]  # fmt: skip
    found = {}
    for place in numbers[0].keys() & numbers[1].keys():
        middle = (float(np.median(numbers[0][place])) + float(np.median(numbers[1][place]))) / 2
        shares = [float(np.mean(np.array(each[place]) > middle)) for each in numbers]
        if abs(shares[0] - shares[1]) > _CLEARLY_APART:
            found[place] = middle
    return found


def _above(thresholds: dict[str, float], output: Output) -> set[tuple[str, str]]:
    """Return on which side of their thresholds the numbers are."""
    return {
        (place, "above" if number > thresholds[place] else "below")
        for place, number in zip(output.places, output.values.tolist(), strict=True)
        if place in thresholds
    }


def _values(output: Output) -> set[tuple[str, str]]:
    """Return the places of an output with what is there: forms, texts and numbers."""
    found = {(place, text) for place, text in output.structure}
    numbers = zip(output.places, output.values.tolist(), strict=True)
    return found | {(place, repr(number)) for place, number in numbers} | {(place, "") for place in output.places}
