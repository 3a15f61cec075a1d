"""Which version of a package is installed? Looked up once, since it does not change while Python runs."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version


@cache
def installed_version(package: str) -> str:
    """Return the version; raise `importlib.metadata.PackageNotFoundError` if it is not installed."""
    return version(package)


def installed_versions(*packages: str) -> dict[str, str]:
    """Return the versions that results depend on: dpaudit, its libraries, ``packages``, Python and the machine."""
    found = {name: installed_version(name) for name in ("dpaudit", "numpy", "scipy", *packages)}
    return {**found, "python": platform.python_version(), "platform": platform.machine()}
