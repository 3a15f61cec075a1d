"""Which records does a PyTorch loader draw? Its batch sampler becomes a recording subclass of its own class.

No randomness is used, `isinstance` keeps its answers, and what wraps the sampler (a manager of memory, a trainer) sees
the batches that were drawn, before they are split.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpaudit.training.seen import Seen
from dpaudit.training.watchers.recorder import Recorder, Undo

_MARK = "_dpaudit_watched"


def is_watched(loader: Any) -> bool:
    """Whether a loader is being watched already."""
    return hasattr(type(loader), _MARK) or hasattr(type(getattr(loader, "batch_sampler", None)), _MARK)


def about(loader: Any, seen: Seen) -> None:
    """Write down what a loader says of itself: its records, its rate, its batches in an epoch."""
    sampler = getattr(loader, "batch_sampler", None)
    if loader is None:
        seen.silent["batches"] = "No loader was given, so that batches were not seen."
        return
    try:
        seen.records = len(loader.dataset)
    except (TypeError, AttributeError, NotImplementedError):
        seen.silent["batches"] = "The training set of this loader has no length and no indices: batches were not seen."
        return
    if sampler is None:
        seen.silent["batches"] = "This loader has no batch sampler: batches were not seen."
        return
    try:
        seen.epoch = len(sampler)
    except (TypeError, AttributeError, NotImplementedError):
        seen.epoch = None
    rate = getattr(sampler, "sample_rate", None)
    size = getattr(sampler, "batch_size", None)
    if isinstance(rate, float | int):
        seen.rate = float(rate)
    elif isinstance(size, int) and seen.records:
        seen.share = min(1.0, size / seen.records)
    seen.batches = []


def record_batches(loader: Any, recorder: Recorder, undo: Undo) -> None:
    """Write down every batch that the sampler of a loader draws."""
    sampler = getattr(loader, "batch_sampler", None)
    if sampler is None or recorder.seen.batches is None:
        return
    kind: Any = type(sampler)

    def recording(self: Any) -> Iterator[Any]:
        for batch in kind.__iter__(self):
            yield recorder.batch(batch)

    _become(sampler, kind, {"__iter__": recording}, undo)


def record_deliveries(loader: Any, reached: Any, undo: Undo) -> None:
    """Call ``reached(batch)`` with every batch that a loader hands to the loop."""
    if loader is None or not hasattr(type(loader), "__iter__"):
        return
    kind: Any = type(loader)
    import torch

    def delivering(self: Any) -> Iterator[Any]:
        source = iter(kind.__iter__(self))
        while True:
            with torch._C.DisableTorchFunction():  # what a loader does with records is not followed
                try:
                    batch = next(source)
                except StopIteration:
                    return
            reached(batch)
            yield batch

    _become(loader, kind, {"__iter__": delivering}, undo)


def _become(instance: Any, kind: Any, methods: dict[str, Any], undo: Undo) -> None:
    """Let one instance be of a subclass of its class, which looks like it."""
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, _MARK: True, **methods}
    try:
        instance.__class__ = type(kind.__name__, (kind,), named)
    except TypeError:  # of a class with slots, or of an extension
        return
    undo.append(lambda: setattr(instance, "__class__", kind))
