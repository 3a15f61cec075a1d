"""On which values is a release most likely to be wrong?

Ends of the domain and of the data, far outliers, and odd values of the column's own type: NaN, infinities, −0.0,
denormals, the largest integers, empty and very long texts, unused categories; and what stands in a function's code. The
type of a column never changes; a value outside a declared domain is offered only on request, and a missing one where
the data or the domain have one, or on request.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.neighbours.dataset import ABSENT, DataColumn, Dataset, Sort, is_missing
from dpaudit.neighbours.domain import Allowed, ListedValues, Range

# --- In what form are the texts of a column, and what is another text in that form? ---
#
# A column of texts often holds dates, numbers, codes or JSON. Where all of its texts have one form, that a function
# trips over a text in another one says little about the function, so none is tried.

_MOST = 5_000  # different texts that are looked at
_MANY_STEPS = 1_000
_DATES = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z",
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f", "%Y/%m/%d", "%Y-%m",
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y%m%d", "%H:%M", "%H:%M:%S",
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?", re.ASCII)  # with a zero before it, it is a code
_RUNS = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class TextForm:
    """The form of all texts of a column."""

    words: str  # "dates", …
    fits: Callable[[str], bool]
    others: Callable[[], Iterator[str]]  # texts in the form; some of them may be in the column


def form_of(texts: Iterable[Any]) -> TextForm | None:
    """Return the form that all texts of a column have, without those that are empty; None for words like others."""
    known = list(itertools.islice((each for each in texts if isinstance(each, str) and each.strip()), _MOST))
    if not known:
        return None
    return next((form for form in (each(known) for each in _FORMS) if form is not None), None)


def _dates(texts: Sequence[str]) -> TextForm | None:
    for written in _DATES:
        if _date(texts[0], written) is not None:
            dates = [_date(each, written) for each in texts]
            known = [each for each in dates if each is not None]
            if len(known) == len(texts):
                low, high = min(known, key=_naive), max(known, key=_naive)
                zone = re.search(r"Z$|[+-]\d\d:\d\d$", texts[0]) if "%z" in written else None
                others = functools.partial(_other_dates, low, high, written, "" if zone is None else zone[0])
                return TextForm("dates", functools.partial(_is_date, written), others)
    return None


def _other_dates(low: datetime.datetime, high: datetime.datetime, written: str, zone: str) -> Iterator[str]:
    """Yield later and earlier dates, in turn."""
    days = 31 if written == "%Y-%m" else 1
    step = datetime.timedelta(days=days) if "%Y" in written else datetime.timedelta(minutes=1)
    for count in range(1, _MANY_STEPS):
        for start, sign in ((high, 1), (low, -1)):
            try:
                text = (start + sign * count * step).strftime(written)
            except OverflowError:  # beyond the years 1 to 9999
                continue
            yield text[: -len("+0000")] + zone if zone else text


def _is_date(written: str, text: str) -> bool:
    return _date(text, written) is not None


def _date(text: str, written: str) -> datetime.datetime | None:
    if written == "%Y%m%d" and (len(text) != 8 or not text.startswith(("19", "20"))):
        return None
    try:
        return datetime.datetime.strptime(text, written)
    except ValueError:
        return None


def _naive(date: datetime.datetime) -> datetime.datetime:
    return date.replace(tzinfo=None)


def _as_decimals(texts: Sequence[str]) -> TextForm | None:
    if not all(map(_NUMBER.fullmatch, texts)):
        return None
    whole = all("." not in each for each in texts)
    values: list[Any] = [int(each) if whole else float(each) for each in texts]
    low, high = min(values), max(values)

    def others() -> Iterator[str]:
        for count in itertools.count(1):
            yield str(high + count)
            if low < 0:
                yield str(low - count)

    return TextForm("numbers", lambda text: _NUMBER.fullmatch(text) is not None, others)


def _documents(texts: Sequence[str]) -> TextForm | None:
    if not all(map(_is_document, texts)):
        return None

    def others() -> Iterator[str]:
        for count in itertools.count(1):
            yield json.dumps(_changed(json.loads(texts[0]), count))

    return TextForm("JSON", _is_document, others)


def _is_document(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _changed(value: Any, count: int) -> Any:
    """Return a document of which every number and text is another one."""
    if isinstance(value, dict):
        return {key: _changed(each, count) for key, each in value.items()}
    if isinstance(value, list):
        return [_changed(each, count) for each in value]
    if isinstance(value, str):
        return f"new {count}"
    return value + count if isinstance(value, int | float) and not isinstance(value, bool) else value


def _codes(texts: Sequence[str]) -> TextForm | None:
    """Texts that are alike but for their letters and digits, and are no words: ``A-12``, ``ann@example.org``."""
    shape = _shape(texts[0])
    if shape == "a" or any(_shape(each) != shape for each in texts) or not _RUNS.search(texts[0]):
        return None
    last = max(texts)
    places = [each.span() for each in _RUNS.finditer(last)]
    digits = [(start, end) for start, end in places if last[start:end].isdecimal()]
    start, end = digits[-1] if digits else places[0]

    def others() -> Iterator[str]:
        width = end - start
        for count in itertools.count(1):
            if digits:
                number = int(last[start:end]) + count
                new = str(number).zfill(width)[-width:] if count < 10**width else str(number)
            else:
                new = "new" + "n" * (count - 1)
            yield last[:start] + new + last[end:]

    return TextForm("codes", lambda text: _shape(text) == shape, others)


def _shape(text: str) -> str:
    """Return a text with every run of digits as one 9, and every run of letters as one a."""
    return _RUNS.sub(lambda run: "9" if run[0].isdecimal() else "a", text)


_FORMS: tuple[Callable[[Sequence[str]], TextForm | None], ...] = (_dates, _as_decimals, _documents, _codes)

# --- On which values is a release most likely to be wrong? ---

_NUMERAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", re.ASCII)
EXTREME, OUTLIER, ODD, CODE, BEHIND = "extreme", "outlier", "odd value", "code", "behind the code"
_FAR = 1000  # factor of a far outlier over the largest magnitude or the width of the domain
_LONG = 100_000  # characters of a very long text
_SHOWN_VALUES = 12  # largest number of allowed values of a column that are tried
_MOST_OF_CODE = 24  # largest number of values of a column that follow from a function's code
_MOST_BEHIND = 48  # of those that the code may make into one of its own
_WORD = 40  # characters of a text that may be a value
_WIDER = 10  # how far beyond the data such a number may be, over their largest
_BEHIND = 1e-3  # how far behind a number a value is tried, relatively
_TIMES = 2  # how many texts in a form are thought of for each that is wanted: one may be there, or too long
_MOST_PRODUCTS = 8  # of those, beyond it, that are a product of two numbers of the code


@dataclass(frozen=True, slots=True)
class EdgeValue:
    """A value to try."""

    kind: str  # "extreme", "outlier" or "odd value"
    level: str  # what it is, in the same words for every column, so that all columns can take it at once
    value: Any  # the value, in the type of the column
    words: str  # what it is, to follow the name of the column; holds no value of the user's data
    lean: int = 0  # +1 for a large number, −1 for a small one, else 0


@dataclass(frozen=True, slots=True)
class Extremes:
    """Where the data are extreme in one column: places of records, empty if there are none.

    For numbers and times these are the lowest and the highest values, the most extreme first; for other types one
    record with the rarest and one with the most common value.
    """

    lows: tuple[int, ...] = ()
    highs: tuple[int, ...] = ()
    rare: tuple[int, ...] = ()
    common: tuple[int, ...] = ()

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The kinds of extreme records that exist."""
        return tuple(dict.fromkeys(places for places in (self.highs, self.lows, self.rare, self.common) if places))


