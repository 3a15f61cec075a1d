"""Does a record of a training set hang on the others, or one of a batch on those it is put together with?

The set is asked for some records once more, as it is and with all other records of it exchanged, from one state of the
generators. So is the function that puts records together. What is asked for comes from copies: the loop is over, and
generators are given back as they were.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data import ConcatDataset, Subset, TensorDataset

from dpaudit.arrays import Integers
from dpaudit.training.seen import Played
from dpaudit.training.watchers.loader import leaves_of

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
    found = copy.copy(dataset)
    for name, each in held.items():
        if isinstance(each, np.random.Generator | random.Random):
            found.__dict__[name] = copy.deepcopy(each)
    return found


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
        found = {key: _exchanged(each, places, deep) for key, each in value.items()}
        if all(part is None for part in found.values()):
            return None
        return {key: value[key] if part is None else part for key, part in found.items()}
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
