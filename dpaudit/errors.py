"""What does dpaudit say when it cannot do what was asked?

There is one exception for everything that the user can fix. Its message says what was given, what is possible and what
to do next. The command line prints it and ends with exit code 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UsageError(ValueError):
    """A request that cannot be carried out as it stands; the message says how to fix it."""


class Notice(UserWarning):
    """Something is done in another way than was asked for, without changing any result."""


class InvalidRunsError(Exception):
    """Runs that cannot be trusted: an audit turns it into evidence with the verdict INVALID."""


def close(word: str, known: Iterable[str]) -> str:
    """Return a question that suggests the known words closest to ``word``; empty if none is close."""
    similar = difflib.get_close_matches(word, sorted(known), n=3, cutoff=0.5)
    return "did you mean " + " or ".join(repr(name) for name in similar) + "?" if similar else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a phrase that names the known words closest to ``word``, or all of them if they are few."""
    names = sorted(known)
    if asked := close(word, names):
        return asked
    if not names:
        return "there are none"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known: {shown}"


def refuse_unknown(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that a public function does not have.

    Raises:
        UsageError: with the nearest one.
    """
    names = list(known)
    for keyword in given:
        if keyword not in names:
            similar = difflib.get_close_matches(keyword, names, n=1)
            raise UsageError(f"{name} takes no {keyword!r}; {nearest(keyword, similar or names)}")
