"""Of which batch are the rows that a model is given? By the memory of its tensors, which views of a batch share.

What a loop computes from a batch before it is given to the model has memory of its own: then only the number of rows is
known. Batches are not kept alive by this.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from dpaudit.training.watchers.loader import leaves_of

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
                width = _width(tensor)
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


def _width(tensor: Any) -> int:
    """How many records a tensor within vmap stands for."""
    inner, dim = _FUNCTORCH.get_unwrapped(tensor), _FUNCTORCH.maybe_get_bdim(tensor)
    return int(inner.shape[dim]) if dim >= 0 else 0


def _rows(tensor: Any, leaf: _Leaf) -> int | None:
    """How many rows of a leaf a view of it spans, if these are rows one after the other."""
    rows, span = 1, 0
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if stride == leaf.stride and size > 1 and rows == 1:
            rows = int(size)
        else:
            span += (size - 1) * stride
    return rows if span < leaf.stride else None
