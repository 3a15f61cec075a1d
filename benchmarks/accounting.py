"""How narrow are certified accounts, how long do they take, and which other accountants lie outside of them?

``python benchmarks/accounting.py`` writes ``results/accounting.md``: the rows of sampled Gaussian noise that the
documentation names, their certificates checked, and dp-accounting's PLD and RDP beside them. With ``--opacus PYTHON``
and ``--prv PYTHON``, the interpreters of environments that have Opacus and prv-accountant, these are asked too.
``--random 100`` writes ``results/accounting_random.md`` instead: the same of random rows. What is measured is written
as it comes.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import time
from importlib.metadata import version

from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant
from frame import RESULTS, head, made, options

from dpaudit.accounting import Certified, Gaussian, certify
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
OPACUS = """
import json, sys, warnings
warnings.filterwarnings("ignore")
from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant
for line in sys.stdin:
    sigma, q, steps, delta = json.loads(line)
    row = []
    for kind in (RDPAccountant, PRVAccountant, GaussianAccountant):
        accountant = kind()
        accountant.history = [(sigma, q, steps)]
        try:
            row.append(float(accountant.get_epsilon(delta)))
        except Exception as error:
            row.append(type(error).__name__)
    print(json.dumps(row), flush=True)
"""
PRV = """
import json, resource, signal, sys, warnings
warnings.filterwarnings("ignore")
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant
for line in sys.stdin:
    sigma, q, steps, delta = json.loads(line)
    try:
        signal.alarm(20)
        law = PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
        errors = {"eps_error": 0.01, "delta_error": max(delta / 1000, 1e-16)}
        accountant = PRVAccountant([law], max_self_compositions=[steps], **errors)
        found = [float(x) for x in accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])]
    except Exception as error:
        found = ["over 20 s" if isinstance(error, ZeroDivisionError) else type(error).__name__] * 3
    signal.alarm(0)
    print(json.dumps(found), flush=True)
"""


NAMES = ["PLD", "RDP", "Opacus RDP", "Opacus PRV", "Opacus GDP", "prv low", "prv", "prv high"]
Row = tuple[str, str, int, str]


class Asked:
    """The accountants of another environment, a row at a time; without one, dashes."""

    def __init__(self, python: str | None, program: str, count: int) -> None:
        self.count, self.running = count, None
        if python is not None:
            self.running = subprocess.Popen(
                [python, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )

    def __call__(self, row: Row) -> list:
        """Return what they say of a row."""
        if self.running is None:
            return ["–"] * self.count
        sigma, q, steps, delta = row
        print(json.dumps([float(sigma), float(q), steps, float(delta)]), file=self.running.stdin, flush=True)
        return json.loads(self.running.stdout.readline())


def here(row: Row) -> list[float]:
    """Return ε by dp-accounting's PLD and RDP."""
    sigma, q, steps, delta = row
    event = dp_event.PoissonSampledDpEvent(float(q), dp_event.GaussianDpEvent(float(sigma)))
    found = []
    for accountant in (pld_privacy_accountant.PLDAccountant(), rdp_privacy_accountant.RdpAccountant()):
        accountant.compose(event, steps)
        found.append(float(accountant.get_epsilon(float(delta))))
    return found


