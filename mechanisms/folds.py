"""Which mechanisms of the catalogue read one answer after another, and so have proofs for any number of them?

Each is the entry of the same name once more, written as a fold: what is kept between two answers is a state, and
nothing else. The draws, the ways and the outputs are the same, in the same order; all else (claim, relation, pairs,
source) is the entry's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpaudit import Mechanism
from dpaudit.program.fold import Emit, Fold, Stop
from dpaudit.program.noise import Noise

from .broken.sparse_vector import (
    adaptive_svt_releasing_values,
    svt_noiseless_answers,
    svt_releasing_values,
    svt_unlimited,
    svt_unscaled_noise,
)
from .domain import positive, whole
from .sparse_vector import (
    above_threshold,
    adaptive_svt,
    gap_svt,
    monotone_svt,
    noisy_threshold,
    numeric_svt,
    redrawn_svt,
)
from .sums import prefix_sum

Scale = Callable[[float, int], Any]
"""A scale of noise, from epsilon and the cutoff."""


def until_cutoff(level_scale: Scale, release: Callable[..., Any]) -> Fold:
    """Return a fold that releases something about each answer, until ``cutoff`` of them were not False.

    Args:
        level_scale: of the threshold's noise.
        release: ``release(answer, level, noise, epsilon, cutoff, **others)`` → what is released.
    """

    def init(noise: Noise, *, epsilon: float, threshold: float, cutoff: int, **others: Any) -> Any:
        positive("epsilon", epsilon)
        whole("cutoff", cutoff, least=1)
        for name, value in others.items():
            positive(name, value)
        return noisy_threshold(noise, threshold, level_scale(epsilon, cutoff)), 0

    def step(
        state: Any, answer: Any, noise: Noise, *, epsilon: float, threshold: float, cutoff: int, **others: Any
    ) -> Any:
        level, positives = state
        released = release(answer, level, noise, epsilon, cutoff, **others)
        if released is False:
            return Emit(False, state)
        return Emit(released, Stop() if positives + 1 == cutoff else (level, positives + 1))

    return Fold(step, init, finish=None)


def comparing(level_scale: Scale, scale: Scale) -> Fold:
    """Return a fold that says of each answer whether it is above the level, with noise of its own."""

    def release(answer: Any, level: Any, noise: Noise, epsilon: float, cutoff: int) -> bool:
        return bool(answer + noise.laplace(scale(epsilon, cutoff)) >= level)

    return until_cutoff(level_scale, release)


def _gap(answer: Any, level: Any, noise: Noise, epsilon: float, cutoff: int) -> Any:
    gap = answer + noise.laplace(4 * cutoff / epsilon) - level
    return gap if gap >= 0 else False


def _number(answer: Any, level: Any, noise: Noise, epsilon: float, cutoff: int) -> Any:
    above = answer + noise.laplace(6 * cutoff / epsilon) >= level
    return answer + noise.laplace(3 * cutoff / epsilon) if above else False


def _value(answer: Any, level: Any, noise: Noise, epsilon: float, cutoff: int, scale: float) -> Any:
    noisy = answer + noise.laplace(scale * cutoff / epsilon)
    return noisy if noisy >= level else False


def adaptively(release: Callable[[Any, Any], Any]) -> Fold:
    """Return adaptive_svt as a fold; ``release`` gives what is released of an answer far above the level."""

    def init(noise: Noise, *, epsilon: float, threshold: float, cutoff: int, margin: float) -> Any:
        level_scale = 2 / positive("epsilon", epsilon)
        whole("cutoff", cutoff, least=1)
        positive("margin", margin)
        return noisy_threshold(noise, threshold, level_scale), 2 * cutoff

    def step(
        state: Any, answer: Any, noise: Noise, *, epsilon: float, threshold: float, cutoff: int, margin: float
    ) -> Any:
        level, budget = state
        scale = 4 * cutoff / epsilon
        rough = answer + noise.laplace(2 * scale)
        if rough - level >= margin:
            released: Any = ("top", release(rough, level))
            budget -= 1
        else:
            gap = answer + noise.laplace(scale) - level
            if gap < 0:
                return Emit(False, state)
            released = ("middle", gap)
            budget -= 2
        return Emit(released, Stop() if budget < 2 else (level, budget))

    return Fold(step, init, finish=None)


def _redrawn() -> Fold:
    def level_of(noise: Noise, epsilon: float, threshold: float, cutoff: int) -> Any:
        return noisy_threshold(noise, threshold, 2 * whole("cutoff", cutoff, least=1) / positive("epsilon", epsilon))

    def init(noise: Noise, *, epsilon: float, threshold: float, cutoff: int) -> Any:
        return level_of(noise, epsilon, threshold, cutoff), 0

    def step(state: Any, answer: Any, noise: Noise, *, epsilon: float, threshold: float, cutoff: int) -> Any:
        level, positives = state
        if answer + noise.laplace(4 * cutoff / epsilon) < level:
            return Emit(False, state)
        if positives + 1 == cutoff:
            return Emit(True, Stop())
        return Emit(True, (level_of(noise, epsilon, threshold, cutoff), positives + 1))

    return Fold(step, init, finish=None)


def without_limit(scale: Callable[[float], Any] | None) -> Fold:
    """Return a fold that compares all answers with one level; without noise of their own where ``scale`` is None."""

    def init(noise: Noise, *, epsilon: float, threshold: float) -> Any:
        return noisy_threshold(noise, threshold, 2 / positive("epsilon", epsilon))

    def step(level: Any, answer: Any, noise: Noise, *, epsilon: float, threshold: float) -> Any:
        return Emit(answer + (0 if scale is None else noise.laplace(scale(epsilon))) >= level, level)

    return Fold(step, init, finish=None)


def _running_sum(total: Any, answer: Any, noise: Noise, *, epsilon: float) -> Any:
    total = total + answer + noise.laplace(1 / positive("epsilon", epsilon))
    return Emit(total, total)


_FORMS: list[tuple[Mechanism, Fold]] = [
    (above_threshold, comparing(lambda epsilon, _: 2 / epsilon, lambda epsilon, cutoff: 4 * cutoff / epsilon)),
    (monotone_svt, comparing(lambda epsilon, _: 2 / epsilon, lambda epsilon, cutoff: 2 * cutoff / epsilon)),
    (redrawn_svt, _redrawn()),
    (gap_svt, until_cutoff(lambda epsilon, _: 2 / epsilon, _gap)),
    (numeric_svt, until_cutoff(lambda epsilon, _: 3 / epsilon, _number)),
    (adaptive_svt, adaptively(lambda rough, level: rough - level)),
    (prefix_sum, Fold(_running_sum, init=0, finish=None)),
    (svt_unscaled_noise, comparing(lambda epsilon, _: 4 / epsilon, lambda epsilon, _: 4 / (3 * epsilon))),
    (svt_releasing_values, until_cutoff(lambda epsilon, _: 2 / epsilon, _value)),
    (svt_noiseless_answers, without_limit(None)),
    (svt_unlimited, without_limit(lambda epsilon: 2 / epsilon)),
    (adaptive_svt_releasing_values, adaptively(lambda rough, level: rough)),
]

FOLDS: dict[str, Mechanism] = {entry.name: replace(entry, function=fold, reference=None) for entry, fold in _FORMS}
"""The name of an entry → the same as a fold."""
