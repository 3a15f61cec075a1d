"""What do the canaries of one run show, and how often do they show more than a loop loses?

    python benchmarks/training/measure_canaries.py [--only shown more mistakes small valid]

Needs torch, opacus and scikit-learn beside dpaudit. `valid` and `more` are drawn by NumPy: noisy sums of canaries, each
along a coordinate of its own, in loops whose loss is known.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

sys.path.append(str(Path(__file__).resolve().parents[1]))

from frame import in_parts, section
from support.steinke import one_run_bound

from dpaudit.auditing.canaries import guessed
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, parse_claim
from dpaudit.training.canaries import best, evidence_for_in

HERE = Path(__file__).resolve().parent
CLAIM = "epsilon=8, delta=1e-5"
TRUE = 5.79  # ε at δ = 1e-5 of 300 updates at σ = 1 and a rate of 0.05
SEEDS = 5


def earlier(scores: np.ndarray, coins: np.ndarray, delta: float, error: float = 0.05) -> float:
    """The best of a few numbers of guesses by Steinke, Nasr & Jagielski (2023), Theorem 5.2, which share the error."""
    ranked, many = coins[np.argsort(-scores)], len(coins)
    made = [n for n in (many, many // 2, many // 4, many // 8, many // 16) if n >= 16]
    return max(
        one_run_bound(
            int(ranked[: n // 2].sum() + (~ranked[many - n // 2 :]).sum()),
            n // 2 * 2,
            many,
            delta=delta,
            error=error / len(made),
        )
        for n in made
    )


def _watched(mistake: str, canaries: Any, seed: int, updates: int, **more: Any) -> Any:
    import loops

    import dpaudit as dp

    loop = loops.opacus(mistake, seed, updates, **more)
    options = dict(canaries) if isinstance(canaries, dict) else {"canaries": canaries}
    if "records" in options:
        records = options.pop("records")
        options |= {"canaries": records, "canary_scores": _losses(loop, records)}
    with dp.watch_training(loop.model, loop.optimizer, loop.loader, claim=CLAIM, seed=seed, **options) as watch:
        loop.train()
    return watch


def _losses(loop: Any, records: list[int]) -> Any:
    import loops
    import torch

    def scores() -> Any:
        with torch.no_grad():
            x, y = loops.DIGITS[records]
            return -torch.nn.functional.cross_entropy(loop.model(x), y, reduction="none")

    return scores


def shown() -> list[dict[str, Any]]:
    """Right loops on digits: canaries of gradients, and records with wrong labels, over 300 updates."""
    import loops
    import torch

    rows = []
    for what, many in (("gradients", 500), ("gradients", 1797), ("records", 500)):
        for seed in range(SEEDS):
            before = loops.DIGITS.tensors[1].clone()
            if what == "records":
                torch.manual_seed(seed)
                loops.DIGITS.tensors[1][:many] += torch.randint(1, 10, (many,))
                loops.DIGITS.tensors[1].remainder_(10)
            try:
                watch = _watched("right", many if what == "gradients" else {"records": list(range(many))}, seed, 300)
            finally:
                loops.DIGITS.tensors[1][:] = before
            told, own = watch.evidence.training.canaries, watch._seen.canaries
            rows.append(
                {
                    "what": what,
                    "canaries": many,
                    "seed": seed,
                    "epsilon": told.epsilon,
                    "earlier": earlier(own.scores, own.coins, 1e-5),
                    "mu": told.mu,
                    "sure": told.sure,
                    "verdict": str(watch.evidence.verdict),
                }
            )
            print(rows[-1], flush=True)
    return rows


def drawn(
    rng: np.random.Generator, canaries: int, updates: int, rate: float, sigma: float, *, plain: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Coins and scores of a right loop; ``plain``: sums of noisy sums instead of likelihood ratios."""
    coins, scores = rng.random(canaries) < 0.5, np.zeros(canaries)
    for _ in range(updates):
        sums = (coins & (rng.random(canaries) < rate)) + sigma * rng.normal(size=canaries)
        scores += sums if plain else evidence_for_in(sums, rate, sigma)
    return coins, scores


def _bound(coins: np.ndarray, scores: np.ndarray, notion: Claim) -> float:
    return best(guessed(scores[coins], scores[~coins], notion, 0.95, ()))


