"""What does a single call do? For error messages, which quote the first exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.program.scalar import ScalarNoise
from dpaudit.settings import lent
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

_MOST_NAMED = 12  # columns


def first_exception(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> str:
    """Describe the exception of a call of what raised in every run; the arguments are those of `raised`."""
    return raised(mechanism, data, parameters) or "an exception that a single call does not raise again"


def raised(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> str:
    """Call the mechanism once and describe the exception that it raises."""
    rng = np.random.default_rng(0)
    filled = {"noise": ScalarNoise(rng), "rng": rng, "size": 1}
    try:
        with lent():
            mechanism.function(data, **{name: filled[name] for name in mechanism.asked}, **parameters)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}{_another_kind(data, error, mechanism)}"
    return ""


def _another_kind(data: Any, error: BaseException, mechanism: Mechanism) -> str:
    """Advice for a function that seems to expect data of another kind; empty otherwise."""
    kind, text = type(data).__name__, str(error)
    columns = [str(each) for each in getattr(data, "columns", ())]
    if isinstance(error, KeyError) and columns and str(error.args[:1] and error.args[0]) not in columns:
        return f"; the data have the columns {', '.join(map(repr, columns[:_MOST_NAMED]))}"
    if isinstance(error, AttributeError):
        meant = type(error.obj) is type(data)
    else:
        meant = isinstance(error, TypeError) and (text.startswith(f"{kind} indices") or f"'{kind}'" in text)
    if type(data) in (list, tuple, dict) and meant:
        proof = (
            "; a program of data frames is proved by `dpaudit prove --domain COLUMN=JSON`, which derives its bound for "
            "all frames over the domain, and audits those that lose most"
        )
        return (
            f"; the data are a {kind} here: a function of data frames or arrays takes two .csv, .parquet or .npy files "
            "(--pair data0.csv --pair data1.csv), or pairs=[(frame0, frame1)] in Python, or begins with "
            "pandas.DataFrame(data) or numpy.asarray(data)"
        ) + (proof if mechanism.shape is Shape.PROGRAM else "")
    if kind == "DataFrame" and isinstance(error, TypeError | ValueError):
        columns = [str(name) for name in data.columns]
        if any(sign in text for sign in ("string ind", "'str'", *map(repr, columns))):
            return (
                "; the data are a DataFrame here, and going through one yields the names of its columns: a function of "
                f"records begins with data = data.to_dict('records'), one of numbers with data = data[{columns[0]!r}]"
            )
    return ""
