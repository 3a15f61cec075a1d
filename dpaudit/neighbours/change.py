"""In which records do the two datasets of a pair differ, in one line for people?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.neighbours.difference import difference, listed
from dpaudit.neighbours.relation import Relation

_LONGEST = 200  # characters of a record
_MOST = 3  # records that are written out


def change_in_words(pair: tuple[Any, Any], relation: Relation, *, valued: bool) -> str:
    """Return the two datasets of a pair in one line: "the same table, and one more person {age: 37}"."""
    found = difference(*pair)
    if found is None:
        return ""
    unit = "record" if relation.person is None else "person"
    what = _kind(pair[0])
    gone, come = (
        [_record(pair[side], place) for place in places[:_MOST]] for side, places in enumerate((found.gone, found.come))
    )
    left, joined = _told(unit, len(found.gone), gone, valued), _told(unit, len(found.come), come, valued)
    if not found.gone and not found.come:
        return f"the same {what} in another order"
    size = f" of {found.sizes[0]:,} record{'' if found.sizes[0] == 1 else 's'}" if what == "table" else ""
    none, alone = "an empty table" if what == "table" else "no records", not len(found.common[0])
    same = none if alone else f"the same {what}{size}"
    if not found.gone:
        more = "one more " if unit == "person" or len(found.come) == 1 else "more: "
        return f"{same}, and {more}{joined}"
    one = left if valued or (unit == "record" and len(found.gone) > 1) else f"one {left}"
    if not found.come:
        return f"{one} alone, and {none}" if alone else f"{same}, and without {one}"
    single = unit == "person" or len(found.gone) == len(found.come) == 1
    other = joined if valued else f"another {unit}" if single else f"other {joined}"
    if alone:
        return f"{one} alone, and {other} in {'its' if single else 'their'} place"
    return f"{same}, and with {other} in place of {one}"


def _told(unit: str, count: int, records: list[str], valued: bool) -> str:
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
    return _fields(record) if isinstance(record, Mapping) else _value(record)


def _fields(record: Mapping[Any, Any]) -> str:
    text = ", ".join(f"{name}: {_value(value)}" for name, value in record.items())
    return "{" + (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") + "}"


def _value(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)[:60]
    if value != value:
        return "NaN"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