def more() -> list[dict[str, Any]]:
    """More canaries, 300 updates at σ = 1 and a rate of 0.05: each method on the same scores."""
    rows = []
    for canaries in (500, 2_000, 10_000, 100_000):
        found: dict[str, list[float]] = {"earlier": [], "sums": [], "epsilon": [], "mu": []}
        for seed in range(SEEDS):
            coins, scores = drawn(np.random.default_rng(seed), canaries, 300, 0.05, 1.0)
            found["earlier"].append(earlier(scores, coins, 1e-5))
            found["epsilon"].append(_bound(coins, scores, parse_claim(CLAIM)))
            found["mu"].append(_bound(coins, scores, GaussianDP(1.0)))
            coins, scores = drawn(np.random.default_rng(seed), canaries, 300, 0.05, 1.0, plain=True)
            found["sums"].append(_bound(coins, scores, parse_claim(CLAIM)))
        rows.append({"canaries": canaries, **{name: statistics.median(each) for name, each in found.items()}})
        print(rows[-1], flush=True)
    return rows


def mistakes() -> list[dict[str, Any]]:
    """Every mistake in a loop with hooks, over 300 updates, by 1,000 canaries of gradients alone."""
    import loops

    rows = []
    for mistake in ("right", *loops.MISTAKES):
        found = [_watched(mistake, 1000, seed, 300).evidence for seed in range(2)]
        told = [each.training.canaries for each in found]
        rows.append(
            {
                "mistake": mistake,
                "epsilon": [each.epsilon for each in told],
                "sure": [each.sure for each in told],
                "verdict": [str(each.verdict) for each in found],
            }
        )
        print(rows[-1], flush=True)
    return rows


