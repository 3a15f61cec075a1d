"""Does anything but the noisy step move the weights? They are compared from one step of the optimizer to the next.

A second optimizer, an operation in place, weights that are loaded: none of these is a step that was seen. Gradients are
compared within the step, too: a hook or a closure may put others there after the noise was looked at.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import math
import types
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy
import numpy as np
import torch
from torch.optim import lr_scheduler

from dpaudit.arrays import Floats
from dpaudit.training.seen import Parameter, TrainingRun
from dpaudit.training.watchers.recorder import Undo


class Between:
    """Looks at weights between the steps of one optimizer, and at gradients within them.

    Args:
        seen: where what is found is written down.
        names: of the parameters that are trained.
        own: all parameters of the model.
        passes: backward passes that PyTorch makes for one of the loop's.
    """

    def __init__(self, seen: TrainingRun, names: Mapping[Any, str], own: Collection[Any], passes: int = 1) -> None:
        self.passes = passes
        self.seen, self.names, self.own = seen, names, {*names, *own}
        self.options: list[dict[str, Any]] | None = None
        self.after = {p: p.detach().clone() for p in names}
        self.given: dict[Any, tuple[Any, int]] = {}
        self.strange: dict[Any, str] = {}

    def watch(self, optimizer: Any, undo: Undo) -> None:
        """Look before and after every step; call it last, so that other hooks of the watch come before."""
        self.schedules = Schedules(
            optimizer, lambda: self._options(optimizer), lambda counts: self._options(optimizer, counts)
        )
        self.schedules.watch(undo)
        self.followed = Followed(optimizer, self.passes, lambda: self._by_metric(optimizer))
        self.followed.watch(undo)
        undo.append(optimizer.register_step_pre_hook(self._before_step).remove)
        undo.append(optimizer.register_step_post_hook(self._after_step).remove)

    def moved(self) -> list[str]:
        """Return the names of weights that are others than after the step before."""
        with torch.no_grad(), torch._C.DisableTorchFunction():
            return [self.names[p] for p, then in self.after.items() if _differ(p.detach(), then)]

    def end(self) -> None:
        """Look at what came behind the last step."""
        self.compare()
        if self.schedules.is_broken_off():
            self.seen.options.add("lr")
        self.seen.followed = self.followed.follows_losses()

    def compare(self) -> None:
        """Write these down."""
        for name in self.moved():
            self.seen.parameters[name].outside += 1

    def _before_step(self, optimizer: Any, *_: Any) -> None:
        self.compare()
        self._options(optimizer)
        with torch._C.DisableTorchFunction():
            self._strangers(optimizer)
            self.given = {p: (p.grad, p.grad._version) for p in self.names if p.grad is not None}

    def _options(self, optimizer: Any, counted: bool = False) -> None:
        """Write down which options of a step are others than before, but by a schedule that counts updates alone."""
        now = [{name: each for name, each in group.items() if name != "params"} for group in optimizer.param_groups]
        if self.options is not None and not counted:
            for then, group in zip(self.options, now, strict=False):
                self.seen.options |= {name for name in group if name in then and not _is_same(group[name], then[name])}
            if now and not _is_same(now[0].get("lr"), self.options[0].get("lr")):
                self.followed.set_rate(_plain_option(now[0]["lr"]))
        self.options = [{name: _plain_option(each) for name, each in group.items()} for group in now]

    def _by_metric(self, optimizer: Any) -> None:
        """A metric decided the rate, also where it left it as it was."""
        self._options(optimizer)
        self.seen.options.add("lr")

    def _strangers(self, optimizer: Any) -> None:
        """Write down parameters that this step moves and that were not among those that are followed."""
        for number, p in enumerate(p for group in optimizer.param_groups for p in group["params"]):
            if p not in self.own and p.grad is not None and p.grad.any():
                name = self.strange.setdefault(p, f"parameter {number} of the optimizer, which came later,")
                each = self.seen.parameters.setdefault(name, Parameter(p.numel(), True, moved=True))
                each.outside += 1

    def _after_step(self, *_: Any) -> None:
        self.schedules.updates += 1
        self.followed.stepped()
        with torch.no_grad(), torch._C.DisableTorchFunction():
            changed = any(p.grad is not grad or grad._version != version for p, (grad, version) in self.given.items())
            changed |= any(p.grad is not None and p not in self.given for p in self.names)
            if changed and self.seen.updates:
                self.seen.updates[-1].altered = 1.0
            for p, then in self.after.items():
                if then.shape == p.shape and then.dtype == p.dtype and then.device == p.device:
                    then.copy_(p)
                else:
                    self.after[p] = p.detach().clone()
        self.given = {}


def _plain_option(option: Any) -> Any:
    """An option as a plain value, which stays what it is."""
    return option.item() if isinstance(option, torch.Tensor) and option.numel() == 1 else option


def _is_same(one: Any, two: Any) -> bool:
    return bool(_plain_option(one) == _plain_option(two))


def _differ(now: Any, then: Any) -> bool:
    """Whether two tensors hold other numbers; what is no number in both is no difference."""
    if now.shape != then.shape or now.dtype != then.dtype or now.device != then.device:
        return True
    return not torch.equal(now, then) and bool(((now != then) & ~(now.isnan() & then.isnan())).any())


# --- Does the rate of learning follow the loss of the batches? By the numbers alone: nothing in the loop is another
# value. ---
#
# The losses of backward passes are remembered beside the rates that the loop sets itself. Rates that lie on one line
# over the losses of their updates, in all digits of several in turn, were computed from them; so was a metric of
# ``ReduceLROnPlateau`` that is one of them, their sum or their mean. Neither comes about by chance. Only updates with
# one backward pass count: what such an update holds came through this loss, and no public one.
#
# A rate that a loss decides by a comparison shows no such line, and is not named here.

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

    def follows_losses(self) -> bool:
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


# --- Does a schedule know nothing but the number of updates? ---
#
# What changes the rate of learning is released with the weights, unless it counts updates alone. A step of a
# scheduler of PyTorch is taken for such a count where its class is listed, nothing that it holds was touched since
# its last step, the functions that it was given read numbers that stay what they are, and as many updates lie between
# steps each time.

_COUNTING = tuple(
    getattr(lr_scheduler, name)
    for name in (
        *("StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR"),
        *("CosineAnnealingWarmRestarts", "OneCycleLR", "CyclicLR", "LambdaLR", "MultiplicativeLR", "SequentialLR"),
        "ChainedScheduler",
    )
    if hasattr(lr_scheduler, name)
)
_NUMBERS = (int, float, bool, str, type(None))
_NAMESPACES = (types.SimpleNamespace, argparse.Namespace)
_MODULES, _OF_NUMPY = (math, numpy), ("minimum", "maximum", "clip", "power")
_FUNCTIONS = (min, max, abs, pow, int, float, round, len, sum, bool, range)
_DEEP = 8


class _UnknownError(Exception):
    """Something that may change with the data."""


class Schedules:
    """Tells steps of schedulers that count updates from others, for one optimizer."""

    def __init__(self, optimizer: Any, before: Callable[[], None], counted: Callable[[bool], None]) -> None:
        """Call ``before`` at each step of a scheduler, and ``counted`` behind it with whether it counts updates."""
        self.optimizer, self.before, self.counted = optimizer, before, counted
        self.updates, self.inside = 0, False
        self.left: dict[Any, tuple[Any, int, int | None]] = {}  # what it held, updates until then, updates between

    def watch(self, undo: Undo) -> None:
        """Wrap the steps of all schedulers of PyTorch."""
        for kind in {lr_scheduler.LRScheduler, *_COUNTING}:
            if "step" in vars(kind):
                undo.append(functools.partial(setattr, kind, "step", vars(kind)["step"]))
                kind.step = self._step(vars(kind)["step"])  # type: ignore[method-assign]

    def is_broken_off(self) -> bool:
        """Whether a schedule was left, though updates went on: what it was left for may hang on the data."""
        return any(between is not None and self.updates - last > between for _, last, between in self.left.values())

    def _step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def step(scheduler: Any, *args: Any, **keywords: Any) -> Any:
            groups = getattr(getattr(scheduler, "optimizer", None), "param_groups", None)
            if self.inside or groups is not self.optimizer.param_groups:
                return original(scheduler, *args, **keywords)
            self.before()
            counts = not args and not keywords and self._is_untouched(scheduler)
            self.inside = True
            try:
                return original(scheduler, *args, **keywords)
            finally:
                self.inside = False
                self.counted(counts and self._is_left(scheduler))

        return step

    def _is_untouched(self, scheduler: Any) -> bool:
        """Whether it holds what its last step left; of its first step, whether it was there before the updates."""
        try:
            now = _held(scheduler)
        except _UnknownError:
            return False
        if scheduler in self.left:
            return bool(self.left[scheduler][0] == now)
        return self.updates == 0 or getattr(scheduler, "last_epoch", 0) != -1

    def _is_left(self, scheduler: Any) -> bool:
        """Write down what it holds now; whether its steps are as far from each other as before."""
        try:
            now = _held(scheduler, left=True)
        except _UnknownError:
            return False
        _, last, between = self.left.get(scheduler, (None, 0, None))
        gap = self.updates - last
        self.left[scheduler] = now, self.updates, gap or between
        return between is None or gap == between


def _held(value: Any, deep: int = 0, *, left: bool = False) -> Any:
    """What a scheduler or a function may use, as values that compare; refused where it may change unseen.

    Behind a step (``left``) no scheduler is in its first step any more, which PyTorch notes down a moment later.
    """
    if deep > _DEEP:
        raise _UnknownError
    held = functools.partial(_held, deep=deep + 1, left=left)
    kind = type(value)
    if kind in _NUMBERS:
        return kind.__name__, repr(value)
    if kind in (list, tuple):
        return tuple(map(held, value))
    if kind in (dict, Counter):
        return tuple((held(key), held(each)) for key, each in value.items())
    if kind is torch.Tensor and value.numel() == 1:
        return held(value.item())
    if kind in _NAMESPACES:
        return held(vars(value))
    if kind is functools.partial:
        return held(value.func), held(value.args), held(value.keywords)
    if kind is types.FunctionType:
        return _function(value, held)
    name = getattr(value, "__name__", "")
    if kind is types.BuiltinFunctionType and getattr(math, name, None) is value:
        return name
    if kind is weakref.WeakMethod:
        method = value()
        return held(None if method is None else method.__func__)
    if kind in _COUNTING:
        own = {name: each for name, each in vars(value).items() if name not in ("optimizer", "step")}
        return held(own | {"_is_initial": False} if left and "_is_initial" in own else own)
    raise _UnknownError


def _function(function: types.FunctionType, held: Callable[[Any], Any]) -> Any:
    if function.__module__ == lr_scheduler.__name__:
        return function.__qualname__
    code = function.__code__
    if any(isinstance(each, types.CodeType) for each in code.co_consts):
        raise _UnknownError
    try:
        cells = [each.cell_contents for each in function.__closure__ or ()]
    except ValueError:  # it is not set yet
        raise _UnknownError from None
    named = {*code.co_names}
    used = [function.__globals__[name] for name in sorted(named & {*function.__globals__})]
    known = [getattr(builtins, name) for name in named - {*function.__globals__} if hasattr(builtins, name)]
    attributes = {name for name in named - {*function.__globals__} if not hasattr(builtins, name)}
    public = {name for each in (*used, *cells) if type(each) in _NAMESPACES for name in vars(each)}
    if not all(each in _FUNCTIONS for each in known) or not attributes <= {*vars(math), *_OF_NUMPY, *public}:
        raise _UnknownError
    values = [each for each in (*used, *cells) if not any(each is module for module in _MODULES)]
    return id(code), held(function.__defaults__), held(function.__kwdefaults__), tuple(map(held, values))
