"""What does the rule of two looks cost? The runs needed to refute a false claim of ε = 1 in 90 % of audits.

With the rule, with one look at 5 %, and with one look at the false alarm probability; computed for guesses, where all
probabilities are binomial. How rarely a mechanism that just keeps its claim is called VIOLATED is in `validity.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from frame import Page, options
from scipy.special import betainc

from dpaudit.stats.two_looks import AGAIN, FALSE_ALARM, LooksRule

SEED, ERROR = 50_000, 0.05
LEARNING = 0.25  # share of the runs for learning when runs are few


def p_value(right: Any, guesses: Any, claim: float) -> Any:
    """Return the probability of at least this many correct guesses under the claim."""
    return np.where(right <= 0, 1.0, betainc(np.maximum(right, 1), guesses - np.maximum(right, 1) + 1, claim))


def power(
    runs: int, epsilon: float, rule: LooksRule, rng: np.random.Generator, times: int = 20_000
) -> tuple[float, float]:
    """Return how often a loss is found with this many runs, and how many runs that takes on average."""
    made = int(runs * (1 - LEARNING))
    claim, truth = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-epsilon))
    p = p_value(rng.binomial(made, truth, times), made, claim)
    rounded = np.full(times, np.nan)
    for level in rule.levels:
        rounded[p <= level] = level
    second = AGAIN * made
    again = p_value(rng.binomial(second, truth, times), second, claim)
    sure = p <= rule.at_once
    due = ~np.isnan(rounded) & ~sure if rule.twice else np.zeros(times, dtype=bool)
    with np.errstate(invalid="ignore"):
        found = sure | (due & (again <= rule.second(1.0) / rounded))
    return float(found.mean()), runs + float(due.mean()) * second


def needed(epsilon: float, rule: LooksRule, rng: np.random.Generator) -> tuple[int, float]:
    """Return the smallest number of runs with power 0.9, and the number of runs on average."""
    low, high = 20.0, 1e6
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if power(int(middle), epsilon, rule, rng)[0] < 0.9 else (low, middle)
    return int(high), power(int(high), epsilon, rule, rng)[1]


def main() -> None:
    """Write the table."""
    options(__doc__)
    page = Page("two_looks.md", "Two looks", "two_looks.py")
    page.say(
        "Runs in all with which a claim of ε = 1 is refuted in 90 % of audits by guesses, a quarter for learning:", ""
    )
    rules = (LooksRule(ERROR, ERROR), LooksRule(ERROR, FALSE_ALARM), LooksRule(ERROR, FALSE_ALARM, repeatable=False))
    rng, rows = np.random.default_rng(SEED), []
    for epsilon in (1.1, 1.2, 1.5, 2.0):
        usual, two, one = (needed(epsilon, rule, rng) for rule in rules)
        average, alone = f"{two[1]:.0f} ({two[1] / usual[0]:.2f})", f"{one[0]} ({one[0] / usual[0]:.2f})"
        rows.append([epsilon, usual[0], two[0], average, alone])
    titles = ("true ε", "one look at 5 %", "two looks: runs asked for", "on average (over one at 5 %)")
    page.table([*titles, f"one look at {FALSE_ALARM:g}"], rows)
    page.say("How rarely a mechanism that just keeps its claim is called VIOLATED: [validity](validity.md).")
    page.save()


if __name__ == "__main__":
    main()
