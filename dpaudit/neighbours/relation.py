"""Which datasets are neighbours, and are these two?

A wrong pair is the commonest cause of a false alarm, so every given pair is checked against its relation.
A dataset is a sequence of records (list, tuple, array, data frame) or a mapping whose items are the
records; under ``replace`` a single value counts as a dataset of one record (the local model). Records are
compared as multisets, so their order is no difference; nor is the order of the keys of a record that is a
mapping. A group of k stands for a chain of k neighbouring steps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.digest import digest

FORMS = (
    "'add-remove', 'replace', 'queries', 'queries(one)', 'queries(monotone)', 'queries(norm=1)', "
    "'queries(norm=2)' or 'declared', each with a group size where wanted: 'add-remove(group=5)'"
)
_MOVEMENTS = {
    "add-remove": ("all",),
    "replace": ("all",),
    "queries": ("all", "one", "monotone", "norm=1", "norm=2"),
    "declared": ("all",),
}
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

    def __post_init__(self) -> None:
        if self.movement not in _MOVEMENTS.get(self.kind, ()):
            raise UsageError(f"no relation {self.kind!r} with the movement {self.movement!r}; write {FORMS}")
        if isinstance(self.group, bool) or not isinstance(self.group, int) or self.group < 1:
            raise UsageError(f"a group is a whole number of steps, 1 or more, not {self.group!r}")

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

    def accepts(self, data0: Any, data1: Any) -> bool:
        """Whether `check` lets the two datasets pass."""
        try:
            self.check(data0, data1)
        except UsageError:
            return False
        return True

    def _refuse(self, why: str) -> UsageError:
        return UsageError(
            f"the pair is not neighbouring under {str(self)!r}: {why}; give a pair that is, "
            "another relation, or relation='declared' if you vouch for it"
        )

    def _check_answers(self, data0: Any, data1: Any) -> None:
        answers0, answers1 = self._answers(data0), self._answers(data1)
        if answers0.shape != answers1.shape:
            raise self._refuse(f"the answers have the shapes {answers0.shape} and {answers1.shape}")
        with np.errstate(over="ignore"):
            moved = (answers1 - answers0).ravel()
        if not np.any(moved):
            raise self._refuse("both sides are the same")
        up, down = float(np.max(moved, initial=0.0)), float(np.max(-moved, initial=0.0))
        if max(up, down) > self.group + _SLACK:
            raise self._refuse(f"an answer moves by {max(up, down):.6g}, at most {self.group} is allowed")
        if self.movement == "one":
            steps = int(np.sum(_steps(moved)))
            if steps > self.group:
                raise self._refuse(
                    f"{np.count_nonzero(moved)} answers move, which takes {steps} steps of one answer by 1, "
                    f"at most {self.group} may"
                )
        elif self.movement == "monotone" and _steps(up) + _steps(down) > self.group:
            raise self._refuse(f"some answers go up and some go down, by {up:.6g} and {down:.6g}")
        elif self.movement.startswith("norm="):
            order = int(self.movement[-1])
            length = float(np.linalg.norm(moved, ord=order))
            if length > self.group + _SLACK:
                raise self._refuse(f"the answers move by {length:.6g} in the norm {order}, at most {self.group}")

    def _answers(self, data: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        try:
            given = np.asarray(data)
            if given.dtype.kind not in "biufO":
                raise TypeError
            answers = given.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
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
                raise self._refuse(f"records removed: {removed}, added: {added}, allowed in all: {self.group}")
        elif removed != added:
            raise self._refuse(f"the sides have {records0.total()} and {records1.total()} records")
        elif removed > self.group:
            raise self._refuse(f"{removed} records differ, at most {self.group} may")

    def _records(self, data: Any) -> Counter[str]:
        records = _listed(data)
        if records is None:
            if self.kind != "replace":
                raise self._refuse(f"{data!r:.60} is no list, array, frame or mapping of records")
            records = [data]
        return Counter(map(_record_digest, records))


def _steps(moved: Any) -> Any:
    """How many steps of at most 1 a movement takes."""
    return np.ceil(np.abs(moved) - _SLACK)


def _listed(data: Any) -> Iterable[Any] | None:
    """Return the records of a dataset, or None where it is a single value."""
    if isinstance(data, Mapping):
        return list(data.items())
    if hasattr(data, "itertuples"):
        return list(data.itertuples(index=False, name=None))
    if hasattr(data, "iter_rows"):
        return list(data.iter_rows())
    if hasattr(data, "to_numpy"):
        data = data.to_numpy()
    if isinstance(data, np.ndarray):
        return data if data.ndim > 0 else None
    if isinstance(data, Sequence | Set) and not isinstance(data, str | bytes | bytearray | memoryview):
        return data
    return None


def _record_digest(record: Any) -> str:
    if isinstance(record, Mapping):
        record = sorted((digest(key), digest(value)) for key, value in record.items())
    return digest(record)


def parse_relation(text: str | Relation) -> Relation:
    """Read a relation from its text; the inverse of ``str``. Raises `UsageError` with the possible forms."""
    if isinstance(text, Relation):
        return text
    match = re.fullmatch(r"\s*([a-z-]+)\s*(?:\(([^()]*)\))?\s*", str(text))
    if match is None or match[1] not in _MOVEMENTS:
        raise UsageError(f"no relation {text!r}; write {FORMS}")
    kind, given = match[1], {}
    for option in filter(None, (part.strip().replace(" ", "") for part in (match[2] or "").split(","))):
        if option in _MOVEMENTS[kind]:
            name, value = "movement", option
        elif re.fullmatch(r"group=[1-9][0-9]{0,8}", option):
            name, value = "group", option.removeprefix("group=")
        else:
            raise UsageError(f"no option {option!r} in the relation {text!r}; write {FORMS}")
        if name in given:
            raise UsageError(f"the relation {text!r} gives its {name} twice; write {FORMS}")
        given[name] = value
    return Relation(kind, given.get("movement", "all"), int(given.get("group", "1")))
