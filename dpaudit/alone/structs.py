"""How are records read, compared and written without msgspec and rfc8785? From the standard library.

Evidence is refused unless its record, read and written again, is the same (`Evidence.from_json`), so a value that is
read here otherwise than by msgspec is refused and not passed over.
"""

from __future__ import annotations

import json
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, ClassVar, Literal

from dpaudit.alone.ndarray import missing

# --- How are records read and compared without msgspec? ---

NODEFAULT: Any = type("NODEFAULT", (), {"__repr__": lambda self: "NODEFAULT"})()


class MsgspecError(Exception):
    """Anything that is wrong with a value."""


class ValidationError(MsgspecError):
    """A value that is not of its type."""


class Meta:
    """What a text must look like, or between which numbers one must lie."""

    def __init__(
        self, *, pattern: str | None = None, gt: float | None = None, lt: float | None = None, **others: Any
    ) -> None:
        """Keep them; no other condition is offered."""
        if others:
            raise missing(f"msgspec.Meta({', '.join(others)})")
        self.pattern, self.gt, self.lt = pattern, gt, lt

    def refused(self, value: Any) -> str:
        """Say what is expected; empty where a value is so. NaN lies between no numbers."""
        if self.pattern is not None and not re.search(self.pattern, value):
            return f"str matching {self.pattern}"
        if self.gt is not None and not value > self.gt:
            return f"number > {self.gt}"
        return f"number < {self.lt}" if self.lt is not None and not value < self.lt else ""


class FieldInfo:
    """A member of a record: its name, and its default."""

    def __init__(self, name: str, default: Any) -> None:
        """Keep both."""
        self.name = self.encode_name = name
        self.default, self.default_factory = default, NODEFAULT
        self.required = default is NODEFAULT


class _Config:
    def __init__(self, tag: str | None) -> None:
        self.tag, self.tag_field = tag, None if tag is None else "type"


class _StructMeta(type):
    __struct_fields__: tuple[FieldInfo, ...]
    __struct_config__: _Config

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any], **config: Any) -> _StructMeta:
        annotations = _annotations(members)
        fields = {each.name: each for base in bases for each in getattr(base, "__struct_fields__", ())}
        for member, annotation in annotations.items():
            if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
                continue
            fields.pop(member, None)
            fields[member] = FieldInfo(member, members.pop(member, NODEFAULT))
        made = super().__new__(cls, name, bases, members)
        made.__struct_fields__ = tuple(fields.values())
        made.__struct_config__ = _Config(config.get("tag"))
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any], **config: Any) -> None:
        super().__init__(name, bases, members)


def _annotations(members: dict[str, Any]) -> dict[str, Any]:
    return dict(members.get("__annotations__", {}))


