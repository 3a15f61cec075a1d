"""Which datasets are neighbours, and are these two?

A wrong pair is the most common cause of a false alarm, so every given pair is checked against its relation. A dataset
is a sequence of records (list, tuple, array, data frame) or a mapping whose items are the records; under ``replace`` a
single value counts as a dataset of one record (the local model). Who leaves, joins or is replaced moves nobody else:
the records that both sides have stand in the same order, as in a table from which rows are taken (OpenDP's
"insert-delete distance"). Sets and mappings have no order, and a record that is a mapping has none of its keys. A group
of k is a chain of k neighbouring steps.

If a column names the person, a step is a person instead of a record: ``add-remove`` then removes or adds all records of
one person, and ``replace`` replaces them by other records. A record in which the name is missing is a person of its
own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.candidates.edge_values import form_of, new_texts
from dpaudit.neighbours.dataset import Dataset, Sort, is_missing
from dpaudit.neighbours.digest import Difference, difference, in_order, listed
from dpaudit.neighbours.domain import Allowed

FORMS = (
    "'add-remove', 'replace', 'queries', 'queries(one)', 'queries(monotone)', 'queries(norm=1)', "
    "'queries(norm=2)' or 'declared', each with a group size where wanted: 'add-remove(group=5)'; "
    "'add-remove' and 'replace' with the column that names the person, where one gives several records: "
    "'replace(person=user_id)'"
)
_MOVEMENTS = {
    "add-remove": ("all",),
    "replace": ("all",),
    "queries": ("all", "one", "monotone", "norm=1", "norm=2"),
    "declared": ("all",),
}
_ALSO_CALLED = {"replace-one": "replace"}  # as accountants say
_NAME = r"(?!\s)[^(),\r\n]+(?<!\s)"  # of a column of persons, so that the text of a relation reads back
_SLACK = 1e-9  # tolerance for rounding of differences between real answers


@dataclass(frozen=True, slots=True)
class Relation:
    """Which datasets are neighbours.

    Attributes:
        kind: "add-remove", "replace", "queries" or "declared".
        movement: how answers move, for queries: "all", "one", "monotone", "norm=1" or "norm=2".
        group: the largest number of neighbouring steps between the two datasets.
        person: the column that names the person, if neighbours differ in one person; None if in one record.
    """

    kind: str
    movement: str = "all"
    group: int = 1
    person: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _ALSO_CALLED.get(self.kind, self.kind))
        if self.movement not in _MOVEMENTS.get(self.kind, ()):
            raise UsageError(f"no relation {self.kind!r} with the movement {self.movement!r}; write {FORMS}")
        if isinstance(self.group, bool) or not isinstance(self.group, int) or self.group < 1:
            raise UsageError(f"a group is a whole number of steps, 1 or more, not {self.group!r}")
        if self.person is None:
            return
        if self.kind not in ("add-remove", "replace"):
            raise UsageError(f"the relation {self.kind!r} knows no records, and so no person; write {FORMS}")
        if not isinstance(self.person, str) or not re.fullmatch(_NAME, self.person):
            raise UsageError(
                f"no column of persons {self.person!r}: a name without commas, parentheses and outer spaces; "
                "rename the column"
            )

    def __str__(self) -> str:
        options = [] if self.movement == "all" else [self.movement]
        options += [] if self.person is None else [f"person={self.person}"]
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
        """Whether `check` accepts the two datasets."""
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
        apart = difference(data0, data1)
        if apart is None:
            apart = self._single(data0, data1)
        if not apart.gone and not apart.come:
            raise self._refuse("both sides hold the same records")
        if self.person is not None:
            self._check_people(data0, data1, apart)
            return
        removed, added = len(apart.gone), len(apart.come)
        if self.kind == "add-remove":
            if removed + added > self.group:
                raise self._refuse(f"records removed: {removed}, added: {added}, allowed in all: {self.group}")
        elif removed != added:
            raise self._refuse(f"the sides have {apart.sizes[0]} and {apart.sizes[1]} records")
        elif removed > self.group:
            raise self._refuse(f"{removed} records differ, at most {self.group} may")
        kept = [list(inner.values()) for inner in apart.inner]
        self._check_order((data0, data1), apart, kept, self.group * (1 if self.kind == "add-remove" else 2))

    def _check_order(self, sides: tuple[Any, Any], apart: Difference, kept: Sequence[Sequence[str]], most: int) -> None:
        """Check that what stays of each side, but for at most so many records, stands in the same order in both."""
        if any(isinstance(data, Mapping | Set) for data in sides) or apart.keeps_order:
            return
        if not in_order(kept[0], kept[1], most):
            raise self._refuse("the records that both sides have stand in another order")

    def _single(self, data0: Any, data1: Any) -> Difference:
        """The difference of single values; each is a dataset of one record, under ``replace`` alone."""
        for data in (data0, data1):
            if listed(data) is None and (self.kind != "replace" or self.person is not None):
                raise self._refuse(f"{data!r:.60} is no list, array, frame or mapping of records")
        # a single value compared with a dataset of records is one record
        records0, records1 = ([data] if (members := listed(data)) is None else list(members) for data in (data0, data1))
        apart = difference(records0, records1)
        assert apart is not None
        return apart

    def _check_people(self, data0: Any, data1: Any, apart: Difference) -> None:
        names0, names1 = self._names(data0), self._names(data1)
        gone, come = [names0[place] for place in apart.gone], [names1[place] for place in apart.come]
        why = self._people_apart(set(names0), set(names1), gone, come)
        if why:
            raise self._refuse(why)
        changed = {*gone, *come} - {None}
        kept = [
            [record for place, record in inner.items() if names[place] not in changed]
            for inner, names in zip(apart.inner, (names0, names1), strict=True)
        ]
        self._check_order((data0, data1), apart, kept, [*gone, *come].count(None))

    def accepts_people(self, common: Sequence[Any], gone: Sequence[Any], come: Sequence[Any]) -> bool:
        """Whether `check` accepts two datasets by whose records they have: in common, and on one side alone."""
        named = [[_typed(name) for name in names] for names in (common, gone, come)]
        return not self._people_apart({*named[0], *named[1]}, {*named[0], *named[2]}, named[1], named[2])

    def _people_apart(self, all0: set[Any], all1: set[Any], gone: list[Any], come: list[Any]) -> str:
        """Count the people who are on only one side, and those whose records differ; say why they are too many."""
        touched0, touched1 = set(gone) - {None}, set(come) - {None}
        removed, added = len(touched0 - all1) + gone.count(None), len(touched1 - all0) + come.count(None)
        changed = len((touched0 | touched1) & all0 & all1)
        if self.kind == "add-remove":
            # a person whose records change is removed with the old ones and added with the new ones
            if removed + added + 2 * changed > self.group:
                more = f", with other records: {changed} (two steps each)" if changed else ""
                return f"people removed: {removed}, added: {added}{more}, allowed in all: {self.group}"
        elif removed != added:
            return f"{removed} people are in the first dataset alone, and {added} in the second"
        elif removed + changed > self.group:
            return f"the records of {removed + changed} people differ, at most {self.group} may"
        return ""

    def _names(self, data: Any) -> list[Any]:
        """Return the person of each record; None for a record without a name."""
        names = _column(data, str(self.person))
        if names is None:
            raise self._refuse(f"the data have no column {self.person!r}")
        try:
            typed = [name if type(name) in (int, str) else _typed(name) for name in names]
            hash(tuple(typed))
        except TypeError:
            raise self._refuse(f"a name in the column {self.person!r} is no number or text") from None
        return typed


def _typed(name: Any) -> tuple[type, Any] | None:
    """A name with its type, so that 1 and True are two people; None for a missing one."""
    return None if is_missing(name) else (type(name), name)


def _steps(moved: Any) -> Any:
    """How many steps of at most 1 a movement takes."""
    return np.ceil(np.abs(moved) - _SLACK)


def _column(data: Any, name: str) -> Iterable[Any] | None:
    """Return the values of a column, record by record, as Python values; None if there is no such column."""
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        place = next((number for number, known in enumerate(data.columns) if str(known) == name), None)
        if place is None:
            return None
        column = data.iloc[:, place] if hasattr(data, "iloc") else data.get_columns()[place]
        return list(column.to_list())
    if isinstance(data, np.ndarray) and data.dtype.names is not None:
        return list(data[name].tolist()) if name in data.dtype.names else None
    records = listed(data)
    values = []
    for record in data.values() if isinstance(data, Mapping) else () if records is None else records:
        key = _key(record, name)
        if key is None:
            return None
        value = record[key[0]]
        values.append(value.item() if isinstance(value, np.generic) else value)
    return values


def _key(record: Any, name: str) -> tuple[Any] | None:
    """The key, or the index, of a column in a record; in a tuple, because a key may be None."""
    if isinstance(record, Mapping):
        return (name,) if name in record else next(((key,) for key in record if str(key) == name), None)
    if isinstance(record, Sequence | np.ndarray) and not isinstance(record, str | bytes) and name.isdecimal():
        return (int(name),) if int(name) < len(record) else None
    return None


def parse_relation(text: str | Relation) -> Relation:
    """Read a relation from its text; the inverse of ``str``. Raises `UsageError` with the possible forms."""
    if isinstance(text, Relation):
        return text
    match = re.fullmatch(r"\s*([a-z-]+)\s*(?:\(([^()]*)\))?\s*", str(text))
    kind = None if match is None else _ALSO_CALLED.get(match[1], match[1])
    if match is None or kind not in _MOVEMENTS:
        raise UsageError(f"no relation {text!r}; write {FORMS}")
    given: dict[str, str] = {}
    for part in filter(None, map(str.strip, (match[2] or "").split(","))):
        option = part.replace(" ", "")
        named = re.fullmatch(r"person\s*=\s*(.+)", part)
        if option in _MOVEMENTS[kind]:
            name, value = "movement", option
        elif re.fullmatch(r"group=[1-9][0-9]{0,8}", option):
            name, value = "group", option.removeprefix("group=")
        elif named and kind in ("add-remove", "replace"):
            name, value = "person", named[1]
        else:
            said = (
                "plain 'queries' is that: no answer moves by more than 1" if option == "norm=inf" else f"write {FORMS}"
            )
            raise UsageError(f"no option {option!r} in the relation {text!r}; {said}")
        if name in given:
            raise UsageError(f"the relation {text!r} gives its {name} twice; write {FORMS}")
        given[name] = value
    return Relation(kind, given.get("movement", "all"), int(given.get("group", "1")), given.get("person"))


# --- In which records do the two datasets of a pair differ, in one line for people? ---

_LONGEST = 200  # characters of a record
_MOST = 3  # records that are written out


def change_in_words(pair: tuple[Any, Any], relation: Relation, *, valued: bool) -> str:
    """Return the two datasets of a pair in one line: "the same table, and one more person {age: 37}"."""
    apart = difference(*pair)
    if apart is None:
        return ""
    unit = "record" if relation.person is None else "person"
    what = _kind(pair[0])
    gone, come = (
        [_record(pair[side], place) for place in places[:_MOST]] for side, places in enumerate((apart.gone, apart.come))
    )
    left, joined = _who_differs(unit, len(apart.gone), gone, valued), _who_differs(unit, len(apart.come), come, valued)
    if not apart.gone and not apart.come:
        return f"the same {what} in another order"
    size = f" of {apart.sizes[0]:,} records" if what == "table" else ""
    none, alone = "an empty table" if what == "table" else "no records", not len(apart.common[0])
    same = none if alone else "a table of one record" if size and apart.sizes[0] == 1 else f"the same {what}{size}"
    if not apart.gone:
        more = "one more " if unit == "person" or len(apart.come) == 1 else "more: "
        return f"{same}, and {more}{joined}"
    one = left if valued or (unit == "record" and len(apart.gone) > 1) else f"one {left}"
    if not apart.come:
        return f"{one} alone, and {none}" if alone else f"{same}, and without {one}"
    single = unit == "person" or len(apart.gone) == len(apart.come) == 1
    other = joined if valued else f"another {unit}" if single else f"other {joined}"
    if alone:
        return f"{one} alone, and {other} in {'its' if single else 'their'} place"
    return f"{same}, and with {one} replaced by {other if valued else 'another' if single else 'others'}"


def _who_differs(unit: str, count: int, records: list[str], valued: bool) -> str:
    """Say who differs: a record, or a person with records."""
    many = f"{unit}{'s' if count != 1 else ''}" if unit == "record" else "person"
    number = f" with {count:,} records" if unit == "person" and count > 1 else ""
    number = f"{count:,} " + many if unit == "record" and count > 1 else many + number
    return f"{number} {', '.join(records)}{', …' if count > len(records) else ''}" if valued and records else number


def _kind(data: Any) -> str:
    return "table" if hasattr(data, "columns") else "data"


def _record(data: Any, place: int) -> str:
    """Return a record in braces, with the names of its columns."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        row = dict(zip(map(str, data.columns), data.iloc[place].tolist(), strict=True))
        return _fields(row)
    records = listed(data)
    record = None if records is None else records[place]
    return _fields(record) if isinstance(record, Mapping) else _value_text(record)


