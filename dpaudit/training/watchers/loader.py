"""Which records does a PyTorch loader draw, and does one of them hang on the others?

The loader's batch sampler becomes a recording subclass of its own class: no randomness is used, `isinstance` keeps its
answers, and what wraps the sampler (a manager of memory, a trainer) sees the batches that were drawn, before they are
split.

The set is asked for some records once more, as it is and with all other records of it exchanged, from one state of the
generators. So is the function that puts records together. What is asked for comes from copies: the loop is over, and
generators are given back as they were.
"""

from __future__ import annotations

import copy
import random
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils.data import ConcatDataset, Subset, TensorDataset

from dpaudit.arrays import Integers
from dpaudit.training.seen import Played, TrainingRun
from dpaudit.training.watchers.recorder import TrainingRecorder, Undo

# --- Which records does a PyTorch loader draw? -----------------------------------------------------------

_MARK = "_dpaudit_watched"


def is_watched(loader: Any) -> bool:
    """Whether a loader is being watched already."""
    return hasattr(type(loader), _MARK) or hasattr(type(getattr(loader, "batch_sampler", None)), _MARK)


def about(loader: Any, seen: TrainingRun) -> None:
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


def record_batches(loader: Any, recorder: TrainingRecorder, undo: Undo) -> None:
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
            kept = recorder.batch(batch, drawn)
            if not linked:  # a manager of memory asks for them, and splits them
                recorder.deliver(len(kept), drawn[-1] if drawn else None)
            yield kept

    _become(sampler, kind, {"__iter__": recording}, undo)


