"""How many canaries of one model are guessed, at which tested values, and at what share of the error?

Everything is fixed by the number of canaries, the notion of the claim and the error level. Most of the error goes to a
*staircase*: at each tested value, as many guesses at both ends as would show most for an attack that gets there on
scores N(μ, 1) of members and N(0, 1) of others (`dpaudit.stats.one_run`). That model only chooses; the bound holds
for all scores. The rest goes to a few numbers of guesses that are tried at every value, at both ends and at the upper
end alone, so that a leak is found that looks different, such as that of a few canaries. benchmarks/scores.py measures
the shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpaudit.arrays import Booleans, Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.stats.methods import GAUSSIAN_ONE_RUN, SHARP_ONE_RUN, method_of
from dpaudit.stats.one_run import LAST, StepsBound, gaussian_bound, sharp_bound, split_guesses

STAIRCASE = 0.8  # of the error
_FEWEST = 12  # guesses of a step: fewer would show little even if all were right
_MUS = {"epsilon": np.geomspace(0.02, 8, 120), "mu": np.geomspace(0.1, 6, 40)}  # of the attacks that steps are made for
_MOST_STEPS_MU = 20_000  # guesses of a step for μ: more would show hardly more, and take long
_HALVINGS = 14  # of an interval of μ, while steps are chosen
_APART = 8  # factor between two numbers of guesses that are tried at every value
_FEWEST_ALWAYS = 16


@dataclass(frozen=True, slots=True)
class PlannedGuesses:
    """What one bound is made of.

    Attributes:
        name: of the attempt.
        high, low: the highest scores that are guessed in, and the lowest that are guessed out; of a staircase the most.
        steps: of a staircase, as `dpaudit.stats.one_run` wants them; else None.
        share: of the error level.
    """

    name: str
    high: int
    low: int
    steps: tuple[float, ...] | None
    share: float


def method_name(notion: Claim) -> str:
    """Return the name of the method that bounds this notion."""
    return GAUSSIAN_ONE_RUN if isinstance(notion, GaussianDP) else SHARP_ONE_RUN


def plan_guesses(canaries: int, notion: Claim, error: float) -> list[PlannedGuesses]:
    """Return what is guessed."""
    steps = staircase(canaries, notion.parameter, notion.delta, float(f"{error * STAIRCASE:.12g}"))
    most = int(max(steps[::2]))
    always = [split_guesses(n) for n in _shrinking(canaries)] + [(n, 0) for n in _shrinking(canaries // 16)]
    own = (1 - STAIRCASE) / len(always)
    return [
        PlannedGuesses("both ends", *split_guesses(most), steps, STAIRCASE),
        *(PlannedGuesses(_told(high, low), high, low, None, own) for high, low in always),
    ]


def _told(high: int, low: int) -> str:
    return f"{high} highest in, {low} lowest out" if low else f"{high} highest in"


def _shrinking(most: int) -> list[int]:
    found = []
    while most >= _FEWEST_ALWAYS:
        found.append(most)
        most //= _APART
    return found


@lru_cache(maxsize=64)
def staircase(canaries: int, parameter: str, delta: float, error: float) -> tuple[float, ...]:
    """Return the steps for a number of canaries: numbers of guesses, each with the value up to which it is tried."""
    made = [canaries if parameter == "epsilon" else min(canaries, _MOST_STEPS_MU)]
    while made[-1] // 2 >= _FEWEST:
        made.append(made[-1] // 2)
    mus, guesses = _MUS[parameter][:, None], np.array(made, dtype=np.float64)
    right = guesses * _rate(mus, guesses / (2 * canaries))
    if parameter == "epsilon":
        found = sharp_bound(right, guesses, canaries * delta, error)
    else:
        found = gaussian_bound(right, guesses, canaries, error, halvings=_HALVINGS)
    best, reached = np.argmax(found, axis=1), np.maximum.accumulate(found.max(axis=1))
    steps: list[tuple[int, float]] = []
    for before, after in zip(range(len(best) - 1), range(1, len(best)), strict=True):
        end = float(f"{(reached[before] + reached[after]) / 2:.6g}")
        if best[after] != best[before] and end > (steps[-1][1] if steps else 0.0):
            steps.append((made[int(best[before])], end))
    return tuple(float(each) for step in [*steps, (made[int(best[-1])], LAST)] for each in step)


def _rate(mu: Floats, share: Floats) -> Floats:
    """The probability that a score is of N(μ, 1) if it is among a share of the highest of N(μ, 1) and N(0, 1)."""
    low, high = np.full(np.broadcast(mu, share).shape, -12.0), np.full(np.broadcast(mu, share).shape, 24.0)
    for _ in range(50):
        at = (low + high) / 2
        more = (ndtr(-at) + ndtr(mu - at)) / 2 > share
        low, high = np.where(more, at, low), np.where(more, high, at)
    return np.asarray(ndtr(mu - low) / (ndtr(mu - low) + ndtr(-low)))


# --- counting ---------------------------------------------------------------------------------------------


def count_guesses(ranked: Booleans, planned: PlannedGuesses, notion: Claim, error: float) -> Counts:
    """Return how many scores of members and of others are guessed in and out."""
    total = np.concatenate([[0], np.cumsum(ranked)])
    members, canaries = int(total[-1]), len(ranked)
    runs = members, canaries - members
    if planned.steps is None:
        return _toward(total, planned.high, planned.low)
    places = cuts(planned.steps, canaries)
    inside = np.diff(total[places])
    outside = np.diff(places) - inside
    bins = tuple(int(each) for each in inside), tuple(int(each) for each in outside)
    counts = Counts(runs, (0, 0), (0, 0), bins)
    method = method_of(method_name(notion)).computed
    assert isinstance(method, StepsBound)
    _, guesses = method.walk(counts, notion, planned.steps, error)
    shown = _toward(total, *split_guesses(guesses))
    return Counts(runs, shown.toward0, shown.toward1, bins)


def _toward(total: Floats, high: int, low: int) -> Counts:
    members, canaries = int(total[-1]), len(total) - 1
    within, without = int(total[high]), members - int(total[canaries - low])
    return Counts((members, canaries - members), (within, high - within), (without, low - without))


def cuts(steps: Sequence[float], canaries: int) -> list[int]:
    """Return the ranks at which blocks begin and end: those at which guesses of some step end."""
    ends = [split_guesses(int(guesses)) for guesses in steps[::2]]
    return sorted({0, canaries, *(high for high, _ in ends), *(canaries - low for _, low in ends)})
