"""In what form are the texts of a column, and what is another text in that form?

A column of texts often holds dates, numbers, codes or JSON. Where all of its texts have one form, that a function trips
over a text in another one says little about the function, so none is tried.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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


def _numbers(texts: Sequence[str]) -> TextForm | None:
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


_FORMS: tuple[Callable[[Sequence[str]], TextForm | None], ...] = (_dates, _numbers, _documents, _codes)
