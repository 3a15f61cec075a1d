"""Which forks of the process are the reading's own?

A target that forks would draw the same noise twice; a reading draws none.
"""

from __future__ import annotations

import os

_OURS = [False]


def fork() -> int:
    """Fork the process, as `os.fork` does."""
    _OURS[0] = True
    try:
        return os.fork()
    finally:
        _OURS[0] = False


def is_ours() -> bool:
    """Whether the fork that happens now is one of a reading."""
    return _OURS[0]
