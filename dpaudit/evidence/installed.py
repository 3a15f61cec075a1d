"""Which version of a package is installed? Looked up once: it stays the same while Python runs."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version


@cache
def installed_version(package: str) -> str:
    """Return the version; raise `importlib.metadata.PackageNotFoundError` where it is not installed."""
    return version(package)
