"""Does an output that tells two datasets apart with certainty ever pass, whatever it is made of?"""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import struct
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.sampling.outputs import from_list

pytestmark = pytest.mark.slow

PAIR = [([1.0], [0.0])]


class Claims(float):
    def __repr__(self):
        return "1.0"

    def __float__(self):
        return 1.0

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __pos__(self):
        return 1.0


class ShortList(list):
    def __len__(self):
        return 0

    def __iter__(self):
        return iter(())

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class EmptyDict(dict):
    def items(self):
        return ()

    def __len__(self):
        return 0


class Whole(int):
    def __repr__(self):
        return "0"

    def __index__(self):
        return 0

    def __int__(self):
        return 0


class Pair(tuple):
    __slots__ = ()

    def __iter__(self):
        return iter(())


class Zeros(np.ndarray):
    def tolist(self):
        return 0

    def __array__(self, *_, **__):
        return np.zeros(1)

    @property
    def shape(self):
        return ()


class Text(str):
    def __repr__(self):
        return "''"

    def __str__(self):
        return ""


class Lying:
    def __init__(self, held):
        self.held = held

    def __repr__(self):
        return "Lying()"


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held

    def __repr__(self):
        return "Slotted()"


class ArrayLike(Lying):
    def __array__(self, *_, **__):
        return np.zeros(2)


class Disguised:
    def __init__(self, held):
        self.held = held

    @property
    def __class__(self):
        return int


@dataclasses.dataclass
class Record:
    held: Any = dataclasses.field(repr=False, compare=False)

    def __getattribute__(self, name):
        return 0 if name == "held" else super().__getattribute__(name)


@dataclasses.dataclass
class Backed:
    shown: int

    def __post_init__(self):
        self.hidden = None


class QuietError(Exception):
    def __str__(self):
        return "no"


class ExitsError(Exception):
    def __str__(self):
        sys.exit(0)


def _backed(secret):
    found = Backed(0)
    found.hidden = secret
    return found


def _raising(error, **attributes):
    for name, value in attributes.items():
        setattr(error, name, value)
    raise error


def _chained(error, cause):
    raise error from cause


def _in_context(secret):
    try:
        raise KeyError(secret)
    except KeyError:
        raise ValueError("no") from None if secret is None else ValueError(secret)


def _noted(secret):
    error = ValueError("no")
    error.add_note(f"record {secret}")
    raise error


def _named_frame(name):
    return pd.DataFrame({"a": [1.0]}, index=pd.Index([0], name=name))


# what a function returns of a secret, True or False: every one tells with certainty
CHANNELS = {
    "zero": lambda s: 0.0 if s else -0.0,
    "zero in a list": lambda s: [1, 0.0 if s else -0.0],
    "zero in an array": lambda s: np.array([1.0, 0.0 if s else -0.0]),
    "zero of a complex": lambda s: complex(1, 0.0 if s else -0.0),
    "zero of a decimal": lambda s: Decimal("0" if s else "-0"),
    "sign of NaN": lambda s: math.nan if s else -math.nan,
    "payload of NaN": lambda s: struct.unpack(">d", struct.pack(">Q", (0x7FF8 << 48) + s))[0],
    "long double": lambda s: np.longdouble(1) + (np.longdouble(2) ** -60 if s else 0),
    "array of long doubles": lambda s: np.array([1, np.longdouble(1) + (np.longdouble(2) ** -60 if s else 0)]),
    "fraction": lambda s: Fraction(1, 3) + (Fraction(1, 10**40) if s else 0),
    "decimal": lambda s: Decimal("0.1") + (Decimal("1e-25") if s else 0),
    "exponent of a decimal": lambda s: Decimal("1.0" if s else "1.00"),
    "payload of a decimal": lambda s: Decimal("NaN1" if s else "NaN2"),
    "large int": lambda s: 2**53 + s,
    "smallest float": lambda s: -5e-324 if s else -0.0,
    "float32": lambda s: np.float32(0.5) if s else 0.5,
    "float16": lambda s: np.float16(0.5) if s else np.float32(0.5),
    "int8": lambda s: np.array([1], dtype=np.int8 if s else np.int64),
    "type of an empty array": lambda s: np.array([], dtype=np.int8 if s else np.int64),
    "byte order": lambda s: np.array([1.0], dtype=">f8" if s else "<f8"),
    "object array": lambda s: np.array([1.0], dtype=object if s else float),
    "room of a text": lambda s: np.array(["a"], dtype="U1" if s else "U9"),
    "unit of a date": lambda s: np.array(["2020-01-01"], dtype="M8[D]" if s else "M8[s]"),
    "masked value": lambda s: np.ma.array([1.0, float(s)], mask=[0, 1]),
    "int or float": lambda s: 0 if s else 0.0,
    "bool or int": lambda s: True if s else 1,
    "tuple or list": lambda s: (0,) if s else [0],
    "set or frozenset": lambda s: {0} if s else frozenset([0]),
    "bytes or bytearray": lambda s: b"" if s else bytearray(),
    "memoryview": lambda s: memoryview(b"a" if s else b"b"),
    "order of a dict": lambda s: {"a": 1, "b": 1} if s else {"b": 1, "a": 1},
    "order of an OrderedDict": lambda s: _moved(s),
    "surrogate": lambda s: chr(0xD800 + s),
    "text of an int": lambda s: "1" if s else "１",
    "lying float": lambda s: Claims(s),
    "lying int": lambda s: Whole(s),
    "lying list": lambda s: ShortList([s]),
    "lying tuple": lambda s: Pair([int(s)]),
    "lying dict": lambda s: EmptyDict(a=s),
    "lying array": lambda s: np.array([float(s)]).view(Zeros),
    "lying text": lambda s: Text(s),
    "lying object": lambda s: Lying(float(s)),
    "lying object with slots": lambda s: Slotted(float(s)),
    "lying array-like": lambda s: ArrayLike(float(s)),
    "lying class": lambda s: Disguised(float(s)),
    "lying dataclass": lambda s: Record(float(s)),
    "attribute beside the fields": lambda s: _backed(float(s)),
    "value of an enum": lambda s: enum.Enum("Colour", {"RED": int(s)}).RED,
    "time zone": lambda s: pd.Timestamp("2020-01-01", tz="UTC" if s else None),
    "category of no row": lambda s: pd.Series(pd.Categorical(["a"], categories=["a", "b"] if s else ["a"])),
    "name of an index": lambda s: _named_frame("x" if s else "y"),
    "type of an index": lambda s: pd.Series([1.0], index=[0] if s else pd.RangeIndex(1)),
    "type of a column": lambda s: pd.Series([1], dtype="int64" if s else "int8"),
    "attributes of a frame": lambda s: _with_attributes(s),
    "text of an exception": lambda s: _raising(ValueError(f"record {int(s)} is out of range")),
    "late in a text": lambda s: _raising(ValueError("a" * 5000 + str(int(s)))),
    "way of writing a number": lambda s: _raising(ValueError("1.50" if s else "1.500")),
    "type of an argument": lambda s: _raising(ValueError(1 if s else "1")),
    "exit code": lambda s: sys.exit(int(s)),
    "attribute of an exception": lambda s: _raising(ValueError("no"), record=float(s)),
    "array in an exception": lambda s: _raising(ValueError("no"), record=np.array([1.0, float(s)])),
    "argument of a quiet exception": lambda s: _raising(QuietError(float(s))),
    "argument of an exception that exits": lambda s: _raising(ExitsError(float(s))),
    "cause": lambda s: _chained(ValueError("no"), KeyError(int(s))),
    "context": lambda s: _in_context(int(s)),
    "note": lambda s: _noted(int(s)),
    "in a group": lambda s: _raising(ExceptionGroup("several", [ValueError(int(s))])),
    "file of an error": lambda s: _raising(FileNotFoundError(2, "no", "a" if s else "b")),
    "returned exception": lambda s: ValueError(float(s)),
}  # fmt: skip


