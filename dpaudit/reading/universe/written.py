"""What is a table of private numbers in which columns were replaced by released ones? Each of its columns, by name."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.released import Token, parts_are_copies
from dpaudit.reading.universe.state import Private, current, refuse
from dpaudit.reading.universe.values import PUBLIC, sort_of


class Written(Private):
    """A table of private numbers, whatever it is called by, since something was assigned to a column of it."""

    __slots__ = ("released", "table")
    noun = "table of which some columns are released"
    to_release = "table[NAME] = table[NAME] + laplace(…, size=len(table)) of each column"

    def __init__(self, table: Number) -> None:
        if not parts_are_copies() or current().scope != (0,):
            refuse("an assignment to a column of private numbers here", "noisy = table[NAME] + laplace(…, size=…)")
        self.table, self.released = table, dict[str, Token]()

    def store(self, key: Any, value: Any) -> Any:
        """``table[name] = value``; return what it is then."""
        shape, labels = self.table.shape[:1], self.table.labels
        is_one = isinstance(value, Token) and (value.is_number or (value.is_array and value.shape == shape))
        is_series = isinstance(value, Token) and value.kinds == frozenset(("series",)) and value.shape == shape
        if is_series and (value.labels is None or not value.labels.equals(labels)):
            is_series = False
        is_public = sort_of(value) == PUBLIC and isinstance(value, int | float | str)
        if type(key) is not str or not (is_one or is_series or is_public):
            refuse("an assignment into a table of private numbers of what is no noisy column of it", self.to_release)
        self.released[key] = Token(shape, frozenset(("series",)), labels)
        names = [*self.table.columns, *(each for each in self.released if each not in self.table.columns)]
        if set(self.released) < set(names):
            return self
        return Token((*shape, len(names)), frozenset(("frame",)), labels, pd.Index(names))

    def select(self, key: Any) -> Any:
        """``table[name]``."""
        return self.released[key] if isinstance(key, str) and key in self.released else self.table.at(key)

    def get(self, name: str) -> Any:
        """``table.index``."""
        return self.table.labels if name == "index" else refuse(f".{name} of a {self.noun}", self.to_release)
