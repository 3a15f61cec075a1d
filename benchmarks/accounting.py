"""How narrow are certified accounts, how long do they take, and which other accountants lie outside of them?

``python benchmarks/accounting.py`` writes ``results/accounting.md``: the rows of sampled Gaussian noise that the
documentation names, their certificates checked, and dp-accounting's PLD and RDP beside them.
"""

from __future__ import annotations

import math
import platform
import random
import time
from pathlib import Path

from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant

from dpaudit.accounting import Gaussian, certify
from dpaudit.checker import check_certificate

ROWS = [
    ("1", "0.01", 1_000, "1e-5"),
    ("0.8", "0.004", 3_000, "1e-5"),
    ("0.6", "0.02", 500, "1e-5"),
    ("2", "0.05", 2_000, "1e-6"),
    ("4", "0.00033", 10_000, "1e-5"),
    ("4", "0.00033", 10_000, "1e-10"),
    ("1", "0.001", 10_000, "1e-6"),
    ("1", "0.1", 100, "1e-5"),
    ("0.5", "0.01", 200, "1e-5"),
    ("1.5", "0.02", 5_000, "1e-8"),
    ("10", "0.2", 1_000, "1e-5"),
    ("10", "0.2", 1_000, "1e-30"),
    ("5", "0.5", 300, "1e-7"),
    ("3", "0.02", 10_000, "1e-12"),
    ("1", "0.01", 1_000, "1e-30"),
    ("0.7", "0.0005", 20_000, "1e-6"),
    ("1", "0.001", 1_000_000, "1e-6"),
]
RANDOM = 25


def others(sigma: str, q: str, steps: int, delta: str) -> list[float]:
    """Return ε by dp-accounting's PLD and RDP."""
    event = dp_event.PoissonSampledDpEvent(float(q), dp_event.GaussianDpEvent(float(sigma)))
    found = []
    for accountant in (pld_privacy_accountant.PLDAccountant(), rdp_privacy_accountant.RdpAccountant()):
        accountant.compose(event, steps)
        found.append(float(accountant.get_epsilon(float(delta))))
    return found


def placed(value: float, low: float, high: float) -> str:
    """Return a number, and by how much it lies outside."""
    if not math.isfinite(value):
        return "∞"
    if value < low:
        return f"{value:.5f} (**{100 * (value / low - 1):.2f} %**)"
    return f"{value:.5f}" + (f" (+{100 * (value / high - 1):.2f} %)" if value > high else "")


def main() -> None:
    lines = [
        "# Certified accounts",
        "",
        f"Python {platform.python_version()}; seconds of one core. Gaussian noise σ on records that are sampled "
        "with probability q, T steps. Bold is below the certified lower end, which some data reach; plus is above the "
        "upper one.",
        "",
        "| σ, q, T, δ | certified ε | width | s | s to check | PLD | RDP |",
        "|---|---|---|---|---|---|---|",
    ]
    for sigma, q, steps, delta in ROWS:
        began = time.process_time()
        found = certify(Gaussian(sigma).poisson(q).times(steps), delta=delta)
        took, began = time.process_time() - began, time.process_time()
        check_certificate(found.certificate)
        checked = time.process_time() - began
        shown = [placed(value, found.low, found.high) for value in others(sigma, q, steps, delta)]
        lines.append(
            f"| {sigma}, {q}, {steps:,}, {delta} | {found.low:.6f}–{found.high:.6f} | {found.width:.1e} | {took:.1f} | "
            f"{checked:.1f} | {shown[0]} | {shown[1]} |"
        )
        print(lines[-1], flush=True)
    draw, widest, longest = random.Random(0), 0.0, 0.0
    for _ in range(RANDOM):
        sigma, q = round(draw.uniform(0.6, 5), 2), round(10 ** draw.uniform(-3.3, -0.3), 5)
        steps, delta = round(10 ** draw.uniform(0, 4)), 10 ** draw.uniform(-12, -3)
        began = time.process_time()
        found = certify(Gaussian(sigma).poisson(q).times(steps), delta=delta)
        longest, widest = max(longest, time.process_time() - began), max(widest, found.width)
    lines += ["", f"{RANDOM} random rows: widest {widest:.1e}, longest {longest:.1f} s."]
    print(lines[-1])
    path = Path(__file__).parent / "results" / "accounting.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
