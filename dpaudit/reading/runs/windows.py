"""What do rolling windows over a series give whose values differ by run? pandas' own sums, of all runs at once."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.runs.applied import apply, opened
from dpaudit.reading.runs.values import Array, Container, Numbers, Windows, differs, raw

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

_METHODS = ("mean", "sum", "min", "max", "median", "var", "std", "count")
_PLAIN = {"window", "min_periods", "center"}


def asked(domain: Active, value: Numbers, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``.rolling()`` by name; what pandas refuses is raised."""
    import pandas as pd

    plain = tuple(map(raw, args)), {key: raw(each) for key, each in keywords.items()}
    try:
        how = inspect.signature(pd.Series.rolling).bind(None, *plain[0], **plain[1]).arguments
        del how["self"]
        pd.Series(value.array[0], index=value.labels).rolling(**how)
    except Exception as error:
        domain.leave(error)
        raise
    return dict(how)


def method(domain: Active, value: Windows, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a method of windows."""
    import pandas as pd

    series, how = domain.present(opened(value.owner)), value.how
    dense = type(series) is Numbers and series.array.ndim == 2 and series.array.dtype.kind in "fiu"
    if name in _METHODS and not args and not keywords and how.keys() <= _PLAIN and type(how.get("window")) is int:
        if dense and series.array.shape[1]:
            return Container(series.like(_rolled(series.array, how, name)))
    elif differs((args, tuple(keywords.values()))) or any(map(callable, (*args, *keywords.values()))):
        domain.give_up(f".{name}() of windows with what differs by run, or a function")
    if effect_of(None, pd.Series(dtype=float).rolling(1), name) is not Effect.PURE:
        domain.give_up(f".{name}() of windows")
    return apply(domain, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (value, *args), keywords)


def _rolled(array: Array, how: dict[str, Any], name: str) -> Array:
    """What windows give, (runs, n): all runs lie behind each other in one series, and no window reaches over."""
    import pandas as pd

    runs, size = array.shape
    least = how.get("min_periods")
    bounds = _bounds()(size=size, window=how["window"], center=bool(how.get("center")))
    rolled = pd.Series(array.reshape(-1)).rolling(bounds, min_periods=how["window"] if least is None else least)
    found: Array = getattr(rolled, name)().to_numpy().reshape(runs, size)
    return found


@functools.cache
def _bounds() -> Any:
    """The windows within parts of equal size (``pandas.api.indexers.BaseIndexer``)."""
    from pandas.api.indexers import BaseIndexer

    class Bounds(BaseIndexer):  # type: ignore[misc]  # pandas has no stubs here
        def get_window_bounds(
            self,
            num_values: int = 0,
            min_periods: Any = None,
            center: Any = None,
            closed: Any = None,
            step: Any = None,
        ) -> tuple[Array, Array]:
            place = np.arange(self.size)
            past = place + 1 + ((self.window - 1) // 2 if self.center else 0)
            first, last = np.clip(past - self.window, 0, self.size), np.clip(past, 0, self.size)
            parts = np.arange(0, num_values, self.size)[:, None]
            return (parts + first).reshape(-1), (parts + last).reshape(-1)

    return Bounds
