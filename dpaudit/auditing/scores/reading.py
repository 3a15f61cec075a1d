"""Which scores and outputs were given? Reads files and values, and refuses what cannot be used with a reason.

A file of scores is a ``.npy`` array, a ``.csv`` file with one column (a first line that is not a number names it), JSON
lines (``.jsonl``, one number per line) or JSON (a list of numbers). NaN is a score like any other: a model that
diverged produces one, and members may be what makes it diverge.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import read_text
from dpaudit.sampling.outputs import Outputs, from_array, from_list

FORMS = ".npy, .csv with one column, .jsonl with one number a line, or .json with a list of numbers"
LEAST = 20  # scores or outputs of a side: fewer could show nothing


def read_scores(name: str | Path) -> Floats:
    """Return the scores in a file, shape (n,); raises `UsageError` if it cannot be read."""
    kind = Path(name).suffix.lower()
    try:
        if kind == ".npy":
            with open(name, "rb") as file:
                return as_scores(np.lib.format.read_array(file, allow_pickle=False), str(name))
        if kind not in _READERS:
            raise UsageError(f"'{name}' is no file of scores that dpaudit reads; it reads {FORMS}")
        text = read_text(name, "the scores", f"; dpaudit reads {FORMS}")
        return as_scores(_READERS[kind](text, str(name)), str(name))
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read the scores '{name}': {error.strerror or error}") from None
    except (ValueError, EOFError, RecursionError, csv.Error) as error:
        raise UsageError(f"cannot read the scores '{name}': {error}; dpaudit reads {FORMS}") from None


def _json(text: str, name: str) -> Any:
    return json.loads(text)


def _lines(text: str, name: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError:
                raise UsageError(f"line {number} of '{name}' is no JSON: {line.strip()[:40]!r}") from None
    return found


def _column(text: str, name: str) -> list[float]:
    rows = [(number, row) for number, row in enumerate(csv.reader(text.splitlines()), start=1) if "".join(row).strip()]
    wide = next((number for number, row in rows if len(row) > 1), None)
    if wide is not None:
        raise UsageError(f"line {wide} of '{name}' has several columns; write the scores as one column")
    if rows and _number(rows[0][1][0]) is None:
        rows = rows[1:]  # the name of the column
    found = []
    for number, row in rows:
        value = _number(row[0])
        if value is None:
            raise UsageError(f"line {number} of '{name}' is no number: {row[0].strip()[:40]!r}; a missing score is nan")
        found.append(value)
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


_READERS = {".json": _json, ".jsonl": _lines, ".csv": _column}


def as_scores(values: Any, name: str) -> Floats:
    """Return scores as floats, shape (n,); raises `UsageError` for anything but a long enough list of numbers."""
    found = values if isinstance(values, np.ndarray) else _as_array(values, name)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise UsageError(f"{name}: scores are a list of numbers, one a record, not an array of shape {found.shape}")
    if found.size and (found.dtype.kind not in "biuf"):
        raise UsageError(f"{name}: scores are numbers, not {found.dtype}; a missing score is NaN")
    refuse_few(found, name, "scores")
    return found.astype(np.float64)


def _as_array(values: Any, name: str) -> np.ndarray[Any, Any]:
    if hasattr(values, "to_numpy") or hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
        raise UsageError(f"{name}: scores are a list of numbers, one a record, not {values!r:.60}")
    listed = list(values)
    for number, value in enumerate(listed):
        if not isinstance(value, bool | int | float | np.number | np.bool_):
            raise UsageError(
                f"{name}: scores are numbers, one a record; entry {number} is {value!r:.60} (a missing score is NaN)"
            )
    return np.asarray([float(value) for value in listed])


def as_outputs(values: Any, name: str) -> Outputs:
    """Return recorded outputs; the runs are the first axis of an array, or the entries of a list."""
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
        raise UsageError(f"{name}: outputs are a list or an array, one entry a run, not {values!r:.60}")
    if hasattr(values, "iloc"):
        values = values.to_numpy()
    array = isinstance(values, np.ndarray) and values.ndim > 0
    refuse_few(values, name, "outputs")
    return from_array(values) if array else from_list(list(values))


def refuse_few(values: Any, name: str, what: str) -> None:
    """Raise `UsageError` for fewer than `LEAST` values."""
    if len(values) < LEAST:
        holds = f"only {len(values)}" if len(values) else "none"
        raise UsageError(f"{name}: at least {LEAST} {what} of each side are needed to show anything; there are {holds}")


def refuse_only_nan(members: Floats, others: Floats) -> None:
    """Raise `UsageError` if every score is NaN."""
    if np.isnan(members).all() and np.isnan(others).all():
        raise UsageError("every score is NaN, of members and of others; there is nothing to tell them apart by")