def seen_in(dataset: Dataset, number: int, usable: np.ndarray[Any, Any], count: int = 1) -> Extremes:
    """Find the extreme records of a column."""
    column, values = dataset.columns[number], dataset.values(number)
    if column.sort is Sort.OTHER or not usable.any():
        return Extremes()
    if column.sort.numeric or column.sort is Sort.TIME:
        try:
            array = np.asarray(values, dtype=None if column.sort is Sort.TIME else np.float64)
        except (TypeError, ValueError, OverflowError):  # integers beyond all floats
            return Extremes()
        known = usable & (~np.isnat(array) if array.dtype.kind == "M" else np.isfinite(array))
        places = np.flatnonzero(known)
        if array.dtype.kind not in "fM" or not len(places):
            return Extremes()
        return Extremes(
            _lowest_places(array[places], places, count, 1), _lowest_places(array[places], places, count, -1)
        )
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    counts = Counter(listed if usable.all() else itertools.compress(listed, usable.tolist()))
    for value in [value for value in counts if is_missing(value)]:
        del counts[value]
    if not counts:
        return Extremes()
    ((common, _),) = counts.most_common(1)
    rare = min(counts, key=counts.__getitem__)
    return Extremes(rare=_place(listed, usable, rare), common=_place(listed, usable, common))


