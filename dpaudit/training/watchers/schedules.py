"""Does a schedule know nothing but the number of updates?

What changes the rate of learning is released with the weights, unless it counts updates alone. A step of a scheduler of
PyTorch is taken for such a count where its class is listed, nothing that it holds was touched since its last step, the
functions that it was given read numbers that stay what they are, and as many updates lie between steps each time.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import math
import types
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch.optim import lr_scheduler

from dpaudit.training.watchers.recorder import Undo

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
