"""What are the types of NumPy where it is not? Names for annotations and tables; nothing is an instance of most."""

from __future__ import annotations

from typing import Any

from dpaudit.alone.missing import missing


class _Kind(type):
    """A class that only stands in annotations, and of which nothing is an instance."""

    def __getitem__(cls, of: Any) -> Any:
        return cls

    def __instancecheck__(cls, value: Any) -> bool:
        return False


class generic(metaclass=_Kind):  # noqa: N801
    """The class of the numbers of NumPy, of which there are none here."""


class _Number(generic):
    """A number of a type that is not here: it can be made, as modules do when they are loaded, and not used."""

    def __init__(self, value: Any = 0) -> None:
        """Nothing is kept of it."""


def _unusable(self: Any, *given: Any) -> Any:
    raise missing("a number of NumPy")


for _name in (
    "int", "float", "index", "bool", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv",
    "rfloordiv", "mod", "rmod", "pow", "rpow", "and", "rand", "or", "ror", "xor", "rxor", "lshift", "rlshift",
    "rshift", "rrshift", "neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "hash", "str", "repr",
    "len", "iter", "getitem", "format",
):  # fmt: skip
    setattr(_Number, f"__{_name}__", _unusable)


class bool_(_Number): ...  # noqa: N801, D101


class integer(_Number): ...  # noqa: N801, D101


class floating(_Number): ...  # noqa: N801, D101


class complexfloating(_Number): ...  # noqa: N801, D101


class datetime64(_Number): ...  # noqa: N801, D101


class timedelta64(_Number): ...  # noqa: N801, D101


class dtype(metaclass=_Kind):  # noqa: N801
    """A type of numbers, which only stands in annotations and tables."""

    def __init__(self, of: Any) -> None:
        """Any type can be named, and none used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"numpy.dtype.{name}")


class _Float64(_Kind):
    def __call__(cls, value: Any = 0.0) -> Any:
        return float(value)


class float64(metaclass=_Float64):  # noqa: N801
    """A double is a Python float here."""


class _Int64(_Kind):
    def __call__(cls, value: Any = 0) -> Any:
        return int(value)


class int64(metaclass=_Int64):  # noqa: N801
    """Whole numbers are those of Python."""


number, longdouble, uint8, uint64 = (type(f"_{name}", (_Number,), {}) for name in "abcd")


class Dtype:
    """The type of the numbers of one array: its kind is b, i or f."""

    itemsize, names, isnative = 8, None, True

    def __init__(self, kind: str) -> None:
        """Keep the kind, and call it as NumPy does."""
        self.kind = kind
        self.name, self.char = {"b": ("bool", "?"), "i": ("int64", "l"), "f": ("float64", "d")}[kind]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"numpy.dtype.{name}")


class MaskedArray(metaclass=_Kind):
    """A masked array, of which there are none here."""


class Absent(type):
    """The class of what is not here: it can be named, also in `isinstance`, and not used."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        """Say that it is missing."""
        raise missing(f"numpy.{cls.__name__}")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{cls.__name__}.{name}", (), {})

    def __getitem__(cls, of: Any) -> Any:
        return cls

    def __instancecheck__(cls, value: Any) -> bool:
        return False


class Generator:
    """A source of randomness, which modules may make when they are loaded, and of which nothing can be drawn."""

    def __init__(self, *given: Any) -> None:
        """Nothing is kept of the seed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def unusable(*given: Any, **named: Any) -> Any:
            raise missing(f"numpy.random.Generator.{name}")

        return unusable


class random(metaclass=Absent):  # noqa: N801
    """The module of randomness."""

    default_rng = Generator
    Generator = Generator