def _lowest_places(
    values: np.ndarray[Any, Any], places: np.ndarray[Any, Any], count: int, sign: int
) -> tuple[int, ...]:
    """The places of the lowest values (of the highest, for the sign −1), the most extreme first."""
    if count == 1:
        return (int(places[np.argmin(values) if sign > 0 else np.argmax(values)]),)
    count = min(count, len(values))
    kth = count - 1 if sign > 0 else len(values) - count
    part = np.argpartition(values, kth)
    part = part[:count] if sign > 0 else part[-count:]
    return tuple(int(places[one]) for one in part[np.argsort(values[part], kind="stable")[::sign]])


def _place(values: Any, usable: np.ndarray[Any, Any], value: Any) -> tuple[int, ...]:
    return (
        next(
            place
            for place, one in enumerate(values)
            if (usable[place] and one is value) or (usable[place] and not is_missing(one) and one == value)
        ),
    )


def edge_values(
    dataset: Dataset, number: int, seen: Extremes, allowed: Allowed | None, *, beyond: bool
) -> list[EdgeValue]:
    """Return the values to try in a column, the likely worst first.

    Args:
        dataset: the user's data.
        number: of the column.
        seen: where the data are extreme in it.
        allowed: its declared domain; None if there is none.
        beyond: whether values outside the declared domain are wanted too.

    Returns:
        Different values, by kind.
    """
    column = dataset.columns[number]
    edges: list[EdgeValue] = []
    taken: set[tuple[str, str]] = set()
    missing = beyond or _has_missing(dataset, number, allowed)
    for value in _offered(dataset, number, seen, allowed):
        if allowed is not None and not beyond and value.value not in allowed:
            continue
        key = (type(value.value).__name__, repr(value.value)[:200])
        if key not in taken and (missing or not is_missing(value.value)):
            taken.add(key)
            edges.append(value)
    kinds = [EXTREME, OUTLIER, ODD]
    return sorted(edges, key=lambda value: kinds.index(value.kind)) if column.sort is not Sort.OTHER else []


def is_of_data(dataset: Dataset, number: int, seen: Extremes | None, value: Any) -> bool:
    """Whether a column has a value, or lower and higher ones."""
    sort = dataset.columns[number].sort
    if is_missing(value) or sort is Sort.TRUTH:
        return True
    if seen is not None and seen.lows and seen.highs:
        try:
            return bool(dataset.value(seen.lows[0], number) <= value <= dataset.value(seen.highs[0], number))
        except TypeError:  # a time of another kind
            return False
    return sort is Sort.OTHER or _holds(dataset, number, value)


