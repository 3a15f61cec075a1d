"""What is at a key or an attribute of an array, series or frame of many runs, and what does an assignment change?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.runs import arrays, joins, tables
from dpaudit.reading.runs.applied import apply, each_group, groups_by_truth, opened
from dpaudit.reading.runs.tables import frame_of_columns, is_coded, is_frame, plain_column, regrouped, the_pandas
from dpaudit.reading.runs.values import CONTENTS, Alternatives, Array, Container, Numbers, Table, at, differs, raw

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

# --- attributes and items ---------------------------------------------------------------------------------


class Located:
    """``s.loc``, ``s.iloc`` of a series or frame whose values differ by run."""

    def __init__(self, domain: Active, owner: Container, name: str) -> None:
        self.domain, self.owner, self.name = domain, owner, name

    def assign(self, key: Any, value: Any) -> None:
        """``s.loc[k] = v``."""
        content = self.domain.present(opened(self.owner))
        simple = type(content) is Numbers and not differs(key)
        if not simple:
            self.domain.give_up(f"an assignment by .{self.name}")
        if self.name in ("iloc", "iat"):
            key = content.labels[raw(key)]
        set_item(self.domain, self.owner, key, value)


_METHODS_OF_ARRAYS = frozenset(
    (
        "shape",
        "ndim",
        "size",
        "T",
        "dtype",
        "flat",
        "real",
        "values",
        "index",
        "name",
        "columns",
        "empty",
        "loc",
        "iloc",
        "at",
        "iat",
        "str",
        "dt",
        "cat",
    )
)


def attribute(domain: Active, owner: Any, name: str) -> Any:
    """``a.name`` of an array, a series, a frame, a list."""
    from dpaudit.reading.runs.values import Member

    value = domain.present(opened(owner))
    if is_coded(value) and name in ("index", "loc", "iloc", "at", "iat", "T"):
        value = regrouped(domain, value)
        if is_coded(value):
            return apply(domain, getattr, (owner, name))
    if type(value) is Alternatives:
        if name not in _METHODS_OF_ARRAYS:
            return Member(owner, name)
        return domain.each_alternative(value, lambda each: attribute(domain, Container(each), name))
    if type(value) is Numbers:
        if name == "shape":
            return value.shape
        if name == "ndim":
            return len(value.shape)
        if name == "size":
            return int(np.prod(value.shape, dtype=np.int64))
        if name == "T" and value.array.ndim >= 2:
            turned = Container(
                Numbers(
                    np.transpose(value.array, (0, *range(value.array.ndim - 1, 0, -1))), False, value.labels, value.name
                )
            )
            return owner.view(turned) if type(owner) is Container else turned
        if value.labels is not None:
            if name == "values":  # which pandas lets nobody change
                shown = Container(Numbers(value.array))
                shown.is_part = True
                return shown
            if name in ("index", "name", "empty"):
                return {"index": value.labels, "name": value.name, "empty": not len(value.labels)}[name]
            if name in ("loc", "iloc", "at", "iat"):
                return Located(domain, owner, name)
        if name in ("dtype", "flat", "real", "str", "dt"):
            return apply(domain, getattr, (owner, name)) if name == "dtype" else domain.give_up(f".{name}")
        return Member(owner, name)
    if type(value) is Table:
        if name in ("index", "shape", "empty", "size"):
            size = (len(value.index), len(value.columns))
            return {"index": value.index, "shape": size, "empty": 0 in size, "size": size[0] * size[1]}[name]
        if name == "columns":
            return the_pandas().Index(list(value.columns), name=value.title)
        if name in value.columns and not hasattr(the_pandas().DataFrame, name):
            return item(domain, owner, name)
        if name in ("loc", "iloc", "at", "iat"):
            return Located(domain, owner, name)
        return (
            apply(domain, getattr, (owner, name)) if name in ("values", "T", "dtypes", "axes") else Member(owner, name)
        )
    if not differs(value):
        try:
            found = getattr(raw(value), name)
        except Exception as error:
            domain.leave(error)
            raise
        if (
            callable(found)
            and not isinstance(found, type)
            and not joins.is_of_pandas(type(found))
            and not hasattr(found, "__getitem__")
        ):
            return Member(owner, name)
        if isinstance(found, CONTENTS):  # such as attrs: who changes it changes what it belongs to
            domain.give_up(f".{name} of an array or a frame")
        return joins.wrapped(found)
    return Member(owner, name)


def item(domain: Active, owner: Any, key: Any) -> Any:
    """``a[k]`` of an array, a series, a frame, a text."""
    if type(owner) is Located:
        return _located(domain, owner, domain.present(key))
    value = domain.present(opened(owner))
    key = domain.present(key)
    if is_coded(value) and not (type(value) is Table and isinstance(key, list)):
        value = regrouped(domain, value)
        if is_coded(value):
            return apply(domain, _get, (owner, key))
    if type(value) is Alternatives:
        return domain.each_alternative(value, lambda each: item(domain, Container(each), key))
    if type(value) is Numbers and not differs(key):
        found = _item_of_numbers(value, raw(key))
        if found is not NotImplemented:
            return owner.view(found) if type(owner) is Container and type(found) is Container else found
    if type(value) is Table and not differs(key):
        found = _item_of_table(value, raw(key))
        if found is not NotImplemented:
            return found
    if isinstance(value, np.ndarray) and type(key) is Numbers and key.array.dtype.kind == "i" and value.ndim == 1:
        return _taken_by(domain, value, key)
    if type(value) is Numbers and value.labels is None and type(opened(key)) is Numbers and value.array.ndim == 2:
        own = opened(key)
        if own.array.ndim == 1 and own.array.dtype.kind == "i":
            places, outside = _inside(domain, own.array, value.array.shape[1])
            if outside is None:
                return Numbers(np.take_along_axis(value.array, places[:, None], axis=1)[:, 0])
    if type(opened(key)) is Numbers and isinstance(value, np.ndarray):
        own = opened(key)
        if own.array.ndim == 2 and own.array.dtype.kind == "i" and value.ndim == 1 and value.dtype.kind in "fiub":
            places, outside = _inside(domain, own.array, len(value))
            if outside is None:
                return Container(Numbers(value[places]))
    groups = groups_by_truth(domain, opened(key)) if type(value) is Numbers else None
    if groups is not None:
        return each_group(domain, groups, lambda run: item(domain, owner, joins.wrapped(at(key, run))), fresh=True)
    return apply(domain, _get, (owner, key))


def _get(value: Any, key: Any) -> Any:
    return value[key]


def _inside(domain: Active, places: Array, size: int) -> tuple[Array, Array | None]:
    """Return places from 0 on, and for which active runs one is outside; None if for none."""
    outside = ~((places >= -size) & (places < size))
    outside = (outside if outside.ndim == 1 else outside.any(axis=tuple(range(1, outside.ndim)))) & domain.active.chosen
    return np.where(places < 0, places + size, places) % max(size, 1), outside if outside.any() else None


def _taken_by(domain: Active, table: Array, key: Numbers) -> Any:
    places, outside = _inside(domain, key.array, len(table))
    if outside is not None:
        return apply(domain, _get, (table, key))
    if table.dtype.kind in "fiub" and table.dtype in (np.float64, np.int64, np.bool_):
        return Numbers(table[places])
    return joins.simplified(Alternatives(places.astype(np.int32), list(table)))


def _is_basic(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(each, slice | types_of_place) and not isinstance(each, bool) for each in parts)


types_of_place = int | np.integer


def _item_of_numbers(value: Numbers, key: Any) -> Any:
    if value.labels is None:
        if not _is_basic(key) and not (isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind in "ib"):
            return NotImplemented
        try:
            found = value.array[(slice(None), *(key if isinstance(key, tuple) else (key,)))]
        except IndexError:
            return NotImplemented
        return Numbers(found) if found.ndim == 1 else Container(Numbers(found))
    labels = value.labels
    if isinstance(key, list) or (hasattr(key, "dtype") and np.ndim(key) == 1):
        series = the_pandas().Series(np.arange(len(labels)), index=labels)
        try:
            places = series[key]
        except Exception:
            return NotImplemented
        return Container(Numbers(value.array[:, places.to_numpy()], False, places.index, value.name))
    if isinstance(key, slice):
        try:
            places = the_pandas().Series(np.arange(len(labels)), index=labels)[key]
        except Exception:
            return NotImplemented
        return Container(Numbers(value.array[:, places.to_numpy()], False, places.index, value.name))
    try:
        place = labels.get_loc(key)
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
        return Container(Numbers(column.array, False, table.index, key))
    return joins.wrapped(the_pandas().Series(column, index=table.index, name=key))


def _located(domain: Active, located: Located, key: Any) -> Any:
    content = domain.present(opened(located.owner))
    if type(content) is Numbers and not differs(key):
        key = raw(key)
        labels = the_pandas().Series(np.arange(len(content.labels)), index=content.labels)
        try:
            places = getattr(labels, located.name)[key]
        except Exception:
            places = None
        if isinstance(places, int | np.integer):
            return Numbers(content.array[:, places])
        if places is not None:
            return Container(Numbers(content.array[:, places.to_numpy()], False, places.index, content.name))
    if type(content) is Table and located.name in ("loc", "at") and isinstance(key, tuple) and len(key) == 2:
        column = _item_of_table(content, raw(key[1]))
        if column is not NotImplemented and type(column) is Container:
            return _located(domain, Located(domain, column, "loc"), key[0])
    name = located.name
    return apply(domain, lambda own, place: getattr(own, name)[place], (located.owner, key))


# --- changes ----------------------------------------------------------------------------------------------


def replace(domain: Active, owner: Container, new: Any) -> None:
    """Put other values into an array or series, for the active runs."""
    if owner.is_viewed:
        domain.give_up("a change of an array of which a part is held elsewhere")
    content = new.content if type(new) is Container else new
    if domain.active.whole:
        owner.change(content)
        return
    old = owner.content
    if not isinstance(old, Numbers | Table) and not isinstance(content, Numbers | Table):
        domain.split_here()
    owner.change(joins.with_content(domain.active.chosen, _as_numbers(domain, content), _as_numbers(domain, old)))


def _as_numbers(domain: Active, content: Any) -> Any:
    """Return a plain array or series as one that may differ by run."""
    if isinstance(content, np.ndarray) and content.dtype.kind in "fiub":
        return Numbers(np.broadcast_to(content, (domain.count, *content.shape)).copy())
    if joins.is_of_pandas(type(content)) and content.ndim == 1 and content.dtype.kind in "fiub":
        array = content.to_numpy()
        return Numbers(np.broadcast_to(array, (domain.count, *array.shape)).copy(), False, content.index, content.name)
    return content


def set_item(domain: Active, owner: Container, key: Any, value: Any) -> None:
    """``a[k] = v`` of an array, series or frame that was made in this call."""
    if owner.is_viewed:
        domain.give_up("a change of an array of which a part is held elsewhere")
    content = domain.present(owner.content)
    value, key = domain.present(opened(value)), domain.present(opened(key))
    if isinstance(content, np.ndarray) and content.base is not None and not differs((key, value)):
        domain.give_up("a change of a part of an array")
    if not differs((content, key, value)) and not isinstance(content, Table):
        if not domain.active.whole:
            domain.split_here()
        try:
            content[raw(key)] = raw(value)
        except Exception as error:
            domain.leave(error)
        return
    if joins.is_of_pandas(type(content)) and content.ndim == 2:
        content = _table_of(content)
    if type(content) is Table:
        _set_column(domain, owner, content, key, value)
        return
    numbers = _as_numbers(domain, content)
    if type(numbers) is not Numbers:
        domain.give_up("an assignment into what differs by run")
    _set_numbers(domain, owner, numbers, key, value)


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
        labelled = (type(value) is Numbers and value.labels is not None) or joins.is_of_pandas(type(value))
        if len(new.index) != len(table.index) or (labelled and not new.index.equals(table.index)):
            domain.give_up("an assignment of a column with other labels")
        column = new.columns["column"]
    owner.change(table.like({**table.columns, raw(key): column}))


def _set_numbers(domain: Active, owner: Container, numbers: Numbers, key: Any, value: Any) -> None:
    array = numbers.array.copy()
    mask = domain.active
    if type(key) is Numbers and key.array.dtype == bool and key.array.shape == array.shape:
        chosen = key.array & joins.spread(mask.chosen, array.shape[1:])
        if type(value) is Numbers or np.ndim(raw(value)):
            domain.give_up("an assignment of several values by a mask")
        own = np.asarray(raw(value))
        if np.result_type(array.dtype, own.dtype) != array.dtype and not (
            array.dtype == np.float64 and own.dtype.kind in "iub"
        ):
            domain.give_up("an assignment that changes the type")
        array[chosen] = own
        owner.change(numbers.like(array))
        return
    if differs(key):
        if (
            type(key) is Numbers
            and key.array.ndim == 1
            and key.array.dtype.kind == "i"
            and array.ndim == 2
            and numbers.labels is None
        ):
            places, outside = _inside(domain, key.array, array.shape[1])
            if outside is not None:
                domain.leave(IndexError(f"index out of bounds for axis 0 with size {array.shape[1]}"), outside)
                mask = domain.active
            own = value.array if type(value) is Numbers else raw(value)
            column = np.where(mask.chosen, own, array[np.arange(len(array)), places])
            array[np.arange(len(array)), places] = column
            owner.change(numbers.like(array))
            return
        domain.give_up("an assignment to a place that differs by run")
    where = raw(key)
    if numbers.labels is not None:
        series = the_pandas().Series(np.arange(len(numbers.labels)), index=numbers.labels)
        try:
            where = series[where]
        except Exception:
            domain.give_up("an assignment to a label that is not there")
        where = where.to_numpy() if hasattr(where, "to_numpy") else int(where)
    own = value.array if type(value) is Numbers else raw(value)
    if array.dtype.kind in "iub" and (own.dtype if isinstance(own, np.ndarray) else np.asarray(own).dtype).kind == "f":
        if numbers.labels is not None:
            domain.give_up("an assignment that changes the type of a series")
        own = np.trunc(own)  # as an array of whole numbers takes it
    place = (slice(None), *(where if isinstance(where, tuple) else (where,)))
    try:
        part = array[place]
        if type(value) is Numbers:
            own = own.reshape(len(own), *[1] * (part.ndim - own.ndim), *own.shape[1:])
        array[place] = np.where(joins.spread(mask.chosen, part.shape[1:]), own, part)
    except (IndexError, ValueError, TypeError):
        domain.give_up("an assignment that does not fit")
    owner.change(numbers.like(array))


def in_place(domain: Active, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A method that changes an array or frame."""
    content = opened(owner)
    if type(owner) is not Container:
        domain.give_up(f".{name}() of something that was not made in this call")
    if type(content) is Numbers and name == "sort" and not args and not keywords and content.labels is None:
        replace(domain, owner, Numbers(np.sort(content.array, axis=-1)))
        return None
    if name in ("fill",) and len(args) == 1:
        set_item(domain, owner, slice(None), args[0])
        return None
    if differs((owner, args, tuple(keywords.values()))) or not domain.active.whole or owner.is_viewed:
        domain.give_up(f".{name}() in place")
    try:
        return getattr(content, name)(*map(raw, args), **{key: raw(each) for key, each in keywords.items()})
    except Exception as error:
        domain.leave(error)
        raise


