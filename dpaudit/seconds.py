"""How long does something take, on a machine that does other things as well?"""

from __future__ import annotations

import os
import time

PATIENCE = 6  # seconds on the clock for one of the CPU


class Taken:
    """How many seconds something takes from here on, whatever else the machine does.

    Those of the CPU, of this process and of others that it waited for. Where a function waits, it uses none: a sixth
    (`PATIENCE`) of those on the clock, if that is more.
    """

    def __init__(self) -> None:
        self._cpu, self._clock = _cpu(), time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds since this was made."""
        return max(_cpu() - self._cpu, self.on_the_clock() / PATIENCE)

    def on_the_clock(self) -> float:
        """Return the seconds on the clock since this was made."""
        return time.perf_counter() - self._clock


def _cpu() -> float:
    return time.process_time() + sum(os.times()[2:4])
