"""How are neighbouring datasets read from files?

JSON holds one pair, ``[data0, data1]``, or a list of pairs; two ``.npy``, ``.csv`` or ``.parquet`` files hold one
dataset each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import read_text
from dpaudit.neighbours.data_files import read_dataset

Pair = tuple[Any, Any]
FORMS = "a JSON file with [data0, data1] or a list of such pairs, or two .npy, .csv or .parquet files"
_DATASETS = (".npy", ".csv", ".parquet")


def read_pairs(files: Sequence[str | Path], neighbouring: Callable[[Pair], bool] | None = None) -> list[Pair]:
    """Return the pairs in these files; raises `UsageError` with the possible forms."""
    pairs: list[Pair] = []
    waiting: list[Any] = []
    for name in files:
        if str(name).lower().endswith(_DATASETS):
            waiting.append(read_dataset(name))
            if len(waiting) == 2:
                pairs.append((waiting[0], waiting[1]))
                waiting.clear()
        else:
            pairs += _chosen(readings(_json(name), name), neighbouring, name)
    if waiting:
        last = next(name for name in reversed(files) if str(name).lower().endswith(_DATASETS))
        raise UsageError(f"'{last}' holds one dataset, and a pair needs two; a pair is {FORMS}")
    return pairs


def readings(value: Any, name: str | Path) -> list[list[Pair]]:
    """Return the ways to read a JSON value as pairs, the likelier first.

    A list of two is one pair; if both of its entries are lists of two as well, it may be two pairs. That is the
    likelier reading if all the inner values are lists, and so look like datasets. Which is meant the relation says;
    where it allows both, the file is refused.
    """
    one = [[(value[0], value[1])]] if isinstance(value, list) and len(value) == 2 else []
    several = []
    if isinstance(value, list) and value and all(isinstance(item, list) and len(item) == 2 for item in value):
        several = [[(item[0], item[1]) for item in value]]
    if not one and not several:
        raise UsageError(f"the pair file '{name}' holds no pair; a pair is {FORMS}")
    inner = [data for item in value if isinstance(item, list) for data in item]
    return several + one if all(isinstance(data, list) for data in inner) else one + several


def _chosen(possible: list[list[Pair]], neighbouring: Callable[[Pair], bool] | None, name: str | Path) -> list[Pair]:
    if neighbouring is None or len(possible) == 1:
        return possible[0]
    meant = [pairs for pairs in possible if all(map(neighbouring, pairs))]
    if len(meant) > 1:
        raise UsageError(
            f"the pair file '{name}' may hold one pair of datasets with two records each, or two pairs, and both would "
            "be neighbours: write one pair as [[data0, data1]], and two pairs each in a file of its own"
        )
    return meant[0] if meant else possible[0]


def _json(name: str | Path) -> Any:
    text = read_text(name, "the pair file", f"; a pair is {FORMS}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the pair file '{name}' is no JSON ({error}); a pair is {FORMS}") from None
