"""What is an array, series or frame of many runs made of, what is at its keys, and what does an assignment change?

Labels are the same in every run, or plain ones in an order that differs by run; values differ. What has no form here is
done by NumPy or pandas themselves, run by run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit.reading.runs import joins
from dpaudit.reading.runs.active import Active, SplitError
from dpaudit.reading.runs.applied import apply, each_alternative, each_group, groups_by_truth, opened
from dpaudit.reading.runs.numbers import binary as binary_of_numbers
from dpaudit.reading.runs.numbers import stack
from dpaudit.reading.runs.values import (
    CONTENTS,
    Alternatives,
    Array,
    Coded,
    Container,
    Mask,
    Member,
    Numbers,
    Table,
    at,
    by_name,
    differs,
    held,
    is_of_pandas,
    of_run,
    raw,
    raws,
    series,
    the_pandas,
)


def of_rows(domain: Active, rows: list[Any], index: Any) -> Any:
    """``DataFrame([{…}, {…}])``: all rows with the same keys."""
    pd = the_pandas()
    contents = [each.content if type(each) is Container else each for each in rows]
    if not contents or not all(type(each) is dict and list(each) == list(contents[0]) for each in contents):
        return NotImplemented
    columns: dict[Any, Any] = {}
    for label in contents[0]:
        values = [each[label] for each in contents]
        if not differs(values):
            columns[label] = Container(list(values))
            continue
        stacked = stack(domain, values)
        if stacked is None:
            return NotImplemented
        columns[label] = Container(Numbers(stacked))
    return columns, pd.RangeIndex(len(rows)) if index is None else index


def is_frame(value: Any) -> bool:
    """Whether a value is a frame of pandas, which need not be there."""
    return "pandas" in sys.modules and type(value) is the_pandas().DataFrame


def length(content: Any) -> int:
    """Return how many members the content of a container has."""
    if type(content) is Table:
        return len(content.index)
    return content.array.shape[1] if type(content) is Numbers else len(content)


def members(domain: Active, content: Any) -> Iterable[Any]:
    """Yield what a loop over an array, a series or a frame goes through."""
    if type(content) is Table:
        yield from content.columns
    elif type(content) is Numbers:
        for place in range(content.array.shape[1]):  # of a series pandas gives numbers of Python
            yield held(Numbers(content.array[:, place], content.labels is not None))
    else:
        yield from content


# --- what makes series and frames -------------------------------------------------------------------------


def made(domain: Active, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the series or frame that a call makes of values that differ by run; NotImplemented if it has none."""
    if not differs((args, tuple(keywords.values()))):
        return NotImplemented
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", "") or ""
    if not module.startswith("pandas") or name not in ("Series", "DataFrame"):
        return NotImplemented
    pd = the_pandas()
    given = by_name(("data", "index", "columns" if name == "DataFrame" else "dtype"), args, keywords)
    if given is None:
        return NotImplemented
    data = opened(domain.present(given.pop("data", None)))
    if differs(tuple(given.values())):
        return NotImplemented
    index = raw(given.pop("index", None))
    if name == "Series":
        title = raw(given.pop("name", None))
        return NotImplemented if given else _series(domain, data, index, title)
    if given.keys() - {"columns"}:
        return NotImplemented
    columns = raw(given.get("columns"))
    if type(data) is Container and type(data.content) is list and columns is None:
        rows = of_rows(domain, data.content, index)
        return NotImplemented if rows is NotImplemented else frame_of_columns(domain, *rows)
    if type(data) is Container and type(data.content) is dict and columns is None:
        return frame_of_columns(domain, data.content, index)
    if type(data) is Numbers and data.labels is None and data.array.ndim == 3:
        labels = pd.RangeIndex(data.array.shape[2]) if columns is None else pd.Index(columns)
        rows = pd.RangeIndex(data.array.shape[1]) if index is None else pd.Index(index)
        if (len(rows), len(labels)) != data.shape or not labels.is_unique:
            return NotImplemented
        return Container(Table({label: Numbers(data.array[:, :, k]) for k, label in enumerate(labels)}, rows))
    return NotImplemented