def values_near(
    numbers: Sequence[Any], dataset: Dataset, number: int, seen: Extremes, allowed: Allowed | None
) -> list[Any]:
    """Return values of a column that a function's code may treat in a way of their own.

    Numbers in the code, also in its texts (``"61 <= age"``), those between two of them, so that one lies in every band
    that has its ends there, products of two (``pay / 1000 > 70``), texts, and a missing value beside all of them.
    """
    column = dataset.columns[number]
    if column.sort in (Sort.TEXT, Sort.CHOICE):
        held = set(column.choices) | ({dataset.value(place, number) for group in seen.groups for place in group})
        texts = [each for each in numbers if isinstance(each, str)]
        known = [
            each
            for each in texts
            if (each in allowed if allowed is not None else each in held or _holds(dataset, number, each))
        ]
        return known[:_MOST_OF_CODE] + (_missing(dataset, number, allowed) if numbers else [])
    if column.sort not in (Sort.WHOLE, Sort.REAL):
        return []
    low, high = column.ends
    if allowed is None and seen.lows and seen.highs:  # of other columns' numbers, those that suit this one
        ends = [float(dataset.value(places[0], number)) for places in (seen.lows, seen.highs)]
        span = max(ends[1] - ends[0], 1.0)
        low, high = max(low, ends[0] - span), min(high, ends[1] + span)
    stated = sorted(_stated(numbers))
    points = [each for each in stated if low <= each <= high]
    between = [(one + two) / 2 for one, two in itertools.pairwise(points)]
    products = [one * two for two in reversed(stated) for one in stated if 1 < one < two and low <= one * two <= high]

    def suiting(values: Iterable[float], most: int) -> list[Any]:
        suited = dict.fromkeys(math.floor(each) if column.sort is Sort.WHOLE else each for each in values)
        return [column.cast(each) for each in suited if allowed is None or each in allowed][:most]

    suited = [*suiting((*points, *between), _MOST_OF_CODE), *suiting(products, _MOST_PRODUCTS)]
    return [*dict.fromkeys(suited), *(_missing(dataset, number, allowed) if suited else [])]


