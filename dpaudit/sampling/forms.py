"""What can an attacker see of one output? Its form, and the numbers in it.

Whatever distinguishes two outputs is in the form or in the numbers; otherwise the output is refused by name. The
following are equal on purpose: a plain number and NumPy's ``float64``, ``int64`` and ``bool`` of it; a value of a
subclass and the plain value of its base class (``str``, ``int``, ``float``, ``list``, ``tuple``, ``dict``, ``set``,
arrays), ignoring what the subclass says about itself; the order in which a set was filled; and where in memory an array
or an object is.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import inspect
import itertools
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.evidence.event import TYPES
from dpaudit.program.batch_value import BatchValue, entries
from dpaudit.program.outcome import (
    ManyArrays,
    ManyFrames,
    ManyLabels,
    ManyNumbers,
    ManyTexts,
    Raised,
    is_told,
    raised,
)

# --- Which numbers does a text hold? Its form and the numbers; together they restore the text ---

_NUMERAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)", re.ASCII)
_MOST_LETTERS = 2_000  # read for numbers; the rest counts as one digest
_MOST_DECIMALS = 9
_LARGEST = 2**53  # an integer that a float holds


def read_text(text: str) -> tuple[str, list[float]]:
    """Return a text with # in place of its numbers, and the numbers.

    A numeral is a number only if that number is always written so: an integer, with as many decimals as there are #
    after the point, or as Python writes a float (#float). Every other numeral stays in the form.
    """
    start, rest = text[:_MOST_LETTERS], text[_MOST_LETTERS:]
    pieces, numbers, done = [], [], 0
    for match in _NUMERAL.finditer(start):
        numeral = _numeral(match[0])
        if numeral is not None:
            pieces += [_escaped(start[done : match.start()]), numeral[0]]
            numbers.append(numeral[1])
            done = match.end()
    pieces.append(_escaped(start[done:]))
    if rest:
        digest = hashlib.blake2b(rest.encode(errors="surrogatepass"), digest_size=8).hexdigest()
        pieces.append(f" … and {len(rest):,} letters more with the digest {digest}")
    return "".join(pieces), numbers


def of_text(text: str) -> tuple[str, list[float]]:
    """Return the form of a text that is an output, and its numbers, if it reports any: decimals, in lines, or in JSON.

    Other texts with numerals in them, such as "c12" and "18 to 25", are names: each is a form of its own.
    """
    reports = text[:1] in ("{", "[") or "\n" in text
    if reports or "." in text:
        form, numbers = read_text(text)
        if numbers and (reports or "#." in form or "#float" in form):
            return f"the text {form!r}", [BELOW_ZERO if is_minus_zero(number) else number for number in numbers]
    return repr(text), []


def is_minus_zero(value: float) -> bool:
    """Whether a number is −0.0."""
    return value == 0 and math.copysign(1, value) < 0


def _escaped(text: str) -> str:
    return re.sub(r"[\\#]", r"\\\g<0>", text)


def _numeral(text: str) -> tuple[str, float] | None:
    """Return the form of a numeral, and its number; None if these two do not restore the numeral."""
    if len(text) < 20 and re.fullmatch(r"0|-?[1-9]\d*", text) and abs(int(text)) <= _LARGEST:
        return "#", float(text)
    value = float(text)
    decimals = len(text.partition(".")[2])
    if not math.isfinite(value) or value == -5e-324:  # the latter stands for −0.0 among numbers
        return None
    if 1 <= decimals <= _MOST_DECIMALS and "e" not in text.lower() and f"{value:.{decimals}f}" == text:
        return "#." + "#" * decimals, value
    return ("#float", value) if repr(value) == text else None


EXACT = 2**53  # the largest integers that a float holds are numbers; larger ones are categories
BELOW_ZERO = -5e-324  # stands for −0.0, which compares equal to 0.0; the number itself is a category
_KINDS = {"bool": "bool", "int64": "int", "float64": "float"}  # NumPy's own names are those of the other types
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_MOST_MEMBERS = 1_000_000

_COUNT: ContextVar[bool] = ContextVar("types count", default=True)
Column = Any  # a plain number, or an array with one number per run


def refuse_types(types: Any) -> None:
    """Raise `UsageError` unless ``types`` is one of `TYPES`."""
    if types not in TYPES:
        raise UsageError(
            f"types is 'count' (an int is told apart from a float, a list from a tuple) or 'ignore', not {types!r:.40}"
        )


@contextmanager
def reading_types(types: str) -> Iterator[None]:
    """Read outputs so that types distinguish them ("count"), or so that equal contents are equal ("ignore")."""
    token = _COUNT.set(types == "count")
    try:
        yield
    finally:
        _COUNT.reset(token)


def kind_of(dtype: np.dtype[Any]) -> str | None:
    """Return the name of single numbers of a type; None if a float cannot hold them."""
    return _KINDS.get(dtype.name, dtype.name) if dtype.kind in "biuf" and dtype.char not in "g" else None


PLACE = "\ue000{}\ue001"
"""Stands in a form for a text that differs by run, by its number."""


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedTexts:
    """Texts that differ by run, within an output."""

    codes: np.ndarray[Any, Any]  # (runs,) which of them
    read: list[tuple[str, list[float]]]  # the form of each, and its numbers
    before: int  # how many numbers the output has before them


def read_form(output: Any, columns: list[Column], texts: list[PlacedTexts] | None = None) -> str:
    """Return the form of an output, and append its numbers to ``columns``; `BatchValue` entries are one column each.

    Texts that differ by run are appended to ``texts``, and `PLACE` stands for each in the form.
    """
    try:
        return _FormReader(columns, _COUNT.get(), texts).form(output)
    except UsageError:
        raise
    except RecursionError:
        raise _incomparable(output, "it is nested too deeply, or contains itself") from None
    except (Exception, SystemExit) as error:
        raise _incomparable(output, f"looking at it raises {type(error).__name__}") from None


def form_of_arrays(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str | None:
    """Return the form of finite numbers, or of arrays of them; None if they have to be read one by one."""
    kind = kind_of(dtype) if dtype.isnative else None
    if kind is None or (shape and not _COUNT.get()):
        return None
    if not shape:
        return kind if _COUNT.get() else "number"
    return f"array{shape} of {kind} × {math.prod(shape)}".removesuffix(" × 1")


def embedded(values: Any) -> Any:
    """Return floats with −0.0 replaced by the largest number below 0, so that every rule distinguishes it from 0.0."""
    if values.dtype.kind != "f" or values.all():
        return values
    return np.where((values == 0) & np.signbit(values), BELOW_ZERO, values)


def is_number(values: Any) -> Any:
    """Return for each entry whether it is a number, rather than a category such as NaN."""
    if values.dtype.kind == "f":
        return np.isfinite(values) & (values != BELOW_ZERO)
    return (values <= EXACT) & (values >= -EXACT) if values.dtype.kind in "iu" else np.ones(values.shape, dtype=bool)


@dataclasses.dataclass(slots=True)
class _FormReader:
    columns: list[Column]
    types: bool
    texts: list[PlacedTexts] | None = None
    names: bool = False  # whether every text is a name, whatever numerals it holds

    def form(self, output: Any) -> str:
        kind = type(output)  # which an output cannot forge
        if kind is BatchValue:
            self.columns.append(entries(output))
            return self._named(str(_KINDS[self.columns[-1].dtype.name]))
        if kind is ManyNumbers:
            self.columns.append(output.array)
            return self._named(str(kind_of(output.array.dtype)))
        if kind is ManyTexts and self.texts is not None:
            return self._many_texts(output, of_text)
        if kind is ManyArrays:
            return self._many_arrays(output)
        if kind is ManyFrames:
            return self._labelled(output.kind, output.index, output.columns, output.name, output.dtypes, output.cells)
        if issubclass(kind, Enum):
            name, value = (object.__getattribute__(output, member) for member in ("_name_", "_value_"))
            return f"{kind.__name__}.{name or self.label(value)}" + ("" if name is None else f" = {self.label(value)}")
        if issubclass(kind, str) and not self.names:
            form, numbers = of_text(str.__str__(output))
            self.columns += numbers
            return form
        if issubclass(kind, str | bytes | bytearray):
            return next(base.__repr__(output) for base in (str, bytes, bytearray) if issubclass(kind, base))
        if issubclass(kind, np.generic):
            return self._scalar(output)
        if output is None:
            return "None"
        if kind is Raised:
            return self._exception(output)
        if issubclass(kind, bool):
            return self._number(output, "bool")
        if issubclass(kind, int | float):
            base: Any = int if issubclass(kind, int) else float
            return self._number(base.__pos__(output), base.__name__)
        return self._container(output, kind)

    def label(self, key: Any) -> str:
        """Return a key of a dict or of a table as part of a form; numbers are discrete here too."""
        inside = _FormReader([], self.types, names=True)
        form = inside.form(key)
        if type(key) in (bool, int, float) or (inside.columns and kind_of_scalar(key)):
            return repr(key.item() if isinstance(key, np.generic) else key) if inside.columns else form
        return f"{form} {[float(column) for column in inside.columns]}" if inside.columns else form

    # --- numbers -----------------------------------------------------------------------------------------

    def _named(self, kind: str) -> str:
        return kind if self.types else "number"

    def _number(self, value: Any, kind: str) -> str:
        if isinstance(value, int):
            if abs(value) > EXACT:
                return f"{self._named(kind)} {value:#x}"  # hexadecimal, because Python refuses very long decimals
        elif math.isnan(value):
            bits = struct.unpack(">Q", struct.pack(">d", value))[0]
            text = {0x7FF8 << 48: "nan", 0xFFF8 << 48: "-nan"}.get(bits, f"nan {bits:#x}")
            return text if kind == "float" or not self.types else f"{kind} {text}"
        elif math.isinf(value):
            return repr(value) if kind == "float" or not self.types else f"{kind} {value}"
        elif value == BELOW_ZERO:
            return f"{self._named(kind)} {value}"
        self.columns.append(BELOW_ZERO if is_minus_zero(value) else float(value))
        return self._named(kind)

    def _scalar(self, value: Any) -> str:
        """Read a NumPy scalar as the value that it stands for; dates keep their unit, which ``item()`` may lose."""
        dtype = value.dtype
        kind = kind_of(dtype)
        if kind is not None:
            return self._number(value.item(), kind)
        if isinstance(value, np.longdouble):
            return self._long(value)
        if isinstance(value, np.datetime64 | np.timedelta64):
            return f"{dtype.name} {value}"
        if isinstance(value, np.complexfloating):
            return self._complex(value.real, value.imag, "complex" if dtype.name == "complex128" else dtype.name)
        if dtype.names:
            return self._keyed((self.label(name), value[name]) for name in dtype.names)
        return self.form(value.item())

    def _complex(self, real: Any, imaginary: Any, kind: str) -> str:
        return f"{self._named(kind)}({self.listed([real, imaginary])})"

    def _long(self, value: Any) -> str:
        """A long double is the sum of two doubles."""
        with np.errstate(all="ignore"):
            near = float(value)
            rest = float(value - np.longdouble(near)) if math.isfinite(near) else 0.0
        if math.isinf(near) and np.isfinite(value):
            return f"{self._named('longdouble')} {value!r}"
        form = self._number(near, "longdouble")
        return form if not rest else f"{form} + {self._number(rest, 'float')}"

    def _exactly(self, value: Fraction, name: str) -> str:
        """A number that may be between two doubles: the nearest double, the rest, and a digest if there is more."""
        try:
            near = float(value)
            rest = value - Fraction(near)
        except OverflowError:
            return f"{name} {value!r}"
        form = f"{name} " * self.types + self._number(near, "float")
        if rest:
            self.columns += [float(rest), _digest(f"{value.numerator:x}/{value.denominator:x}".encode())]
            form += " and the rest"
        return form

    def _decimal(self, value: Decimal, name: str) -> str:
        sign, digits, exponent = Decimal.as_tuple(value)
        if not isinstance(exponent, int):
            return f"{name} {'-' * sign}{exponent}{''.join(map(str, digits))}"
        if abs(exponent) > 400 or len(digits) > 400:
            return f"{name} {Decimal.__repr__(value)}"
        exact = Fraction(*Decimal.as_integer_ratio(value))
        zero = sign and not exact
        form = f"{name} " * self.types + self._number(-0.0, "float") if zero else self._exactly(exact, name)
        if self.types:
            self.columns.append(float(exponent))  # 1.0 and 1.00 are different texts
        return form

    # --- exceptions, and other texts ---------------------------------------------------------------------

    def _exception(self, output: Raised) -> str:
        parts = [self._text(str(output))]
        parts += [f"{name} = {self.form(value)}" for name, value in output.details if not is_told(value)]
        return "; ".join(parts)

    def _text(self, text: str) -> str:
        form, numbers = read_text(text)
        self.columns += [BELOW_ZERO if is_minus_zero(number) else number for number in numbers]
        return form

    # --- containers --------------------------------------------------------------------------------------

    def _container(self, output: Any, kind: type) -> str:
        name = kind.__name__
        if kind is type or issubclass(kind, type):
            return f"class {output.__module__}.{output.__qualname__}"
        if issubclass(kind, np.ndarray):
            return self._array(output)
        if issubclass(kind, tuple):
            fields = kind.__dict__.get("_fields") or getattr(kind, "_fields", None)
            members = list(tuple.__iter__(output))
            if isinstance(fields, tuple) and len(fields) == len(members):
                return name + self._keyed(zip(map(str, fields), members, strict=True))
            return f"({self.listed(members)})" if self.types else f"[{self.listed(members)}]"
        if issubclass(kind, list):
            return f"[{self.listed(list.__iter__(output))}]"
        if issubclass(kind, Mapping):
            return self._mapping(output, kind)
        if issubclass(kind, set | frozenset):
            base: Any = set if issubclass(kind, set) else frozenset
            inside = self.listed(sorted(base.__iter__(output), key=self._set_order))
            return f"{base.__name__ if self.types else 'set'}({inside})"
        if dataclasses.is_dataclass(kind):
            return name + self._keyed(_fields(output))
        return self._other(output, kind, name)

    def _mapping(self, output: Any, kind: type) -> str:
        base: Any = next((base for base in (collections.OrderedDict, dict) if issubclass(kind, base)), None)
        items = output.items() if base is None else base.items(output)
        members = list(itertools.islice(items, _MOST_MEMBERS + 1))
        if len(members) > _MOST_MEMBERS:
            raise _incomparable(output, f"it has more than {_MOST_MEMBERS:,} members")
        return self._keyed((self.label(key), value) for key, value in members)

    def _array(self, output: Any) -> str:
        if type(output) is np.ma.MaskedArray:  # what is masked is still there
            mask = np.ma.getmaskarray(output).tolist()
            return f"masked {mask} {self._array(np.ma.getdata(output))}"
        plain = np.ndarray.view(output, np.ndarray)
        dtype, shape = plain.dtype, plain.shape
        name = f"array{shape}"
        if not dtype.isnative and self.types:
            name += f" {dtype.str}"
        if dtype.names:
            return f"{name} of {self._keyed((self.label(field), plain[field]) for field in dtype.names)}"
        kind = kind_of(dtype)
        if not plain.size:
            return f"{name} of {self._named(kind or dtype.name)} × 0"
        if kind is None and dtype.kind not in "cfV" and self.types:
            name += (
                f" {'object' if dtype.kind == 'O' else dtype.str.lstrip('<>|=')}"  # a text's room may tell of others
            )
        if not self.types:
            return self.form(plain.tolist()) if plain.ndim else self.form(plain[()])
        # .flat hands out NumPy scalars, which know their type and a date's unit
        items = plain.ravel().tolist() if dtype.name in _KINDS or dtype.kind in "OUS" else plain.flat
        return f"{name} of {self.listed(items)}"

    def _many_texts(self, output: ManyTexts, read: Callable[[str], tuple[str, list[float]]]) -> str:
        assert self.texts is not None
        self.texts.append(PlacedTexts(output.codes, list(map(read, output.texts)), len(self.columns)))
        return PLACE.format(len(self.texts) - 1)

    def _many_arrays(self, output: ManyArrays) -> str:
        array = output.array
        form = form_of_arrays(array.dtype, array.shape[1:]) if self.types else None
        if form is None or not math.prod(array.shape[1:]):
            return self.form(output.listed())
        self.columns += list(array.reshape(len(array), -1).T)
        return form

    def _set_order(self, item: Any) -> tuple[Any, ...]:
        kind = type(item)
        if issubclass(kind, int | float):
            base: Any = int if issubclass(kind, int) else float
            plain = base.__pos__(item)
            if plain == plain:
                return (0, plain, kind.__name__)
        return (1, self.label(item), "")

    def listed(self, items: Iterable[Any]) -> str:
        """The forms of several items, with equal neighbours counted: ``bool × 3, 'stop'``."""
        counted = [(form, len(list(group))) for form, group in itertools.groupby(map(self.form, items))]
        return ", ".join(form if count == 1 else f"{form} × {count}" for form, count in counted)

    def _keyed(self, items: Iterable[tuple[str, Any]]) -> str:
        return "{" + ", ".join(f"{key}: {self.form(value)}" for key, value in items) + "}"

    # --- everything else ---------------------------------------------------------------------------------

    def _other(self, output: Any, kind: type, name: str) -> str:
        if issubclass(kind, complex):
            plain = complex.__pos__(output)
            return self._complex(plain.real, plain.imag, "complex")
        if issubclass(kind, Fraction):
            return self._exactly(Fraction(output._numerator, output._denominator), name)
        if issubclass(kind, Decimal):
            return self._decimal(output, name)
        if issubclass(kind, BaseException):
            return f"the exception {self._exception(raised(output)).removeprefix('raises ')}"
        if issubclass(kind, memoryview):
            return f"memoryview {output.format} {output.shape} {output.tobytes()!r}"
        if hasattr(kind, "iloc"):  # pandas: a dict would lose repeated labels
            return self._frame(output)
        said = ""
        if hasattr(kind, "to_dict"):
            said = f"{name} {self.form(output.to_dict())}"
        elif hasattr(kind, "__array__"):
            said = f"{name} {self.form(np.asarray(output))}"
        attributes = list(_attributes(output))
        if said:
            return said + self._held(attributes)
        text = _repr_of(output) if kind.__repr__ is not object.__repr__ else ""
        if attributes:
            return f"{name} {'' if _ADDRESS.search(text) else self._text(text)}{self._keyed(attributes)}"
        if not text or _ADDRESS.search(text):
            raise _incomparable(output, "its repr only says where in memory it is")
        return f"{name} {text}"

    def _held(self, attributes: list[tuple[str, Any]]) -> str:
        """What an object holds besides what it says about itself, as far as that can be read."""
        inside = _FormReader([], self.types)
        try:
            form = inside._keyed(attributes)
        except (UsageError, RecursionError):
            return ""
        self.columns += inside.columns
        return form if attributes else ""

    def _frame(self, output: Any) -> str:
        name, attributes = type(output).__name__, getattr(output, "attrs", None)
        if hasattr(output, "columns"):
            series = [output.iloc[:, position] for position in range(output.shape[1])]
            cells: list[Any] = [column.tolist() for column in series]
            dtypes = [column.dtype for column in series]
            return self._labelled(name, output.index, output.columns, None, dtypes, cells, attributes)
        return self._labelled(name, output.index, None, output.name, [output.dtype], output.tolist(), attributes)

    def _labelled(
        self,
        name: str,
        index: Any,
        columns: Any,
        title: Any,
        dtypes: list[Any],
        cells: list[Any],
        attributes: Any = None,
    ) -> str:
        parts = [name, self._labels(index), self.label(title) if columns is None else self._labels(columns)]
        parts += [text for dtype in dtypes if (text := self._dtype(dtype))]
        if attributes:
            parts.append(self.label(attributes))
        return f"{' '.join(parts)} {self.form(cells)}"

    def _labels(self, index: Any) -> str:
        if type(index) is ManyLabels:
            members = [self._many_texts(each, lambda text: (repr(text), [])) for each in index.texts]
            index = index.like
        else:
            members = list(map(self.label, index.tolist()))
        labels = type(index).__name__ + "[" + ", ".join(members) + "]"
        names = [name for name in index.names if name is not None]
        levels = "".join(map(self._labels, index.levels)) if hasattr(index, "levels") else ""  # of no row too
        return labels + (f" named {self.label(list(index.names))}" if names else "") + levels + self._dtype(index.dtype)

    def _dtype(self, dtype: Any) -> str:
        """A column's type, if its values do not reveal it; unused categories are visible too."""
        if hasattr(dtype, "categories"):
            return f" category {self.label(dtype.categories.tolist())} {dtype.ordered}"
        return "" if not self.types or str(dtype) in ("float64", "int64", "bool", "object", "str") else f" {dtype}"


def kind_of_scalar(key: Any) -> bool:
    """Whether a key is a NumPy number that Python writes like the plain number."""
    return isinstance(key, np.generic) and _KINDS.get(key.dtype.name) is not None


def _digest(content: bytes) -> float:
    return float(int.from_bytes(hashlib.blake2b(content, digest_size=6).digest(), "big"))


def _fields(output: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass as stored, and whatever else it holds."""
    names = [field.name for field in dataclasses.fields(output)]
    for name in names:
        yield name, object.__getattribute__(output, name)
    yield from ((name, value) for name, value in _attributes(output) if name not in names)


def _attributes(output: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, in its dictionary and in its slots."""
    try:
        held = object.__getattribute__(output, "__dict__")
    except AttributeError:
        held = {}
    yield from ((str(name), value) for name, value in held.items())
    for base in type(output).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            member = base.__dict__.get(f"_{base.__name__.lstrip('_')}{name}" if _is_private(name) else name)
            if member is not None and name not in ("__dict__", "__weakref__"):
                try:
                    yield name, member.__get__(output)
                except AttributeError:
                    continue


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _repr_of(output: Any) -> str:
    try:
        return str.__str__(repr(output))
    except (Exception, SystemExit) as error:
        raise _incomparable(output, f"its repr raises {type(error).__name__}") from None


def _incomparable(output: Any, why: str) -> UsageError:
    if inspect.iscoroutine(output):
        output.close()  # otherwise Python warns that it was never awaited
        return UsageError(
            "the function returns a coroutine, which has not run yet; write a function around it that runs it: "
            "return asyncio.run(f(data))"
        )
    if hasattr(output, "state_dict"):
        return UsageError(
            f"a {type(output).__name__} that was trained is compared by its parameters: put @dpaudit.tools.trains "
            "above the function, which returns them and seeds the training"
        )
    return UsageError(
        f"an output of type {type(output).__name__} cannot be compared with another one ({why}); return numbers, "
        "texts, lists, tuples, dicts, arrays, or an object whose repr says what it holds"
    )
