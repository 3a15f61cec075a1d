"""What do Python's builtins do with private, released and public values? One method a builtin, by its name."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading import dispatch
from dpaudit.reading.universe import column_methods, decisions, numbers, records, sizes
from dpaudit.reading.universe.base import Base, naturally, stands_for_others
from dpaudit.reading.universe.columns import Column, ListedColumn, plain
from dpaudit.reading.universe.frames import Frame
from dpaudit.reading.universe.keys import Unsorted
from dpaudit.reading.universe.noise import Draw, Perturbed, largest
from dpaudit.reading.universe.records import RecordNumber, Records
from dpaudit.reading.universe.sizes import column_sum
from dpaudit.reading.universe.state import (
    NOISE_FIRST,
    Private,
    refuse,
    refuse_form,
)
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, RELEASED, Token, is_of_users_class, items, number, sort_of

_CLASSES = (pd.DataFrame, pd.Series, np.ndarray, object, list, tuple, dict, set, str, bytes, int, float, bool)
"""Classes of which it is known whether data are objects of them."""
_ROUNDED = [frozenset((name,)) for name in ("float", "int", "np.float64")]


class Builtins(Base):
    """Each method ``b_name`` stands for the builtin of this name."""

    def b_len(self, value: Any) -> Any:
        """``len``."""
        if isinstance(value, Token):
            self.raises("any")
            return value.shape[0] if value.shape and value.kinds is not None else number("int")
        if isinstance(value, Private):
            return column_methods.length(value)
        return naturally(len, value)

    def b_sum(self, values: Any, start: Any = 0) -> Any:
        """``sum``."""
        if isinstance(values, Token):
            total = number("number")
            return total if type(start) is int else self.binary("add", total, start)
        if isinstance(values, ListedColumn):
            values = values.gone_through()
        if isinstance(values, Column):
            if type(start) is not int or start:
                refuse("sum of records with a start", "the start added to the sum")
            if np.isnan(plain(values.low).astype(float)).any():
                refuse("sum() of values that may be missing", ".sum(), which leaves them out, or .fillna(0)")
            if not values.is_series and plain(values.low).dtype.kind == "i" and plain(values.low).dtype.itemsize < 8:
                refuse("sum() of numbers of a small type, which wraps", ".sum()")
            summed = column_sum(values)
            kind = plain(values.low).dtype.kind
            kinds = {"i": {"int"}, "b": {"int"}, "f": {"int", "float"}}[kind]
            return summed.same(
                kinds=frozenset(kinds if values.is_series or values.is_stable else kinds | {"np.float64", "np.int64"}),
            )
        for each in self.iterate(values):
            start = self.binary("add", start, each)
        return start

    def b_min(self, *args: Any, **keywords: Any) -> Any:
        """``min``."""
        return self._extreme(min, args, keywords)

    def b_max(self, *args: Any, **keywords: Any) -> Any:
        """``max``."""
        return self._extreme(max, args, keywords)

    def b_abs(self, value: Any) -> Any:
        """``abs``."""
        return self.absolute(value)

    def b_round(self, value: Any, digits: Any = None) -> Any:
        """``round``."""
        _refuse_private("round() to so many digits as something private says", digits)
        if isinstance(value, Token):
            self.raises("int")
            return (
                number("int" if digits is None and value.kinds in _ROUNDED else "number")
                if value.is_number
                else Token()
            )
        if isinstance(value, Draw) and digits is None:
            return value.rounded()
        if isinstance(value, Private):
            refuse("round() of a private value, which jumps where it does not", "round(n + laplace(…), 1)")
        if digits is None:
            return naturally(round, value)
        return self._plain_builtin(round, value, digits)

    def b_int(self, *args: Any) -> Any:
        """``int``."""
        return self._converted(int, args)

    def b_float(self, *args: Any) -> Any:
        """``float``."""
        if args and isinstance(args[0], numbers.Number) and not args[0].shape:
            return args[0].cast(float)
        return self._converted(float, args)

    def b_bool(self, value: Any = False) -> Any:
        """``bool``."""
        if isinstance(value, Token):
            return number("bool")
        return self.truth(value)

    def b_str(self, *args: Any) -> Any:
        """``str``."""
        if len(args) != 1:
            return self._plain_builtin(str, *args)
        text = self.shown(args[0], "__str__") if is_of_users_class(type(args[0])) else None
        return self.format(args[0], 115, "") if text is None else text

    def shown(self, value: Any, name: str) -> Any:
        """``str(x)`` or ``repr(x)`` of an object of a user's class; None where it is a library's."""
        is_repr = name == "__str__" and dispatch.in_class(type(value), name) is object.__dict__["__str__"]
        method = dispatch.method(value, "__repr__" if is_repr else name)
        if method is None:
            return None
        text = self.call(method)
        return text if isinstance(text, Token) else self.checked(repr if is_repr else str, value, method.__name__, text)

    def b_repr(self, value: Any) -> Any:
        """``repr``."""
        return self.format(value, 114, "")

    def b_list(self, values: Any = ()) -> Any:
        """``list``."""
        if isinstance(values, Column | ListedColumn):
            return ListedColumn(values if isinstance(values, Column) else values.gone_through())
        records_found = records.records_of(values) if isinstance(values, Private) else None
        if records_found is not None:
            return records.Records(records_found.rows, records_found.space, records_found.values)
        if isinstance(values, Token) and items(values) is None:
            self.raises("any")
            return Token()
        return self.born(list(self.iterate(values)))

    def b_tuple(self, values: Any = ()) -> Any:
        """``tuple``."""
        if isinstance(values, Token) and items(values) is None:
            self.raises("any")
            return Token()
        return tuple(self.iterate(values))

    def b_dict(self, values: Any = (), **keywords: Any) -> Any:
        """``dict``."""
        if isinstance(values, Token):
            _refuse_private("a dict of released and private values", keywords)
            self.raises("any")
            return Token()
        pairs = list(values.items()) if isinstance(values, dict) else list(self.iterate(values))
        if any(isinstance(each, Token) for each in pairs):
            return (
                Token()
                if sort_of((pairs, keywords)) == RELEASED
                else refuse_form("a dict of released keys and private values")
            )
        both = [tuple(self.unpack(each, 2, None)) for each in pairs]
        return self.born(dict([(self._key(key), value) for key, value in both], **keywords))

    def b_set(self, values: Any = ()) -> Any:
        """``set``."""
        if isinstance(values, Private):
            refuse("a set of what records hold", "the set of values that are possible")
        listed = list(values if type(values) in (set, frozenset) else self.iterate(values))
        if sort_of(listed) == RELEASED:
            self._certain(listed)
            return Token()
        return self.born(set(map(self._key, listed)))

    def b_sorted(self, values: Any, *, key: Any = None, reverse: Any = False) -> Any:
        """``sorted``."""
        if isinstance(values, Unsorted) and key is None and sort_of(reverse) == PUBLIC:
            return values.sorted()
        if isinstance(values, Private):
            refuse("sorted() of private values", NOISE_FIRST)
        if isinstance(values, Token) and items(values) is None:
            _refuse_private("sorting by private values", key, reverse)
            self.unasked(key)
            self.raises("any")
            return Token()
        is_of_texts = type(values) in (set, frozenset) and key is None and all(type(each) is str for each in values)
        listed = list(values if is_of_texts else self.iterate(values))
        keys = [each if key is None else self.call(key, each) for each in listed]
        keys = [each[0] for each in keys] if _is_told_by_first(keys) else keys
        sort = max(sort_of(keys), sort_of(reverse))
        if sort == PUBLIC:
            order = naturally(sorted, range(len(listed)), key=keys.__getitem__, reverse=bool(reverse))
            return self.born([listed[place] for place in order])
        if sort == PRIVATE or sort_of(listed) == PRIVATE:
            refuse("sorting of or by private values", "sorting by released values")
        self.unasked(keys)
        self._certain(keys, listed)
        self.raises("any")
        kinds = {each.kinds if isinstance(each, Token) and each.is_number else None for each in listed}
        one = next(iter(kinds)) if len(kinds) == 1 else None
        return self.born([Token((), one) if one is not None else Token() for _ in listed])

    def b_enumerate(self, values: Any, start: int = 0) -> Any:
        """``enumerate``."""
        if isinstance(values, Column | ListedColumn | Records):
            refuse("enumerate() of records, whose order is private", "a loop without numbers")
        if sort_of(start) != PUBLIC:
            refuse("enumerate() from what is not public", "a constant")
        return enumerate(self.iterate(values), start)

    def b_zip(self, *values: Any, strict: bool = False) -> Any:
        """``zip``."""
        if any(isinstance(each, Column | ListedColumn | Records) for each in values):
            return records.zipped(values)
        return zip(*[self.iterate(each) for each in values], strict=strict)

    def b_map(self, function: Any, *values: Any) -> Any:
        """``map``."""
        if len(values) == 1 and isinstance(values[0], Column | ListedColumn):
            column = values[0].gone_through() if isinstance(values[0], ListedColumn) else values[0]
            return ListedColumn(records.applied(function, column, "map"), is_once=True)
        return map(lambda *each: self.call(function, *each), *[self.iterate(each) for each in values])

    def b_filter(self, function: Any, values: Any) -> Any:
        """``filter``."""
        return filter(
            lambda each: self.truth(each if function is None else self.call(function, each)), self.iterate(values)
        )

    def b_any(self, values: Any) -> Any:
        """``any``."""
        if isinstance(values, Token):
            return number("bool")
        return any(self.truth(each) for each in self.iterate(values))

    def b_all(self, values: Any) -> Any:
        """``all``."""
        if isinstance(values, Token):
            return number("bool")
        return all(self.truth(each) for each in self.iterate(values))

    def b_iter(self, values: Any) -> Any:
        """``iter``."""
        iterator = self.iterate(values)
        return iterator if hasattr(type(iterator), "__next__") else self.born(iter(iterator))

    def b_next(self, iterator: Any, *default: Any) -> Any:
        """``next``."""
        known = isinstance(iterator, types.GeneratorType | map | filter | zip | enumerate) or type(
            iterator
        ).__name__.endswith("iterator")
        if not known:
            refuse("next() of this", "a loop")
        if self.state.record or self.state.level:
            refuse("next() for each record, or in each repeated step", "a sum, or the state that the step returns")
        self.own(iterator)
        return naturally(next, iterator, *default)

    def b_reversed(self, values: Any) -> Any:
        """``reversed``."""
        if type(values) not in (list, tuple, range, str, dict):
            refuse("reversed() of this", "reversed(list(x))")
        return reversed(values)

    def b_range(self, *args: Any) -> Any:
        """``range``."""
        if sort_of(args) == RELEASED:
            return Token()
        return range(*args) if sort_of(args) == PUBLIC else refuse("a range of a private length", NOISE_FIRST)

    def b_isinstance(self, value: Any, kind: Any) -> Any:
        """``isinstance``."""
        kinds = kind if type(kind) is tuple else (kind,)
        if isinstance(value, Frame | Column):
            if not all(any(each is one for one in _CLASSES) for each in kinds):
                refuse(
                    "isinstance() of private data with a class that is not known here", "isinstance(df, pd.DataFrame)"
                )
            real = pd.DataFrame if isinstance(value, Frame) else pd.Series if value.is_series else np.ndarray
            return issubclass(real, kind)
        if isinstance(value, Token):
            self._certain(value)
            return Token()
        if stands_for_others(value):
            self._told_apart(value, kind)
        if isinstance(value, Private):
            refuse("isinstance() of a private value, whose type may hang on the data", "no test of its type")
        return isinstance(value, kind)

    def b_hasattr(self, value: Any, name: Any) -> Any:
        """``hasattr``."""
        if sort_of((value, name)) != PUBLIC or type(name) is not str or name[:1] == "_":
            refuse("hasattr() of what is not public")
        return hasattr(value, name)

    def b_getattr(self, value: Any, name: Any, *default: Any) -> Any:
        """``getattr``."""
        if type(name) is not str or (default and not isinstance(value, Private | Token) and not hasattr(value, name)):
            return default[0] if default and type(name) is str else refuse("getattr() by a name that is not public")
        return self.attribute(value, name)

    def b_setattr(self, value: Any, name: Any, new: Any) -> None:
        """``setattr``."""
        if type(name) is not str:
            refuse("setattr() by a name that is not public")
        self.set_attribute(value, name, new)

    def b_type(self, value: Any, *more: Any) -> Any:
        """``type``."""
        if more or isinstance(value, Private | Token) or stands_for_others(value):
            refuse("type() of what is not public", "no test of its type")
        return type(value)

    def b_super(self, *args: Any) -> Any:
        """``super``."""
        return super(*args) if len(args) == 2 else refuse("super() in this form")

    def b_print(self, *args: Any, **keywords: Any) -> None:
        """``print``: an output."""
        if set(keywords) - {"sep", "end", "flush"}:
            refuse("print to a file", "print without file=")
        self._quiet(print, args, keywords)

    def b_callable(self, value: Any) -> Any:
        """``callable``."""
        return callable(value) if sort_of(value) == PUBLIC else refuse("callable() of what is not public")

    def b_format(self, value: Any, specification: Any = "") -> Any:
        """``format``."""
        return self.format(value, -1, specification)

    def _copied(self, value: Any, name: str) -> Any:
        """A copy of containers, arrays and tables; no copy of a generator, which would draw the same again."""
        value = self.seen(value)
        kind = type(value)
        if kind in (int, float, str, bool, bytes, type(None), tuple) and name == "copy":
            return value
        if isinstance(value, Frame | Column | numbers.Number):
            if isinstance(value, Frame):
                return value.m_copy()
            return value if isinstance(value, Column) else value.same()
        if name == "copy" and kind in (list, dict, set):
            return self.born(value.copy())
        if kind in (list, tuple):
            copied = [self._copied(each, name) for each in value]
            return self.born(copied) if kind is list else tuple(copied)
        if kind is dict:
            return self.born({key: self._copied(each, name) for key, each in value.items()})
        if kind in (np.ndarray, pd.Series, pd.DataFrame) and sort_of(value) == PUBLIC:
            return self.born(value.copy())
        if kind in (int, float, str, bool, bytes, type(None), Token):
            return value
        return refuse(f"{name} of a {kind.__name__}", "the values themselves")

    def _plain_builtin(self, function: Any, *args: Any, **keywords: Any) -> Any:
        sort = sort_of((args, keywords))
        name = function.__name__
        if sort == PRIVATE:
            refuse(f"{name}() of a private value", NOISE_FIRST)
        if sort == PUBLIC:
            return self._public(function, args, keywords)
        self._certain(args, keywords)
        self.raises("any")
        return Token()

    def _extreme(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        is_private = isinstance(args[0], Private) and not (isinstance(args[0], numbers.Number) and keywords)
        values = list(self.iterate(args[0])) if len(args) == 1 and not is_private else list(args)
        if len(args) == 1 and isinstance(args[0], numbers.Number) and not keywords:
            return args[0].extreme()
        if len(args) == 1 and isinstance(args[0], Private) and isinstance(args[0], Column):
            args[0].refuse_others("max")
        if any(isinstance(each, RecordNumber) for each in values) and not keywords:
            return records.extreme(function, values)
        if set(keywords) == {"key"} and values:
            key = keywords["key"]
            is_by_get = type(args[0]) is dict and getattr(key, "__self__", None) is args[0] and key.__name__ == "get"
            values_asked = list(args[0].values()) if is_by_get else [self.call(key, each) for each in values]
            if function is max and decisions.largest(self.state, values_asked):
                return decisions.among(Token(), values) if sort_of(values) == PUBLIC else Token()
            self.unasked(values_asked)
            if (
                all(isinstance(each, Perturbed) for each in values_asked)
                and function is max
                and sort_of(values) == PUBLIC
            ):
                return decisions.among(largest(values_asked), values)
            if max(map(sort_of, (*values_asked, *values))) == RELEASED:
                return decisions.among(Token(), values) if sort_of(values) == PUBLIC else Token()
            if max(map(sort_of, (*values_asked, *values))) == PRIVATE:
                refuse(f"{function.__name__}() by private values", "Gumbel noise on each of them")
            return values[values_asked.index(function(values_asked))]
        sort = sort_of((values, keywords))
        if sort == PUBLIC:
            return function(values, **{name: self._callback(each) for name, each in keywords.items()})
        if sort == PRIVATE:
            if keywords or not all(isinstance(each, numbers.Number | int | float | np.number) for each in values):
                refuse(f"{function.__name__}() of private values in this form", NOISE_FIRST)
            return numbers.among(values, largest=function is max)
        if len(values) == 2 and function is max and (many := sizes.at_least_1(*values)) is not None:
            return many
        self.unasked(values, keywords)
        self._certain(values)
        if all(
            (isinstance(each, Token) and each.is_number) or type(each) in (int, float, np.float64, np.int64)
            for each in values
        ):
            kinds = {kind for each in values if isinstance(each, Token) for kind in each.kinds or ()}
            kinds |= {"float" if type(each) is float else "int" for each in values if not isinstance(each, Token)}
            return number(kinds.pop() if len(kinds) == 1 else "number")
        self.raises("any")
        return Token()

    def absolute(self, value: Any) -> Any:
        """``abs(x)``."""
        if isinstance(value, Token):
            return Token(value.shape, value.kinds, value.labels, value.columns)
        if isinstance(value, Column):
            return value.apply("abs", abs)
        if isinstance(value, numbers.Number | RecordNumber):
            return value.absolute()
        return abs(value) if sort_of(value) == PUBLIC else refuse("abs() of this", NOISE_FIRST)

    def _converted(self, kind: type, args: tuple[Any, ...]) -> Any:
        if args and isinstance(args[0], Token):
            _refuse_private(f"{kind.__name__}() of a released and a private value", args[1:])
            if not args[0].is_number:
                self.raises("any")
            elif kind is int:
                self.raises("int")
            is_same = kind is float or sizes.as_number(args[0]) is not args[0]
            return sizes.same(number(kind.__name__), args[0] if is_same else None)
        if len(args) == 1 and isinstance(args[0], Draw) and not args[0].shape and (kind is float or args[0].is_whole):
            converted = args[0].like(args[0].scales)
            converted.kind = kind.__name__
            return converted
        if args and isinstance(args[0], numbers.Number) and args[0].is_whole and kind is int:
            return args[0].cast(int)
        if sort_of(args) != PUBLIC:
            refuse(f"{kind.__name__}() of a private value", NOISE_FIRST)
        return naturally(kind, *args)

    def _key(self, value: Any) -> Any:
        if sort_of(value) != PUBLIC:
            refuse("a key that is not public", "public keys")
        return value

    b_frozenset = b_set


def _refuse_private(what: str, *values: Any) -> None:
    """Refuse what is given beside a released value, where it is private."""
    if sort_of(values) == PRIVATE:
        refuse(what, NOISE_FIRST)


def _is_told_by_first(keys: list[Any]) -> bool:
    """Whether tuples are told apart by what stands first in them, which is public: nothing looks at the rest."""
    firsts = [each[0] for each in keys if type(each) is tuple and each]
    if len(firsts) < len(keys) or sort_of(firsts) != PUBLIC or not all(type(each) in (str, int) for each in firsts):
        return False
    return len(set(firsts)) == len(keys)