def values_behind(
    numbers: Sequence[Any], dataset: Dataset, number: int, seen: Extremes, allowed: Allowed | None
) -> list[Any]:
    """Return values of a column that a function's code may make into one that stands in it.

    Of numbers, quotients and products of two (``age / 10 > 6.2``, ``age * 12 > 750``), and those between two of them;
    where nothing is declared, texts that no record has (``name.str.contains("smith")``).
    """
    column = dataset.columns[number]
    if column.sort in (Sort.TEXT, Sort.CHOICE):
        titles = {each.title for each in dataset.columns}
        texts = [each for each in numbers if isinstance(each, str) and len(each) <= _WORD and each not in titles]
        if allowed is not None or column.sort is Sort.CHOICE:
            return []
        values = dataset.values(number)
        form = form_of(dict.fromkeys(values.tolist() if isinstance(values, np.ndarray) else values))
        fitting = [
            each
            for each in texts
            if (column.width is None or len(each) <= column.width) and (form is None or form.fits(each))
        ]
        return [column.cast(each) for each in fitting if not _holds(dataset, number, each)][:_MOST_OF_CODE]
    if column.sort not in (Sort.WHOLE, Sort.REAL):
        return []
    low, high = column.ends
    if seen.lows and seen.highs:
        ends = [float(dataset.value(places[0], number)) for places in (seen.lows, seen.highs)]
        span = _WIDER * max(ends[1] - ends[0], abs(ends[0]), abs(ends[1]), 1.0)
        low, high = max(low, ends[0] - span), min(high, ends[1] + span)
    stated = sorted(_stated(numbers), key=abs, reverse=True)[:_MOST_OF_CODE]
    pairs = [(one, two) for one in stated for two in stated if two not in (0, 1, one)]
    made = sorted({each for one, two in pairs for each in (one / two, one * two) if low <= each <= high})
    fitting = [value for each in made for value in _around(each, column)]
    kept = [each for each in dict.fromkeys(fitting) if allowed is None or each in allowed]
    return kept if len(kept) <= _MOST_BEHIND else [kept[i * len(kept) // _MOST_BEHIND] for i in range(_MOST_BEHIND)]


def _around(number: float, column: DataColumn) -> Iterator[Any]:
    """A number of a column, or the whole ones at its sides; and what comes just behind it."""
    if column.sort is Sort.WHOLE:
        yield from map(column.cast, dict.fromkeys((math.floor(number), math.floor(number) + 1)))
    else:
        yield from (column.cast(number), column.cast(number + max(abs(number), 1.0) * _BEHIND))


def _stated(numbers: Sequence[Any]) -> set[float]:
    """Return the numbers in a function's code, also those in its texts."""
    stated_numbers = {float(each) for each in numbers if isinstance(each, int | float)}
    texts = (each for each in numbers if isinstance(each, str))
    return stated_numbers | {float(each) for text in texts for each in _NUMERAL.findall(text)}


def _missing(dataset: Dataset, number: int, allowed: Allowed | None) -> list[Any]:
    """Return the missing value of a column, where it may have one."""
    missing = _written_missing(dataset.columns[number], allowed)
    return [missing] if missing is not ABSENT and _has_missing(dataset, number, allowed) else []


def _written_missing(column: DataColumn, allowed: Allowed | None) -> Any:
    """Return how a missing value is written; `ABSENT` if neither the data nor what is declared has one."""
    if column.missing is ABSENT and allowed is not None and None in allowed:
        return None if column.sort in (Sort.TEXT, Sort.CHOICE) else column.gap
    return column.missing


def _holds(dataset: Dataset, number: int, text: Any) -> bool:
    values = dataset.values(number)
    return bool(np.any(values == text)) if isinstance(values, np.ndarray) else text in values


def _has_missing(dataset: Dataset, number: int, allowed: Allowed | None) -> bool:
    """Whether the data, or what is declared, have a missing value in a column."""
    if allowed is not None and None in allowed:
        return True
    values = dataset.values(number)
    if isinstance(values, np.ndarray) and values.dtype.kind in "fM":
        return bool((values != values).any())
    return any(map(is_missing, values.tolist() if isinstance(values, np.ndarray) else values))


def _offered(dataset: Dataset, number: int, seen: Extremes, allowed: Allowed | None) -> Iterator[EdgeValue]:
    column = dataset.columns[number]
    if isinstance(allowed, ListedValues):
        shown = [value for value in allowed.values if value is not None]
        ends = {max(shown): 1, min(shown): -1} if shown and column.sort.numeric else {}
        for place, value in enumerate([*ends, *(value for value in shown if value not in ends)][:_SHOWN_VALUES]):
            words = f"= {value!r:.40}, of its domain"
            yield EdgeValue(EXTREME, f"allowed {place}", column.cast(value), words, ends.get(value, 0))
    if isinstance(allowed, Range):
        yield EdgeValue(
            EXTREME, "high end", column.cast(allowed.high), f"= {allowed.high}, the high end of its domain", 1
        )
        yield EdgeValue(EXTREME, "low end", column.cast(allowed.low), f"= {allowed.low}, the low end of its domain", -1)
    for places, level, lean in (
        (seen.highs, "largest", 1),
        (seen.lows, "smallest", -1),
        (seen.rare, "rarest", 0),
        (seen.common, "commonest", 0),
    ):
        if places:
            value = dataset.value(places[0], number)
            yield EdgeValue(EXTREME, f"{level} seen", value, f"at its {level} value in the data", lean)
    if column.sort.numeric:
        yield from _outliers(dataset, number, seen, allowed)
    yield from {
        Sort.REAL: _odd_numbers,
        Sort.WHOLE: _odd_whole_numbers,
        Sort.TRUTH: _truths,
        Sort.TIME: _odd_times,
    }.get(column.sort, _nothing)(column)
    if column.sort is Sort.TEXT:
        yield from _odd_texts(column, dataset.values(number))
    if column.sort is Sort.CHOICE:
        held = set(dataset.values(number))
        for value in [choice for choice in column.choices if choice not in held][:1]:
            yield EdgeValue(ODD, "new category", value, "of a category that no record has")
    missing = _written_missing(column, allowed)
    if missing is not ABSENT:
        yield EdgeValue(ODD, "missing", missing, "missing")


def _nothing(column: DataColumn) -> Iterator[EdgeValue]:
    return iter(())


def _outliers(dataset: Dataset, number: int, seen: Extremes, allowed: Allowed | None) -> Iterator[EdgeValue]:
    """Numbers outside the domain, or beyond those seen; and the ends of the type."""
    column = dataset.columns[number]
    least, most = column.ends
    if isinstance(allowed, Range):
        span = allowed.high - allowed.low or 1
        for times, where in ((1, "outside"), (_FAR, "far outside")):
            for lean, end in ((1, allowed.high), (-1, allowed.low)):
                value = end + lean * times * span
                if least <= value <= most:
                    yield EdgeValue(
                        OUTLIER, f"{where} {lean}", column.cast(value), f"= {value:g}, {where} its domain", lean
                    )
    else:
        seen_ends = [abs(float(dataset.value(places[0], number))) for places in (seen.lows, seen.highs) if places]
        largest = max([1.0, *seen_ends])
        for times in (10, _FAR):
            for lean in (1, -1):
                far = lean * times * largest
                if least <= far <= most:
                    words = f"at {'−' if lean < 0 else ''}{times} times its largest magnitude in the data"
                    yield EdgeValue(OUTLIER, f"{times} times {lean}", column.cast(far), words, lean)
    if column.sort is Sort.WHOLE and column.dtype is None:
        for value, words in ((2**63 - 1, "2**63 - 1"), (2**64, "2**64")):
            yield EdgeValue(OUTLIER, words, value, f"= {words}", 1)
            yield EdgeValue(OUTLIER, f"-({words})", -value, f"= -({words})", -1)
        return
    for value, level, lean in ((most, "largest", 1), (least, "smallest", -1)):
        shown = f"{value:.3g}" if column.sort is Sort.REAL else str(value)
        yield EdgeValue(OUTLIER, level, column.cast(value), f"= {shown}, the {level} of its type", lean)


def _odd_numbers(column: DataColumn) -> Iterator[EdgeValue]:
    narrow = column.dtype is not None and column.dtype.itemsize < 8
    tiny = float(np.finfo(column.dtype if narrow else np.float64).smallest_subnormal)
    for level, value, lean in (
        ("NaN", math.nan, 0),
        ("inf", math.inf, 1),
        ("-inf", -math.inf, -1),
        ("-0.0", -0.0, 0),
        ("0.0", 0.0, 0),
        ("denormal", tiny, 0),
    ):
        shown = f"{value:.3g}" if level == "denormal" else level
        yield EdgeValue(ODD, level, column.cast(value), f"= {shown}", lean)


def _odd_whole_numbers(column: DataColumn) -> Iterator[EdgeValue]:
    least, most = column.ends
    for value in (0, 1, -1, 2**53 + 1):
        if least <= value <= most:
            yield EdgeValue(ODD, str(value), column.cast(value), f"= {value}")


def _truths(column: DataColumn) -> Iterator[EdgeValue]:
    for value in (True, False):
        yield EdgeValue(EXTREME, str(value), column.cast(value), f"= {value}", 1 if value else -1)


def _odd_times(column: DataColumn) -> Iterator[EdgeValue]:
    for text, lean in (("2262-01-01", 1), ("1700-01-01", -1)):
        value = np.datetime64(text)
        yield EdgeValue(OUTLIER, text, column.cast(value) if column.dtype is not None else value, f"= {text}", lean)


def _odd_texts(column: DataColumn, values: Any) -> Iterator[EdgeValue]:
    held = dict.fromkeys(values.tolist() if isinstance(values, np.ndarray) else values)
    form = form_of(held)
    more = new_texts("new category", form, len(held) + 1, column.width)
    new = next((name for name in more if name not in held), None)
    if new is not None:
        words = "of a new category" if form is None else f"of a new value, in the form of the others ({form.words})"
        yield EdgeValue(ODD, "new category", column.cast(new), words)
    if form is not None:
        return
    long = _LONG if column.width is None else column.width
    odd = "\x00\né"[: column.width]
    yield EdgeValue(ODD, "empty text", column.cast(""), "= ''")
    yield EdgeValue(ODD, "long text", column.cast("x" * long), f"= a text of {long} characters")
    yield EdgeValue(ODD, "odd text", column.cast(odd), f"= {odd!r}")


def new_texts(stem: str, form: TextForm | None, count: int, width: int | None) -> Iterator[str]:
    """Yield distinct texts of a width: in the form of a column, where its texts have one, or a name with a number."""
    if form is not None:
        others = dict.fromkeys(itertools.islice(form.others(), _TIMES * count))
        yield from (each for each in others if width is None or len(each) <= width)
        return
    seen = set()
    for number in range(1, count + 1):
        name = stem if number == 1 else f"{stem} {number}"
        name = name if width is None else name[len(name) - min(width, len(name)) :]
        if name and name not in seen:
            seen.add(name)
            yield name