def _leaky(rng: np.random.Generator, canaries: int, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """The worst mechanism of δ alone: each canary's coin is told with probability δ, and nothing of the others."""
    coins = rng.random(canaries) < 0.5
    told = rng.random(canaries) < delta
    return coins, np.where(told, np.where(coins, 1.0, -1.0), rng.normal(size=canaries) * 1e-3)


def _together(rng: np.random.Generator, canaries: int, chance: float) -> tuple[np.ndarray, np.ndarray]:
    """All coins by randomised response, or nothing at all."""
    coins = rng.random(canaries) < 0.5
    right = rng.random(canaries) < 1 / (1 + np.exp(-1.0))
    scores = np.where(right == coins, 1.0, -1.0) + rng.normal(size=canaries) * 1e-3
    return coins, scores if rng.random() < chance else rng.normal(size=canaries)


def small(runs: int = 2000) -> list[dict[str, Any]]:
    """Many small runs with Opacus: one weight of two sees the canary, ten updates without sampling."""
    import logging
    import time

    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    import dpaudit as dp

    logging.disable(logging.CRITICAL)

    def trained(data: list[list[float]], *, sigma: float = 1.0, halved: bool = False) -> Any:
        model = torch.nn.Linear(2, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        rows = TensorDataset(torch.tensor([[x, 0.0] for x, _ in data]), torch.tensor([[y] for _, y in data]))
        private, optimizer, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=DataLoader(rows, batch_size=1),
            noise_multiplier=sigma,
            max_grad_norm=1.0,
            poisson_sampling=False,
        )
        optimizer.noise_multiplier *= 0.5 if halved else 1.0
        for _ in range(10):
            for x, y in loader:
                optimizer.zero_grad()
                ((private(x) - y) ** 2).sum().backward()
                optimizer.step()
        return model

    rows = []
    for halved in (False, True):
        clock = time.perf_counter()
        found = dp.audit(
            dp.tools.trains(trained),
            pairs=[([[1.0, 100.0]], [[0.0, 0.0]])],
            relation="replace",
            claim="mu=3.17",
            runs=runs,
            seed=1,
            parameters={"halved": halved},
        )
        seconds = (time.perf_counter() - clock) / runs
        rows.append(
            {
                "loop": "noise halved" if halved else "right",
                "runs": runs,
                "true": 10**0.5 * (2 if halved else 1),
                "mu": found.lower.value,
                "verdict": str(found.verdict),
                "milliseconds": 1000 * seconds,
            }
        )
        print(rows[-1], flush=True)
    return rows


def valid(runs: int = 1000) -> list[dict[str, Any]]:
    """Loops that keep a claim exactly: how often is the bound, at 95 %, above it?"""
    gaussian = float(GaussianDP(1.0).profile(1.0))
    cases: list[tuple[str, Claim, float, Any]] = [
        ("one update, σ = 1, ε = 1 at its own δ", ApproxDP(1.0, gaussian), 1.0, lambda r: drawn(r, 400, 1, 1.0, 1.0)),
        ("one update, σ = 1, μ = 1", GaussianDP(1.0), 1.0, lambda r: drawn(r, 60, 1, 1.0, 1.0)),
        ("20 updates without sampling, σ = √20, μ = 1", GaussianDP(1.0), 1.0, lambda r: drawn(r, 60, 20, 1.0, 20**0.5)),
        ("coins told with probability δ, ε = 0", ApproxDP(0.0, 0.01), 0.0, lambda r: _leaky(r, 400, 0.01)),
        ("randomised response, ε = 1, δ = 0", ApproxDP(1.0, 1e-12), 1.0, lambda r: _together(r, 400, 1.0)),
        ("randomised response or nothing", ApproxDP(1.0, 1e-12), 1.0, lambda r: _together(r, 400, 0.5)),
        ("300 updates, σ = 1, rate 0.05", ApproxDP(5.8, 1e-5), 5.8, lambda r: drawn(r, 200, 300, 0.05, 1)),
    ]  # fmt: skip
    rows = []
    for number, (name, notion, true, make) in enumerate(cases):
        many = runs if not isinstance(notion, GaussianDP) else runs // 10
        above = 0
        for run in range(many):
            above += _bound(*make(np.random.default_rng((number, run))), notion) > true * (1 + 1e-9)
        rows.append({"loop": name, "runs": many, "above": above, "p": float(binom.sf(above - 1, many, 0.05))})
        print(rows[-1], flush=True)
    return rows


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Draw all rows there are."""
    lines = ["# What the canaries of one run show", ""]
    lines += ["Made by `python benchmarks/training/measure_canaries.py`, a part of `make test-training`."]
    if "shown" in found:
        shown = []
        for what, many in dict.fromkeys((r["what"], r["canaries"]) for r in found["shown"]):
            rows = [r for r in found["shown"] if (r["what"], r["canaries"]) == (what, many)]
            cells = [_range([r[name] for r in rows]) for name in ("epsilon", "earlier", "mu")]
            wrong = sum(r["verdict"] == "violated" for r in rows)
            shown.append([f"{many:,} {what}", *cells, f"{wrong} of {len(rows)}"])
        lines += section(
            f"Right loops on digits: 300 updates, σ = 1, q = 0.05, δ = 1e-5; true ε = {TRUE}",
            ("canaries", "ε", "ε, Steinke et al. (2023), same scores", "μ", "violated"),
            shown,
            "Medians and ranges of five seeds; bounds at 95 %.",
        )
    if "more" in found:
        numbers = ("earlier", "sums", "epsilon", "mu")
        lines += section(
            "More canaries, drawn by NumPy: the same loop, medians of five",
            ("canaries", "Steinke et al. (2023)", "sharp law, sums as scores", "sharp law", "μ, if μ-GDP"),
            ([f"{r['canaries']:,}", *(f"{r[name]:.2f}" for name in numbers)] for r in found["more"]),
        )
    if "mistakes" in found:
        lines += section(
            "Mistakes by canaries alone: 1,000 gradients, 300 updates, a claim of ε = 8, two seeds",
            ("mistake", "ε at 95 %", "ε as sure as a violation", "verdict of the watch"),
            (
                [r["mistake"], *(", ".join(f"{each:.2f}" for each in r[name]) for name in ("epsilon", "sure")),
                 ", ".join(dict.fromkeys(r["verdict"]))]
                for r in found["mistakes"]
            ),
        )  # fmt: skip
    if "small" in found:
        lines += section(
            "Many small runs: ten updates with Opacus on the worst neighbours, a claim of μ = 3.17",
            ("loop", "runs", "μ at 95 %", "true", "verdict", "ms a run"),
            (
                [r["loop"], f"{r['runs']:,}", f"{r['mu']:.2f}", f"{r['true']:.2f}", r["verdict"],
                 f"{r['milliseconds']:.0f}"]
                for r in found["small"]
            ),
        )  # fmt: skip
    if "valid" in found:
        lines += section(
            "Loops that keep their claim exactly: bounds above it, at 5 %",
            ("loop", "above", "of", "exact p of so many at 5 %"),
            ([r["loop"], r["above"], f"{r['runs']:,}", f"{r['p']:.2g}"] for r in found["valid"]),
        )
    return "\n".join(lines) + "\n"


def _range(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    in_parts(
        __doc__,
        HERE / "results_canaries.json",
        {"shown": shown, "more": more, "mistakes": mistakes, "small": small, "valid": valid},
        table,
    )
