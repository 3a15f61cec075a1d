"""Which of many answers lie above a threshold, when only the answers above it are to cost anything?

The sparse vector technique: a threshold with noise is drawn once, every answer is compared with it, with noise
of its own, and after ``cutoff`` answers above it there are no more. ``data`` is the list of true answers, which
all may move by 1 from one neighbour to the other. The output holds False for an answer below.

Each mechanism is written as a fold: what is said of one answer, given a state, which is the level and what was
spent so far. So what is proved for any number of answers is what runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpaudit import PureDP, UsageError, mechanism
from dpaudit.program.fold import Emit, Stop, fold
from dpaudit.program.noise import Noise

from . import losses
from .domain import positive, whole
from .losses import Floats, Ways, log_below, log_density, log_far_density

Pair = tuple[list[float], list[float]]


def ends_moved(cutoff: int, *, by: float) -> Pair:
    """Return ten answers, of which the last ``cutoff`` move as given and those before them up."""
    ends = whole("cutoff", cutoff, least=1)
    before = max(10 - ends, 1)
    return [1] * (before + ends), [2] * before + [1 + by] * ends


def ends_down(cutoff: int) -> list[Pair]:
    """Return the pair on which answers below move up, and those above, the last ones, down.

    It is worse than every pair of the published benchmark, for all entries that name it.
    """
    return [ends_moved(cutoff, by=-1)]


def ends_still(cutoff: int) -> list[Pair]:
    """Return the pair on which answers below move up, and those above, the last ones, stay."""
    return [ends_moved(cutoff, by=0)]


def each_end_down(cutoff: int) -> list[Pair]:
    """Return the pair that repeats, ``cutoff`` times, some answers that move up and then one that moves down."""
    runs = whole("cutoff", cutoff, least=1)
    ones, moved = ends_moved(1, by=-1)
    length = max(len(ones) // runs, 2)
    return [(ones[-length:] * runs, moved[-length:] * runs)]


def noisy_threshold(noise: Noise, threshold: float, scale: float) -> Any:
    """Return the level that answers are compared with: the threshold with Laplace noise."""
    try:
        finite = abs(threshold) < math.inf
    except TypeError:
        finite = False
    if not finite:
        raise UsageError(f"threshold must be a finite number, not {threshold!r}")
    return threshold + noise.laplace(scale)


State = tuple[Any, int]
"""The level, and a count: of the answers above it, or of what is left to spend."""


def from_level(scale: Callable[[float, int], Any], count: Callable[[int], int] = lambda cutoff: 0) -> Any:
    """Return how a fold begins: with the threshold, with noise of ``scale(epsilon, cutoff)``, and a count."""

    def init(noise: Noise, *, epsilon: float = 1, threshold: float = 0, cutoff: int = 1, **others: Any) -> State:
        positive("epsilon", epsilon)
        whole("cutoff", cutoff, least=1)
        for name, value in others.items():
            positive(name, value)
        return noisy_threshold(noise, threshold, scale(epsilon, cutoff)), count(cutoff)

    return init


def until_cutoff(released: Any, state: State, cutoff: int) -> Emit:
    """Release something about an answer, and stop after ``cutoff`` of them that were not False."""
    level, positives = state
    if released is False:
        return Emit(False, state)
    return Emit(released, Stop() if positives + 1 == cutoff else (level, positives + 1))


def above_or_below(scale: float) -> Callable[[Floats, float], Ways]:
    """Return what may become of a query with Laplace noise of a scale: False, which is free, or True."""
    return lambda level, answer: [(log_below(level - answer, scale), 0), (log_below(answer - level, scale), 1)]


def above_threshold_loss(epsilon: float, threshold: float, cutoff: int) -> float:
    """Return the loss of the lists of True and False, by quadrature over the level."""
    scale = 4 * cutoff / epsilon
    return losses.of_threshold(
        ends_down(cutoff)[0],
        above_or_below(scale),
        threshold=threshold,
        scale=2 / epsilon,
        finest=scale,
        cutoff=cutoff,
    )


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=ends_down,
    true_loss=above_threshold_loss,
    unit="one move of every answer by 1",
    source="Lyu, Su & Li (2017), Algorithm 1, with epsilon in equal halves, and Theorem 2",
    family="sparse vector",
)
@fold(init=from_level(lambda epsilon, cutoff: 2 / epsilon), finish=None)
def above_threshold(
    state: State, answer: Any, noise: Noise, *, epsilon: float = 1, threshold: float = 0, cutoff: int = 1
) -> Emit:
    """Say of one answer after another whether it is above a noisy threshold, and stop after ``cutoff`` that are.

    The threshold gets Laplace noise of scale 2/epsilon, once; every answer gets 4·cutoff/epsilon. Whatever lies
    below is free: moving the threshold up by 1 keeps it below, however many they are, for ε/2. What lies above
    then moves by 2 at most, for ε/(2·cutoff) each. Also known as SVT.

    The true loss is less than epsilon, and almost reaches it on this pair: nine answers below move up, so that
    they force the threshold up, and the one above moves down.
    """
    above = answer + noise.laplace(4 * cutoff / epsilon) >= state[0]
    return until_cutoff(bool(above), state, cutoff)


def monotone_loss(epsilon: float, threshold: float, cutoff: int) -> float:
    """Return the loss of the lists of True and False, by quadrature over the level."""
    scale = 2 * cutoff / epsilon
    return losses.of_threshold(
        ends_still(cutoff)[0],
        above_or_below(scale),
        threshold=threshold,
        scale=2 / epsilon,
        finest=scale,
        cutoff=cutoff,
    )


@mechanism(
    claim=PureDP,
    relation="queries(monotone)",
    pairs=ends_still,
    true_loss=monotone_loss,
    unit="one move of every answer by at most 1, all in the same direction",
    source="Lyu, Su & Li (2017), Theorem 5, with epsilon in equal halves",
    family="sparse vector",
)
@fold(init=from_level(lambda epsilon, cutoff: 2 / epsilon), finish=None)
def monotone_svt(
    state: State, answer: Any, noise: Noise, *, epsilon: float = 1, threshold: float = 0, cutoff: int = 1
) -> Emit:
    """Compare answers that all move the same way with a noisy threshold: half the noise is enough for them.

    As above_threshold, with 2·cutoff/epsilon for every answer. If all move up, the threshold moves up by 1 and
    an answer above moves by 1 less than that; if all move down, only the answers above move. Published as SVT
    with increasing, and with decreasing, queries.

    The true loss is less than epsilon, and comes near it where the answers below move and the one above stays.
    """
    above = answer + noise.laplace(2 * cutoff / epsilon) >= state[0]
    return until_cutoff(bool(above), state, cutoff)


def redrawn_loss(epsilon: float, threshold: float, cutoff: int) -> float:
    """Return the loss of the lists of True and False: each True ends a factor of their probability.

    From the back, for every place and number of answers that may still be above: the extreme log ratios of what
    follows. A factor is the law of the place of the next True, by quadrature over its level.
    """
    scale = 4 * cutoff / epsilon
    ((data0, data1),) = each_end_down(cutoff)
    laws = [
        losses.threshold_laws(
            (data0[start:], data1[start:]),
            above_or_below(scale),
            threshold=threshold,
            scale=scale / 2,
            finest=scale,
            cutoff=1,
        )
        for start in range(len(data0))
    ]
    after = [(0.0, 0.0)] * (len(data0) + 2)
    for _ in range(cutoff):
        here = list(after)
        for start, law in enumerate(laws):
            rest = zip(law, after[start + 1 :], strict=True)
            ends = [(p - q + low, p - q + high) for (p, q), (low, high) in rest]
            here[start] = min(low for low, _ in ends), max(high for _, high in ends)
        after = here
    return max(-after[0][0], after[0][1])


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=each_end_down,
    true_loss=redrawn_loss,
    unit="one move of every answer by 1",
    source="Dwork & Roth (2014), Algorithm 2 (Sparse, δ = 0) and Theorem 3.25; Lyu, Su & Li (2017), Algorithm 2",
    family="sparse vector",
)
@fold(init=from_level(lambda epsilon, cutoff: 2 * cutoff / epsilon), finish=None)
def redrawn_svt(
    state: State, answer: Any, noise: Noise, *, epsilon: float = 1, threshold: float = 0, cutoff: int = 1
) -> Emit:
    """Compare answers with a noisy threshold that is drawn again after every answer above it.

    So it is ``cutoff`` runs of above_threshold in a row, each for epsilon/cutoff: noise of scale 2·cutoff/epsilon
    for the threshold, 4·cutoff/epsilon for every answer. With a cutoff of 1 the two are the same.

    The true loss is less than epsilon, and with a cutoff of 1 that of above_threshold.
    """
    level, positives = state
    if not answer + noise.laplace(4 * cutoff / epsilon) >= level:
        return Emit(False, state)
    if positives + 1 == cutoff:
        return Emit(True, Stop())
    return Emit(True, (noisy_threshold(noise, threshold, 2 * cutoff / epsilon), positives + 1))


def gap_ways(scale: float) -> Callable[[Floats, float], Ways]:
    """Return what may become of a query in gap_svt: below, or a gap, at 0 and towards infinity."""
    return lambda level, answer: [
        (log_below(level - answer, scale), 0),
        (log_density(level - answer, scale), 1),
        (log_far_density(level - answer, scale), 1),
    ]


def gap_loss(epsilon: float, threshold: float, cutoff: int) -> float:
    """Return the loss of the lists of gaps, by quadrature over the level.

    Only gaps of 0 and gaps towards infinity are looked at. That is enough where every gap's answer moves as far
    up, or as far down, as any other answer and the threshold, which does not move: as a function of one gap g,
    with w(s) for all else at the level q − s, the density is ∫ w(s)·f(g − s) ds; the ratio of w on the two sides
    is a product of ratios of shifted log-concave functions, all shifted the same way, so that it is monotone in
    s; and a log-concave f carries that over to the ratio of the densities in g (Karlin 1968, chapter 3).
    """
    scale = 4 * cutoff / epsilon
    return losses.of_threshold(
        ends_down(cutoff)[0],
        gap_ways(scale),
        threshold=threshold,
        scale=2 / epsilon,
        finest=scale,
        cutoff=cutoff,
    )


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=ends_down,
    true_loss=gap_loss,
    unit="one move of every answer by 1",
    source="Wang, Ding, Wang, Kifer & Zhang (2019), GapSVT; Ding, Wang, Zhang & Kifer (2019)",
    family="sparse vector",
)
@fold(init=from_level(lambda epsilon, cutoff: 2 / epsilon), finish=None)
def gap_svt(
    state: State, answer: Any, noise: Noise, *, epsilon: float = 1, threshold: float = 0, cutoff: int = 1
) -> Emit:
    """Say of an answer above the noisy threshold by how much: the same noise serves twice.

    As above_threshold, but what is released is the gap between the noisy answer and the noisy threshold. The
    gap stays what it is when both move, so that it comes for free. The noisy answer itself would not.

    The true loss is less than epsilon, and almost reaches it on this pair, as that of above_threshold.
    """
    gap = answer + noise.laplace(4 * cutoff / epsilon) - state[0]
    return until_cutoff(gap if gap >= 0 else False, state, cutoff)


def numeric_ways(scale: float, fresh_scale: float) -> Callable[[Floats, float], Ways]:
    """Return what may become of a query in numeric_svt: below, or a number far up, or one far down.

    A number far up has a density proportional to exp(answer/b), one far down to exp(−answer/b); no other has a
    ratio beyond those two.
    """

    def ways(level: Floats, answer: float) -> Ways:
        above, shift = log_below(answer - level, scale), answer / fresh_scale
        return [(log_below(level - answer, scale), 0), (above + shift, 1), (above - shift, 1)]

    return ways


def numeric_loss(epsilon: float, threshold: float, cutoff: int) -> float:
    """Return the loss of the lists of numbers, by quadrature over the level."""
    scale = 6 * cutoff / epsilon
    return losses.of_threshold(
        ends_down(cutoff)[0],
        numeric_ways(scale, scale / 2),
        threshold=threshold,
        scale=3 / epsilon,
        finest=scale,
        cutoff=cutoff,
    )


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=ends_down,
    true_loss=numeric_loss,
    unit="one move of every answer by 1",
    source="Dwork & Roth (2014), Algorithm 3 (NumericSparse), with epsilon in equal thirds as NumSVT of Wang, Ding, "
    "Kifer & Zhang (2020); Lyu, Su & Li (2017), Algorithm 7",
    family="sparse vector",
)
@fold(init=from_level(lambda epsilon, cutoff: 3 / epsilon), finish=None)
def numeric_svt(
    state: State, answer: Any, noise: Noise, *, epsilon: float = 1, threshold: float = 0, cutoff: int = 1
) -> Emit:
    """Release an answer that is above the noisy threshold, with fresh noise.

    A third of epsilon each for the threshold (scale 3/epsilon), the comparisons (6·cutoff/epsilon) and the
    numbers (3·cutoff/epsilon). Published as NumSVT.

    The true loss is less than epsilon, and almost reaches it on this pair: the number adds a third to what the
    list of True and False loses.
    """
    above = answer + noise.laplace(6 * cutoff / epsilon) >= state[0]
    number = answer + noise.laplace(3 * cutoff / epsilon) if above else False
    return until_cutoff(number, state, cutoff)


def adaptively(
    release: Callable[[Any, Any], Any], state: State, answer: Any, noise: Noise, scale: float, margin: float
) -> Emit:
    """Compare an answer with much noise first, and with half of it only where that does not settle it.

    Args:
        release: gives what is released of a noisy answer that is far above the level, from both of them.
        state: the level, and the budget in steps of ε/(4·cutoff).
        answer, noise: of the step.
        scale: of the lesser noise.
        margin: how far above the level is far.
    """
    level, budget = state
    rough = answer + noise.laplace(2 * scale)
    if rough - level >= margin:
        released: Any = ("top", release(rough, level))
        budget -= 1
    else:
        gap = answer + noise.laplace(scale) - level
        if not gap >= 0:
            return Emit(False, state)
        released = ("middle", gap)
        budget -= 2
    return Emit(released, Stop() if budget < 2 else (level, budget))


def from_budget() -> Any:
    """Return how an adaptive fold begins: half of epsilon is the level's, and 2·cutoff steps are left to spend."""
    return from_level(lambda epsilon, cutoff: 2 / epsilon, count=lambda cutoff: 2 * cutoff)


