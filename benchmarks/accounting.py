"""How narrow are certified accounts, how long do they take, and which other accountants lie outside of them?

``python benchmarks/accounting.py`` writes ``results/accounting.md``: the rows of sampled Gaussian noise that the
documentation names, their certificates checked, dp-accounting's PLD and RDP beside them, and random rows. With
``--opacus PYTHON`` and ``--prv PYTHON``, the interpreters of environments that have Opacus and prv-accountant, these
are asked too. ``--oracle 2000`` writes ``results/accounting_oracle.md`` instead: random parameters, at which the
interval must not be empty and dp-accounting's pessimistic PLD must not lie below it.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import subprocess
import time
from pathlib import Path

from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant

from dpaudit.accounting import Gaussian, certify
from dpaudit.checker import check_certificate

RESULTS = Path(__file__).parent / "results"
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
RANDOM = 100
OPACUS = """
import json, sys, warnings
warnings.filterwarnings("ignore")
from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant
found = []
for sigma, q, steps, delta in json.load(sys.stdin):
    row = []
    for kind in (RDPAccountant, PRVAccountant, GaussianAccountant):
        accountant = kind()
        accountant.history = [(sigma, q, steps)]
        try:
            row.append(float(accountant.get_epsilon(delta)))
        except Exception as error:
            row.append(type(error).__name__)
    found.append(row)
print(json.dumps(found))
"""
PRV = """
import json, resource, signal, sys, warnings
warnings.filterwarnings("ignore")
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant
found = []
for sigma, q, steps, delta in json.load(sys.stdin):
    try:
        signal.alarm(20)
        law = PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
        errors = {"eps_error": 0.01, "delta_error": max(delta / 1000, 1e-16)}
        accountant = PRVAccountant([law], max_self_compositions=[steps], **errors)
        found.append([float(x) for x in accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])])
    except Exception as error:
        found.append(["over 20 s" if isinstance(error, ZeroDivisionError) else type(error).__name__] * 3)
signal.alarm(0)
print(json.dumps(found))
"""


def others(sigma: str, q: str, steps: int, delta: str) -> list[float]:
    """Return ε by dp-accounting's PLD and RDP."""
    event = dp_event.PoissonSampledDpEvent(float(q), dp_event.GaussianDpEvent(float(sigma)))
    found = []
    for accountant in (pld_privacy_accountant.PLDAccountant(), rdp_privacy_accountant.RdpAccountant()):
        accountant.compose(event, steps)
        found.append(float(accountant.get_epsilon(float(delta))))
    return found


