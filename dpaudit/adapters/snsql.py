"""What does a query of SmartNoise SQL promise? Its reader states what the query costs.

A reader is created once for each side, because that takes longer than a query. The claim is what
``PrivateReader.get_privacy_cost`` states for the query: the ε of every column that gets noise, and the δ of the
threshold that decides which groups are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.targets.mechanism import Mechanism, approximate, required, wrapped

_SIDES = 2


def mechanism_of(
    query: str,
    *,
    metadata: Mapping[str, Any] | str,
    epsilon: float,
    delta: float = 0.0,
    prepare: Callable[[Any], Any] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str = "add-remove",
    name: str = "query",
) -> Mechanism:
    """Return the mechanism of an SQL query on a data frame."""
    library, release = required("snsql")

    def reader_of(frame: Any) -> Any:
        reader = library.from_df(frame, privacy=library.Privacy(epsilon=epsilon, delta=delta), metadata=metadata)
        if prepare is not None:
            prepare(reader)
        return reader

    readers: dict[int, tuple[Any, Any]] = {}  # with its frame, so that its id is not reused

    def execute(data: Any) -> Any:
        if id(data) not in readers:
            if len(readers) == _SIDES:
                readers.clear()
            readers[id(data)] = (data, reader_of(data))
        return [tuple(row) for row in readers[id(data)][1].execute(query)[1:]]

    try:
        cost = reader_of(_nothing()).get_privacy_cost(query)
    except Exception as error:
        raise UsageError(f"SmartNoise SQL refuses the query {query!r}: {type(error).__name__}: {error}") from error
    return wrapped(
        "snsql",
        execute,
        name=name,
        shown=f"{query}; epsilon={epsilon:g} and delta={delta:g} a column",
        release=release,
        claim=approximate(*map(float, cost)),
        relation=relation,
        unit="all rows of one person" if "group" in relation or "person" in relation else "one row",
        pairs=pairs,
        made_of=(repr(metadata), *(() if prepare is None else (prepare,))),
        more=_versions(),
    )


def _nothing() -> Any:
    """A frame without rows or columns that are used: the cost of a query does not depend on the data."""
    import pandas as pd

    return pd.DataFrame({"none": [0]})


def _versions() -> dict[str, str]:
    """The version of the library that draws the noise; SmartNoise SQL pins its own, which may be older."""
    from importlib.metadata import version

    return {"opendp": version("opendp")}
