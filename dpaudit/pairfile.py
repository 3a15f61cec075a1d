"""How are neighbouring datasets read from files?

JSON holds one pair, ``[data0, data1]``, or a list of pairs; two ``.npy`` or ``.csv`` files hold a dataset each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import UsageError

FORMS = "a JSON file with [data0, data1] or a list of such pairs, or two .npy or .csv files"


def read_pairs(files: Sequence[str]) -> list[tuple[Any, Any]]:
    """Return the pairs in these files; raises `UsageError` with the possible forms."""
    pairs: list[tuple[Any, Any]] = []
    waiting: list[tuple[str, Any]] = []
    for name in files:
        if name.lower().endswith((".npy", ".csv")):
            waiting.append((name, _dataset(name)))
            if len(waiting) == 2:
                pairs.append((waiting[0][1], waiting[1][1]))
                waiting.clear()
        else:
            pairs += pairs_of(_json(name), name)
    if waiting:
        raise UsageError(f"{waiting[0][0]!r} holds one dataset, and a pair needs two; a pair is {FORMS}")
    return pairs


def _json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the pair file {name!r}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"the pair file {name!r} is no JSON ({error}); a pair is {FORMS}") from None


def pairs_of(value: Any, name: str) -> list[tuple[Any, Any]]:
    """Return the pairs in a JSON value.

    A list of two is one pair, unless both of its entries are themselves two datasets (lists or objects).
    """
    if isinstance(value, list) and len(value) == 2 and not all(map(_is_pair_of_datasets, value)):
        return [(value[0], value[1])]
    if isinstance(value, list) and value and all(isinstance(item, list) and len(item) == 2 for item in value):
        return [(item[0], item[1]) for item in value]
    raise UsageError(f"the pair file {name!r} holds no pair; a pair is {FORMS}")


def _is_pair_of_datasets(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(item, list | dict) for item in value)


def _dataset(name: str) -> Any:
    try:
        if name.lower().endswith(".csv"):
            import pandas

            return pandas.read_csv(name)
        import numpy as np

        return np.load(name, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the dataset {name!r}: {error}") from None