class Struct(metaclass=_StructMeta):
    """A record that does not change."""

    __struct_fields__: ClassVar[tuple[FieldInfo, ...]]
    __struct_config__: ClassVar[_Config]

    def __init__(self, *values: Any, **named: Any) -> None:
        """Take the members, in their order or by name."""
        fields = type(self).__struct_fields__
        if len(values) > len(fields):
            raise TypeError(f"{type(self).__name__} has {len(fields)} members")
        own = vars(self)
        for field, value in zip(fields, values, strict=False):
            own[field.name] = value
        for field in fields[len(values) :]:
            value = named.pop(field.name, field.default)
            if value is NODEFAULT:
                raise TypeError(f"missing required argument {field.name!r}")
            own[field.name] = value
        if named:
            raise TypeError(f"unexpected argument {next(iter(named))!r}")
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after()

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: a record does not change."""
        raise AttributeError(f"immutable type: {type(self).__name__!r}")

    def _values(self) -> tuple[Any, ...]:
        own = vars(self)
        return tuple(own[field.name] for field in type(self).__struct_fields__)

    def __eq__(self, other: object) -> bool:
        """Whether another record of the same class has the same members."""
        if type(self) is not type(other):
            return NotImplemented
        return self._values() == typing.cast(Struct, other)._values()

    def __hash__(self) -> int:
        """The hash of all members."""
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        """The class with its members."""
        shown = zip(type(self).__struct_fields__, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{field.name}={value!r}' for field, value in shown)})"


def _replace(struct: Any, /, **changes: Any) -> Any:
    own = {field.name: vars(struct)[field.name] for field in type(struct).__struct_fields__}
    return type(struct)(**{**own, **changes})


def _fields(kind: Any) -> tuple[FieldInfo, ...]:
    return tuple((kind if isinstance(kind, type) else type(kind)).__struct_fields__)


class structs:  # noqa: N801 - the name of the module that it stands for
    """The functions of ``msgspec.structs``."""

    FieldInfo = FieldInfo
    replace = staticmethod(_replace)
    fields = staticmethod(_fields)


def to_builtins(value: Any) -> Any:
    """Return a record as plain values."""
    if isinstance(value, Struct):
        tag = type(value).__struct_config__.tag
        own = {} if tag is None else {"type": tag}
        return own | {field.name: to_builtins(vars(value)[field.name]) for field in type(value).__struct_fields__}
    if isinstance(value, Mapping):
        return {key: to_builtins(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_builtins(item) for item in value]
    return value.value if isinstance(value, Enum) else value


# --- reading ----------------------------------------------------------------------------------------------


_Reader = Callable[[Any], Any]
_READERS: dict[Any, _Reader] = {}


def convert(value: Any, type: Any, *, strict: bool = True) -> Any:  # noqa: A002
    """Return plain values as a record; texts of numbers are read as numbers.

    Args:
        value: as JSON gives it.
        type: the class of the record.
        strict: must be false: no other reading is offered.

    Raises:
        ValidationError: if a value is not of its type.
    """
    if strict:
        raise missing("msgspec.convert(strict=True)")
    return _reader(type)(value)


def _reader(kind: Any) -> _Reader:
    try:
        found = _READERS.get(kind)
    except TypeError:
        return _made(kind)
    if found is None:
        found = _READERS[kind] = _made(kind)
    return found


def _made(kind: Any) -> _Reader:
    """Return the function that reads values of a type."""
    if kind is Any:
        return lambda value: value
    if kind is None or kind is type(None):
        return _none
    if isinstance(kind, type):
        plain = _PLAIN.get(kind)
        if plain is not None:
            return plain
        if issubclass(kind, Struct):
            return _struct(kind)
        if issubclass(kind, Enum):
            return _enum(kind)
    origin, of = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _annotated(of)
    if origin in (typing.Union, types.UnionType):
        return _union(of)
    if origin is tuple:
        return _tuple(of)
    if origin is dict:
        return _dict(of)
    if origin is Literal:
        return lambda value: value if value in of else _refuse(value, "one of " + ", ".join(map(str, of)))
    raise missing(f"records with {kind}")


def _refuse(value: Any, wanted: str) -> Any:
    raise ValidationError(f"Expected `{wanted}`, got `{value!r:.80}`")


def _none(value: Any) -> None:
    if value is not None and value != "null":
        _refuse(value, "null")


def _bool(value: Any) -> bool:
    return value if isinstance(value, bool) else _refuse(value, "bool")


def _str(value: Any) -> str:
    return value if isinstance(value, str) else _refuse(value, "str")


def _int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return _refuse(value, "int")
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?(0|[1-9][0-9]{0,4000})", value) else _refuse(value, "int")
    return int(value) if value == value // 1 else _refuse(value, "int")


_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?|-?inf|nan", re.ASCII)


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return _refuse(value, "float")
    if isinstance(value, str) and not _FLOAT.fullmatch(value):
        return _refuse(value, "float")
    return float(value)


_PLAIN: dict[type, _Reader] = {bool: _bool, str: _str, int: _int, float: _float}


def _enum(kind: type[Enum]) -> _Reader:
    def read(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            return _refuse(value, kind.__name__)

    return read


def _annotated(of: tuple[Any, ...]) -> _Reader:
    inner = _reader(of[0])
    conditions = [each for each in of[1:] if isinstance(each, Meta)]

    def read(value: Any) -> Any:
        found = inner(value)
        for wrong in filter(None, (each.refused(found) for each in conditions)):
            _refuse(value, wrong)
        return found

    return read


def _union(of: tuple[Any, ...]) -> _Reader:
    """Read as the first type that fits: null, the record whose tag is stated, or the value's own type first."""
    tagged = {each.__struct_config__.tag: each for each in of if isinstance(each, type) and issubclass(each, Struct)}
    others = [each for each in of if each not in tagged.values() and each is not type(None)]
    nullable = type(None) in of

    def read(value: Any) -> Any:
        if value is None and nullable:
            return None
        if isinstance(value, dict) and tagged:
            kind = tagged.get(value.get("type")) or tagged.get(None)
            return _refuse(value, "a known tag") if kind is None else _reader(kind)(value)
        for each in sorted(others, key=lambda kind: kind is not type(value)):
            try:
                return _reader(each)(value)
            except ValidationError:
                continue
        return _refuse(value, " | ".join(map(str, of)))

    return read


