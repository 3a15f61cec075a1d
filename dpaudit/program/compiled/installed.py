"""Is there what the compiled reading needs?"""

from __future__ import annotations

from importlib.util import find_spec


def is_installed() -> bool:
    """Whether there is Numba."""
    return find_spec("numba") is not None
