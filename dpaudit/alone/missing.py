"""What does a stand-in do where it offers nothing? It says so, and nothing passes that was not computed."""

from __future__ import annotations


class MissingError(ImportError):
    """Something that was asked of a stand-in, which only the library itself can do."""


def missing(what: str) -> MissingError:
    """Return the error for something that a stand-in does not offer.

    The base class is `ImportError`, which no check takes for an answer.
    """
    return MissingError(f"{what} is not in this file", name=what)