def asked(python: str | None, program: str, rows: list[tuple[float, float, int, float]], count: int) -> list[list]:
    """Return what the accountants of another environment say; dashes without one."""
    if python is None:
        return [["–"] * count for _ in rows]
    done = subprocess.run(
        [python, "-c", program], input=json.dumps(rows), capture_output=True, text=True, check=True, timeout=3600
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def placed(value: float | str, low: float, high: float) -> str:
    """Return a number, and by how much it lies outside."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return "∞"
    if value < low:
        return f"{value:.5f} (**{100 * (value / low - 1):.2f} %**)" if low > 0 else f"{value:.5f}"
    return f"{value:.5f}" + (f" (+{100 * (value / high - 1):.2f} %)" if value > high else "")


NAMES = ["PLD", "RDP", "Opacus RDP", "Opacus PRV", "Opacus GDP", "prv low", "prv", "prv high"]


def named(rows: list[tuple[str, str, int, str]], opacus: str | None, prv: str | None) -> list[list]:
    """Return what every other accountant says of each row, in the order of `NAMES`."""
    numbers = [(float(sigma), float(q), steps, float(delta)) for sigma, q, steps, delta in rows]
    beside = zip(asked(opacus, OPACUS, numbers, 3), asked(prv, PRV, numbers, 3), strict=True)
    return [others(*row) + one + two for row, (one, two) in zip(rows, beside, strict=True)]


def main(opacus: str | None, prv: str | None) -> None:
    lines = [
        "# Certified accounts",
        "",
        f"`python benchmarks/accounting.py --opacus PYTHON --prv PYTHON`. Python {platform.python_version()}; seconds "
        "of one core that other work shared. Gaussian noise σ on records that are sampled with probability q, T steps. "
        "Bold is below the certified lower end, which some data reach; plus is above the upper one. PLD and RDP are of "
        "dp-accounting; prv-accountant says an estimate, and an interval that should hold the certified one.",
        "",
        "| σ, q, T, δ | certified ε | width | s | s to check | " + " | ".join(NAMES) + " |",
        "|---" * (5 + len(NAMES)) + "|",
    ]
    for row, values in zip(ROWS, named(ROWS, opacus, prv), strict=True):
        sigma, q, steps, delta = row
        began = time.process_time()
        found = certify(Gaussian(sigma).poisson(q).times(steps), delta=delta)
        took, began = time.process_time() - began, time.process_time()
        check_certificate(found.certificate)
        checked = time.process_time() - began
        shown = [placed(value, found.low, found.high) for value in values]
        lines.append(
            f"| {sigma}, {q}, {steps:,}, {delta} | {found.low:.6f}–{found.high:.6f} | {found.width:.1e} | {took:.1f} | "
            f"{checked:.1f} | {' | '.join(shown)} |"
        )
        print(lines[-1], flush=True)
    (RESULTS / "accounting.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw, took, widths, rows, intervals = random.Random(0), [], [], [], []
    for _ in range(RANDOM):
        sigma, q = round(draw.uniform(0.6, 5), 2), round(10 ** draw.uniform(-3.3, -0.3), 5)
        rows.append((str(sigma), str(q), round(10 ** draw.uniform(0, 4)), f"{10 ** draw.uniform(-12, -3):.3g}"))
        began = time.process_time()
        found = certify(Gaussian(rows[-1][0]).poisson(rows[-1][1]).times(rows[-1][2]), delta=rows[-1][3])
        took.append(time.process_time() - began)
        widths.append(found.width)
        intervals.append((found.low, found.high))
    said = named(rows, opacus, prv)
    over = sum(width > 1e-3 for width in widths)
    lines += [
        "",
        f"{RANDOM} random rows: widest {max(widths):.1e}, {over} wider than 1e-3; longest {max(took):.1f} s, "
        f"{sum(one > 3 for one in took)} longer than 3 s.",
        "",
        "| accountant | below the interval | most | above it | most | no number |",
        "|---|---|---|---|---|---|",
    ]
    for place, name in enumerate(NAMES):
        numbers = [
            (values[place], *ends)
            for values, ends in zip(said, intervals, strict=True)
            if isinstance(values[place], float) and math.isfinite(values[place])
        ]
        under = [100 * (value / low - 1) for value, low, _ in numbers if value < low]
        above = [100 * (value / high - 1) for value, _, high in numbers if value > high]
        lines.append(
            f"| {name} | {len(under)} | {min(under, default=0):.2f} % | {len(above)} | +{max(above, default=0):.2f} % "
            f"| {RANDOM - len(numbers)} |"
        )
    print("\n".join(lines[-12:]))
    (RESULTS / "accounting.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def oracle(count: int) -> None:
    """Random parameters, against another accountant that is pessimistic."""
    draw, faults, nearest, began = random.Random(1), [], math.inf, time.process_time()
    for number in range(count):
        sigma, q = round(draw.uniform(0.7, 4), 2), round(10 ** draw.uniform(-3, -0.5), 4)
        steps, delta = round(10 ** draw.uniform(0, 2.7)), 10 ** draw.uniform(-9, -3)
        found = certify(Gaussian(sigma).poisson(q).times(steps), delta=delta, tolerance=2e-3)
        accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-3)
        accountant.compose(dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma)), steps)
        other = accountant.get_epsilon(delta)
        nearest = min(nearest, other - found.low)
        if not found.low <= found.high or not found.low <= other * (1 + 1e-9) + 1e-12:
            faults.append((number, sigma, q, steps, delta, found.low, found.high, other))
    lines = [
        "# Certified accounts at random parameters",
        "",
        f"`python benchmarks/accounting.py --oracle {count}`: {time.process_time() - began:.0f} s of one core. σ from "
        ".7 to 4, q from .001 to .3, T to 500, δ from 1e-9 to 1e-3.",
        "",
        f"{len(faults)} of {count:,} intervals are empty, or above dp-accounting's pessimistic PLD (steps of 1e-3). "
        f"PLD is at least {nearest:.1e} above the lower end.",
        *(f"- {fault}" for fault in faults),
    ]
    print("\n".join(lines))
    (RESULTS / "accounting_oracle.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opacus", help="an interpreter that has Opacus")
    parser.add_argument("--prv", help="an interpreter that has prv-accountant")
    parser.add_argument("--oracle", type=int, help="so many random parameters")
    options = parser.parse_args()
    if options.oracle:
        oracle(options.oracle)
    else:
        main(options.opacus, options.prv)
