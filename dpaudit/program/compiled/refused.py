"""Why is a program not compiled? Errors that name the reason."""

from __future__ import annotations


class UncompiledError(Exception):
    """The program has no loop; the message says why. Its runs are made by the batch reading."""


class DifferentError(Exception):
    """The loop gave another output than the scalar reading of the same draws."""
