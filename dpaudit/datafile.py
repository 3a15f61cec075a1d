"""How is a dataset read from a file?

CSV and Parquet become a pandas frame, ``.npy`` an array, JSON what it says. The first line of a CSV file names the
columns, unless it is all numbers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpaudit.errors import UsageError

FORMS = "a .csv, .parquet, .npy or .json file"


def read_dataset(path: str | Path) -> Any:
    """Return the dataset in a file, by the end of its name.

    Raises:
        UsageError: for a file that cannot be read, and for a form that is not known.
    """
    readers = {".csv": _csv, ".parquet": _parquet, ".npy": _array, ".json": _json}
    suffix = Path(path).suffix.lower()
    if suffix not in readers:
        raise UsageError(f"cannot tell how to read the dataset '{path}'; give {FORMS}")
    try:
        return readers[suffix](path)
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read the dataset '{path}': {error.strerror or error}; give {FORMS}") from None
    except (ValueError, EOFError, RecursionError) as error:
        raise UsageError(f"cannot read the dataset '{path}': {error}") from None


def _csv(path: str | Path) -> Any:
    try:
        import pandas
    except ImportError:
        raise UsageError(f"reading '{path}' needs pandas: install it, or give the data as JSON") from None
    first = pandas.read_csv(path, header=None, nrows=1)
    headless = all(kind.kind in "biuf" for kind in first.dtypes)
    return pandas.read_csv(path, header=None if headless else "infer")


def _parquet(path: str | Path) -> Any:
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise UsageError(f"reading '{path}' needs pyarrow: pip install 'dpaudit[data]', or give a CSV file") from None
    return pandas.read_parquet(path, engine="pyarrow")


def _array(path: str | Path) -> Any:
    from numpy.lib import format as npy

    with open(path, "rb") as file:
        try:
            return npy.read_array(file, allow_pickle=False)
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            what = "it holds Python objects, which are never unpickled; save numbers, text or a table, or JSON"
            raise UsageError(f"cannot read the dataset '{path}': {what}") from None


def _json(path: str | Path) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8-sig"))
