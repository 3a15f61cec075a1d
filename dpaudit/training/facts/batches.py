"""How do records come into batches: by Poisson sampling, in batches of one size, shuffled? Seen from memberships.

Under Poisson sampling at rate q every record is in every batch with probability q, independently. Each test below has
an exact law, or an exact bound, under that:

- *rate*: the number of all memberships is Binomial(n·T, q);
- *sizes that repeat*: given the size of the first batch, each later one equals it with probability at most the largest
  of Binomial(n, q), independently, so that their number is below a binomial in law;
- *spread of the sizes* and *of the appearances of records*: sums of squares, by Monte Carlo tests, which are exact at
  any number of draws (Dwass 1957);
- *returns*: given the records that were new in each batch, the members of batch t that an earlier batch of the same
  epoch had are Binomial(number of these, q), independently: whether a record is drawn hangs on no other record;
- *the batch an epoch ago*: in disjoint pairs of batches, the common records are Binomial(size of the first, q);
- *neighbours in the data*: the pairs (2j, 2j + 1) that come together are Binomial(⌊n/2⌋·T, q²).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.training.facts.finding import Finding

TESTS = 7
_DRAWS = 4  # of a Monte Carlo test, over the error level of a side
_MOST_MEMBERS = 100_000_000  # of batches times records: of more, the first batches
_MOST = 200  # batches whose sizes are compared with drawn ones: more take long

NAMES = {
    "poisson": "Poisson sampling",
    "fixed-size": "batches of one size, drawn anew each time",
    "shuffled": "shuffled batches",
    "fixed order": "the same batches in every epoch",
    "repeated": "records twice in a batch",
    "copies": "records twice in the training set",
    "another rate": "Poisson sampling at another rate",
    "other": "neither Poisson sampling, nor batches of one size, nor shuffled ones",
}


@dataclass(frozen=True, slots=True)
class Sampler:
    """How records came in: one of `NAMES`, with the p-values behind it; empty where too little was seen."""

    kind: str
    p_values: dict[str, float]
    error: float


def recognised(
    batches: Sequence[Integers],
    records: int,
    rate: float,
    epoch: int,
    error: float,
    seed: int = 0,
    rounds: Sequence[Sequence[int]] = (),
) -> Sampler:
    """Return how records came in."""
    if any(len(np.unique(batch)) < len(batch) for batch in batches):
        return Sampler("repeated", {}, 0.0)
    share = error / TESTS
    batches = batches[: max(2, _MOST_MEMBERS // records)]
    rounds = [[each for each in one if each < len(batches)] for one in rounds or rounds_of((), epoch, len(batches))]
    members = np.zeros((len(batches), records), dtype=bool)
    for row, batch in zip(members, batches, strict=True):
        row[batch] = True
    sizes = members.sum(1)
    p, old, seldom = _tested(members, sizes, rate, epoch, rounds, share, seed)
    low = {name for name, value in p.items() if value < share}
    if low:
        kind = _kind(members, epoch, rounds, low, seldom)
        if kind == "other" and "rate" in low:
            again, _, _ = _tested(members, sizes, float(sizes.mean()) / records, epoch, rounds, share, seed)
            kind = "another rate" if min(again.values()) >= share else kind
        return Sampler(kind, p, error)
    # a mistake must have been able to show: would equal sizes, and records that never return, have been rejected?
    could = _peak(records, rate) ** (len(sizes) - 1) < share and (1 - rate) ** old < share
    return Sampler("poisson" if could else "", p, error)


def _tested(
    members: Booleans,
    sizes: Integers,
    rate: float,
    epoch: int,
    rounds: Sequence[Sequence[int]],
    share: float,
    seed: int,
) -> tuple[dict[str, float], int, bool]:
    """The p-value of every test, how many records could have returned, and whether fewer did than expected."""
    batches, records = members.shape
    returned, old = _returns(members, rounds)
    lagged, of = _lagged(members, epoch)
    rng = np.random.default_rng((seed, batches))
    draws = math.ceil(_DRAWS / share)
    same = int(np.sum(sizes[1:] == sizes[0]))
    p = {
        "rate": _two_sided(int(sizes.sum()), records * batches, rate),
        "equal sizes": float(stats.binom.sf(same - 1, batches - 1, _peak(records, rate))),
        "spread of sizes": _spread_of_sizes(sizes[:_MOST], records, rate, draws, rng),
        "appearances": _spread_of_appearances(members.sum(0), batches, rate, draws, rng),
        "returns": _two_sided(returned, old, rate),
        "an epoch ago": _two_sided(lagged, of, rate),
        "neighbours": _neighbours(members, rate),
    }
    return p, old, returned < old * rate


def _peak(records: int, rate: float) -> float:
    """The probability of the likeliest size of a batch."""
    return float(stats.binom.pmf(math.floor((records + 1) * rate), records, rate))


def _kind(members: Booleans, epoch: int, rounds: Sequence[Sequence[int]], low: set[str], seldom: bool) -> str:
    again = [(place, each) for one in rounds[1:] for place, each in zip(rounds[0], one, strict=False)]
    if again and all(np.array_equal(members[then], members[now]) for then, now in again):
        return "fixed order"
    if "returns" in low and seldom and ("equal sizes" in low or _covers(members, epoch, rounds)):
        return "shuffled"
    if "equal sizes" in low and "returns" not in low and "an epoch ago" not in low:
        return "fixed-size"
    return "other"


def _covers(members: Booleans, epoch: int, rounds: Sequence[Sequence[int]]) -> bool:
    """Whether the batches of the first whole epoch have no record in common, and all of them."""
    whole = next((one for one in rounds if len(one) == epoch), None)
    return whole is not None and bool(np.all(members[list(whole)].sum(0) == 1))


def rounds_of(passes: Sequence[Sequence[int]], epoch: int, batches: int) -> list[list[int]]:
    """Cut batches into epochs: the passes of a sampler, or so many in a row where it goes on and on."""
    passes = [each for each in passes if each] or [range(batches)]
    return [list(each[start : start + epoch]) for each in passes for start in range(0, len(each), epoch)]


def _two_sided(hits: int, of: int, rate: float) -> float:
    """Twice the smaller tail of a binomial."""
    if not of:
        return 1.0
    return min(1.0, 2 * float(min(stats.binom.cdf(hits, of, rate), stats.binom.sf(hits - 1, of, rate))))


def _returns(members: Booleans, rounds: Sequence[Sequence[int]]) -> tuple[int, int]:
    """How many members an earlier batch of their epoch had, of how many records that could return."""
    returned = old = 0
    for one in rounds:
        before = np.zeros(members.shape[1], dtype=bool)
        for each in one:
            old += int(before.sum())
            returned += int(np.sum(members[each] & before))
            before |= members[each]
    return returned, old


def _lagged(members: Booleans, lag: int) -> tuple[int, int]:
    """How many records batches share with those an epoch later, in disjoint pairs, and the sizes of the former."""
    first = [at for at in range(len(members) - lag) if at // lag % 2 == 0]
    shared = sum(int(np.sum(members[at] & members[at + lag])) for at in first)
    return shared, sum(int(members[at].sum()) for at in first)


def _neighbours(members: Booleans, rate: float) -> float:
    even = members.shape[1] // 2 * 2
    both = int(np.sum(members[:, 0:even:2] & members[:, 1:even:2]))
    return _two_sided(both, even // 2 * len(members), rate**2)


def _spread_of_sizes(sizes: Integers, records: int, rate: float, draws: int, rng: np.random.Generator) -> float:
    mean = records * rate
    seen = float(np.sum((sizes - mean) ** 2))
    drawn = np.concatenate(
        [
            np.sum((rng.binomial(records, rate, (part, len(sizes))) - mean) ** 2, axis=1)
            for part in _parts(draws, len(sizes))
        ]
    )
    return _by_rank(seen, drawn)


def _spread_of_appearances(counts: Integers, batches: int, rate: float, draws: int, rng: np.random.Generator) -> float:
    law = stats.binom.pmf(np.arange(batches + 1), batches, rate)
    weights = (np.arange(batches + 1) - batches * rate) ** 2
    most = int(stats.binom.isf(1e-12, batches, rate)) + 1  # what lies beyond is put into one cell, on both sides
    law, weights = (
        np.append(law[:most], max(0.0, 1 - law[:most].sum())),
        np.append(weights[:most], weights[min(most, batches)]),
    )
    seen = float(weights[np.minimum(counts, most)].sum())
    drawn = np.concatenate([rng.multinomial(len(counts), law, part) @ weights for part in _parts(draws, len(law))])
    return _by_rank(seen, drawn)


def _parts(draws: int, width: int) -> list[int]:
    """Cut draws into parts that take little memory."""
    size = max(1, 2_000_000 // max(1, width))
    return [min(size, draws - start) for start in range(0, draws, size)]


def _by_rank(seen: float, drawn: Floats) -> float:
    """The two-sided p-value of a Monte Carlo test (Dwass 1957): ranks among equals count against the loop's fault."""
    slack = 1e-9 * max(1.0, abs(seen))
    above, below = np.sum(drawn >= seen - slack), np.sum(drawn <= seen + slack)
    return min(1.0, 2 * (1 + int(min(above, below))) / (len(drawn) + 1))


# --- what is said of it -------------------------------------------------------------------------------------


def batch_finding(sampler: Sampler, assumed: str) -> Finding:
    """Say whether records came in as the claim's accounting assumes."""
    detail = ", ".join(f"{name} p = {value:.2g}" for name, value in sampler.p_values.items())
    if not sampler.kind:
        text = "Too few batches were drawn to tell Poisson sampling from others."
        return Finding("batches", "not seen", "too few batches", text, detail)
    name = NAMES[sampler.kind]
    if sampler.kind == assumed:
        text = f"Records came in as the claim assumes: {name}."
        return Finding("batches", "right", name, text, detail, sampler.error)
    rejected = [key for key, value in sampler.p_values.items() if value < sampler.error / TESTS]
    why = f" (what gave it away: {', '.join(rejected)})" if sampler.kind == "other" else ""
    text = f"Records came in otherwise than the claim's accounting assumes ({NAMES[assumed]}): {name}{why}."
    return Finding("batches", "wrong", name, text, detail, sampler.error)
