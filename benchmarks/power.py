"""Does an audit find a violation as often as planned? Nine times in ten, with the event that was chosen.

Every mechanism has a parameter that sets its true loss. A short audit at the claimed loss plans how many runs it takes
to find a larger one. Then, at exactly that larger loss:

- *frozen*: the event that the plan chose is counted in the planned number of runs (counts are drawn from their law): it
  should show the violation in 85 to 95 % of the repetitions;
- *anew*: whole audits learn their own events, with the planned number of runs: at least 80 %;
- *detectable*: another audit at the claim states a detectable loss; whole audits with as many runs, at that loss:
  at least 80 %.

    python benchmarks/power.py [--repetitions 200] [--jobs 2] [--only Laplace]

prints the table and writes benchmarks/results/power.md.
"""

from __future__ import annotations

import argparse
import math
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq

import dpaudit as dp
from dpaudit.evidence.records import Counts
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.power import runs_to_show

TABLE = Path(__file__).parent / "results" / "power.md"
CONFIDENCE, FIRST_SEED = 0.95, 2000
_BATCH = 10  # audits that a process carries out between two reports
_DELTA = 0.05


# --- mechanisms on the datasets 0 and 1, whose loss is ``loss``


def laplace(data, size, rng, loss=1.0):
    """Both tails reach the whole loss."""
    return rng.laplace(data, 1 / loss, size)


def geometric(data, size, rng, loss=1.0):
    """The same on integers."""
    p = -math.expm1(-loss)
    return rng.geometric(p, size) - rng.geometric(p, size) + data


def randomised_response(data, size, rng, loss=1.0):
    """Every output reaches the whole loss."""
    return np.where(rng.random(size) < 1 / (1 + math.exp(-loss)), data, 1 - data)


def vector(data, size, rng, loss=1.0):
    """One coordinate of five differs."""
    return rng.laplace(0, 1 / loss, (size, 5)) + data * np.eye(5)[2]


def catastrophe(data, size, rng, loss=1.0):
    """Tight at δ: the data are published with that probability, else randomised response."""
    return np.where(rng.random(size) < _DELTA, 2 + data, randomised_response(data, size, rng, loss))


def gaussian(data, size, rng, loss=1.0):
    """Every threshold reaches the whole μ."""
    return rng.normal(data * loss, 1, size)


def gaussian_at_delta(data, size, rng, loss=1.0):
    """The loss is in the tails."""
    return rng.normal(data * _mu(loss, 1e-2), 1, size)


def one_step(data, size, rng, loss=0.3):
    """A single event reaches the whole ρ."""
    return (rng.random(size) < (_chance(loss) if data else 0.05)).astype(int)


def _mu(epsilon: float, delta: float) -> float:
    """Return the μ of a Gaussian mechanism with this ε at δ."""
    return float(brentq(lambda mu: float(dp.GaussianDP(mu).profile(epsilon)) - delta, 1e-3, 20, xtol=1e-12))


def _chance(rho: float) -> float:
    """Return the probability of an event on one side that gives ρ if it is 0.05 on the other."""
    return float(brentq(lambda p: float(dp.ZeroConcentratedDP(1).least(p, 0.05)) - rho, 0.05, 1 - 1e-9, xtol=1e-12))


@dataclass(frozen=True)
class Case:
    """A mechanism, its claim as a function of the loss, the claimed loss, the loss to find, and the runs of audits."""

    name: str
    function: Callable[..., object]
    claim: Callable[[float], dp.Claim]
    claimed: float
    value: float
    runs: int = 20_000

    def options(self, loss: float) -> dict[str, object]:
        """Return the options of an audit or a plan at this loss."""
        return {
            "parameters": {"loss": loss},
            "claim": self.claim(self.claimed),
            "pairs": [(0, 1)],
            "confidence": CONFIDENCE,
        }

    def plan(self, seed: int = 0) -> dp.Plan:
        """Return the plan of an audit that finds ``value``, from the mechanism that keeps its claim."""
        return dp.plan(self.function, self.value, seed=seed, **self.options(self.claimed))

    def audit(self, loss: float, runs: int, seed: int) -> dp.Evidence:
        """Return the evidence of an audit at this loss."""
        return dp.audit(self.function, runs=runs, seed=seed, floating_point="ignore", **self.options(loss))

    def found(self, loss: float, runs: int, seeds: range) -> int:
        """Return how many audits find the violation."""
        return sum(self.audit(loss, runs, seed).verdict is dp.Verdict.VIOLATED for seed in seeds)

    def frozen(self, repetitions: int, seed: int = 0) -> int:
        """Return how often the event of an audit at the claim shows the larger loss, in the planned number of runs."""
        bound = max((item.bound for item in self.audit(self.claimed, 40_000, seed).attempts), key=lambda b: b.value)
        claim, own = self.claim(self.claimed), 1 - bound.confidence
        needed = runs_to_show(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own, value=self.value)
        rng = np.random.default_rng(seed)
        shown = 0
        for _ in range(repetitions):
            counts = drawn(bound.method, bound.counts, claim, self.value, math.ceil(needed), rng)
            shown += lower_bound(bound.method, counts, claim=claim, weight=bound.weight, error=own) > claim.value
        return shown


