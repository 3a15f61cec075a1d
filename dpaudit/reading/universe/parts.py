"""What are the attributes and items of private, released and public values, and what may be assigned to them?"""

from __future__ import annotations

import collections
import enum
import functools
import operator
import random
import types
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading import dispatch, draws, source
from dpaudit.reading.universe import called, calls, column_methods, columns, noise, numbers, operators
from dpaudit.reading.universe.base import UncalledMethod, hook, naturally, stands_for_others
from dpaudit.reading.universe.column_methods import Written
from dpaudit.reading.universe.columns import Sampling
from dpaudit.reading.universe.counting import ByKey, Counting, Within
from dpaudit.reading.universe.filled import Filled
from dpaudit.reading.universe.frames import Frame, Loc
from dpaudit.reading.universe.groups import Groups, Keyed, PersonTable, Tally
from dpaudit.reading.universe.keys import Collected, NoisyKeys
from dpaudit.reading.universe.records import RecordRow
from dpaudit.reading.universe.state import (
    NOISE_FIRST,
    Private,
    refuse,
    written_into,
)
from dpaudit.reading.universe.undecided import ChosenRows, ChosenValues, Undecided
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, RELEASED, Token, array, is_of_users_class, number, sort_of
from dpaudit.reading.universe.vectors import RowLengths, Vectors, vectors_of

_VALUES = frozenset(
    ("T", "dtype", "name", "real", "imag", "str", "dt", "args", "index", "columns", "values", "size", "empty")
)
"""Attributes of released values that are no methods."""
_SELECTING = (
    ChosenRows,
    Frame,
    Groups,
    Keyed,
    PersonTable,
    Loc,
    RecordRow,
    NoisyKeys,
    Tally,
    Vectors,
    RowLengths,
    ByKey,
    Written,
)
_INDEXERS = frozenset(("_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer"))
_ARGS = vars(BaseException)["args"]
_DUNDERS = (
    "__name__", "__doc__", "__qualname__", "__init__", "__class__", "__members__", "__post_init__", "__len__",
    "__enter__", "__exit__", "__call__", "__str__", "__eq__",
)  # fmt: skip


