"""How is a dataset read from a file?

CSV and Parquet become a pandas frame, ``.npy`` an array, JSON the value that it describes. The first line of a CSV file
names the columns, unless it is all numbers.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import TABLE_NAME, read_text, refuse_device

FORMS = "a .csv, .parquet, .npy or .json file"


def is_dataset_name(path: str | Path) -> bool:
    """Whether a file has the suffix of one that `read_dataset` reads."""
    return Path(path).suffix.lower() in _READERS


def read_dataset(path: str | Path) -> Any:
    """Return the dataset in a file, read by the file's suffix."""
    if not is_dataset_name(path):
        raise UsageError(f"cannot tell how to read the dataset '{path}'; give {FORMS}")
    try:
        refuse_device(path)
        if stat.S_ISFIFO(os.stat(path).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe, and no file")
        return _READERS[Path(path).suffix.lower()](path)
    except UsageError:
        raise
    except MemoryError:
        raise UsageError(
            f"cannot read the dataset '{path}': it says that it holds more than there is memory for; give fewer records"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read the dataset '{path}': {error.strerror or error}; give {FORMS}") from None
    except UnicodeDecodeError:
        raise UsageError(f"cannot read the dataset '{path}': it is not text in UTF-8; give {FORMS}") from None
    except Exception as error:  # readers raise all kinds of errors for a broken file
        raise UsageError(f"cannot read the dataset '{path}': {error}") from None


_TABLE = re.compile(r"@(?P<file>[^\n]+?\.(?:csv|parquet))(?:, sha256:(?P<digest>[0-9a-f]{64}))?", re.IGNORECASE)


def table_name(value: Any, root: str | Path = "") -> Any:
    """Return what evidence calls a parameter that is a table: '@FILE' with the digest of its bytes; others as they are.

    Raises:
        UsageError: if the file cannot be read, or holds another table than its digest says.
    """
    asked = _TABLE.fullmatch(value) if isinstance(value, str) else None
    if asked is None:
        return value
    try:
        refuse_device(Path(root, asked["file"]))
        digest = hashlib.sha256(Path(root, asked["file"]).read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read the table '{asked['file']}': {error.strerror or error}") from None
    if asked["digest"] not in (None, digest):
        raise UsageError(f"'{asked['file']}' holds another table than the one that was used, sha256:{asked['digest']}")
    return f"@{asked['file']}, sha256:{digest}"


def with_tables(parameters: Mapping[str, Any], root: str | Path = "") -> dict[str, Any]:
    """Return parameters, with the frame in place of '@FILE'; evidence calls it by its `table_name`."""
    given = dict(parameters)
    for name, value in parameters.items():
        if (text := table_name(value, root)) is not value:
            given[name] = read_dataset(Path(root, _TABLE.fullmatch(text)["file"]))  # type: ignore[index]
            given[name].attrs[TABLE_NAME] = text
    return given


def _csv(path: str | Path) -> Any:
    try:
        import pandas
    except ImportError:
        raise UsageError(f"reading '{path}' needs pandas: install it, or give the data as JSON") from None
    with open(path, "rb") as file:
        if any(b"\0" in part for part in iter(lambda: file.read(2**20), b"")):
            raise ValueError("it holds zero bytes, so that it is no text in UTF-8")
    first = pandas.read_csv(path, header=None, nrows=1)
    headless = all(kind.kind in "biuf" for kind in first.dtypes)
    return pandas.read_csv(path, header=None if headless else "infer")


def _parquet(path: str | Path) -> Any:
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise UsageError(f"reading '{path}' needs pyarrow: pip install 'dpaudit[data]', or give a CSV file") from None
    frame = pandas.read_parquet(path, engine="pyarrow")
    if not len(frame.columns):
        raise ValueError("it holds no columns")
    return frame


def _array(path: str | Path) -> Any:
    from numpy.lib import format as npy

    with open(path, "rb") as file:
        try:
            version, _ = npy.read_magic(file)
            if version in (1, 2, 3):  # NumPy refuses all others; some versions read -1 as "everything"
                header = npy.read_array_header_1_0(file) if version == 1 else npy.read_array_header_2_0(file)
                if any(length < 0 for length in header[0]):
                    raise ValueError(f"its header says that it has the shape {header[0]}")
            file.seek(0)
            return npy.read_array(file, allow_pickle=False)
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            what = "it holds Python objects, which are never unpickled; save numbers, text or a table, or JSON"
            raise UsageError(f"cannot read the dataset '{path}': {what}") from None


def _json(path: str | Path) -> Any:
    return json.loads(read_text(path, "the dataset", f"; give {FORMS}"))


_READERS = {".csv": _csv, ".parquet": _parquet, ".npy": _array, ".json": _json}

# --- How are neighbouring datasets read from files? ---
#
# JSON holds one pair, ``[data0, data1]``, or a list of pairs; two ``.npy``, ``.csv`` or ``.parquet`` files hold one
# dataset each.

Pair = tuple[Any, Any]
PAIR_FORMS = "a JSON file with [data0, data1] or a list of such pairs, or two .npy, .csv or .parquet files"
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
            pairs += _chosen(readings(_pair_as_json(name), name), neighbouring, name)
    if waiting:
        last = next(name for name in reversed(files) if str(name).lower().endswith(_DATASETS))
        raise UsageError(f"'{last}' holds one dataset, and a pair needs two; a pair is {PAIR_FORMS}")
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
        raise UsageError(f"the pair file '{name}' holds no pair; a pair is {PAIR_FORMS}")
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


def _pair_as_json(name: str | Path) -> Any:
    text = read_text(name, "the pair file", f"; a pair is {PAIR_FORMS}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the pair file '{name}' is no JSON ({error}); a pair is {PAIR_FORMS}") from None