def set_attribute(domain: Active, owner: Any, name: str, value: Any) -> None:
    """``t.columns = …`` and the like."""
    content = opened(owner)
    if type(owner) is not Container or differs((owner, value)) or not domain.active.whole:
        domain.give_up(f"an assignment to .{name}")
    try:
        setattr(content, name, raw(value))
    except Exception as error:
        domain.leave(error)


def binary(domain: Active, name: str, left: Any, right: Any) -> Any:
    """An operator between a frame whose values differ by run and a number, column by column."""
    parts = [domain.present(opened(each)) for each in (left, right)]
    is_grid = [type(each) is Numbers and each.labels is None and each.array.ndim == 3 for each in parts]
    frames = [each for each in parts if is_frame(each)]
    if any(is_grid) and frames and frames[0].columns.is_unique:
        parts = [_table_of(each) if each is frames[0] else each for each in parts]
    if not any(type(each) is Table for each in parts):
        return NotImplemented
    table = next(each for each in parts if type(each) is Table)
    other = parts[1] if table is parts[0] else parts[0]
    if any(is_grid) and (name not in tables.ADDED or other.shape != (len(table.index), len(table.columns))):
        return NotImplemented
    columns = {}
    for place, (label, column) in enumerate(table.columns.items()):
        own = Container(Numbers(column.array)) if type(column) is Numbers else joins.wrapped(column)
        if any(is_grid):
            two: Any = Container(Numbers(other.array[:, :, place]))
        elif type(other) is Table:
            if table.title != other.title:
                return NotImplemented
            if list(other.columns) != list(table.columns) or not other.index.equals(table.index):
                return NotImplemented
            two = other.columns[label]
            two = Container(Numbers(two.array)) if type(two) is Numbers else joins.wrapped(two)
        elif type(other) in (int, float, np.float64, np.int64) or (type(other) is Numbers and other.array.ndim == 1):
            two = other
        else:
            return NotImplemented
        found = opened(arrays.binary(domain, name, *((own, two) if table is parts[0] else (two, own))))
        if type(found) is not Numbers and not isinstance(found, np.ndarray):
            return NotImplemented
        columns[label] = found
    return Container(table.like(columns))