def adaptive_ways(epsilon: float, cutoff: int, margin: float) -> Callable[[Floats, float], Ways]:
    """Return what may become of a query in adaptive_svt: below; a gap, at its least and towards infinity."""
    scale = 4 * cutoff / epsilon
    rough = 2 * scale

    def ways(level: Floats, answer: float) -> Ways:
        distance = level - answer
        not_far = log_below(distance + margin, rough)
        return [
            (not_far + log_below(distance, scale), 0),
            (not_far + log_density(distance, scale), 2),
            (not_far + log_far_density(distance, scale), 2),
            (log_density(distance + margin, rough), 1),
            (log_far_density(distance + margin, rough), 1),
        ]

    return ways


def adaptive_loss(epsilon: float, threshold: float, cutoff: int, margin: float) -> float:
    """Return the loss of the lists of gaps, by quadrature over the level; the least and largest gaps are enough.

    The argument is that of gap_loss. That an answer was not far above enters as a function of the level minus
    the answer alone: log-concave like the rest, and equal on both sides for the answer of the gap itself.
    """
    return losses.of_threshold(
        ends_down(cutoff)[0],
        adaptive_ways(epsilon, cutoff, margin),
        threshold=threshold,
        scale=2 / epsilon,
        finest=4 * cutoff / epsilon,
        cutoff=2 * cutoff - 1,
        corners=(0, -margin),
    )


