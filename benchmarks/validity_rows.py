"""Which audits does `validity.py` repeat, and what counts as an error in each?

Four parts: whole audits of mechanisms that lose exactly what they claim; audits whose own seed is fixed while the
mechanism draws afresh; dependent runs, which no audit may call a violation; and the rule of two looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import dpaudit as dp

CONFIDENCE = 0.95
FIRST_SEED = 100_000
LOOKS_SEED = 500_000
FIXED_SEEDS = range(10)
TIGHT = Path(__file__).resolve().parent / "tight.py"
_KEEPS = 1 / (1 + math.exp(-1))  # of randomised response at ε = 1


class Row(Protocol):
    """One line of a table."""

    name: str

    def audit(self, repetition: int) -> tuple[dp.Evidence, float]:
        """Return a whole audit, and the true loss."""
        ...


# --- mechanisms that lose just what they claim


@dataclass(frozen=True)
class Mechanism:
    """A mechanism, the notion in which its loss is bounded, and its true loss in that notion."""

    name: str
    function: str
    claim: str
    loss: float
    pairs: Sequence[tuple[int, int]] = ((0, 1),)
    runs: int = 4_000
    parameters: dict[str, Any] = field(default_factory=dict)
    first_seed: int = FIRST_SEED

    def audit(self, repetition: int, workers: int = 1) -> tuple[dp.Evidence, float]:
        """Return an audit with its own seed, and the true loss."""
        evidence = dp.audit(
            f"{TIGHT}:{self.function}",
            parameters=self.parameters,
            claim=self.claim,
            pairs=list(self.pairs),
            relation="declared",
            runs=self.runs,
            confidence=CONFIDENCE,
            seed=self.first_seed + repetition,
            workers=workers,
            floating_point="ignore",
        )
        return evidence, self.loss


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the ε of a Gaussian mechanism at δ (Balle & Wang 2018, Theorem 8)."""

    def above(epsilon: float) -> float:
        return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)) - delta

    return float(brentq(above, 0, 30, xtol=1e-12))


_TIGHT = (
    Mechanism("null", "null", "epsilon=1", 0.0),
    Mechanism("null at δ = 1e-3", "null", "epsilon=1, delta=0.001", 0.0),
    Mechanism("Laplace", "laplace", "epsilon=1", 1.0),
    Mechanism("Laplace, a program", "laplace_program", "epsilon=1", 1.0),
    Mechanism("geometric", "geometric", "epsilon=1", 1.0),
    Mechanism("randomised response", "randomised_response", "epsilon=1", 1.0, runs=2_000),
    Mechanism("Gaussian, μ", "gaussian", "mu=1", 1.0, runs=2_000),
    Mechanism("Gaussian at δ = 0.05", "gaussian", "epsilon=1, delta=0.05", gaussian_epsilon(1.0, 0.05), runs=2_000),
    Mechanism("Gaussian at δ = 1e-3", "gaussian", "epsilon=1, delta=0.001", gaussian_epsilon(1.0, 1e-3), runs=2_000),
    Mechanism("catastrophe at δ = 0.05", "catastrophe", "epsilon=1, delta=0.05", 1.0, runs=2_000),
    Mechanism("vector, one coordinate of five", "vector", "epsilon=1", 1.0, runs=1_200),
    Mechanism("vector, spread over five", "spread_vector", "epsilon=1", 1.0, runs=1_200),
    Mechanism("1,000 outcomes", "many_outcomes", "epsilon=3", 3.0, runs=10_000),
    Mechanism("three pairs", "randomised_response", "epsilon=1", 1.0, ((0, 1), (1, 0), (0, 1)), 3_000),
    Mechanism("a rare branch that cannot be read", "rare_unreadable", "epsilon=1", 1.0),
    Mechanism("a rarer one", "rare_unreadable", "epsilon=1", 1.0, parameters={"above": 5.2}),
    Mechanism("a sampler that raises", "raising", "epsilon=1", 1.0, runs=1_200),
    Mechanism("a sampler that seldom raises", "raising_seldom", "epsilon=1", 1.0, runs=2_000),
    Mechanism("one array, filled anew", "reused_array", "epsilon=1", 1.0, runs=2_000),
    Mechanism("one list, filled anew", "reused_list", "epsilon=1", 1.0, runs=2_000),
    Mechanism("outputs of mixed forms", "mixed_forms", "epsilon=1", 1.0, runs=2_000),
)
MECHANISMS = tuple(replace(row, first_seed=FIRST_SEED + 10_000 * number) for number, row in enumerate(_TIGHT))

LOOKS = tuple(
    Mechanism(name, function, f"epsilon={loss!r}", loss, runs=3_000, first_seed=LOOKS_SEED + 10_000 * number)
    for number, (name, function, loss) in enumerate(
        [
            ("randomised response", "response_of_three", math.log(3)),
            ("Laplace", "laplace", 1.0),
            ("geometric", "geometric", 1.0),
        ]
    )
)


# --- the seed of the audit is fixed, and the mechanism draws afresh


@dataclass(frozen=True)
class Fixed:
    """A kind of audit with a fixed seed: ``draw`` makes one from that seed and a generator of fresh draws."""

    kind: str
    loss: float
    draw: Callable[[int, np.random.Generator], dp.Evidence]
    seed: int = 0

    @property
    def name(self) -> str:
        """Kind and seed."""
        return f"{self.kind}, seed {self.seed}"

    def audit(self, repetition: int) -> tuple[dp.Evidence, float]:
        """Return an audit with the fixed seed, of fresh draws, and the true loss."""
        fresh = np.random.default_rng([*self.kind.encode(), self.seed, repetition])
        return self.draw(self.seed, fresh), self.loss