def record_deliveries(
    loader: Any,
    recorder: TrainingRecorder,
    reached: Callable[[Any, int], object],
    over: Callable[[], object],
    undo: Undo,
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
class GivenRows:
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
        held = (leaf.held() for leaf in self.leaves_by.values() if leaf is not None and leaf.number == number)
        return [each for each in held if each is not None]

    def given(self, values: Iterable[Any]) -> GivenRows | None:
        """Return whose rows are among the arguments of a model; None where there are none."""
        several: GivenRows | None = None
        for value in values:
            for each in leaves_of(value):
                rows = self._of(each)
                if rows is not None and rows.number is not None:
                    return rows
                several = several or rows
        return several

    def _of(self, tensor: Any) -> GivenRows | None:
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
            return GivenRows(None, 0, width or len(tensor))
        apart = tensor.storage_offset() - leaf.offset
        if leaf.stride <= 0:
            return GivenRows(None, 0, width or len(tensor))
        rows = _rows(tensor, leaf)
        if rows is None or apart < 0 or apart // leaf.stride + rows > leaf.rows:
            return GivenRows(None, 0, width or len(tensor))
        return GivenRows(leaf.number, apart // leaf.stride, rows)


def _rows(tensor: Any, leaf: _Leaf) -> int | None:
    """How many rows of a leaf a view of it spans, if these are rows one after the other."""
    rows, span = 1, 0
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if stride == leaf.stride and size > 1 and rows == 1:
            rows = int(size)
        else:
            span += (size - 1) * stride
    return rows if span < leaf.stride else None


# --- Does a record of a training set hang on the others, or one of a batch on those it is put together with? ---

IN_SET = "in the training set: what it returns for a record hangs on other records"
TOGETHER = "where batches are put together: what is made of a record hangs on the others"
_ASKED = 8  # records, of a set
_TIMES = 4  # with others in the place of the rest: a set may mix a record with one other at random
_DEEP = 3  # sets within sets
_MOST = 2**26  # values that are copied
_COPIES = 8  # of all records of a set, at most, that are looked for
_DISTINCT, _LOOKED_AT = 20, 10_000  # records that differ before their order shows copies, and that are compared


def in_set(dataset: Any, rng: np.random.Generator) -> Played:
    """Say whether records of a training set hang on each other."""
    try:
        size = len(dataset)
        if size < 2:
            return Played(blind="it has fewer than two records")
        numbers = [int(each) for each in rng.choice(size, min(_ASKED, size), replace=False)]
        states = [int(each) for each in rng.integers(2**31, size=_TIMES)]
        with _generators_kept():
            moved = False
            for number in numbers:
                others = np.delete(np.arange(size), number)
                places = np.arange(size)
                places[others] = rng.choice(others, len(others))  # all kinds of records stay, and their mean does not
                changed = _exchanged(dataset, places, _DEEP)
                if changed is None:
                    return Played(blind="where it keeps its records is not known")
                other = (number + 1) % size
                for state in states:
                    before, after = _asked(dataset, number, state), _asked(changed, number, state)
                    if not _alike(before, _asked(dataset, number, state)):
                        return Played(blind="it returns something else each time")
                    if not _alike(before, after):
                        return Played(IN_SET, 1.0)
                moved |= not _alike(_asked(dataset, other, states[0]), _asked(changed, other, states[0]))
            return Played() if moved else Played(blind="where it keeps its records is not known")
    except Exception as error:  # of somebody else's code
        return Played(blind=f"{type(error).__name__} when it was asked again")


def copies_in(dataset: Any) -> int:
    """Return how many records stand in a training set more than once, as far as that is certain.

    Numbers that repeat in a subset, and one set put together with itself, are certain; so are tensors whose rows are
    many others once more, in their order. Single records with equal values may be those of two people.
    """
    try:
        places = Counter(_places(dataset))
    except Exception:  # of somebody else's code
        return 0
    return sum(times > 1 for times in places.values())


def _places(dataset: Any) -> Iterator[tuple[int, int]]:
    """Yield where each record of a set comes from: the innermost set, and its number there."""
    if type(dataset) is Subset:
        inner = list(_places(dataset.dataset))
        for number in dataset.indices:
            yield inner[number]
    elif type(dataset) is ConcatDataset:
        for each in dataset.datasets:
            yield from _places(each)
    else:
        size = len(dataset)
        period, apart = _period(dataset) if type(dataset) is TensorDataset else (size, True)
        for number in range(size):
            yield id(dataset), number % period if apart else number // (size // period)


def _period(dataset: Any) -> tuple[int, bool]:
    """After how many records they begin anew, or, with False, how many there are of which each comes several times."""
    size = len(dataset)
    for times in range(2, _COPIES + 1):
        period = size // times
        if size % times or period < _DISTINCT:
            continue
        for apart in (True, False):
            parts = [each.reshape(times, period, -1) if apart else each.reshape(period, times, -1).transpose(0, 1)
                     for each in dataset.tensors]  # fmt: skip
            if all(torch.equal(part[:1].expand_as(part), part) for part in parts) and _is_various(parts):
                return period, apart
    return size, True


def _is_various(parts: list[Any]) -> bool:
    """Whether most of the rows are different ones, so that it is no chance that they come in this order again."""
    rows = torch.cat([part[0, :_LOOKED_AT].double() for part in parts], dim=1)
    return len(torch.unique(rows, dim=0)) > max(_DISTINCT, len(rows) // 2) - 1


def together(collate: Callable[[list[Any]], Any] | None, dataset: Any, rng: np.random.Generator) -> Played:
    """Say whether the function that puts records together lets them hang on each other."""
    if collate is None:
        return Played()
    try:
        size = len(dataset)
        rows = min(_ASKED, size // 2 * 2)
        if rows < 2:
            return Played(blind="it has fewer than two records")
        with _generators_kept():
            for state in (int(each) for each in rng.integers(2**31, size=_TIMES)):
                numbers = [int(each) for each in rng.choice(size, rows, replace=False)]
                records = [_asked(dataset, each, state) for each in numbers]
                stay = rows // 2
                first = _put(collate, records, state)
                other = _put(collate, [*records[:stay], *[records[0]] * (rows - stay)], state)
                for a, b in zip(leaves_of(first), leaves_of(other), strict=True):
                    if a.shape != b.shape or not a.ndim or len(a) % rows:
                        return Played(blind="what it makes of a record has another shape beside others")
                    if not torch.equal(a[: len(a) // rows * stay], b[: len(a) // rows * stay]):
                        return Played(TOGETHER, 1.0)
        return Played()
    except Exception as error:  # of somebody else's code
        return Played(blind=f"{type(error).__name__} when it was called again")


def _put(collate: Callable[[list[Any]], Any], records: list[Any], state: int) -> Any:
    _seed(state)
    return collate([copy.deepcopy(each) for each in records])


def _asked(dataset: Any, number: int, state: int) -> Any:
    _seed(state)
    return _with_own_generators(dataset)[number]


def _seed(state: int) -> None:
    random.seed(state)
    np.random.seed(state)  # noqa: NPY002
    torch.random.default_generator.manual_seed(state)


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Give the generators of Python, NumPy and PyTorch back as they were."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])


def _with_own_generators(dataset: Any) -> Any:
    """A shallow copy whose own generators are copies, so that each question finds them in one state."""
    held = getattr(dataset, "__dict__", None)
    if not held or not any(isinstance(each, np.random.Generator | random.Random) for each in held.values()):
        return dataset
    copied = copy.copy(dataset)
    for name, each in held.items():
        if isinstance(each, np.random.Generator | random.Random):
            copied.__dict__[name] = copy.deepcopy(each)
    return copied


def _exchanged(value: Any, places: Integers, deep: int) -> Any:
    """The same with the records of these places in the place of its own; None where no records are found in it."""
    size = len(places)
    if isinstance(value, torch.Tensor):
        return value[torch.as_tensor(places)] if value.ndim and len(value) == size and value.numel() <= _MOST else None
    if isinstance(value, np.ndarray):
        return value[places] if value.ndim and len(value) == size and value.size <= _MOST else None
    if type(value) in (list, tuple) and len(value) == size:
        return type(value)(value[place] for place in places)
    if type(value) in (list, tuple):
        parts = [_exchanged(each, places, deep) for each in value]
        if all(part is None for part in parts):
            return None
        return type(value)(each if part is None else part for each, part in zip(value, parts, strict=True))
    if type(value) is dict:
        exchanged = {key: _exchanged(each, places, deep) for key, each in value.items()}
        if all(part is None for part in exchanged.values()):
            return None
        return {key: value[key] if part is None else part for key, part in exchanged.items()}
    held = getattr(value, "__dict__", None)
    if not deep or held is None or not isinstance(value, torch.utils.data.Dataset):
        return None
    members = {name: _exchanged(each, places, deep - 1) for name, each in held.items()}
    if all(each is None for each in members.values()):
        return None
    other = copy.copy(value)
    other.__dict__.update({name: each for name, each in members.items() if each is not None})
    return other


def _alike(one: Any, two: Any) -> bool:
    """Whether two records are the same."""
    if isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor):
        return one.shape == two.shape and bool(((one == two) | ((one != one) & (two != two))).all())
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.shape == two.shape and np.array_equal(one, two, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(_alike(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(_alike, one, two))
    return bool(one == two)
