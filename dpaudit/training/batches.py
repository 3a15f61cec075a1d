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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.training.seen import Delivery, Fact, TrainingRun, Update

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
    # how many records batches share with those an epoch later, in disjoint pairs, and the sizes of the former
    first = [at for at in range(len(members) - epoch) if at // epoch % 2 == 0]
    shared = sum(int(np.sum(members[at] & members[at + epoch])) for at in first)
    lagged, of = shared, sum(int(members[at].sum()) for at in first)
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


def batch_finding(sampler: Sampler, assumed: str) -> Fact:
    """Say whether records came in as the claim's accounting assumes."""
    detail = ", ".join(f"{name} p = {value:.2g}" for name, value in sampler.p_values.items())
    if not sampler.kind:
        text = "Too few batches were drawn to tell Poisson sampling from others."
        return Fact("batches", "not seen", "too few batches", text, detail)
    name = NAMES[sampler.kind]
    if sampler.kind == assumed:
        text = f"Records came in as the claim assumes: {name}."
        return Fact("batches", "right", name, text, detail, sampler.error)
    rejected = [key for key, value in sampler.p_values.items() if value < sampler.error / TESTS]
    why = f" (what gave it away: {', '.join(rejected)})" if sampler.kind == "other" else ""
    text = f"Records came in otherwise than the claim's accounting assumes ({NAMES[assumed]}): {name}{why}."
    return Fact("batches", "wrong", name, text, detail, sampler.error)


# --- Which batches does each update hold: one, several, one for the second time, a part of one? And which does none
# hold? ---
#
# Tensors say it where the model was given rows of a batch as they were delivered. Else their numbers do, if they
# explain every update: the next batch that has as many rows, or the last one, or several in a row that have as many
# together. What neither explains is not seen, and nothing is concluded from it.

_LEAST_CUT = 3  # updates with one number of rows, before batches are said to be cut to it


@dataclass(frozen=True, slots=True)
class Held:
    """What one update holds."""

    of: tuple[int, ...]  # its deliveries, ascending; one that comes into it twice, twice
    cut: bool = False  # whether it holds a part of some of them only
    shown: bool = False  # whether the tensors showed it; else the numbers of rows did


@dataclass(frozen=True, slots=True)
class Use:
    """How batches that were drawn became updates."""

    held: tuple[Held | None, ...]  # what each update holds; None where nothing explains it
    left: int  # deliveries that came before the last update, and that none holds

    @property
    def unexplained(self) -> int:
        """How many updates nothing explains."""
        return sum(each is None for each in self.held)

    @property
    def cut(self) -> int:
        """How many updates hold a part of a batch."""
        return sum(each is not None and each.cut for each in self.held)

    @property
    def together(self) -> int:
        """The largest number of batches in one update, at least 1."""
        return max([1, *(len(set(each.of)) for each in self.held if each is not None)])

    def squares(self) -> Counter[int]:
        """Return Σm² of each delivery, over the updates into which it came m times."""
        return Counter({each: sum(times**2 for times in by.values()) for each, by in self._times().items()})

    def again(self) -> int:
        """Return how many deliveries came into updates more than once; parts of one that differ count as well."""
        return sum(square > 1 for square in self.squares().values())

    def _times(self) -> dict[int, Counter[int]]:
        times: dict[int, Counter[int]] = {}
        for number, held in enumerate(self.held):
            for each in () if held is None else held.of:
                times.setdefault(each, Counter())[number] += 1
        return times

    def groups(self) -> tuple[list[tuple[tuple[int, ...], int, int]], list[int]]:
        """Return what is accounted for together, and the updates that are in no such group.

        A group is (its updates, k, Σm²): one update of k batches, none of which is in another; or all updates of one
        batch alone, into which it came m times each. A record is in a group with the probability that it is in one of
        k batches, and then moves its sums, taken together, by √(Σm²)·C.
        """
        groups: list[tuple[tuple[int, ...], int, int]] = []
        loose, times = [], self._times()
        for number, held in enumerate(self.held):
            if held is None or held.cut:
                loose.append(number)
            elif not held.of:
                groups.append(((number,), 1, 1))
            elif len(set(held.of)) == 1:
                own = times[held.of[0]]
                if not all(self._alone(each) for each in own):
                    loose.append(number)
                elif number == min(own):
                    groups.append((tuple(sorted(own)), 1, sum(each**2 for each in own.values())))
            elif all(sum(times[each].values()) == 1 for each in held.of):
                groups.append(((number,), len(held.of), 1))
            else:
                loose.append(number)
        return groups, loose

    def _alone(self, number: int) -> bool:
        """Whether an update holds one whole batch and no other."""
        held = self.held[number]
        return held is not None and not held.cut and len(set(held.of)) == 1

    def alone(self) -> set[int]:
        """Return the deliveries that are whole, and by themselves, in every update that holds them."""
        return {each for each, own in self._times().items() if all(self._alone(number) for number in own)}


def use_of(seen: TrainingRun) -> Use | None:
    """Return what the updates hold; None where no delivery was seen."""
    if not seen.deliveries or not seen.updates:
        return None
    held = _held(seen.updates, seen.deliveries)
    if None in held:  # numbers that do not explain all updates explain none
        held = [each if each is not None and each.shown else None for each in held]
    used = {each for one in held if one is not None for each in one.of}
    return Use(tuple(held), 0 if None in held else max(used, default=-1) + 1 - len(used))


def _held(updates: Sequence[Update], deliveries: Sequence[Delivery]) -> list[Held | None]:
    held_by: list[Held | None] = []
    passed = before = 0  # deliveries that were used or passed over, and that had come before the last update
    latest: int | None = None
    parts: list[int] = []
    for number, update in enumerate(updates):
        held, rows = _seen_by_tensors(update, deliveries), update.rows
        if held is None and rows is not None:
            held = _counted(rows, deliveries, passed, before, update.delivered, latest)
        if held is None and rows and before < update.delivered and deliveries[update.delivered - 1].rows > rows:
            parts.append(number)
        if held is not None and held.of:
            latest = held.of[-1]
            passed = max(passed, latest + 1)
        before = update.delivered
        held_by.append(held)
    if len(parts) >= _LEAST_CUT and len({updates[number].rows for number in parts}) == 1:
        for number in parts:
            held_by[number] = Held((updates[number].delivered - 1,), cut=True)
    return held_by


def _seen_by_tensors(update: Update, deliveries: Sequence[Delivery]) -> Held | None:
    """What the tensors say."""
    if not update.taken:
        return None
    times: dict[int, Integers] = {}
    for each in update.taken:
        if each.delivery is None:
            return None
        own = times.setdefault(each.delivery, np.zeros(deliveries[each.delivery].rows, dtype=np.int64))
        own[each.first : each.first + each.rows] += 1
    of, cut = [], False
    for number, own in sorted(times.items()):
        of += [number] * max(1, int(own.max(initial=0)))
        cut |= len(own) > 0 and int(own.min()) < int(own.max())
    return Held(tuple(of), cut, shown=True)


def _counted(
    rows: int, deliveries: Sequence[Delivery], passed: int, before: int, now: int, latest: int | None
) -> Held | None:
    """What the number of rows says, of the deliveries from ``passed`` to ``now``; else a batch that came before."""
    fresh = range(max(passed, before), now)
    for each in (passed, now - 1, *fresh):
        if passed <= each < now and deliveries[each].rows == rows:
            return Held((each,))
    if not rows:
        return Held(()) if passed == now else None
    for first in (passed, fresh.start):
        total = 0
        for last in range(first, now):
            total += deliveries[last].rows
            if total >= rows:
                break
        if total == rows:
            return Held(tuple(range(first, last + 1)))
    if latest is None:
        return None
    turn = latest + 1 if latest + 1 < now else 0  # batches that are gone through again
    again = (latest, turn) if passed == now else (latest,)
    return next((Held((each,)) for each in again if deliveries[each].rows == rows), None)