class Parts(called.Calls):
    """Attributes and items."""

    @hook
    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        if id(owner) in self.state.filled and name in ("shape", "size", "ndim"):
            return getattr(owner, name)
        owner_ = self.seen(owner)
        if isinstance(owner_, Token):
            if name == "shape" and owner_.shape is not None and owner_.kinds is not None:
                return owner_.shape
            if name == "size" and owner_.shape is not None and owner_.kinds is not None:
                return int(np.prod(owner_.shape))
            if name == "index" and owner_.labels is not None:
                return owner_.labels
            if name == "columns" and owner_.columns is not None:
                return owner_.columns
            if name == "values" and owner_.kinds and owner_.kinds <= frozenset(("series", "frame")):
                return array(owner_.shape or ())
            if name in ("loc", "iloc", "at", "iat") and not isinstance(owner, np.ndarray):
                return owner_ if name in ("loc", "at") else Token()
            if name[:2] == "__":
                refuse(f"the attribute {name}")
            if name not in _VALUES:
                return UncalledMethod(owner_, name)
            self._certain(owner_)
            self.raises("any")
            return Token()
        if isinstance(owner_, Private):
            return self._attribute_of_private(owner_, name)
        if name[:2] == "__" and name not in _DUNDERS:
            refuse(f"the attribute {name}")
        if isinstance(owner, types.ModuleType):
            top = owner.__name__.split(".")[0]
            file = getattr(owner, "__file__", None)
            if top not in calls.MODULES and not (file and source.is_of_user(file)):
                refuse(f"the module {owner.__name__} is not known here")
            return naturally(getattr, owner, name)
        kind = type(owner)
        if dispatch.in_class(kind, name) is _ARGS:
            return Token() if stands_for_others(owner) else owner.args
        if name == "__class__" and stands_for_others(owner):
            refuse("the class of what is raised by an operation on released values", "isinstance(error, ValueError)")
        if is_of_users_class(kind) and kind is not type:
            return self._attribute_of_object(owner, name)
        if isinstance(owner, type):
            return naturally(getattr, owner, name)
        if isinstance(owner, super):
            return naturally(getattr, owner, name)
        if isinstance(owner, BaseException):
            refuse(f".{name} of an exception")
        if isinstance(owner, types.FunctionType | types.MethodType | functools.partial):
            if name in ("__name__", "__qualname__", "__doc__"):
                return naturally(getattr, owner, name)
            refuse(f".{name} of a function")
        if name.startswith("_"):
            refuse(f"the attribute {name}")
        if name == "rvs" and draws.source_of(getattr(owner, name, None)) is not None:
            return getattr(owner, name)
        if kind not in calls.READS and kind is not types.SimpleNamespace and sort_of(owner) == PRIVATE:
            refuse(f".{name} of a {kind.__name__} is not known here")
        if kind is types.SimpleNamespace:
            return naturally(getattr, owner, name)
        member = naturally(getattr, owner, name)
        if isinstance(owner, random.Random) and type(member) not in draws.BOUND:
            refuse(f".{name} of a {kind.__name__}, which may be the next draw")
        if isinstance(member, np.ndarray):
            self.fresh(member, owner)
        return member

    def _attribute_of_private(self, owner: Private, name: str) -> Any:
        if name.startswith("_"):
            refuse(f"the attribute {name}")
        if isinstance(owner, Frame) and name in ("iterrows", "itertuples", "to_dict"):
            return UncalledMethod(owner, name)
        if isinstance(owner, columns.Column):
            return (
                UncalledMethod(owner, name)
                if column_methods.column_method(owner, name) is not None
                else column_methods.column_attribute(owner, name)
            )
        if isinstance(owner, numbers.Number):
            known = operators.number_method(owner, name) is not None or name in ("add", "sub", "mul", "div")
            return UncalledMethod(owner, name) if known else operators.number_attribute(owner, name)
        if isinstance(owner, noise.Draw):
            return owner.shape if name == "shape" else refuse(f".{name} of noise", "the noise added to a number")
        if owner.method(name) is not None:
            return UncalledMethod(owner, name)
        return owner.get(name)

    def _attribute_of_object(self, owner: Any, name: str) -> Any:
        """An attribute of an object of the user's; what Python would run for it is called rewritten."""
        kind = type(owner)
        member = dispatch.in_class(kind, name)
        mine = getattr(owner, "__dict__", {})
        if isinstance(member, property):
            return self.call(member.fget, owner)
        if isinstance(member, functools.cached_property):
            if name not in mine:
                value = self.call(member.func, owner)
                self.own(owner)
                mine[name] = value
            return mine[name]
        if name in mine:
            return mine[name]
        if member is None:
            if dispatch.method(owner, "__getattr__") is not None:
                return self.call(dispatch.method(owner, "__getattr__"), name)
            return naturally(getattr, owner, name)
        known = (
            types.FunctionType,
            staticmethod,
            classmethod,
            types.MemberDescriptorType,
            types.WrapperDescriptorType,
            types.MethodDescriptorType,
        )
        if (
            not isinstance(member, known)
            and hasattr(type(member), "__get__")
            and not (isinstance(owner, tuple | enum.Enum))
        ):
            refuse(f".{name}, a descriptor of a kind that is not known here", "a property")
        return naturally(getattr, owner, name)

    @hook
    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        kind = type(owner)
        if isinstance(owner, Frame):
            refuse("a column that is set as an attribute", f'df["{name}"] = …')
        if name[:2] == "__" or isinstance(owner, type | types.ModuleType | types.FunctionType):
            refuse(f"an assignment to the attribute {name}, which lasts", "a local name")
        released = self.seen(owner)
        if isinstance(released, Token):
            if sort_of(value) == PRIVATE:
                refuse("a private value that is put into a released one", NOISE_FIRST)
            self._certain(value)
            self.raises("any")
            released.shape = released.kinds = released.labels = released.columns = None
            return
        if kind is not types.SimpleNamespace and not is_of_users_class(kind):
            refuse(f"an assignment to an attribute of a {kind.__name__}")
        self.own(owner)
        member = dispatch.in_class(kind, name)
        if isinstance(member, property):
            if member.fset is None:
                naturally(setattr, owner, name, value)
            if member.fset is None:
                raise AttributeError(f"property {name!r} of {kind.__name__!r} object has no setter")
            self.call(member.fset, owner, value)
            return
        setter = dispatch.method(owner, "__setattr__")
        if setter is not None:
            self.call(setter, name, value)
            return
        naturally(setattr, owner, name, value)

    @hook
    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        self.own(owner)
        delattr(owner, name)

    @hook
    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        method = dispatch.method(owner, "__getitem__")
        if method is not None:
            return self.call(method, key)
        if id(owner) in self.state.filled and (one := self.state.filled[id(owner)].at(key)) is not None:
            return one
        owner = self.seen(owner)
        if isinstance(owner, Private):
            return self._item_of_private(owner, key)
        sort = sort_of(key)
        if isinstance(owner, Token):
            return self._item_of_token(owner, key, sort)
        if isinstance(key, Sampling | columns.Column):
            refuse("a choice by a private mask of what is not of the same rows", "a mask of the same frame")
        if sort == PRIVATE:
            refuse("a choice by a private value", NOISE_FIRST)
        if sort == RELEASED:
            if sort_of(owner) == PRIVATE:
                refuse("a private value that a released one chooses", "noise on all of them first")
            self.unasked(key)
            self._certain(key)
            self.raises("any")
            return Token()
        kind = type(owner)
        if kind is collections.defaultdict:
            if key not in owner:
                self.own(owner)
                owner[key] = self.default_of(owner)
            return owner[key]
        if kind in (
            list,
            tuple,
            dict,
            str,
            bytes,
            range,
            collections.OrderedDict,
            collections.Counter,
            collections.deque,
            types.MappingProxyType,
        ) or isinstance(owner, tuple):
            member = naturally(operator.getitem, owner, key)
            return self.born(member) if isinstance(key, slice) and kind is list else member
        if kind.__name__ in _INDEXERS or (
            isinstance(owner, np.ndarray | pd.Series | pd.Index | pd.DataFrame | type) and sort_of(owner) == PUBLIC
        ):
            if kind.__name__ in _INDEXERS and sort_of(owner.obj) != PUBLIC:
                refuse("a part of a table that is not public")
            return self.fresh(naturally(operator.getitem, owner, key), owner)
        if isinstance(owner, pd.DataFrame | pd.Series) and sort_of(owner) == RELEASED:
            self.raises("any")
            return Token()
        return refuse(f"an item of a {kind.__name__} is not known here")

    def default_of(self, owner: collections.defaultdict[Any, Any]) -> Any:
        """Return what a defaultdict makes for a key: its function was made a `_callback` when it was made."""
        factory = owner.default_factory
        return factory() if type(factory) is functools.partial and factory.func == self.call else self.call(factory)

    def _item_of_private(self, owner: Private, key: Any) -> Any:
        if not (isinstance(owner, Frame) and isinstance(key, str)):
            self.raises("any")
        if isinstance(owner, columns.Column):
            return self._item_of_column(owner, key)
        if isinstance(owner, numbers.Number | noise.Draw):
            return owner.at(key)
        if isinstance(owner, _SELECTING):
            return owner.select(key)
        return refuse(f"an item of a {owner.noun}", NOISE_FIRST)

    def _item_of_column(self, owner: columns.Column, key: Any) -> Any:
        if isinstance(key, columns.Column):
            return owner.kept(key)
        if isinstance(key, Undecided):
            return ChosenValues(owner, key)
        if isinstance(key, Sampling):
            rows = key.of(owner.rows)
            column = columns.Column(
                rows, owner.space, owner.low, owner.high, owner.source, is_stable=owner.is_stable, made=owner.made
            )
            column.none = owner.none
            return column
        if (
            owner.width
            and isinstance(key, tuple)
            and len(key) == 2
            and key[0] == slice(None)
            and isinstance(key[1], int | slice)
        ):
            low = owner.low[key]
            return owner.with_values(owner.space, low, None if owner.is_exact else owner.high[key])
        if not owner.is_series and isinstance(key, tuple) and None in key:
            return vectors_of(owner).select(key)
        return refuse(
            "a choice of rows by place: which record stands where is private",
            "x[x > 0].clip(LOW, HIGH).sum() + laplace(…)",
        )

    def _item_of_token(self, owner: Token, key: Any, sort: int) -> Any:
        if sort == PRIVATE:
            refuse("a released value that a private one chooses", NOISE_FIRST)
        self.unasked(key)
        self._certain(owner)
        if (
            sort == PUBLIC
            and owner.is_array
            and owner.shape
            and type(key) is int
            and len(owner.shape) == 1
            and -owner.shape[0] <= key < owner.shape[0]
        ):
            return number("np.float64")
        if sort == PUBLIC and owner.is_array and owner.shape:
            try:
                shape = np.broadcast_to(0.0, owner.shape)[key].shape
                return array(shape) if shape else number("np.float64")
            except (IndexError, TypeError, ValueError):
                pass
        if (
            sort == PUBLIC
            and owner.labels is not None
            and owner.columns is None
            and not isinstance(key, list | slice | np.ndarray)
            and key in owner.labels
        ):
            return number("np.float64")
        if (
            sort == PUBLIC
            and owner.columns is not None
            and isinstance(key, str)
            and key in owner.columns
            and owner.shape
        ):
            return Token(owner.shape[:1], frozenset(("series",)), owner.labels)
        self.raises("any")
        return Token()

    @hook
    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``."""
        method = dispatch.method(owner, "__setitem__")
        if method is not None:
            self.call(method, key, value)
            return
        if isinstance(owner, Frame | Loc | Collected | Counting | Within):
            self.raises("any")
            owner.store(key, value)
            return
        if type(owner) is np.ndarray and (isinstance(value, numbers.Number) or self._is_filled(owner)):
            self._fill(owner, key, self.seen(value))
            return
        owner_ = self.seen(owner)
        if isinstance(owner_, numbers.Number) and owner_.columns is not None:
            owner_ = Written(owner_)
        if isinstance(owner_, Written):
            self.raises("any")
            self.write(owner, owner_.store(key, value))
            return
        if isinstance(owner_, Private):
            of_rows = isinstance(owner_, columns.Column)
            instead = "x.where(mask, other)" if of_rows else "noisy = table[NAME] + laplace(…, size=len(VALUES))"
            refuse(f"an assignment into a {owner_.noun}", instead)
        sort, of_key = sort_of(value), sort_of(key)
        if isinstance(owner_, Token):
            if max(sort, of_key) == PRIVATE:
                refuse("a private value that is put into a released one", NOISE_FIRST)
            self.unasked(key, value)
            self._certain(key, value)
            self.raises("any")
            if not owner_.is_array:
                owner_.shape = owner_.kinds = owner_.labels = owner_.columns = None
            return
        kind, target = type(owner), owner
        if kind.__name__ in _INDEXERS:
            kind, owner = type(owner.obj), owner.obj
        if kind not in (
            list,
            dict,
            np.ndarray,
            pd.Series,
            pd.DataFrame,
            collections.OrderedDict,
            collections.Counter,
            collections.defaultdict,
            collections.deque,
        ):
            refuse(f"an assignment into a {kind.__name__}")
        self.own(owner)
        if of_key != PUBLIC:
            refuse("a key or place that is not public", "public keys")
        if kind in (np.ndarray, pd.Series, pd.DataFrame):
            if sort == PRIVATE:
                instead = "noise first: table[NAME] = [n + laplace(…) for n in counts]"
                refuse("a private value that is put into an array or table", instead)
            if sort == RELEASED:
                if kind is np.ndarray and owner.base is not None:
                    refuse("a released value that is put into a view of an array", "an array of its own")
                self.unasked(value)
                self._certain(value)
                token = array(owner.shape) if kind is np.ndarray and owner.dtype.kind == "f" else Token()
                if kind is pd.Series and key in owner.index and owner.index.is_unique:
                    token = Token(owner.shape, frozenset(("series",)), owner.index)
                self.write(owner, token)
                return
        naturally(operator.setitem, target, key, value)

    def _is_filled(self, owner: Any) -> bool:
        """Whether private numbers were put into an array, and not all of them are released since."""
        if isinstance(written_into(owner), Token):
            self.state.filled.pop(id(owner), None)
        return id(owner) in self.state.filled

    def _fill(self, owner: Any, key: Any, value: Any) -> None:
        """``table[k] = n`` of an array that private numbers are put into."""
        if isinstance(written_into(owner), Token) and id(owner) not in self.state.filled:
            refuse("a private value that is put into a released one", NOISE_FIRST)
        self.own(owner)
        self.raises("any")
        filled = self.state.filled.setdefault(id(owner), Filled(owner))
        filled.store(key, value)
        self.write(owner, filled.stands_for())

    @hook
    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        if sort_of(key) != PUBLIC or type(owner) not in (list, dict, collections.OrderedDict):
            refuse("del of this")
        self.own(owner)
        naturally(operator.delitem, owner, key)


__all__ = ["Parts"]
