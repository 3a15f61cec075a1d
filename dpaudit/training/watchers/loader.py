"""Which records does a PyTorch loader draw? Its batch sampler becomes a recording subclass of its own class.

No randomness is used, `isinstance` keeps its answers, and what wraps the sampler (a manager of memory, a trainer) sees
the batches that were drawn, before they are split.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

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
        drawn = recorder.begin()
        linked = recorder.linking is not None  # its batches are delivered by the loader that asks for them
        if recorder.linking is not None:
            recorder.linking.append(drawn)
        return batches(self, drawn, linked)

    def batches(self: Any, drawn: list[int], linked: bool) -> Iterator[Any]:
        for batch in kind.__iter__(self):
            found = recorder.batch(batch, drawn)
            if not linked:  # a manager of memory asks for them, and splits them
                recorder.deliver(len(found), drawn[-1] if drawn else None)
            yield found

    _become(sampler, kind, {"__iter__": recording}, undo)


def record_deliveries(
    loader: Any, recorder: Recorder, reached: Callable[[Any, int], object], over: Callable[[], object], undo: Undo
) -> None:
    """Number every batch that a loader hands to the loop.

    ``reached(batch, number)`` is called with it, and ``over()`` when the loop asks for the next or for no more.
    """
    if loader is None or not hasattr(type(loader), "__iter__"):
        return
    kind: Any = type(loader)
    import torch

    def delivering(self: Any) -> Iterator[Any]:
        source: Any
        linked: list[list[int]]
        source, linked = None, []
        place = 0
        while True:
            before, recorder.linking = recorder.linking, linked  # some loaders begin a pass with their first batch
            with torch._C.DisableTorchFunction():  # what a loader does with records is not followed
                try:
                    if source is None:
                        source = iter(kind.__iter__(self))
                    batch = next(source)
                except StopIteration:
                    return
                finally:
                    recorder.linking = before
            drawn = linked[0] if linked else []
            own = drawn[place] if place < len(drawn) else None
            place += 1
            rows = rows_of(batch)
            if rows is None and own is not None and recorder.seen.batches is not None:
                rows = len(recorder.seen.batches[own])
            reached(batch, recorder.deliver(rows or 0, own))
            try:
                yield batch
            finally:
                over()

    _become(loader, kind, {"__iter__": delivering}, undo)


def record_parts(loader: Any, reached: Callable[[Any], object], undo: Undo) -> None:
    """Call ``reached(batch)`` with every batch of any loader over the training set, parts of batches included."""
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    original, dataset = _BaseDataLoaderIter.__next__, getattr(loader, "dataset", None)

    def following(self: Any) -> Any:
        batch = original(self)
        if dataset is not None and self._dataset is dataset:
            reached(batch)
        return batch

    _BaseDataLoaderIter.__next__ = following
    undo.append(lambda: setattr(_BaseDataLoaderIter, "__next__", original))


def rows_of(batch: Any) -> int | None:
    """How many records a batch holds; None where that is not known."""
    sizes = {len(each) for each in leaves_of(batch) if each.ndim}
    return sizes.pop() if len(sizes) == 1 else None


def leaves_of(batch: Any) -> Iterator[Any]:
    """Yield the tensors of a batch."""
    import torch

    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, Mapping):
        for each in batch.values():
            yield from leaves_of(each)
    elif isinstance(batch, list | tuple):
        for each in batch:
            yield from leaves_of(each)


def _become(instance: Any, kind: Any, methods: dict[str, Any], undo: Undo) -> None:
    """Let one instance be of a subclass of its class, which looks like it."""
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, _MARK: True, **methods}
    try:
        instance.__class__ = type(kind.__name__, (kind,), named)
    except TypeError:  # of a class with slots, or of an extension
        return
    undo.append(lambda: setattr(instance, "__class__", kind))


# --- Of which batch are the rows that a model is given? By the memory of its tensors, which views of a batch share. ---
#
# What a loop computes from a batch before it is given to the model has memory of its own: then only the number of
# rows is known. Batches are not kept alive by this.

_FUNCTORCH = torch._C._functorch


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A tensor of a batch: which delivery, where its rows begin, how far they lie apart, how many there are."""

    held: Any
    number: int
    offset: int
    stride: int
    rows: int


@dataclass(frozen=True, slots=True)
class Given:
    """Rows that a model was given: of which delivery, from which row on, how many; None where not known."""

    number: int | None
    first: int
    rows: int


class RowsOfBatches:
    """Knows the tensors of the batches that were delivered and still exist."""

    def __init__(self) -> None:
        self.leaves_by: dict[int, _Leaf | None] = {}  # by the address of their memory; None where two share it

    def reach(self, batch: Any, number: int, rows: int) -> None:
        """Remember the tensors of a batch, as long as they exist."""
        for leaf in leaves_of(batch):
            if not leaf.ndim or len(leaf) != rows or not rows or not leaf.numel():
                continue
            place = leaf.untyped_storage().data_ptr()
            if not place:
                continue
            before = self.leaves_by.get(place)
            if before is not None and before.held() is not None and before.held() is not leaf:
                self.leaves_by[place] = None
                continue
            held = weakref.ref(leaf, partial(self._forget, place))
            self.leaves_by[place] = _Leaf(held, number, leaf.storage_offset(), leaf.stride(0), rows)

    def _forget(self, place: int, held: Any) -> None:
        leaf = self.leaves_by.get(place)
        if leaf is None or leaf.held is held:
            self.leaves_by.pop(place, None)

    def leaves(self, number: int) -> list[Any]:
        """Return the tensors of a delivery that still exist."""
        found = (leaf.held() for leaf in self.leaves_by.values() if leaf is not None and leaf.number == number)
        return [each for each in found if each is not None]

    def given(self, values: Iterable[Any]) -> Given | None:
        """Return whose rows are among the arguments of a model; None where there are none."""
        several: Given | None = None
        for value in values:
            for each in leaves_of(value):
                found = self._of(each)
                if found is not None and found.number is not None:
                    return found
                several = several or found
        return several

    def _of(self, tensor: Any) -> Given | None:
        width = 0
        while _FUNCTORCH.is_functorch_wrapped_tensor(tensor):
            if _FUNCTORCH.is_batchedtensor(tensor):
                # how many records a tensor within vmap stands for
                inner, dim = _FUNCTORCH.get_unwrapped(tensor), _FUNCTORCH.maybe_get_bdim(tensor)
                width = int(inner.shape[dim]) if dim >= 0 else 0
            tensor = _FUNCTORCH.get_unwrapped(tensor)
        if not tensor.ndim or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            return None
        leaf = self.leaves_by.get(tensor.untyped_storage().data_ptr())
        if leaf is None or leaf.held() is None:
            return Given(None, 0, width or len(tensor))
        apart = tensor.storage_offset() - leaf.offset
        if leaf.stride <= 0:
            return Given(None, 0, width or len(tensor))
        rows = _rows(tensor, leaf)
        if rows is None or apart < 0 or apart // leaf.stride + rows > leaf.rows:
            return Given(None, 0, width or len(tensor))
        return Given(leaf.number, apart // leaf.stride, rows)


def _rows(tensor: Any, leaf: _Leaf) -> int | None:
    """How many rows of a leaf a view of it spans, if these are rows one after the other."""
    rows, span = 1, 0
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if stride == leaf.stride and size > 1 and rows == 1:
            rows = int(size)
        else:
            span += (size - 1) * stride
    return rows if span < leaf.stride else None
