"""Does the rate of learning follow the loss of the batches? By the numbers alone: nothing in the loop is another value.

The losses of backward passes are remembered beside the rates that the loop sets itself. Rates that lie on one line over
the losses of their updates, in all digits of several in turn, were computed from them; so was a metric of
``ReduceLROnPlateau`` that is one of them, their sum or their mean. Neither comes about by chance. Only updates with one
backward pass count: what such an update holds came through this loss, and no public one.

A rate that a loss decides by a comparison shows no such line, and is not named here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.optim import lr_scheduler

from dpaudit.arrays import Floats
from dpaudit.training.watchers.recorder import Undo

_IN_TURN = 6  # rates on one line
_SAME = 1e-6  # relative, of numbers that went through float32
_APART = 1e-3  # of their range, between losses on a line


class Followed:
    """Looks for losses in what decides the rate.

    Args:
        optimizer: the rates of which are looked at.
        passes: backward passes that PyTorch makes for one of the loop's.
        after_metric: is called behind a step of a schedule that was given a metric.
    """

    def __init__(self, optimizer: Any, passes: int, after_metric: Callable[[], None]) -> None:
        self.optimizer, self.passes, self.after_metric = optimizer, passes, after_metric
        self.inside = False
        self.losses: list[list[float]] = [[]]  # of each update, in turn
        self.rates: list[tuple[float, int]] = []  # and the update that they come from
        self.metrics: list[tuple[float, int, int]] = []  # and the updates since the metric before

    def watch(self, undo: Undo) -> None:
        """Wrap the backward pass of tensors, and the step of the schedule that takes a metric."""
        for owner, name, wrap in (
            (torch.Tensor, "backward", self._backward),
            (lr_scheduler.ReduceLROnPlateau, "step", self._metric),
        ):
            original = vars(owner)[name]
            undo.append(functools.partial(setattr, owner, name, original))
            setattr(owner, name, wrap(original))

    def stepped(self) -> None:
        """Begin another update."""
        self.losses.append([])

    def set_rate(self, rate: Any) -> None:
        """Take a rate that the loop set itself."""
        if isinstance(rate, float):
            self.rates.append((rate, self._last()))

    def found(self) -> bool:
        """Whether rates or metrics were computed from losses."""
        known = [(self.losses[number][0], rate) for rate, number in self.rates if self._is_alone(number)]
        pairs = np.array(known).reshape(-1, 2)
        lines = (pairs[first : first + _IN_TURN] for first in range(len(pairs) - _IN_TURN + 1))
        return any(map(_is_line, lines)) or any(self._is_of_losses(*each) for each in self.metrics)

    def _last(self) -> int:
        """The update of the last loss."""
        return len(self.losses) - 1 - (not self.losses[-1])

    def _is_alone(self, number: int) -> bool:
        return number >= 0 and len(self.losses[number]) == self.passes

    def _backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def backward(loss: Any, *args: Any, **keywords: Any) -> Any:
            if self.inside:  # a mode of PyTorch, which was asked first, calls it once more
                return original(loss, *args, **keywords)
            with torch._C.DisableTorchFunction():
                self.losses[-1].append(float(loss.detach()) if loss.numel() == 1 else math.nan)
            self.inside = True
            try:
                return original(loss, *args, **keywords)
            finally:
                self.inside = False

        return backward

    def _metric(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def step(schedule: Any, metrics: Any, *args: Any, **keywords: Any) -> Any:
            groups = getattr(getattr(schedule, "optimizer", None), "param_groups", None)
            if groups is not self.optimizer.param_groups:
                return original(schedule, metrics, *args, **keywords)
            try:
                return original(schedule, metrics, *args, **keywords)
            finally:
                since = self.metrics[-1][2] if self.metrics else 0
                self.metrics.append((float(metrics), since, self._last() + 1))
                self.after_metric()

        return step

    def _is_of_losses(self, value: float, first: int, last: int) -> bool:
        """Whether a metric is a loss of some updates, or the sum or mean of all of them."""
        numbers = [number for number in range(first, last) if self._is_alone(number)]
        losses = np.array([self.losses[number][0] for number in numbers])
        if not len(losses) or not math.isfinite(value) or not value or not np.all(np.isfinite(losses)):
            return False
        of_all = [losses.sum(), losses.mean()] if len(losses) == last - first else []
        candidates = np.array([*losses, *of_all])
        return len(np.unique(losses)) == len(losses) and bool(np.any(np.abs(candidates - value) <= _SAME * abs(value)))


def _is_line(pairs: Floats) -> bool:
    """Whether rates are a + b·loss, b ≠ 0, of losses that all differ; ``pairs`` are (loss, rate), (k, 2)."""
    if not np.all(np.isfinite(pairs)):
        return False
    losses, rates = pairs.T
    apart, width = np.ptp(losses), np.ptp(rates)
    if np.min(np.diff(np.sort(losses))) <= _APART * apart or width <= _APART * np.abs(rates).max():
        return False
    slope, start = np.polyfit(losses, rates, 1)
    return bool(np.abs(rates - start - slope * losses).max() <= 10 * _SAME * width)
