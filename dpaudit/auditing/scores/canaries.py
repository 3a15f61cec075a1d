"""Which canaries of one model are guessed, and how many of the guesses are right?

The k highest scores are guessed "in", the lowest "out". k is fixed before (`dpaudit.auditing.scores.guess_plan`);
choosing k by its result would make it right more often than claimed. A learning split would not do: the canaries share
one model, so some scores reveal the coins of others, and for δ > 0 the theorems require a number of guesses that does
not depend on them. Earlier audits had a short list of plans that shared the error level; their evidence is still
checked by it.

Which of equal scores are guessed must not depend on the coins. Canaries are given by side, so no order of positions
would do, not even one drawn by a seed: given the seed, the sides of its positions are known. Ties are therefore guessed
in the least favourable way: every way of breaking them without the coins has at least as many correct guesses. NaN is
placed in the middle, where it is guessed last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr

from dpaudit.arrays import Floats
from dpaudit.auditing.recorded import measured_bound
from dpaudit.auditing.scores.guess_plan import count_guesses, method_name, plan_guesses
from dpaudit.errors import UsageError
from dpaudit.evidence.records import Attempt
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.stats.methods import method_of

_FEWEST = 24  # guesses: fewer would show little even if all were right; measured by benchmarks/scores.py
_NO_COIN = 1e-9  # probability below which numbers of members and others are not taken for fair coins


@dataclass(frozen=True, slots=True)
class Guess:
    """How many of the highest scores are guessed in, and how many of the lowest out."""

    high: int
    low: int

    def __str__(self) -> str:
        return f"{self.high} highest in, {self.low} lowest out" if self.low else f"{self.high} highest in"


def guesses(canaries: int) -> list[Guess]:
    """Return the plans of earlier audits: all canaries, then fewer and fewer at both ends, and at the upper end alone.

    The sizes are all, 1/2, 1/8, 1/32, … of the canaries, half of them at either end; and 1/16, 1/64, … at the upper
    end. The best size is rarely farther than a factor of 2 from one of these, which costs little.
    """
    ends = [canaries, *_shrinking(canaries // 2)]
    return [Guess(n - n // 2, n // 2) for n in ends] + [Guess(n, 0) for n in _shrinking(canaries // 16)]


def _shrinking(most: int) -> list[int]:
    found = []
    while most >= _FEWEST:
        found.append(most)
        most //= 4
    return found


def ranked_members(members: Floats, others: Floats, missing: int = 0) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return whether each score is a member's, by descending score; others first among ties, NaN in the middle.

    Canaries without a score are in the middle too, in the half that is guessed in as others, and in the half that is
    guessed out as members: whatever their coins were, at least as many guesses were right.
    """
    scores, own = np.concatenate([members, others]), np.repeat([True, False], [len(members), len(others)])
    own = own[np.lexsort((own, -scores))]  # NaN comes last
    numbers = len(scores) - int(np.count_nonzero(np.isnan(scores)))
    upper = numbers - numbers // 2
    ranked = np.concatenate([own[:upper], own[numbers:], own[upper:numbers]])
    whole, half = len(ranked) + missing, len(ranked) - len(ranked) // 2
    without = np.arange(missing) >= whole - whole // 2 - half  # those of the lower half
    return np.concatenate([ranked[:half], without, ranked[half:]])


def guessed(
    members: Floats, others: Floats, notion: Claim, confidence: float, assumes: tuple[str, ...], missing: int = 0
) -> list[Attempt]:
    """Return the guesses that the number of canaries fixes, each with its bound."""
    ranked, method, attempts = ranked_members(members, others, missing), method_name(notion), []
    for planned in plan_guesses(len(ranked), notion, 1 - confidence):
        error = (1 - confidence) * planned.share
        counts = count_guesses(ranked, planned, notion, 1 - (1 - error))
        bound = measured_bound(method, counts, notion, weight=planned.steps, error=error, pair=0, assumes=assumes)
        attempts.append(Attempt(0, planned.name, bound, ()))
    return attempts


def foresee_guesses(claim: Claim, attempts: Sequence[Attempt], share: float = 1.0) -> float:
    """The smallest value that some of these guesses would have shown to exceed the claim, with probability 0.9."""
    found = []
    for bound in (each.bound for each in attempts):
        assert bound.counts is not None
        method, error = method_of(bound.method).computed, (1 - bound.confidence) * share
        found.append(method.detectable(bound.counts, claim, bound.weight, error))
    return min(found)


def refuse_other_notions(notion: Claim) -> None:
    """Raise `UsageError` for a privacy notion that no theorem here bounds."""
    if not (notion.is_point or isinstance(notion, GaussianDP)):
        raise UsageError(
            f"scores of one run bound ε at a δ, or μ, and the claim {notion} is of another notion; claim the (ε, δ) "
            "that it implies, such as 'epsilon=1, delta=1e-5'"
        )


def refuse_no_coin(members: int, others: int, missing: int = 0) -> None:
    """Raise `UsageError` if fair coins would practically never have produced these numbers.

    Those of ``missing`` canaries are not known: they are taken to have evened the numbers out.
    """
    fewer = min(min(members, others) + missing, (members + others + missing) // 2)
    if 2 * float(bdtr(fewer, members + others + missing, 0.5)) < _NO_COIN:
        more = f", even if the {missing} without a score were all {'out' if others < members else 'in'}"
        raise UsageError(
            f"{members} canaries were in and {others} out{more if missing else ''}: no fair coin decided that. The "
            "design 'one-run' needs every canary of the model, each included with probability ½ (say how many there "
            "were, with canaries= or --canaries, where not all have a score); for one training run a score use "
            "'independent'"
        )