def placed(value: float | str, low: float, high: float) -> str:
    """Return a number, and by how much it lies outside; one below 0 stands for 0."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return "∞"
    if max(0.0, value) < low:
        return f"{value:.5f} (**{100 * (value / low - 1):.2f} %**)"
    if value > high:
        return f"{value:.5f} (+{100 * (value / high - 1):.2f} %)" if high > 0 else f"{value:.5f} (+)"
    return f"{max(0.0, value):.5f}"


HEAD = ["", *head("σ, q, T, δ", "certified ε", "width", "s", "s to check", *NAMES)]
READ = (
    "Gaussian noise σ on records that are sampled with probability q, T steps. Bold is below the certified lower end, "
    "which some data reach; plus is above the upper one. PLD and RDP are of dp-accounting {}; prv-accountant says an "
    "estimate, and an interval that should hold the certified one. Seconds of one core that other work shared. {}"
)


def measured(rows: list[Row], title: str, command: str, file: str, opacus: str | None, prv: str | None) -> None:
    """Write the table of some rows, and how far the others lie outside."""
    lines, found = [], []
    beside = [here, Asked(opacus, OPACUS, 3), Asked(prv, PRV, 3)]
    for row in rows:
        sigma, q, steps, delta = row
        began = time.process_time()
        own = certify(Gaussian(sigma).poisson(q).times(steps), delta=delta)
        took, began = time.process_time() - began, time.process_time()
        check_certificate(own.certificate)
        checked = time.process_time() - began
        said = [value for asked in beside for value in asked(row)]
        found.append((own, took, checked, said))
        shown = [placed(value, own.low, own.high) for value in said]
        lines.append(
            f"| {sigma}, {q}, {steps:,}, {delta} | {own.low:.6f}–{own.high:.6f} | {own.width:.1e} | {took:.1f} | "
            f"{checked:.1f} | {' | '.join(shown)} |"
        )
        print(lines[-1], flush=True)
        written(file, title, command, [*summary(found), *HEAD, *lines])


def summary(found: list[tuple[Certified, float, float, list]]) -> list[str]:
    """Return how wide and how long, and a table of who lies outside."""
    widths, took, checked = [own.width for own, *_ in found], [each[1] for each in found], [each[2] for each in found]
    lines = [
        "",
        f"{len(found)} rows: {sum(own.low > own.high for own, *_ in found)} empty; widest {max(widths):.1e}, "
        f"{sum(width > 5e-4 for width in widths)} wider than 5e-4 and {sum(width > 1e-3 for width in widths)} than "
        f"1e-3; longest {max(took):.1f} s, {sum(one > 3 for one in took)} longer than 3 s, all "
        f"{sum(took):.0f} s; every certificate checked, longest {max(checked):.1f} s.",
        "",
        *head("accountant", "below the interval", "by at most", "within", "above it", "by at most", "no number"),
    ]
    for place, name in enumerate(NAMES):
        numbers = [
            (said[place], own)
            for own, _, _, said in found
            if isinstance(said[place], float) and math.isfinite(said[place])
        ]
        under = [100 * (1 - value / own.low) for value, own in numbers if max(0.0, value) < own.low]
        above = [100 * (value / own.high - 1) for value, own in numbers if value > own.high > 0]
        over = sum(value > own.high for value, own in numbers)
        lines.append(
            f"| {name} | {len(under)} | {max(under, default=0):.3g} % | {len(numbers) - len(under) - over} | {over} | "
            f"{max(above, default=0):.3g} % | {len(found) - len(numbers)} |"
        )
    return lines


def written(file: str, title: str, command: str, lines: list[str]) -> None:
    """Write a result: all of it, or as before."""
    read = READ.format(version("dp-accounting"), made())
    top = [f"# {title}", "", f"`python benchmarks/accounting.py{command}`. {read}"]
    (RESULTS / file).write_text("\n".join([*top, *lines]) + "\n", encoding="utf-8")


def random_rows(count: int) -> list[Row]:
    """Draw so many."""
    draw, rows = random.Random(0), []
    for _ in range(count):
        sigma, q = round(draw.uniform(0.6, 5), 2), round(10 ** draw.uniform(-3.3, -0.3), 5)
        rows.append((str(sigma), str(q), round(10 ** draw.uniform(0, 4)), f"{10 ** draw.uniform(-12, -3):.3g}"))
    return rows


if __name__ == "__main__":
    given = options(__doc__, opacus=None, prv=None, random=0)
    others, both = " --opacus PYTHON --prv PYTHON", (given.opacus, given.prv)
    if given.random:
        command, rows = f" --random {given.random}{others}", random_rows(given.random)
        measured(rows, "Certified accounts of random rows", command, "accounting_random.md", *both)
    else:
        measured(ROWS, "Certified accounts", others, "accounting.md", *both)