def drawn(method: str, counts: Counts, claim: dp.Claim, value: float, runs: int, rng: np.random.Generator) -> Counts:
    """Draw counts of an event as frequent as the counted one, but with loss ``value``, in ``runs`` runs."""
    zeros = int(rng.binomial(runs, 0.5))
    sides = zeros, runs - zeros
    if method == "guess" or method.startswith("two-sided"):
        mass = (sum(counts.toward0) + sum(counts.toward1)) / sum(counts.runs)
        right = float(brentq(lambda p: float(claim.least(p, mass - p)) - value, mass / 2 + 1e-12, mass, xtol=1e-13))
        hits, others, _ = rng.multinomial(runs, (right, mass - right, 1 - mass))
        return Counts(sides, (int(hits), 0), (int(others), 0))
    toward0 = any(counts.toward0)
    own, other = (0, 1) if toward0 else (1, 0)
    seen = counts.toward0 if toward0 else counts.toward1
    q = (seen[other] + 0.5) / (counts.runs[other] + 1)
    p = float(brentq(lambda p: float(claim.least(p, q)) - value, q + 1e-12, 1 - 1e-12, xtol=1e-13))
    hits = [0, 0]
    hits[own], hits[other] = int(rng.binomial(sides[own], p)), int(rng.binomial(sides[other], q))
    return Counts(sides, (hits[0], hits[1]), (0, 0)) if toward0 else Counts(sides, (0, 0), (hits[0], hits[1]))


CASES = (
    Case("Laplace", laplace, dp.PureDP, 1.0, 1.1),
    Case("Laplace, twice the loss", laplace, dp.PureDP, 1.0, 2.0),
    Case("Laplace of little loss", laplace, dp.PureDP, 0.1, 0.2),
    Case("geometric", geometric, dp.PureDP, 1.0, 1.2),
    Case("randomised response", randomised_response, dp.PureDP, 1.0, 1.1),
    Case("vector, one coordinate of five", vector, dp.PureDP, 1.0, 1.2),
    Case("catastrophe at δ = 0.05", catastrophe, lambda loss: dp.ApproxDP(loss, _DELTA), 1.0, 1.2),
    Case("Gaussian at δ = 0.01", gaussian_at_delta, lambda loss: dp.ApproxDP(loss, 1e-2), 1.0, 1.5, 100_000),
    Case("Gaussian, μ", gaussian, dp.GaussianDP, 1.0, 1.1),
    Case("one event of all ρ", one_step, dp.ZeroConcentratedDP, 0.3, 0.36),
)


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200, help="of every kind")
    parser.add_argument("--jobs", type=int, default=2, help="audits at a time")
    parser.add_argument("--only", default="", help="cases whose name contains this; the table is then not written")
    chosen = parser.parse_args()
    lines = [
        "| mechanism | claim | to be found | frozen event, 85–95 % | planned runs | learned anew, ≥ 80 % "
        "| detectable in | from | learned anew, ≥ 80 % |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    count = chosen.repetitions
    shares: list[tuple[float, float, float]] = []
    for case in CASES:
        if chosen.only.lower() not in case.name.lower():
            continue
        plan, first = case.plan(), case.audit(case.claimed, case.runs, 0)
        assert plan.runs is not None and first.detectable is not None
        frozen = case.frozen(count)
        anew = _repeated(case, case.value, plan.runs, count, chosen.jobs)
        surely = _repeated(case, first.detectable, case.runs, count, chosen.jobs)
        shares.append((frozen / count, anew / count, surely / count))
        cells = [
            case.name,
            str(plan.claim),
            f"{case.value:g}",
            f"{100 * shares[-1][0]:.1f} %",
            f"{plan.runs:,}",
            f"{100 * shares[-1][1]:.1f} %",
            f"{case.runs:,}",
            f"{first.detectable:.4g}",
            f"{100 * shares[-1][2]:.1f} %",
        ]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    least, most = [100 * min(each) for each in zip(*shares, strict=True)], 100 * max(share[0] for share in shares)
    summary = (
        f"The frozen event finds it in {least[0]:.1f} to {most:.1f} % of {count} repetitions. Audits that learn anew "
        f"find it in at least **{least[1]:.1f} %** where they were planned to, and in at least **{least[2]:.1f} %** at "
        "what an audit before called detectable."
    )
    print("\n" + summary)
    if not chosen.only:
        from goal_table import code  # its neighbour, which workers need not load

        now = code()
        text = "# How often audits find what they were planned to find, at confidence 0.95\n\n" + summary + "\n\n"
        text += "\n".join(lines) + f"\n\nSeeds from {FIRST_SEED}; plans with the seed 0.\n\n"
        text += f"dpaudit {now['commit']} (source {now['source']}), Python {platform.python_version()}, "
        text += f"NumPy {np.__version__}.\n"
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(text, encoding="utf-8")


def _repeated(case: Case, loss: float, runs: int, count: int, jobs: int) -> int:
    seeds = range(FIRST_SEED, FIRST_SEED + count)
    parts = [seeds[start : start + _BATCH] for start in range(0, count, _BATCH)]
    return sum(Parallel(n_jobs=jobs)(delayed(Case.found)(case, loss, runs, part) for part in parts))


if __name__ == "__main__":
    main()
