"""Are two pieces of data equal? A digest that depends on the values alone, not on the process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest(data: Any) -> str:
    """Return the SHA-256 of a canonical form of the data.

    Values, containers, arrays and frames count by their content, other objects by what they would be pickled from, and
    what cannot be pickled (a connection, a handle) by its type alone. Types count too: 1, 1.0 and True differ; NumPy's
    scalars count as Python's. The order of a set does not count, that of a dict does.
    """
    state = hashlib.sha256()
    _feed(state, data, ())
    return state.hexdigest()


def _feed(state: Any, data: Any, within: tuple[int, ...]) -> None:
    """Feed the data to the hash; ``within`` holds the ids of the containers around it."""
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, _PLAIN) and not isinstance(data, Enum):
        _tag(state, type(data).__name__, repr(data))
    elif id(data) in within:
        _tag(state, "cycle", str(within[::-1].index(id(data))))
    else:
        _feed_object(state, data, (*within, id(data)))


def _feed_object(state: Any, data: Any, within: tuple[int, ...]) -> None:
    kind = type(data).__name__
    if isinstance(data, np.ma.MaskedArray):
        _tag(state, "masked", "")
        _all(state, (np.ma.getmaskarray(data), np.asarray(data)), within)
    elif isinstance(data, np.ndarray):
        _tag(state, "array", f"{data.dtype}{data.shape}")
        if data.dtype.hasobject:
            _all(state, data.ravel().tolist(), within)
        else:
            state.update(np.ascontiguousarray(data).tobytes())
    elif isinstance(data, list | tuple):
        _tag(state, kind, str(len(data)))
        _all(state, data, within)
    elif isinstance(data, Mapping):
        _tag(state, kind, str(len(data)))
        _all(state, (part for item in data.items() for part in item), within)
    elif isinstance(data, set | frozenset):
        _tag(state, "set", ",".join(sorted(_digest_within(member, within) for member in data)))
    elif isinstance(data, bytearray | memoryview):
        _tag(state, kind, repr(bytes(data)))
    elif callable(data) and hasattr(data, "__qualname__"):
        _tag(state, "name", f"{data.__module__}.{data.__qualname__}")
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        _tag(state, "frame", str(len(data)))
        _all(state, (np.asarray(getattr(data, "index", ())),), within)
        _all(state, (part for name in data.columns for part in (name, np.asarray(data[name]))), within)
    elif hasattr(data, "to_numpy"):  # a column or an index of a frame
        _tag(state, kind, str(getattr(data, "name", "")))
        _all(state, (np.asarray(getattr(data, "index", ())), data.to_numpy()), within)
    else:
        _feed_pickled(state, data, within)


def _feed_pickled(state: Any, data: Any, within: tuple[int, ...]) -> None:
    """Feed what an object would be pickled from, not its pickle, which depends on the order of sets."""
    _tag(state, "object", f"{type(data).__module__}.{type(data).__qualname__}")
    try:
        reduced = data.__reduce_ex__(4)
    except Exception:
        return  # its content cannot be read: it counts by its type alone
    if isinstance(reduced, str):
        _tag(state, "name", reduced)
        return
    _all(state, (list(part) if hasattr(part, "__next__") else part for part in reduced), within)


def _tagged(kind: str, text: str) -> str:
    return f"{kind}:{len(text)}:{text}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _tag(state: Any, kind: str, text: str) -> None:
    state.update(_bytes(_tagged(kind, text)))


def _all(state: Any, items: Iterable[Any], within: tuple[int, ...]) -> None:
    if isinstance(items, list | tuple) and set(map(type, items)) <= set(_PLAIN):
        # the same as below, at once, because data may hold a million numbers
        state.update(_bytes("".join([_tagged(type(item).__name__, repr(item)) for item in items])))
        return
    for item in items:
        _feed(state, item, within)


def _digest_within(data: Any, within: tuple[int, ...]) -> str:
    state = hashlib.sha256()
    _feed(state, data, within)
    return str(state.hexdigest())