def _fields(record: Mapping[Any, Any]) -> str:
    text = ", ".join(f"{name}: {_value_text(value)}" for name, value in record.items())
    return "{" + (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") + "}"


def _value_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)[:60]
    if value != value:
        return "NaN"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


# --- Under which relation are pairs neighbours, if none is stated? One step of a relation, or a refusal. ---
#
# A pair that is not a pair of neighbours makes a correct mechanism look broken, so pairs are checked even if no
# relation is stated. Datasets that differ in one record are neighbours under ``add-remove`` or ``replace``, and numbers
# that are at most 1 apart under ``queries``. Anything else has to be stated; nothing is ever assumed to be "declared".

_ONE_STEP = (Relation("add-remove"), Relation("replace"))
_SAY = "say which datasets are neighbours (relation=…, or --relation on the command line)"
_FURTHER = (
    f"{_SAY}: 'add-remove(group=K)' or 'replace(group=K)' for K records, 'add-remove(person=COLUMN)' for all records "
    "of a person, 'queries' for lists of answers that move by at most 1 each, or 'declared' if you vouch for the pair"
)


def inferred(pairs: Sequence[tuple[Any, Any]]) -> Relation:
    """Return the relation under which each of these pairs is one step.

    Raises:
        UsageError: if a pair is not a single step, or if pairs are steps of several kinds.
    """
    relations = list(dict.fromkeys(_of(data0, data1) for data0, data1 in pairs))
    if len(relations) > 1:
        kinds = " and ".join(f"{str(relation)!r}" for relation in relations)
        raise UsageError(f"no relation is stated, and the pairs are neighbours under {kinds}; {_SAY}, for all of them")
    return relations[0]