def _tuple(of: tuple[Any, ...]) -> _Reader:
    if len(of) == 2 and of[1] is Ellipsis:
        each = _reader(of[0])
        return lambda value: tuple(map(each, value)) if isinstance(value, list | tuple) else _refuse(value, "array")
    readers = [_reader(one) for one in of]

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            return _refuse(value, f"array of length {len(readers)}")
        return tuple(reader(item) for reader, item in zip(readers, value, strict=True))

    return read


def _dict(of: tuple[Any, ...]) -> _Reader:
    names, items = map(_reader, of)

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return _refuse(value, "object")
        return {names(name): items(item) for name, item in value.items()}

    return read


def _struct(kind: type[Struct]) -> _Reader:
    """Read a record: no member may be missing that has no default, and none may be there that is unknown."""
    readers: dict[str, _Reader] = {}
    tag = kind.__struct_config__.tag
    required = [field.name for field in kind.__struct_fields__ if field.required]

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return _refuse(value, "object")
        if not readers:
            readers.update(_members(kind))
        given = dict(value)
        if tag is not None and given.pop("type", None) != tag:
            return _refuse(value, f"the tag {tag}")
        for name in given:
            if name not in readers:
                raise ValidationError(f"Object contains unknown field `{name:.80}`")
        for name in required:
            if name not in given:
                raise ValidationError(f"Object missing required field `{name}`")
        try:
            return kind(**{name: readers[name](item) for name, item in given.items()})
        except (ValueError, TypeError) as error:
            raise ValidationError(str(error)) from None

    return read


def _members(kind: type[Struct]) -> Iterator[tuple[str, _Reader]]:
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        own = vars(base).get("__annotations__", {})
        names = vars(sys.modules[base.__module__])
        for name, written in own.items():
            hints[name] = eval(written, dict(names)) if isinstance(written, str) else written
    for field in kind.__struct_fields__:
        yield field.name, _reader(hints[field.name])


# --- How is JSON written so that it has one digest? RFC 8785, in place of the library rfc8785 ---

_LARGEST = 2**53 - 1


class CanonicalizationError(ValueError):
    """A value that has no canonical JSON."""


def dumps(value: Any) -> bytes:
    """Return JSON values in canonical form, in UTF-8.

    Raises:
        CanonicalizationError: if a value has none.
    """
    try:
        return "".join(_parts(value)).encode()
    except UnicodeEncodeError:
        raise CanonicalizationError("a text with a lone surrogate") from None


def _parts(value: Any) -> list[str]:
    if value is None or value is True or value is False:
        return [{None: "null", True: "true", False: "false"}[value]]
    if isinstance(value, str):
        return [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise CanonicalizationError(f"{value} is no integer of a float")
        return [str(value)]
    if isinstance(value, float):
        return [_number(value)]
    if isinstance(value, list | tuple):
        parts = ["["]
        for place, item in enumerate(value):
            parts += [*([","] if place else []), *_parts(item)]
        return [*parts, "]"]
    if isinstance(value, dict):
        parts = ["{"]
        if not all(isinstance(name, str) for name in value):
            raise CanonicalizationError("the name of a member is a text")
        for place, name in enumerate(sorted(value, key=lambda name: name.encode("utf-16be"))):
            parts += [*([","] if place else []), *_parts(name), ":", *_parts(value[name])]
        return [*parts, "}"]
    raise CanonicalizationError(f"{type(value).__name__} is no JSON")


def _number(value: float) -> str:
    """Write a number as ECMAScript does (ECMA-262, Number::toString): the shortest digits that give it back."""
    if not math.isfinite(value):
        raise CanonicalizationError(f"{value} is no JSON")
    if value == 0:
        return "0"
    if value < 0:
        return "-" + _number(-value)
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, rest = mantissa.partition(".")
    digits = whole + rest
    point = len(whole) + int(exponent or 0)  # the number is 0.digits · 10^point
    leading = len(digits) - len(digits.lstrip("0"))
    digits, point = digits.strip("0"), point - leading
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    shown = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{shown}e{point - 1:+d}"
