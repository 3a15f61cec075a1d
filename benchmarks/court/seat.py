"""What can stand before the court?

A file ``libraries/LIBRARY.py`` has ``found()``, which goes through the library's own registry and yields, for every
constructor and every set of parameters, one of the three kinds below. What it has no recipe for is `Left`, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Audited:
    """A mechanism, which is audited on neighbours.

    Attributes:
        name: of the constructor with its parameters, unique within the library.
        make: returns the mechanism, or the library's own object; called only when it is judged.
        pairs: neighbouring datasets.
        options: further arguments of the audit.
    """

    name: str
    make: Callable[[], Any]
    pairs: Sequence[tuple[Any, Any]]
    options: dict[str, Any]


@dataclass(frozen=True)
class Accounted:
    """An accountant's answer about a list of releases, which is compared with a certified interval.

    Attributes:
        name: of the accountant with the releases.
        said: returns the ε that the accountant states as an upper bound.
        releases: returns the same releases, for `dpaudit.account`.
        delta: at which ε is asked for.
    """

    name: str
    said: Callable[[], float]
    releases: Callable[[], Any]
    delta: float


@dataclass(frozen=True)
class Left:
    """What the registry holds and nobody wrote a recipe for, or what cannot be made."""

    name: str
    why: str


Seat = Audited | Accounted | Left


def shown(name: str, options: dict[str, Any]) -> str:
    """The name of a constructor with its parameters."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})"


def without_recipe(registry: Iterable[str], recipes: Iterable[str]) -> Iterable[Left]:
    """What is in a registry, and in no recipe; and the other way round."""
    held, known = set(registry), set(recipes)
    yield from (Left(name, "no recipe") for name in sorted(held - known))
    yield from (Left(name, "the library does not have it any more") for name in sorted(known - held))


def gaussian_runs(name: str, said: Callable[[float, float, int, float], float]) -> Iterable[Accounted]:
    """An accountant's answers about runs of Gaussian noise: ``said(noise multiplier, rate, steps, δ)``."""
    for noise, rate, steps in _RUNS:
        for delta in (1e-5, 1e-9):
            yield Accounted(
                shown(name, {"noise": noise, "rate": rate, "steps": steps, "delta": delta}),
                lambda noise=noise, rate=rate, steps=steps, delta=delta: said(noise, rate, steps, delta),
                lambda noise=noise, rate=rate, steps=steps: _releases(noise, rate, steps),
                delta,
            )


def _releases(noise: float, rate: float, steps: int) -> Any:
    import dpaudit as dp

    once = dp.accounting.Gaussian(str(noise))
    return (once.poisson(str(rate)) if rate < 1 else once).times(steps)


_RUNS = [
    (noise, rate, steps)
    for noise in (0.6, 1.0, 4.0)
    for rate, steps in ((1.0, 1), (1.0, 100), (0.01, 1), (0.01, 1_000), (0.5, 10))
]