def as_pairs(given: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return pairs of datasets as tuples; raises `UsageError` for anything that is not a pair."""
    for pair in given:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise UsageError(f"a pair is two datasets, (data0, data1), not {pair!r:.80}")
    return [(pair[0], pair[1]) for pair in given]


def neighbouring(said: str | Relation | None) -> Callable[[tuple[Any, Any]], bool]:
    """Return a function that checks a pair under the stated relation, or without one as a single step."""
    if said is None:
        return _is_one_step
    relation = parse_relation(said)
    return lambda pair: relation.accepts(*pair)


def _is_one_step(pair: tuple[Any, Any]) -> bool:
    try:
        _of(*pair)
    except UsageError:
        return False
    return True


def _of(data0: Any, data1: Any) -> Relation:
    number0, number1 = _number_or_none(data0), _number_or_none(data1)
    if number0 is not None and number1 is not None:
        # a number is an answer, or a person's value: within 1, both readings make two numbers neighbours
        apart = abs(number0 - number1)
        if 0 < apart <= 1:
            return Relation("queries")
        if apart == 0:
            raise UsageError("both sides of a pair are the same number; give a pair of neighbours")
        raise UsageError(
            f"no relation is stated, and the numbers {number0:g} and {number1:g} lie {apart:g} apart; {_SAY}: "
            "'replace' where a number is one person's value (the local model), 'queries(group=K)' where it is an "
            "answer that K steps move, or 'declared' if you vouch for the pair"
        )
    if isinstance(data0, bool | np.bool_) and isinstance(data1, bool | np.bool_) and data0 != data1:
        return Relation("replace")
    if listed(data0) is None or listed(data1) is None:
        what = data0 if listed(data0) is None else data1
        raise UsageError(
            f"no relation is stated, and {what!r:.60} is no list, array, frame or mapping of records; {_SAY}: "
            "'replace' for the local model, where a value is one person's, or 'declared' if you vouch for the pair"
        )
    for relation in _ONE_STEP:
        if relation.accepts(data0, data1):
            return relation
    raise UsageError(
        f"no relation is stated, and the pair is no single step: {_difference_text(data0, data1)}; {_FURTHER}"
    )


def _number_or_none(value: Any) -> float | None:
    """A plain number; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _difference_text(data0: Any, data1: Any) -> str:
    apart = difference(data0, data1)
    if apart is None:
        return "records of the two cannot be compared"
    if not apart.gone and not apart.come:
        return "both sides hold the same records"
    order = "" if apart.keeps_order else ", and others stand in another order"
    return f"{len(apart.gone)} records are in the first dataset alone, and {len(apart.come)} in the second{order}"


# --- Which records belong to the same person? Each record is a person's only one, unless a column names the person. ---

Places = tuple[int, ...]
_NAMES = 100  # new names found at once
_SHOWN = 5  # largest number of records that a description lists


class People:
    """The people of a dataset, and names for additional ones.

    Attributes:
        column: the number of the column that names them; None if each record is one person.
        usable: (size,) which records may be changed; a person may be changed if all of their records may.
    """

    def __init__(self, dataset: Dataset, column: int | None, usable: np.ndarray[Any, Any]) -> None:
        self.column, self.usable, self._dataset = column, usable, dataset
        if column is None:
            return
        self._codes, self._names = _coded(dataset, column)
        self._order = np.argsort(self._codes, kind="stable")
        self._counts = np.bincount(self._codes)
        self._starts = np.cumsum(self._counts) - self._counts
        spoilt = np.zeros(len(self._counts), dtype=bool)
        spoilt[self._codes[~usable]] = True
        self.usable = ~spoilt[self._codes]
        self._new: list[Any] = []

    def of(self, place: int) -> Places:
        """Return the places of all records of the person at a place."""
        if self.column is None:
            return (place,)
        start, count = (int(known[self._codes[place]]) for known in (self._starts, self._counts))
        return tuple(self._order[start : start + count].tolist())

    def named(self, place: int) -> bool:
        """Whether a record names its person; a record without a name is a person of its own."""
        return self.column is not None and int(self._codes[place]) < len(self._names)

    def words(self, people: Sequence[Places]) -> str:
        """Describe people, or records, by their places, without any value of the data."""
        names = [f"record {own[0]}" if self.column is None else f"the person of record {own[0]}" for own in people]
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} more"]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    def together(self, places: Sequence[int], steps: int) -> list[Places]:
        """Return as many people as a group has: those at the places, and then those who follow the first."""
        size = self._dataset.size
        groups: dict[int, Places] = {}
        after = ((places[0] + step) % size for step in range(size)) if len(places) else ()
        for place in itertools.chain(places, after):
            if len(groups) == steps:
                break
            if self.usable[place]:
                own = self.of(place)
                groups.setdefault(own[0], own)
        return list(groups.values())

    def sample(self, limit: int, rng: np.random.Generator) -> list[int]:
        """Return the place of each person's first record in a random order, at most ``limit`` of them."""
        places = np.flatnonzero(self.usable)
        if self.column is not None:
            first = self._order[self._starts]
            places = np.sort(first[self.usable[first]])
        return [int(place) for place in rng.choice(places, min(limit, len(places)), replace=False)]

    def new(self, count: int, allowed: Allowed | None = None) -> list[Any]:
        """Return names that are not in the data; fewer than ``count`` if there are no more."""
        if self.column is None:
            return [None] * count
        if len(self._new) < count:
            self._new = self._found(max(count, _NAMES), allowed)
        return self._new[:count]

    def _found(self, count: int, allowed: Allowed | None) -> list[Any]:
        column, taken = self._dataset.columns[self.column or 0], set(self._names)
        more: Iterator[Any] = iter(())
        if column.sort.numeric:
            known = [name for name in taken if not isinstance(name, bool) and isinstance(name, int | float)]
            start = int(min(max([0, *known]) + 1, column.ends[1] - count))
            more = itertools.chain(range(start, start + count), range(1, len(taken) + count + 1))
            more = (number for number in more if number <= column.ends[1])
        elif column.sort is Sort.CHOICE:
            more = iter(column.choices)
        elif column.sort is Sort.TEXT or not self._dataset.size:
            more = new_texts("new person", form_of(self._names), len(taken) + count, column.width)
        proposed = more if allowed is None else itertools.chain(getattr(allowed, "values", ()), more)
        free = (name for name in proposed if name not in taken and (allowed is None or name in allowed))
        return [column.cast(name) for name in dict.fromkeys(itertools.islice(free, 2 * count))][:count]


def _coded(dataset: Dataset, column: int) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Number the people: the person of each record, (size,), and their names; records without a name come last."""
    values = dataset.values(column)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        unique, codes = np.unique(values, return_inverse=True)
        return codes, unique.tolist()
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    typed = len({type(value) for value in values if not is_missing(value)}) > 1
    known: dict[Any, int] = {}
    codes_listed: list[int] = []
    for value in values:
        try:
            key = (type(value), value) if typed else value
            codes_listed.append(-1 if is_missing(value) else known.setdefault(key, len(known)))
        except TypeError:
            title = dataset.columns[column].title
            what = f"the column {title!r} names a person by a {type(value).__name__}; numbers and texts can"
            raise UsageError(what) from None
    codes = np.array(codes_listed, dtype=np.intp)
    nobody = np.flatnonzero(codes < 0)
    codes[nobody] = len(known) + np.arange(len(nobody))
    return codes, [key[1] for key in known] if typed else list(known)