def _moved(secret):
    found = collections.OrderedDict(a=1, b=1)
    if secret:
        found.move_to_end("a")
    return found


def _with_attributes(secret):
    found = pd.DataFrame({"a": [1.0]})
    found.attrs["secret"] = int(secret)
    return found


@pytest.mark.parametrize("name", mostly_at_night(CHANNELS, every=2))
def test_what_tells_with_certainty_is_violated(name):
    def leak(data, rng):
        return CHANNELS[name](data[0] > 0.5) if rng.random() < 0.9 else None

    assert dp.audit(leak, claim="epsilon=0.5", pairs=PAIR, runs=120, seed=0).verdict is dp.Verdict.VIOLATED


class Leaves:
    def __repr__(self):
        sys.exit(0)


class Fails:
    @property
    def __array__(self):
        raise KeyError


class Endless(collections.abc.Mapping):
    def __getitem__(self, key):
        return key

    def __iter__(self):
        yield from iter(int, 1)

    def __len__(self):
        return 1


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Leaves, "its repr raises SystemExit"),
        (Fails, "looking at it raises KeyError"),
        (Endless, "more than 1,000,000 members"),
        (object, "only says where in memory"),
        (lambda: (x for x in "a"), "only says where in memory"),
        (lambda: Lying(object()), "only says where in memory"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(make, why):
    with pytest.raises(UsageError, match=why):
        from_list([make()])


def _twins(rng):
    """Outputs of noise alone."""
    k, x = int(rng.integers(-2, 3)), float(rng.laplace())
    return {
        "rounded": np.round(x),
        "rounded vector": np.round(rng.laplace(size=3)),
        "times minus one": -1.0 * k,
        "masked out": np.array([x, 1.0]) * np.array([0, 1]),
        "NaN of either sign": math.nan if k > 0 else -math.nan,
        "long double": np.longdouble(x) / 3,
        "fraction": Fraction(k, 3),
        "decimal": Decimal(repr(x)),
        "float32": np.float32(x),
        "a NumPy number": np.float64(x) if k else x,
        "a subclass": Claims(x),
        "an object": Lying(x),
        "a dataclass": Record(x),
        "an enum": enum.Enum("Colour", {"RED": 1}).RED if k else None,
        "a series": pd.Series([x, 1.0]),
        "a masked array": np.ma.array([x, 1.0], mask=[0, 1]),
    }


RAISED = {
    "text": lambda x: ValueError(f"the noisy count {x} is too large"),
    "rounded text": lambda x: ValueError(f"the noisy count {x:.2f} is too large"),
    "memory": lambda x: ValueError(f"{object()!r} is no number"),
    "attribute": lambda x: QuietError(x),
    "exit code": lambda x: SystemExit(round(x)),
}


@pytest.mark.parametrize("name", mostly_at_night([*_twins(np.random.default_rng(0)), *RAISED]))
def test_noise_of_any_kind_is_not_violated(name):
    def release(data, rng):
        if name in RAISED and rng.random() < 0.5:
            raise RAISED[name](rng.laplace())
        return None if name in RAISED else _twins(rng)[name]

    assert dp.audit(release, claim="epsilon=0.5", pairs=PAIR, runs=700, seed=0).verdict is dp.Verdict.NOT_VIOLATED