@mechanism(
    claim=PureDP,
    relation="queries",
    pairs=ends_down,
    true_loss=adaptive_loss,
    unit="one move of every answer by 1",
    source="Ding, Wang, Zhang & Kifer (2019), Algorithm 2; AdaptiveSVT of Wang, Ding, Kifer & Zhang (2020)",
    family="sparse vector",
)
@fold(init=from_budget(), finish=None)
def adaptive_svt(
    state: State,
    answer: Any,
    noise: Noise,
    *,
    epsilon: float = 1,
    threshold: float = 0,
    cutoff: int = 1,
    margin: float = 16,
) -> Emit:
    """Release gaps above a noisy threshold, and pay only half for those that are at least ``margin``.

    Half of epsilon is for the threshold. Every answer gets noise of scale 8·cutoff/epsilon first: if it lies
    above by the margin, that gap is released for ε/(4·cutoff), as ("top", gap). If not, it gets fresh noise of
    half the scale, and a gap of 0 or more is released for ε/(2·cutoff), as ("middle", gap). It stops when the next
    gap might be too expensive: after ``cutoff`` gaps at least, and 2·cutoff − 1 at most. Published as AdaptiveSVT.

    The true loss is less than epsilon: to pay it all, the one answer above has to be compared twice.
    """
    return adaptively(lambda rough, level: rough - level, state, answer, noise, 4 * cutoff / epsilon, margin)