def _series(domain: Active, data: Any, index: Any, title: Any) -> Any:
    pd = the_pandas()
    if type(data) is Numbers and data.array.ndim == 2:
        array: Array | None = data.array
        if data.labels is not None:
            if index is not None and not pd.Index(index).equals(data.labels):
                return NotImplemented
            return series(data.array, data.labels, data.name if title is None else title)
    else:
        content = data.content if type(data) is Container else data
        if type(content) is dict and index is None and content:
            index, content = list(content), list(content.values())
        array = stack(domain, list(content)) if type(content) in (list, tuple) and content else None
    if array is None:
        return NotImplemented
    labels = pd.RangeIndex(array.shape[1]) if index is None else pd.Index(index)
    return series(array, labels, title) if len(labels) == array.shape[1] else NotImplemented


def frame_of_columns(domain: Active, columns: dict[Any, Any], index: Any) -> Any:
    """Return a frame of columns, a table where some of them differ by run."""
    pd = the_pandas()
    out: dict[Any, Any] = {}
    rows = None if index is None else pd.Index(index)
    for label, value in columns.items():
        own = opened(domain.present(value))
        listed = own.content if type(own) is Container else own
        if type(listed) in (list, tuple, range):
            stacked = stack(domain, list(listed)) if differs(own) else None
            own = (
                Numbers(stacked) if stacked is not None else own if differs(own) else plain_column(pd.Series(raw(own)))
            )
        labels = own.labels if type(own) is Numbers else own.index if is_of_pandas(type(own)) else None
        if type(own) is Numbers and own.array.ndim == 2:
            size = own.array.shape[1]
        elif type(own) is not Numbers and labels is not None and own.ndim == 1:
            size, own = len(own), plain_column(own)
        elif isinstance(own, np.ndarray | pd.api.extensions.ExtensionArray) and own.ndim == 1:
            size = len(own)
        else:
            return NotImplemented
        if labels is not None and (rows is None or isinstance(rows, pd.RangeIndex)) and index is None:
            if rows is not None and not rows.equals(labels):
                return NotImplemented
            rows = labels
        elif labels is not None and not (rows is not None and rows.equals(labels)):
            return NotImplemented
        if rows is None:
            rows = pd.RangeIndex(size)
        if len(rows) != size:
            return NotImplemented
        out[label] = Numbers(own.array) if type(own) is Numbers else own
    return NotImplemented if rows is None else Container(Table(out, rows))


def plain_column(series: Any) -> Any:
    """Return the values of a plain series as a column of a frame, with their type."""
    return series.to_numpy() if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiub" else series.array


