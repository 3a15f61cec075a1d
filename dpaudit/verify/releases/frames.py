"""Which frames, and which neighbours of them, is a derivation compared on? Random ones, with many edge values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.decimals import decimal_of
from dpaudit.errors import UsageError
from dpaudit.neighbours import Relation
from dpaudit.neighbours.domain import Range, Values, allowed_of, by_columns
from dpaudit.program.tracked.rows import ColumnDomain

SIZES = (0, 1, 2, 3, 5, 8, 30, 99, 100, 130)
_MOST_PERSONS = 4
_MOST_ROWS, _MOST_SIZES, _MOST_MARKS = 200, 8, 6


def column_domains(domain: Any) -> dict[str, ColumnDomain]:
    """Return what each column may hold, exactly.

    Raises:
        UsageError: for a domain that is none by columns, or holds dates or other things than numbers, texts and truth.
    """
    if not by_columns(domain) or not domain:
        raise UsageError(
            "a proof from records needs a domain by columns, such as domain={'age': (0, 120), 'city': ['Bern', 'Oslo']}"
        )
    for name, given in domain.items():
        _refuse_half_a_range(given, str(name))
    return {
        str(name): _column(allowed_of(given, f"the domain of {str(name)!r}"), str(name))
        for name, given in domain.items()
    }


def _refuse_half_a_range(given: Any, name: str) -> None:
    if not isinstance(given, list | tuple) or len(given) != 2 or sum(each is None for each in given) != 1:
        return
    if any(isinstance(each, int | float) and not isinstance(each, bool) for each in given):
        raise UsageError(
            f"the domain of {name!r} has one number and a null: write [0, 1e6] for a range (a wide one where the end "
            "is not known: clip(a, b) says what counts), [[0, 1e6], null] for one in which values may be missing, or "
            '{"values": [0, null]} for the number or nothing'
        )


def _column(allowed: Range | Values, name: str) -> ColumnDomain:
    if isinstance(allowed, Range):
        ends = [allowed.low, allowed.high]
        if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
            raise UsageError(f"the domain of {name!r} has the ends {ends[0]!r} and {ends[1]!r}; give numbers")
        low, high = map(decimal_of, ends)
        return ColumnDomain(low, high, missing=allowed.missing)
    present = [value for value in allowed.values if value is not None]
    kinds = {bool if isinstance(value, bool) else str if isinstance(value, str) else float for value in present}
    if not present or len(kinds) > 1 or not all(isinstance(value, bool | str | int | float) for value in present):
        raise UsageError(
            f"the domain of {name!r} lists values that are no numbers, no texts and no truth values, or mixes them"
        )
    values = tuple(value if isinstance(value, bool | str) else decimal_of(value) for value in present)
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in present)
    return ColumnDomain(values=values, missing=len(present) < len(allowed.values), whole=whole)


class FrameMaker:
    """Makes pandas frames over a domain, and neighbours of them."""

    def __init__(
        self,
        domain: Mapping[str, ColumnDomain],
        relation: Relation,
        rng: np.random.Generator,
        marks: Sequence[Fraction] = (),
    ) -> None:
        """Look for pandas, which frames are of; ``marks`` are numbers at which something may change."""
        try:
            import pandas
        except ImportError:
            raise UsageError(
                "a proof from records compares what it reads with runs on frames, for which pandas is missing: "
                "pip install pandas"
            ) from None
        self._pandas, self._domain, self._relation, self._rng = pandas, domain, relation, rng
        self._labels = 0
        self._marks = {
            name: [float(mark) for mark in marks if known.low is not None and known.low < mark and mark < known.high]
            for name, known in domain.items()
            if known.low is not None and known.high is not None
        }
        few = sorted({int(mark) for mark in marks if mark.denominator == 1 and 0 <= mark <= _MOST_ROWS})
        self._sizes = (*SIZES, *few[:_MOST_SIZES])

    def frame(self, size: int) -> Any:
        """Return a frame of so many records, in which edge values are frequent."""
        columns = {name: self._column(name, known, size) for name, known in self._domain.items()}
        if self._relation.person is not None and size:
            columns[self._relation.person] = self._persons(size)
        labels = range(self._labels, self._labels + size)
        self._labels += size
        return self._pandas.DataFrame(columns, index=self._rng.permutation(list(labels)) if size else None)

    def _column(self, name: str, known: ColumnDomain, size: int) -> Any:
        rng = self._rng
        if known.values is None:
            assert known.low is not None and known.high is not None
            low, high = float(known.low), float(known.high)
            marks = self._marks[name]
            some = rng.choice(marks, min(len(marks), _MOST_MARKS), replace=False).tolist() if marks else []
            choices = [
                *some,
                low,
                high,
                (low + high) / 2,
                *rng.uniform(low, high, 3).tolist(),
                round(rng.uniform(low, high)),
            ]
            drawn = np.clip(rng.choice(choices, size).astype(float), low, high)
            return np.where(rng.random(size) < 0.2, np.nan, drawn) if known.missing else drawn
        values: list[Any] = [_plain(value, whole=known.whole) for value in known.values]
        if known.missing:
            values.append(None if isinstance(values[0], str | bool) else np.nan)
        drawn = [values[place] for place in rng.integers(len(values), size=size)]
        if isinstance(values[0], str) or known.missing:
            return self._pandas.Series(drawn, dtype=object if isinstance(values[0], str | bool) else float).to_numpy()
        return np.array(drawn, dtype=type(values[0]))

    def _persons(self, size: int) -> Any:
        known = self._domain[str(self._relation.person)]
        names = [_plain(value, whole=known.whole) for value in known.values or ()] or list(range(1_000))
        few = self._rng.permutation(len(names))[:_MOST_PERSONS]
        return np.array([names[few[place]] for place in self._rng.integers(len(few), size=size)])

    def pair(self) -> tuple[Any, Any]:
        """Return a frame and a neighbour of it."""
        size = int(self._rng.choice(self._sizes))
        return self.neighbours(self.frame(size + 1 if self._relation.person is None else max(size, 1)))

    def neighbours(self, whole: Any) -> tuple[Any, Any]:
        """Return a frame of one record at least and a neighbour of it, in either order."""
        if self._relation.person is not None:
            names = whole[self._relation.person]
            gone = names.iloc[int(self._rng.integers(len(whole)))]
            pair = whole[names != gone], whole
            if self._relation.kind == "replace":
                others = self.frame(int(self._rng.integers(1, 8)))
                others[self._relation.person] = gone
                return self._pandas.concat([pair[0], others]), whole
            return pair if self._rng.random() < 0.5 else pair[::-1]
        place = int(self._rng.integers(len(whole)))
        if self._relation.kind == "add-remove":
            pair = whole.drop(whole.index[place]), whole
            return pair if self._rng.random() < 0.5 else pair[::-1]
        other, new = whole.copy(), self.frame(1)
        for at in range(whole.shape[1]):
            other.iat[place, at] = new.iat[0, at]
        return whole, other


def _plain(value: Any, *, whole: bool) -> Any:
    if isinstance(value, Fraction):
        return int(value) if whole else float(value)
    return value
