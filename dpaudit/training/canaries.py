"""What do the canaries of one run show? Coins from the seed, a score for each, and the sharp law of one run.

Each canary is in the training data by a fair coin of its own, and its score is computed without the coins. Two kinds:
*records* of the training set, left out of every batch where the coin says so, and scored by the user after training;
and *gradients*, which stand in place of those of drawn records. Each of the latter lies along a coordinate of its own,
in a block that no other record touches, and goes through the sampler, the clipping, the sum and the noise of the loop.
Where noisy sums z of that coordinate are over C, a record that comes in at rate q adds the log likelihood ratio

    log(1 − q + q·exp((z − ½)/σ²))

of one update to its score: the best score there is if the loop is right, and a score like any other if it is not. What
the scores show holds without independent steps, a known sampler or Gaussian noise: a bound of one run rests on the
coins alone (docs/one-run.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.auditing.canaries import guessed
from dpaudit.errors import UsageError
from dpaudit.evidence.further_records import TrainingCanaries
from dpaudit.evidence.records import Attempt
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.stats.methods import method_of

LEAST = 40
"""Canaries: fewer could show nothing."""
SHARE = 0.5
"""Of the chance of a false alarm, for the canaries of a loop; the rest is for its facts."""
ASSUMED = (
    "a fair coin of its own put each canary into the training data or left it out, and no score knew the coins",
    "training data that differ by one canary are neighbours",
)
_COINS, _PLACES = 0xC01, 0x91A  # the second entries of their seeds
_STEEPEST = 700.0  # of an exponent


@dataclass(slots=True)
class Canaries:
    """The canaries of one loop, in memory."""

    kind: str  # "gradients" or "records"
    places: Integers  # record numbers, (m,)
    coins: Booleans  # whether each is in the training data, (m,)
    scores: Floats | None = None  # higher means in, (m,); None until they are known


def coins_of(canaries: int, seed: int) -> Booleans:
    """Return the coins that a seed determines, (canaries,)."""
    return np.asarray(np.random.default_rng((seed, _COINS)).random(canaries) < 0.5)


def asked(given: Any) -> int | Integers:
    """Return how many canaries were asked for, or the numbers of the records that are."""
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    wanted = int(given) if whole else _places_of(given)
    many = wanted if isinstance(wanted, int) else len(wanted)
    if many < LEAST:
        raise UsageError(f"{many} canaries could show nothing: give at least {LEAST}, better some hundred")
    return wanted


def chosen(given: Any, records: int | None, seed: int) -> Canaries:
    """Return the canaries that were asked for."""
    if not records:
        raise UsageError(
            "canaries are records of the training set, and this loop has no loader that draws numbers of records: give "
            "the loader, or leave canaries out"
        )
    places = asked(given)
    many = places if isinstance(places, int) else len(places)
    if many > records:
        raise UsageError(f"there are {many:,} canaries, and the training set has {records:,} records: give fewer")
    if isinstance(places, int):
        drawn = np.random.default_rng((seed, _PLACES)).permutation(records)[:many]
        return Canaries("gradients", drawn, coins_of(many, seed))
    if places.min() < 0 or places.max() >= records:
        wrong = int(places[(places < 0) | (places >= records)][0])
        raise UsageError(f"canaries names record {wrong}, and the training set has the records 0 to {records - 1}")
    if len(np.unique(places)) < len(places):
        raise UsageError("canaries names a record twice: each has one coin")
    return Canaries("records", places, coins_of(len(places), seed))


def _places_of(given: Any) -> Integers:
    try:
        numbers = np.asarray(given)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.ndim != 1 or not len(numbers) or numbers.dtype.kind not in "iu":
        raise UsageError(
            f"canaries is how many there are, such as 500, or the numbers of the records that are canaries, not "
            f"{given!r:.60}"
        )
    return numbers.astype(np.int64)


def evidence_for_in(values: Floats, rate: float, sigma: float) -> Floats:
    """Return the log likelihood ratio of one update for each canary (Mironov, Talwar & Zhang 2019, section 3)."""
    steep = np.minimum((np.asarray(values, dtype=np.float64) - 0.5) / max(sigma, 1e-6) ** 2, _STEEPEST)
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(np.log1p(rate * np.expm1(steep)) if rate < 1 else steep)


def scored(given: Any, canaries: int) -> Floats:
    """Return scores that a user computed, (canaries,)."""
    try:
        if hasattr(given, "detach"):
            given = given.detach().cpu().numpy()
        scores = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.zeros((0, 0))
    if scores.shape != (canaries,):
        raise UsageError(
            f"canary_scores returns a number for each of the {canaries} canaries, in their order, and higher for one "
            f"that was learned; it returned {type(given).__name__}"
            + (f" of shape {scores.shape}" if scores.ndim == 1 or scores.size else "")
        )
    if np.isnan(scores).all():  # as of files of scores
        raise UsageError("canary_scores returned NaN for every canary, which would show nothing; give each a number")
    return scores


# --- what they show -----------------------------------------------------------------------------------------


def shown(canaries: Canaries | None, notion: Claim, confidence: float, false_alarm: float) -> TrainingCanaries | None:
    """Return what canaries show, for evidence; None where there are none, or no scores of them.

    Args:
        canaries: with their scores.
        notion: of ε at a δ; its own value is not used.
        confidence: of each bound.
        false_alarm: the chance at which a bound above the claim is a violation.
    """
    if canaries is None or canaries.scores is None:
        return None
    members, others = canaries.scores[canaries.coins], canaries.scores[~canaries.coins]
    attempts = guessed(members, others, notion, confidence, ASSUMED)
    gaussian = guessed(members, others, GaussianDP(1.0), confidence, ASSUMED)
    return TrainingCanaries(
        kind=canaries.kind,
        given=(len(members), len(others)),
        epsilon=best(attempts),
        mu=best(gaussian),
        sure=surely(attempts, notion, 1 - confidence, false_alarm),
        attempts=tuple(attempts),
        gaussian=tuple(gaussian),
    )


def best(attempts: Sequence[Attempt]) -> float:
    """Return the best of bounds that share one error."""
    return max(each.bound.value for each in attempts)


def surely(attempts: Sequence[Attempt], notion: Claim, error: float, less: float) -> float:
    """Return the best bound from the same counts at another error; the guesses are those that were planned."""
    bounds = [0.0]
    for each in attempts:
        bound = each.bound
        assert bound.counts is not None
        own = (1 - bound.confidence) / error * less
        bounds.append(method_of(bound.method).computed.lower(bound.counts, notion, bound.weight, own))
    return float(f"{max(0.0, max(bounds) * (1 - 1e-9)):.10g}")