def regrouped(content: Any, mask: Mask) -> Any:
    """Return a series or frame in an order that differs by run as alternatives, each with plain labels."""
    parts = [content.labels] if type(content) is Numbers else [content.index, *content.columns.values()]
    coded = [each for each in parts if type(each) is Coded]
    if not coded:
        return content
    places = mask.places
    key = np.zeros(len(places), dtype=np.int64)
    for each in {id(one.codes): one for one in coded}.values():
        for column in each.codes[places].T:
            key = np.unique(key, return_inverse=True)[1] * (int(column.max(initial=0)) + 1) + column
    known, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if len(known) > max(256, len(places) // 4):
        return content
    codes = np.zeros(len(mask.chosen), dtype=np.int32)
    codes[places] = inverse

    def one(run: int) -> Any:
        if type(content) is Numbers:
            return Numbers(content.array, False, of_run(content.labels, run), content.name)
        columns = {label: of_run(column, run) for label, column in content.columns.items()}
        return content.like(columns, of_run(content.index, run))

    values = [one(int(places[place])) for place in first]
    return values[0] if len(values) == 1 else Alternatives(codes, values)


def is_coded(content: Any) -> bool:
    """Whether a series or frame stands in an order that differs by run."""
    if type(content) is Numbers:
        return type(content.labels) is Coded
    return type(content) is Table and any(type(each) is Coded for each in (content.index, *content.columns.values()))


# --- attributes and items ---------------------------------------------------------------------------------


class Located:
    """``s.loc``, ``s.iloc`` of a series or frame whose values differ by run."""

    def __init__(self, owner: Container, name: str) -> None:
        self.owner, self.name = owner, name


def set_located(domain: Active, located: Located, key: Any, value: Any) -> None:
    """``s.loc[k] = v``."""
    content = domain.present(opened(located.owner))
    if type(content) is not Numbers or differs(key):
        domain.give_up(f"an assignment by .{located.name}")
    by_place = located.name in ("iloc", "iat")
    set_item(domain, located.owner, content.labels[raw(key)] if by_place else key, value)


_AT_PLACES = ("loc", "iloc", "at", "iat")
_NO_METHODS = frozenset((
    "shape", "ndim", "size", "T", "dtype", "flat", "real", "values", "index", "name", "columns", "empty", "str", "dt",
    "cat", *_AT_PLACES,
))  # fmt: skip


def attribute(domain: Active, owner: Any, name: str) -> Any:
    """``a.name`` of an array, a series, a frame, a list."""
    value = domain.present(opened(owner))
    if is_coded(value) and name in ("index", "T", *_AT_PLACES):
        value = regrouped(value, domain.active)
        if is_coded(value):
            return apply(domain, getattr, (owner, name))
    if type(value) is Alternatives and name in _NO_METHODS:
        return each_alternative(domain, value, lambda each: attribute(domain, Container(each), name))
    if type(value) is Numbers:
        return _attribute_of_numbers(domain, owner, value, name)
    if type(value) is Table:
        size = (len(value.index), len(value.columns))
        known = {"index": value.index, "shape": size, "empty": 0 in size, "size": size[0] * size[1]}
        if name in known:
            return known[name]
        if name == "columns":
            return value.labels
        if name in value.columns and not hasattr(the_pandas().DataFrame, name):
            return item(domain, owner, name)
        if name in _AT_PLACES:
            return Located(owner, name)
        read = name in ("values", "T", "dtypes", "axes")
        return apply(domain, getattr, (owner, name)) if read else Member(owner, name)
    if differs(value):
        return Member(owner, name)
    with domain.as_python:
        member = getattr(raw(value), name)
    kept = isinstance(member, type) or is_of_pandas(type(member)) or hasattr(member, "__getitem__")
    if callable(member) and not kept:
        return Member(owner, name)
    if isinstance(member, CONTENTS):  # such as attrs: who changes it changes what it belongs to
        domain.give_up(f".{name} of an array or a frame")
    return joins.wrapped(member)


def _attribute_of_numbers(domain: Active, owner: Any, value: Numbers, name: str) -> Any:
    if name in ("shape", "ndim", "size"):
        size = int(np.prod(value.shape, dtype=np.int64))
        return {"shape": value.shape, "ndim": len(value.shape), "size": size}[name]
    if name == "T" and value.array.ndim >= 2:
        turned = value.array.transpose(0, *range(value.array.ndim - 1, 0, -1))
        shown = Container(Numbers(turned, False, value.labels, value.name))
        return owner.view(shown) if type(owner) is Container else shown
    if value.labels is not None:
        if name == "values":  # which pandas lets nobody change
            shown = Container(Numbers(value.array))
            shown.is_part = True
            return shown
        if name in ("index", "name", "empty"):
            return {"index": value.labels, "name": value.name, "empty": not len(value.labels)}[name]
        if name in _AT_PLACES:
            return Located(owner, name)
    if name in ("flat", "real", "str", "dt"):
        domain.give_up(f".{name}")
    return apply(domain, getattr, (owner, name)) if name == "dtype" else Member(owner, name)


def item(domain: Active, owner: Any, key: Any) -> Any:
    """``a[k]`` of an array, a series, a frame, a text."""
    if type(owner) is Located:
        return _located(domain, owner, domain.present(key))
    value, key = domain.present(opened(owner)), domain.present(key)
    if is_coded(value) and not (type(value) is Table and isinstance(key, list)):
        value = regrouped(value, domain.active)
        if is_coded(value):
            return apply(domain, _get, (owner, key))
    if type(value) is Alternatives:
        return each_alternative(domain, value, lambda each: item(domain, Container(each), key))
    if not differs(key):
        if type(value) is Numbers:
            member = _item_of_numbers(value, raw(key))
            if member is not NotImplemented:
                return owner.view(member) if type(owner) is Container and type(member) is Container else member
        if type(value) is Table:
            member = _item_of_table(value, raw(key))
            if member is not NotImplemented:
                return member
    member = _item_by_place(domain, value, key)
    if member is not NotImplemented:
        return member
    groups = groups_by_truth(domain, opened(key)) if type(value) is Numbers else None
    if groups is not None:
        return each_group(domain, groups, lambda run: item(domain, owner, joins.wrapped(at(key, run))), fresh=True)
    return apply(domain, _get, (owner, key))


def _get(value: Any, key: Any) -> Any:
    return value[key]


def _item_by_place(domain: Active, value: Any, key: Any) -> Any:
    """Return the members at places that differ by run, from an array without labels; else NotImplemented."""
    places = opened(key)
    if type(places) is not Numbers or places.array.dtype.kind != "i":
        return NotImplemented
    if isinstance(value, np.ndarray) and value.ndim == 1:
        inside, outside = _inside(domain, places.array, len(value))
        if outside is None and type(key) is Numbers:
            known = value.dtype.kind in "fiub" and value.dtype in (np.float64, np.int64, np.bool_)
            if known:
                return Numbers(value[inside])
            return joins.simplified(Alternatives(inside.astype(np.int32), list(value)))
        if outside is None and places.array.ndim == 2 and value.dtype.kind in "fiub":
            return Container(Numbers(value[inside]))
    elif type(value) is Numbers and value.labels is None and value.array.ndim == 2 and places.array.ndim == 1:
        inside, outside = _inside(domain, places.array, value.array.shape[1])
        if outside is None:
            return Numbers(np.take_along_axis(value.array, inside[:, None], axis=1)[:, 0])
    return NotImplemented


def _inside(domain: Active, places: Array, size: int) -> tuple[Array, Array | None]:
    """Return places from 0 on, and for which active runs one is outside; None if for none."""
    outside = ~((places >= -size) & (places < size))
    outside = (outside if outside.ndim == 1 else outside.any(axis=tuple(range(1, outside.ndim)))) & domain.active.chosen
    return np.where(places < 0, places + size, places) % max(size, 1), outside if outside.any() else None


def _where(labels: Any, ask: Callable[[Any], Any]) -> Any:
    """Return where pandas finds something among labels: a place, or a series of places; None if it does not."""
    try:
        return ask(the_pandas().Series(np.arange(len(labels)), index=labels))
    except Exception:
        return None


def _item_of_numbers(value: Numbers, key: Any) -> Any:
    if value.labels is None:
        parts = key if isinstance(key, tuple) else (key,)
        basic = all(isinstance(each, slice | int | np.integer) and not isinstance(each, bool) for each in parts)
        if not basic and not (isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind in "ib"):
            return NotImplemented
        try:
            return held(Numbers(value.array[(slice(None), *parts)]))
        except IndexError:
            return NotImplemented
    if isinstance(key, list | slice) or (hasattr(key, "dtype") and np.ndim(key) == 1):
        places = _where(value.labels, lambda labelled: labelled[key])
        if places is None:
            return NotImplemented
        return series(value.array[:, places.to_numpy()], places.index, value.name)
    try:
        place = value.labels.get_loc(key)
    except (KeyError, TypeError):
        return NotImplemented
    return Numbers(value.array[:, place]) if isinstance(place, int) else NotImplemented


def _item_of_table(table: Table, key: Any) -> Any:
    if isinstance(key, list):
        if not all(each in table.columns for each in key) or len(set(key)) < len(key):
            return NotImplemented
        return Container(table.like({each: table.columns[each] for each in key}))
    try:
        column = table.columns[key]
    except (KeyError, TypeError):
        return NotImplemented
    if type(column) is Numbers:
        return series(column.array, table.index, key)
    return joins.wrapped(the_pandas().Series(column, index=table.index, name=key))


def _located(domain: Active, located: Located, key: Any) -> Any:
    content = domain.present(opened(located.owner))
    if type(content) is Numbers and not differs(key):
        places = _where(content.labels, lambda labelled: getattr(labelled, located.name)[raw(key)])
        if isinstance(places, int | np.integer):
            return Numbers(content.array[:, places])
        if places is not None:
            return series(content.array[:, places.to_numpy()], places.index, content.name)
    if type(content) is Table and located.name in ("loc", "at") and isinstance(key, tuple) and len(key) == 2:
        column = _item_of_table(content, raw(key[1]))
        if column is not NotImplemented and type(column) is Container:
            return _located(domain, Located(column, "loc"), key[0])
    return apply(domain, lambda own, place: getattr(own, located.name)[place], (located.owner, key))


# --- changes ----------------------------------------------------------------------------------------------


def replace(domain: Active, owner: Container, new: Any) -> None:
    """Put other values into an array or series, for the active runs."""
    _refuse_viewed(domain, owner)
    content, old = opened(new), owner.content
    if domain.active.whole:
        owner.change(content)
        return
    if not isinstance(old, Numbers | Table) and not isinstance(content, Numbers | Table):
        raise SplitError(domain.active.chosen)
    owner.change(joins.with_content(domain.active.chosen, _as_numbers(domain, content), _as_numbers(domain, old)))


def _refuse_viewed(domain: Active, owner: Container) -> None:
    if owner.is_viewed:
        domain.give_up("a change of an array of which a part is held elsewhere")


def _as_numbers(domain: Active, content: Any) -> Any:
    """Return a plain array or series as one that may differ by run."""
    labelled = is_of_pandas(type(content)) and content.ndim == 1
    if not (labelled or isinstance(content, np.ndarray)) or content.dtype.kind not in "fiub":
        return content
    array = content.to_numpy() if labelled else content
    array = np.broadcast_to(array, (domain.count, *array.shape)).copy()
    return Numbers(array, False, content.index, content.name) if labelled else Numbers(array)


def set_item(domain: Active, owner: Container, key: Any, value: Any) -> None:
    """``a[k] = v`` of an array, series or frame that was made in this call."""
    _refuse_viewed(domain, owner)
    content = domain.present(owner.content)
    value, key = domain.present(opened(value)), domain.present(opened(key))
    if isinstance(content, np.ndarray) and content.base is not None and not differs((key, value)):
        domain.give_up("a change of a part of an array")
    if not differs((content, key, value)) and not isinstance(content, Table):
        if not domain.active.whole:
            raise SplitError(domain.active.chosen)
        with domain.as_python:
            content[raw(key)] = raw(value)
        return
    if is_of_pandas(type(content)) and content.ndim == 2:
        content = _table_of(content)
    if type(content) is Table:
        _set_column(domain, owner, content, key, value)
        return
    numbers = _as_numbers(domain, content)
    if type(numbers) is not Numbers:
        domain.give_up("an assignment into what differs by run")
    owner.change(numbers.like(_with_members(domain, numbers, key, value)))


def _table_of(frame: Any) -> Table:
    return Table({label: plain_column(frame[label]) for label in frame}, frame.index, frame.columns.name)


def _set_column(domain: Active, owner: Container, table: Table, key: Any, value: Any) -> None:
    if differs(key) or isinstance(key, list | np.ndarray | tuple) or not domain.active.whole:
        domain.give_up("an assignment to several columns or rows, or to a frame that some runs change")
    made_columns = frame_of_columns(domain, {"column": value}, None)
    if made_columns is NotImplemented and type(value) is Numbers and value.array.ndim == 1:
        column: Any = Numbers(np.repeat(value.array[:, None], len(table.index), axis=1))
    elif made_columns is NotImplemented:
        if differs(value):
            domain.give_up("an assignment of this to a column")
        column = plain_column(the_pandas().Series(raw(value), index=table.index))
    else:
        new = made_columns.content
        labelled = (type(value) is Numbers and value.labels is not None) or is_of_pandas(type(value))
        if len(new.index) != len(table.index) or (labelled and not new.index.equals(table.index)):
            domain.give_up("an assignment of a column with other labels")
        column = new.columns["column"]
    owner.change(table.like({**table.columns, raw(key): column}))


def _with_members(domain: Active, numbers: Numbers, key: Any, value: Any) -> Array:
    """Return the numbers of an array or series after ``a[k] = v`` in the active runs."""
    array, labels = numbers.array.copy(), numbers.labels
    own = value.array if type(value) is Numbers else raw(value)
    if type(key) is Numbers and key.array.dtype == bool and key.array.shape == array.shape:
        if type(value) is Numbers or np.ndim(own):
            domain.give_up("an assignment of several values by a mask")
        own = np.asarray(own)
        kept = np.result_type(array.dtype, own.dtype) == array.dtype
        if not kept and not (array.dtype == np.float64 and own.dtype.kind in "iub"):
            domain.give_up("an assignment that changes the type")
        array[key.array & joins.spread(domain.active.chosen, array.shape[1:])] = own
        return array
    if differs(key):
        by_place = type(key) is Numbers and key.array.ndim == 1 and key.array.dtype.kind == "i"
        if not by_place or array.ndim != 2 or labels is not None:
            domain.give_up("an assignment to a place that differs by run")
        places, outside = _inside(domain, key.array, array.shape[1])
        if outside is not None:
            domain.leave(IndexError(f"index out of bounds for axis 0 with size {array.shape[1]}"), outside)
        runs = np.arange(len(array))
        array[runs, places] = np.where(domain.active.chosen, own, array[runs, places])
        return array
    where = raw(key)
    if labels is not None:
        where = _where(labels, lambda labelled: labelled[raw(key)])
        if where is None:
            domain.give_up("an assignment to a label that is not there")
        where = where.to_numpy() if hasattr(where, "to_numpy") else int(where)
    if array.dtype.kind in "iub" and np.asarray(own).dtype.kind == "f":
        if labels is not None:
            domain.give_up("an assignment that changes the type of a series")
        own = np.trunc(own)  # as an array of whole numbers takes it
    place = (slice(None), *(where if isinstance(where, tuple) else (where,)))
    try:
        part = array[place]
        if type(value) is Numbers:
            own = own.reshape(len(own), *[1] * (part.ndim - own.ndim), *own.shape[1:])
        array[place] = np.where(joins.spread(domain.active.chosen, part.shape[1:]), own, part)
    except (IndexError, ValueError, TypeError):
        domain.give_up("an assignment that does not fit")
    return array


def in_place(domain: Active, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A method that changes an array or frame."""
    content = opened(owner)
    if type(owner) is not Container:
        domain.give_up(f".{name}() of something that was not made in this call")
    if type(content) is Numbers and name == "sort" and not args and not keywords and content.labels is None:
        return replace(domain, owner, Numbers(np.sort(content.array, axis=-1)))
    if name == "fill" and len(args) == 1:
        return set_item(domain, owner, slice(None), args[0])
    if differs((owner, args, tuple(keywords.values()))) or not domain.active.whole or owner.is_viewed:
        domain.give_up(f".{name}() in place")
    own, more = raws(args, keywords)
    with domain.as_python:
        return getattr(content, name)(*own, **more)


def set_attribute(domain: Active, owner: Any, name: str, value: Any) -> None:
    """``t.columns = …`` and the like."""
    if type(owner) is not Container or differs((owner, value)) or not domain.active.whole:
        domain.give_up(f"an assignment to .{name}")
    with domain.as_python:
        setattr(owner.content, name, raw(value))


_BY_NUMPY = ("add", "sub", "mul", "truediv")
"""Operators between a frame and an array that pandas leaves to NumPy."""


def binary(domain: Active, name: str, left: Any, right: Any) -> Any:
    """An operator between a frame whose values differ by run and a number, column by column."""
    parts = [domain.present(opened(each)) for each in (left, right)]
    grid = next(
        (each for each in parts if type(each) is Numbers and each.labels is None and each.array.ndim == 3), None
    )
    frames = [each for each in parts if is_frame(each)]
    if grid is not None and frames and frames[0].columns.is_unique:
        parts = [_table_of(each) if each is frames[0] else each for each in parts]
    table = next((each for each in parts if type(each) is Table), None)
    if table is None:
        return NotImplemented
    other = parts[1] if table is parts[0] else parts[0]
    if grid is not None and (name not in _BY_NUMPY or other.shape != (len(table.index), len(table.columns))):
        return NotImplemented
    if type(other) is Table:
        same = table.title == other.title and list(other.columns) == list(table.columns)
        if not same or not other.index.equals(table.index):
            return NotImplemented
    elif grid is None and type(other) not in (int, float, np.float64, np.int64) and not _is_number(other):
        return NotImplemented
    columns = {}
    for place, (label, column) in enumerate(table.columns.items()):
        two: Any = other
        if grid is not None:
            two = Container(Numbers(other.array[:, :, place]))
        elif type(other) is Table:
            two = _as_column(other.columns[label])
        operands = (_as_column(column), two) if table is parts[0] else (two, _as_column(column))
        result = opened(binary_of_numbers(domain, name, *operands))
        if type(result) is not Numbers and not isinstance(result, np.ndarray):
            return NotImplemented
        columns[label] = result
    return Container(table.like(columns))


def _is_number(value: Any) -> bool:
    return type(value) is Numbers and value.array.ndim == 1


def _as_column(column: Any) -> Any:
    return Container(Numbers(column.array)) if type(column) is Numbers else joins.wrapped(column)
