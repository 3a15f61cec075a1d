"""Which datasets are neighbours, and are these two?

A wrong pair is the commonest cause of a false alarm, so every given pair is checked against its relation.
A dataset is a sequence of records (list, tuple, array, data frame) or a mapping whose items are the
records; under ``replace`` a single value counts as a dataset of one record (the local model). Records are
compared as multisets, so their order is no difference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.digest import digest

FORMS = (
    "'add-remove', 'replace', 'queries', 'queries(one)', 'queries(monotone)', 'queries(norm=1)', "
    "'queries(norm=2)' or 'declared', each with a group size where wanted: 'add-remove(group=5)'"
)
_SLACK = 1e-9  # room for the rounding of differences between real answers


@dataclass(frozen=True, slots=True)
class Relation:
    """Which datasets are neighbours.

    Attributes:
        kind: "add-remove", "replace", "queries" or "declared".
        movement: how answers move, for queries: "all", "one", "monotone", "norm=1" or "norm=2".
        group: how many neighbouring steps lie between the two datasets at most.
    """

    kind: str
    movement: str = "all"
    group: int = 1

    def __str__(self) -> str:
        options = [] if self.movement == "all" else [self.movement]
        options += [] if self.group == 1 else [f"group={self.group}"]
        return self.kind + (f"({', '.join(options)})" if options else "")

    def check(self, data0: Any, data1: Any) -> None:
        """Raise `UsageError` unless the two datasets are neighbours (a declared pair is taken on trust)."""
        if self.kind == "declared":
            return
        if self.kind == "queries":
            self._check_answers(data0, data1)
        else:
            self._check_records(data0, data1)

    def _refuse(self, why: str) -> UsageError:
        return UsageError(
            f"the pair is not neighbouring under {str(self)!r}: {why}; give a pair that is, "
            "another relation, or relation='declared' if you vouch for it"
        )

    def _check_answers(self, data0: Any, data1: Any) -> None:
        answers0, answers1 = self._answers(data0), self._answers(data1)
        if answers0.shape != answers1.shape:
            raise self._refuse(f"the answers have {answers0.size} and {answers1.size} entries")
        moved = answers1 - answers0
        largest = float(np.max(np.abs(moved), initial=0.0))
        if not np.any(moved):
            raise self._refuse("both sides are the same")
        limit = self.group + _SLACK
        if self.movement == "one" and np.count_nonzero(moved) > self.group:
            raise self._refuse(f"{np.count_nonzero(moved)} answers move, at most {self.group} may")
        if self.movement == "monotone" and np.any(moved > 0) and np.any(moved < 0):
            raise self._refuse("some answers go up and some go down")
        if self.movement.startswith("norm="):
            order = int(self.movement[-1])
            length = float(np.linalg.norm(moved, ord=order))
            if length > limit:
                raise self._refuse(f"the answers move by {length:.6g} in the norm {order}, at most {self.group}")
        elif largest > limit:
            raise self._refuse(f"an answer moves by {largest:.6g}, at most {self.group} is allowed")

    def _answers(self, data: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        try:
            answers = np.asarray(data, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise self._refuse(f"{data!r:.60} is no number and no list of numbers") from None
        if not np.all(np.isfinite(answers)):
            raise self._refuse("an answer is not finite")
        return answers

    def _check_records(self, data0: Any, data1: Any) -> None:
        records0, records1 = self._records(data0), self._records(data1)
        gone, come = records0 - records1, records1 - records0
        removed, added = gone.total(), come.total()
        if not removed and not added:
            raise self._refuse("both sides hold the same records")
        if self.kind == "add-remove":
            if removed + added > self.group:
                raise self._refuse(f"{removed} records are removed and {added} added, {self.group} in all is allowed")
        elif removed != added:
            raise self._refuse(f"the sides have {records0.total()} and {records1.total()} records")
        elif removed > self.group:
            raise self._refuse(f"{removed} records differ, at most {self.group} may")

    def _records(self, data: Any) -> Counter[str]:
        if isinstance(data, Mapping):
            return Counter(digest(item) for item in data.items())
        if hasattr(data, "itertuples"):
            return Counter(digest(row) for row in data.itertuples(index=False, name=None))
        if isinstance(data, np.ndarray) and data.ndim > 0:
            return Counter(digest(row) for row in data)
        if isinstance(data, Sequence) and not isinstance(data, str | bytes):
            return Counter(digest(record) for record in data)
        if isinstance(data, set | frozenset):
            return Counter(digest(record) for record in data)
        if self.kind == "replace":
            return Counter([digest(data)])
        raise self._refuse(f"{data!r:.60} is no list, array, frame or mapping of records")


def parse_relation(text: str | Relation) -> Relation:
    """Read a relation from its text; the inverse of ``str``. Raises `UsageError` with the possible forms."""
    if isinstance(text, Relation):
        return text
    match = re.fullmatch(r"\s*([a-z-]+)\s*(?:\(([^()]*)\))?\s*", str(text))
    if match is None or match[1] not in {"add-remove", "replace", "queries", "declared"}:
        raise UsageError(f"no relation {text!r}; write {FORMS}")
    kind, movement, group = match[1], "all", 1
    for option in filter(None, (part.strip().replace(" ", "") for part in (match[2] or "").split(","))):
        if kind == "queries" and option in {"all", "one", "monotone", "norm=1", "norm=2"}:
            movement = option
        elif re.fullmatch(r"group=[1-9][0-9]*", option):
            group = int(option.removeprefix("group="))
        else:
            raise UsageError(f"no option {option!r} in the relation {text!r}; write {FORMS}")
    return Relation(kind, movement, group)
