"""What does the checker know about each kind of noise? Its values, and the shifts that cost |shift|/scale.

This table is written by hand from ``docs/certificate.md`` and shares nothing with that of the prover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Support = Literal["line", "half-line", "interval", "integers"]


@dataclass(frozen=True, slots=True)
class Law:
    """The law of one kind of noise, of a scale b."""

    support: Support  # the values of a draw: all real numbers, [0, ∞), [0, b), or all integers
    up: bool  # whether f(x)/f(x + d) ≤ exp(d/b) for all x and d > 0, so that a draw may be shifted up
    down: bool  # whether f(x)/f(x − d) ≤ exp(d/b) for all x and d > 0, so that it may be shifted down


LAWS = {
    "laplace": Law("line", up=True, down=True),
    "gumbel": Law("line", up=True, down=False),
    "exponential": Law("half-line", up=True, down=False),
    "uniform": Law("interval", up=False, down=False),
    "discrete_laplace": Law("integers", up=True, down=True),
}
