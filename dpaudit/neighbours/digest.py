"""Are two pieces of data the same? A digest that depends on the values alone, not on the process."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np


def digest(data: Any) -> str:
    """Return the SHA-256 of a canonical form of plain values, containers, arrays and frames; of the pickle of others."""
    state = hashlib.sha256()
    _feed(state, data)
    return state.hexdigest()


def _feed(state: Any, data: Any) -> None:
    if isinstance(data, np.generic):
        data = data.item()
    if data is None or isinstance(data, bool | int | float | complex | str | bytes):
        text = repr(data).encode("utf-8", "backslashreplace")
        state.update(f"{type(data).__name__}:{len(text)}:".encode() + text)
    elif isinstance(data, np.ndarray) and data.dtype != object:
        state.update(f"array:{data.dtype.str}:{data.shape}:".encode())
        state.update(np.ascontiguousarray(data).tobytes())
    elif isinstance(data, list | tuple | np.ndarray):
        state.update(f"{type(data).__name__}:{len(data)}:".encode())
        for item in data:
            _feed(state, item)
    elif isinstance(data, Mapping):
        state.update(f"{type(data).__name__}:{len(data)}:".encode())
        for key, value in data.items():
            _feed(state, key)
            _feed(state, value)
    elif isinstance(data, set | frozenset):
        state.update(f"set:{len(data)}:".encode())
        for item in sorted(digest(member) for member in data):
            state.update(item.encode())
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        state.update(f"frame:{len(data)}:".encode())
        for name in data.columns:
            _feed(state, name)
            _feed(state, np.asarray(data[name]))
    else:
        state.update(f"{type(data).__qualname__}:".encode())
        try:
            state.update(pickle.dumps(data))
        except Exception:
            # Nothing of its content can be read: it is one thing by its type alone.
            state.update(b"unreadable")