_THREE = (  # ε = 1 is reached by two outcomes, one three times as likely as the other; the third speaks for no side
    (0.05 * math.e, 0.15, 1 - 0.05 * math.e - 0.15),
    (0.05, 0.15 * math.e, 1 - 0.05 - 0.15 * math.e),
)


def _opaque(function: Callable[[int], Any], seed: int, runs: int = 400) -> dp.Evidence:
    return dp.audit(
        function,
        claim="epsilon=1",
        pairs=[(0, 1)],
        relation="declared",
        runs=runs,
        confidence=CONFIDENCE,
        seed=seed,
        floating_point="ignore",
    )


def _opaque_response(seed: int, fresh: np.random.Generator) -> dp.Evidence:
    return _opaque(lambda data: int(fresh.random() < _KEEPS) ^ (1 - data), seed)


def _opaque_three(seed: int, fresh: np.random.Generator) -> dp.Evidence:
    ends = np.cumsum(_THREE, axis=1)
    return _opaque(lambda data: "abc"[int(np.searchsorted(ends[data][:2], fresh.random()))], seed)


def _recorded(side0: Any, side1: Any, claim: str, seed: int) -> dp.Evidence:
    return dp.tools.audit_outputs(side0.tolist(), side1.tolist(), claim=claim, confidence=CONFIDENCE, seed=seed)


def _recorded_coins(seed: int, fresh: np.random.Generator) -> dp.Evidence:
    return _recorded(fresh.random(400) < 0.1, fresh.random(400) < 0.1, "epsilon=0", seed)


def _recorded_three(seed: int, fresh: np.random.Generator) -> dp.Evidence:
    return _recorded(fresh.choice(3, 200, p=_THREE[0]), fresh.choice(3, 200, p=_THREE[1]), "epsilon=1", seed)


def _scores(seed: int, fresh: np.random.Generator) -> dp.Evidence:
    return dp.tools.audit_scores(
        fresh.normal(size=500), fresh.normal(size=500), delta=0, confidence=CONFIDENCE, seed=seed, design="independent"
    )


def _canaries(seed: int, fresh: np.random.Generator, *, delta: float = 0.0, spread: float = 0.5) -> dp.Evidence:
    """Audit canaries of one model that reveals all of them with probability δ, and else a little of each."""
    coins = fresh.random(200) < 0.5
    lies = (fresh.random(200) >= _KEEPS) & (fresh.random() >= delta)
    told = (coins != lies) + spread * fresh.random(200)
    return dp.tools.audit_scores(
        told[coins], told[~coins], delta=delta, confidence=CONFIDENCE, design="one-run", seed=seed
    )


KINDS = (
    Fixed("an opaque function, randomised response", 1.0, _opaque_response),
    Fixed("an opaque function, asymmetric, an outcome that speaks for no side", 1.0, _opaque_three),
    Fixed("recorded outputs of probability .1, 400 a side", 0.0, _recorded_coins),
    Fixed("recorded outputs, asymmetric, an outcome that speaks for no side", 1.0, _recorded_three),
    Fixed("scores, 500 a side, δ = 0", 0.0, _scores),
    Fixed("200 canaries of one model, δ = 0", 1.0, _canaries),
    Fixed("200 canaries of one model, two scores alone, δ = 0", 1.0, partial(_canaries, spread=0.0)),
    Fixed("200 canaries of one model, δ = 0.01", 1.0, partial(_canaries, delta=0.01)),
)


# --- dependent runs


class _Flips:
    """Randomised response at ε = 1 whose flip is kept for eight calls, or changes slowly."""

    def __init__(self, fresh: np.random.Generator, chain: bool) -> None:
        self.fresh, self.chain, self.calls = fresh, chain, 0
        self.held = bool(fresh.random() >= _KEEPS)

    def flip(self, rng: np.random.Generator) -> bool:
        self.calls += 1
        if rng.random() < 1 / 8 if self.chain else self.calls % 8 == 0:  # stationary: the new one is a fresh draw
            self.held = bool(rng.random() >= _KEEPS)
        return self.held


@dataclass(frozen=True)
class Dependent:
    """Outputs with ε = 1 each, but with noise that successive calls share."""

    name: str
    shape: str
    chain: bool = False

    def audit(self, repetition: int) -> tuple[dp.Evidence, float]:
        """Return an audit of calls with a fresh initial state, and the true loss."""
        fresh = np.random.default_rng([77, *self.name.encode(), repetition])
        flips, seed = _Flips(fresh, self.chain), FIRST_SEED + repetition
        if self.shape == "recorded":
            sides = [np.array([own ^ flips.flip(fresh) for _ in range(800)]) for own in (1, 0)]
            return _recorded(sides[0], sides[1], "epsilon=1", seed), 1.0
        functions: dict[str, Callable[..., Any]] = {
            "seeded": lambda data, rng: data ^ int(flips.flip(rng)),
            "opaque": lambda data: data ^ int(flips.flip(fresh)),
            "sampler": lambda data, size, rng: data ^ np.array([int(flips.flip(rng)) for _ in range(size)]),
        }
        return _opaque(functions[self.shape], seed, 2_000), 1.0


DEPENDENT = (
    Dependent("a flip for eight calls, given a generator", "seeded"),
    Dependent("a flip for eight calls, opaque", "opaque"),
    Dependent("a flip for eight calls, a sampler", "sampler"),
    Dependent("a flip for eight calls, recorded outputs", "recorded"),
    Dependent("a chain that goes on from its last state, opaque", "opaque", chain=True),
    Dependent("a chain that goes on from its last state, recorded outputs", "recorded", chain=True),
)
