"""What must a shift of the noise do, so that the other dataset takes the same path to the same output?

Two runs on one path: the recorded one on D, and the frozen one on D′. A shift c of the noise n has to satisfy

* at each value that is released, or goes where it is not followed: its form on D′ at n + c is its form on D at n;
* at each comparison: what was above stays above. Where both forms have the same coefficients this holds at every noise
  of the path if coefficient·c ≥ b − b′, b and b′ being what the data give; otherwise both sides are to be equal.

Then the density of this path's outputs on D is at most e^cost(c) times that on D′ (randomness alignment: Zhang & Kifer
2017; Ding, Wang, Wang, Zhang & Kifer 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.program.laws import (
    DISCRETE_LAPLACE,
    EXPONENTIAL,
    GAUSSIAN,
    GEOMETRIC,
    GUMBEL,
    LAPLACE,
    UNIFORM,
    UNKNOWN,
    NoiseLaw,
)
from dpaudit.tracing import primitives, runs
from dpaudit.tracing.recording import SAMPLE, DrawBlock, NoiseForm, RecordedEvent, Recorder, Whole, close

# --- Which law has each noise of a run? That of its draw, or one that a sample of derived noise seems to follow ---

_SAMPLE = 4000
_BEFORE, _SHOWN = 20, 60  # characters of texts that differ: before that, and in all


class Noises:
    """The noises of a run by column: their laws, those of derived ones recognised when they are asked for."""

    def __init__(self, recorder: Recorder) -> None:
        self._starts = np.array([block.first for block in recorder.blocks], dtype=np.int64)
        self._blocks = recorder.blocks
        self._known: dict[int, tuple[NoiseLaw, float]] = {}
        self._samples: dict[int, Floats] = {}

    @staticmethod
    @lru_cache(maxsize=8)
    def of(recorder: Recorder) -> Noises:
        """Return the noises of a run that has ended; the same for all runs that are held against it."""
        return Noises(recorder)

    def block(self, column: int) -> DrawBlock:
        """Return the block that a column is in."""
        return self._blocks[int(np.searchsorted(self._starts, column, side="right")) - 1]

    def law(self, column: int) -> tuple[NoiseLaw, float]:
        """Return the law of a noise, and its scale."""
        block = self.block(column)
        if block.made is None:
            return block.law, float(block.scale[column - block.first])
        if column not in self._known:
            with np.errstate(all="ignore"):
                self._known[column] = recognised(self.sample(column))
        return self._known[column]

    def is_derived(self, column: int) -> bool:
        """Whether a noise is made of others."""
        return self.block(column).made is not None

    def has_no_price(self, column: int) -> bool:
        """Whether a noise has no price, nor has any that it is made of; a mere sign is a part of other noise."""
        if self.is_derived(column) and len(set(self.sample(column)[:100].tolist())) <= 2:
            return False
        every = [column, *(self.sources(column) if self.is_derived(column) else ())]
        return all(self.law(each)[0].cost in ("locked", "unknown") for each in every)

    def sources(self, column: int) -> set[int]:
        """Return the columns of all noise behind a derived one."""
        columns: set[int] = set()
        todo = list(self.block(column).sources)
        while todo:
            each = todo.pop()
            if each not in columns:
                columns.add(each)
                todo += self.block(each).sources
        return columns

    def sample(self, column: int) -> Floats:
        """Return a sample of a noise; noises that are independent have independent ones."""
        if column in self._samples:
            return self._samples[column]
        block = self.block(column)
        if block.made is not None:
            derived = np.asarray(block.made(self.sample), dtype=np.float64).reshape(-1)
            sample = derived if len(derived) == _SAMPLE else np.full(_SAMPLE, np.nan)
        else:
            law, scale = block.law, float(block.scale[column - block.first])
            levels = np.random.Generator(np.random.PCG64(column)).permutation((np.arange(_SAMPLE) + 0.5) / _SAMPLE)
            made = law.extreme(np.full(_SAMPLE, scale), levels)
            sample = np.full(_SAMPLE, np.nan) if made is None else made
        self._samples[column] = sample
        return sample


Truths = np.ndarray[tuple[int], np.dtype[np.bool_]]
_Cuts = dict[int, list[tuple[float, float]]]
"""For each column of uniform noise, what it is compared with: on D, and on D′."""


@dataclass(slots=True)
class ShiftRows:
    """Conditions on a shift c: form·c = right, or form·c ≥ right; ``sites`` says where each comes from."""

    forms: list[NoiseForm] = field(default_factory=list)
    right: list[Floats] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)

    def add(self, form: NoiseForm, right: Floats, site: str) -> None:
        """Add conditions."""
        if len(form):
            self.forms.append(form)
            self.right.append(right)
            self.sites += [site] * len(form)

    def joined(self) -> tuple[NoiseForm, Floats]:
        """Return all of them."""
        return NoiseForm.joined(self.forms), np.concatenate(self.right) if self.right else np.zeros(0)


@dataclass(slots=True)
class Conditions:
    """What a shift has to satisfy, and what no shift can mend."""

    # equal, least: conditions of the two kinds
    equal: ShiftRows = field(default_factory=ShiftRows)
    least: ShiftRows = field(default_factory=ShiftRows)
    locked: set[int] = field(default_factory=set)  # columns that may not move
    chance: float = 0.0  # what coins and choices cost: Σ ln P(outcome on D)/P(outcome on D′)
    # of uniform noise that is only compared, its column with the interval on D and that on D′
    cells: dict[int, tuple[tuple[float, float], tuple[float, float]]] = field(default_factory=dict)
    # what differs and holds no noise that could hide it, with its line or place
    differs: list[tuple[str, str]] = field(default_factory=list)
    # lines where the scale of noise differs between the data; stretch: ln of the largest ratio of two
    scales: list[str] = field(default_factory=list)
    stretch: float = 0.0
    # why no price is known at all; ``generous``: why the price may be more than is lost
    unpriced: list[str] = field(default_factory=list)
    generous: list[str] = field(default_factory=list)
    # of noise that is compared with a constant, its column with that line: if it has to move, the price may be more
    # than is lost
    conditioned: dict[int, str] = field(default_factory=dict)
    coins: list[str] = field(default_factory=list)  # lines of choices whose chances differ
    stated: list[StatedLoss] = field(default_factory=list)  # what mechanisms of libraries lose by their own statement


@dataclass(frozen=True, slots=True)
class StatedLoss:
    """What a mechanism of a library, called in this line, loses by its own statement."""

    site: str
    what: str
    loss: primitives.Stated


def conditions(recorded: runs.FollowedRun, frozen: runs.FollowedRun, noises: Noises) -> Conditions:
    """Return what a shift has to satisfy; both runs returned, and took one path; ``noises`` are those of the first."""
    needs, noise = Conditions(), recorded.recorder.noise()
    one, two = recorded.output, frozen.output
    assert one is not None and two is not None
    for (place, text), (_, other) in zip(one.structure, two.structure, strict=False):
        if text != other:
            needs.differs.append((place, " and ".join(_from_where_they_differ(text, other))))
    if len(one.structure) != len(two.structure) or len(one.values) != len(two.values):
        needs.differs.append(("the output", f"{len(one.values)} numbers and {len(two.values)}"))
    else:
        _released(needs, one.form, two.form, noise, "", one.places)
    cuts: _Cuts = {}
    for before, now in zip(recorded.recorder.events, frozen.recorder.events, strict=True):
        _event(needs, before, now, noise, noises, cuts)
    _cells(needs, cuts, noise)
    for site, marks in recorded.recorder.marks.items():
        others = frozen.recorder.marks.get(site, [])
        for mark, twin in zip(marks, others, strict=False):
            if len(mark.form) != len(twin.form):
                continue
            if mark.scaled is not None and twin.scaled is not None:
                _scaled(needs, mark.scaled, twin.scaled, noise, site, noises)
            if not mark.used and mark.form.is_noisy and _moved(mark.form, twin.form).any():
                _released(needs, mark.form, twin.form, noise, site)
    return needs


def _from_where_they_differ(*texts: str) -> list[str]:
    """Return what texts hold from a little before they differ on."""
    apart = (place for place, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1)
    start = max(next(apart, min(map(len, texts))) - _BEFORE, 0)
    return [("…" if start else "") + text[start : start + _SHOWN] for text in texts]


def _moved(one: NoiseForm, other: NoiseForm) -> Truths:
    """(n,) which numbers are other ones on the other data."""
    return np.asarray(~(one.same_terms(other) & close(one.offset, other.offset)))


def _released(
    needs: Conditions, one: NoiseForm, other: NoiseForm, noise: Floats, site: str, places: list[str] | None = None
) -> None:
    """Both are to be equal: other·(n + c) = one·n."""
    value, theirs = one.at(noise), other.at(noise)
    noisy = other.noisy_rows()
    same = close(value, theirs, np.maximum(abs(one.offset), abs(other.offset)))
    for number in np.flatnonzero(~noisy & ~same):
        place = places[number] if places is not None else site
        needs.differs.append((place, f"{value[number]:.6g} and {theirs[number]:.6g}"))
    with np.errstate(invalid="ignore", over="ignore"):
        broken = noisy & ~np.isfinite(value - theirs) & ~same
    for number in np.flatnonzero(broken):
        place = places[number] if places is not None else site
        needs.differs.append((place, f"{value[number]:.6g} and {theirs[number]:.6g}"))
    kept = np.flatnonzero(noisy & ~broken)
    with np.errstate(invalid="ignore"):
        right = np.where(same, 0.0, value - theirs)[kept]
    needs.equal.add(other.take(kept), right, site or "the output")


def _scaled(
    needs: Conditions,
    own: tuple[NoiseForm, Floats],
    other: tuple[NoiseForm, Floats],
    noise: Floats,
    site: str,
    noises: Noises,
) -> None:
    """Where a factor differs, no shift is constant unless what is multiplied is the same on both sides."""
    if own[1].shape != other[1].shape or len(own[0]) != len(other[0]):
        needs.unpriced.append(f"products of other sizes at {site}")
        return
    unlike = np.flatnonzero(~close(own[1], other[1]) & own[0].noisy_rows())
    if len(unlike):
        one, two = own[0].take(unlike), other[0].take(unlike)
        if all(map(noises.has_no_price, set(one.column.tolist()))):
            needs.unpriced.append(f"noise that has no price is spread over other ranges, at {site}")
        elif not _moved(one, two).any():
            needs.scales.append(site)
        _released(needs, one, two, noise, site)


def _event(
    needs: Conditions, one: RecordedEvent, two: RecordedEvent, noise: Floats, noises: Noises, cuts: _Cuts
) -> None:
    if one.kind == "draw":
        assert one.scale is not None and two.scale is not None
        if not np.all(close(one.scale, two.scale)):
            if noises.has_no_price(one.first):
                needs.unpriced.append(f"noise that has no price is spread over other ranges, at {one.site}")
            else:
                needs.scales.append(one.site)
            with np.errstate(all="ignore"):
                ratios = abs(np.log(one.scale / two.scale))
            needs.stretch = max(needs.stretch, float(np.nanmax(ratios, initial=0.0)))
        return
    if one.kind == "choice":
        _choice(needs, one, two)
    elif one.kind == "unit":
        _unit(needs, one, two)
    elif one.kind == "closed":
        if one.scale is not None and two.scale is not None and not np.all(close(one.scale, two.scale)):
            needs.scales.append(one.site)
        _released(needs, one.forms[0], two.forms[0], noise, one.site)
        bare = not one.forms[0].offset.any() and not two.forms[0].offset.any()
        if bare and all(noises.block(column).alone for column in one.forms[0].column.tolist()):
            # what noise decides by itself
            needs.generous.append(f"noise goes where it is not followed, at {one.site}")
    elif one.kind == "derived":
        moved = np.zeros(len(one.outcome), dtype=bool)
        for own, other in zip(one.forms, two.forms, strict=True):
            moved |= _moved(own, other)
        if moved.any():
            places = np.flatnonzero(moved)
            for own, other in zip(one.forms, two.forms, strict=True):
                _released(needs, own.take(places), other.take(places), noise, one.site)
            needs.locked.update((one.first + places).tolist())
    elif one.kind == "extreme":
        _extreme(needs, one, two, noise)
    else:
        _compared(needs, one, two, noise, noises, cuts)


def _choice(needs: Conditions, one: RecordedEvent, two: RecordedEvent) -> None:
    if one.arguments == two.arguments:
        if one.what == SAMPLE:
            needs.generous.append(f"records are sampled, which hides more than the noise alone, at {one.site}")
        return
    needs.coins.append(one.site)
    if one.chance is None or two.chance is None:
        needs.unpriced.append(f"what {one.what} draws from depends on the data, at {one.site}")
        return
    with np.errstate(invalid="ignore"):
        needs.chance += one.chance - two.chance


def _unit(needs: Conditions, one: RecordedEvent, two: RecordedEvent) -> None:
    if one.unit.settings != two.unit.settings:
        needs.scales.append(one.site)
        return
    loss: primitives.Stated = one.unit.loss(one.unit.taken, two.unit.taken)
    if loss.unknown:
        needs.unpriced.append(f"{loss.unknown}, at {one.site}")
    elif not loss.is_nothing:
        needs.stated.append(StatedLoss(one.site, one.what, loss))


def _extreme(needs: Conditions, one: RecordedEvent, two: RecordedEvent, noise: Floats) -> None:
    own, other, sign = one.forms[0], two.forms[0], float(one.what)
    if len(own) != len(other):
        needs.unpriced.append(f"the largest of other numbers of values at {one.site}")
        return
    places = np.flatnonzero(np.arange(len(own)) != one.outcome)
    winner: Whole = np.full(len(places), int(one.outcome))
    ahead = [form.take(winner).plus(form.take(places), -1.0) for form in (own, other)]
    _stays(needs, ahead[0], ahead[1], np.full(len(places), sign), noise, one.site)


def _stays(needs: Conditions, one: NoiseForm, two: NoiseForm, sign: Floats, noise: Floats, site: str) -> None:
    """What has this sign keeps it, on all noise of the path."""
    alike = one.same_terms(two)
    fixed = np.flatnonzero(~alike)
    if len(fixed):
        _released(needs, one.take(fixed), two.take(fixed), noise, site)
    kept = np.flatnonzero(alike & two.noisy_rows())
    with np.errstate(invalid="ignore"):
        right = np.where(close(one.offset, two.offset), 0.0, one.offset - two.offset)[kept]
    needs.least.add(two.take(kept).times(sign[kept]), sign[kept] * right, site)


def _compared(
    needs: Conditions, one: RecordedEvent, two: RecordedEvent, noise: Floats, noises: Noises, cuts: _Cuts
) -> None:
    own, other, outcome = one.forms[0], two.forms[0], np.asarray(one.outcome, dtype=bool)
    endless = np.isinf(own.offset) & (own.offset == other.offset)
    if endless.any():  # compared with an infinite number, as a maximum begins: no noise decides it
        left = np.flatnonzero(~endless)
        own, other, outcome = own.take(left), other.take(left), np.ravel(outcome)[left]
    if one.what in ("equal", "not_equal"):
        met = np.flatnonzero(outcome == (one.what == "equal"))
        _released(needs, own.take(met), other.take(met), noise, one.site)
        return
    count = np.bincount(own.row, minlength=len(own))
    single = count == 1
    for number in np.flatnonzero(single):
        term = int(np.searchsorted(own.row, number))
        column = int(own.column[term])
        if noises.block(column).law is UNIFORM:
            theirs = int(np.searchsorted(other.row, number))
            with np.errstate(all="ignore"):
                cut = (-own.offset[number] / own.coefficient[term], -other.offset[number] / other.coefficient[theirs])
            cuts.setdefault(column, []).append((float(cut[0]), float(cut[1])))
        else:
            single[number] = False
            if not _moved(own.take(np.array([number])), other.take(np.array([number]))).any():
                behind = noises.sources(column) if noises.is_derived(column) else ()
                for each in (column, *behind):
                    needs.conditioned.setdefault(each, f"noise is compared with a constant, at {one.site}")
    rest = np.flatnonzero(~single)
    less = one.what in ("less", "less_equal")
    sign = np.where(outcome == less, -1.0, 1.0)[rest]
    _stays(needs, own.take(rest), other.take(rest), sign, noise, one.site)


def of_the_last_maximum(needs: Conditions) -> Conditions | None:
    """Return what the last maximum alone needs, of loops that look for one step by step; None where there is none.

    ``if score > best: best = score`` decides at each step. Where the output tells nothing of the steps, the last
    maximum has to stay ahead of all others, and which was ahead of which before costs nothing.
    """
    form, right = needs.least.joined()
    steps: dict[str, list[tuple[int, int, float]]] = {}
    for number, site in enumerate(needs.least.sites):
        terms = np.flatnonzero(form.row == number)
        if sorted(form.coefficient[terms].tolist()) != [-1.0, 1.0]:
            continue
        ahead, behind = sorted(terms.tolist(), key=lambda term: -form.coefficient[term])
        steps.setdefault(site, []).append((int(form.column[ahead]), int(form.column[behind]), float(right[number])))
    chains = {site: chain for site, chain in steps.items() if len(chain) > 1 and _is_chain(chain)}
    if not chains:
        return None
    rest = [number for number, site in enumerate(needs.least.sites) if site not in chains]
    least = ShiftRows()
    least.add(form.take(np.array(rest, dtype=np.int64)), right[rest], "")
    least.sites = [needs.least.sites[number] for number in rest]
    for site, chain in chains.items():
        last = chain[-1][0]
        moves = {last: 0.0}  # of each beside the last
        for ahead, behind, needed in reversed(chain):
            moves.setdefault(behind, moves.get(ahead, 0.0) + needed)
        others = [column for column in moves if column != last]
        rows = np.repeat(np.arange(len(others)), 2)
        pairs = [sorted(((last, 1.0), (column, -1.0))) for column in others]
        columns = np.array([column for pair in pairs for column, _ in pair])
        coefficients = np.array([coefficient for pair in pairs for _, coefficient in pair])
        least.add(
            NoiseForm(np.zeros(len(others)), rows, columns, coefficients), np.array([moves[c] for c in others]), site
        )
    return replace(needs, least=least)


def _is_chain(steps: Sequence[tuple[int, int, float]]) -> bool:
    """Whether each step compares the largest so far with one that was in none before."""
    best, seen = steps[0][0], {*steps[0][:2]}
    for ahead, behind, _ in steps[1:]:
        if best not in (ahead, behind) or (behind if ahead == best else ahead) in seen:
            return False
        best = ahead
        seen |= {ahead, behind}
    return True


def _cells(needs: Conditions, cuts: _Cuts, noise: Floats) -> None:
    """Uniform noise that is only compared: the price is the ratio of the two intervals that the path leaves it."""
    for column, pairs in cuts.items():
        here = noise[column]
        finite = [(own, theirs) for own, theirs in pairs if not (math.isnan(own) or math.isnan(theirs))]
        below = [pair for pair in finite if pair[0] <= here]
        above = [pair for pair in finite if pair[0] > here]
        cells = []
        for side in (0, 1):
            low = max([0.0, *(pair[side] for pair in below)])
            high = min([*(pair[side] for pair in above), math.inf])
            cells.append((low, high))
        needs.cells[column] = (cells[0], cells[1])


# --- Which law does derived noise follow? ---


def recognised(sample: Floats) -> tuple[NoiseLaw, float]:
    """Return the law that a large sample of derived noise seems to follow, with its scale; `UNKNOWN` where none fits.

    The scale is an estimate, some per cent off: what rests on it is never certain.
    """
    sample = sample[np.isfinite(sample)]
    if len(sample) < 1000 or np.ptp(sample) == 0:
        return UNKNOWN, math.nan
    if np.all(sample == np.rint(sample)):
        return _recognised_whole(sample)
    levels = np.linspace(0.05, 0.95, 37)
    seen, middle = np.quantile(sample, levels), float(np.median(sample))
    best, least = (UNKNOWN, math.nan), 0.05
    for law, scale in (
        (LAPLACE, float(np.mean(np.abs(sample - middle)))),
        (GAUSSIAN, float(np.std(sample))),
        (GUMBEL, float(np.std(sample)) * math.sqrt(6) / math.pi),
        (EXPONENTIAL, float(np.mean(sample) - np.min(sample))),
    ):
        assert law.quantile is not None
        unlike = seen - scale * law.quantile(levels)
        far = float(np.max(np.abs(unlike - np.median(unlike)))) / scale
        if far < least:
            best, least = (law, scale), far
    return best


def _recognised_whole(sample: Floats) -> tuple[NoiseLaw, float]:
    """Return geometric noise, or the difference of two, where a sample of whole numbers follows it: P ∝ q^k, q^|k|."""
    above = sample - np.min(sample)
    q = float(np.mean(above) / (1 + np.mean(above)))
    steps = np.arange(40)
    if 0 < q < 1 and _near(above, steps, 1 - q ** (steps + 1.0)):
        return GEOMETRIC, -1 / math.log(q)
    centred = sample - np.median(sample)
    size = float(np.mean(np.abs(centred)))  # 2q/(1 − q²)
    q = (math.sqrt(1 + size**2) - 1) / size if size else 0.0
    steps = np.arange(-20, 21)
    below = np.where(steps < 0, q ** -np.minimum(steps, 0.0), 1 + q - q ** (np.maximum(steps, 0) + 1.0)) / (1 + q)
    if 0 < q < 1 and _near(centred, steps, below):
        return DISCRETE_LAPLACE, -1 / math.log(q)
    return UNKNOWN, math.nan


def _near(sample: Floats, steps: Any, cumulated: Any) -> bool:
    seen = np.searchsorted(np.sort(sample), steps, side="right") / len(sample)
    return bool(np.max(np.abs(seen - cumulated)) < 0.02)
