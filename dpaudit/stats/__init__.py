"""How large must the privacy loss be, given these counts? Counts in, certified bounds out; no mechanism is known."""

__all__ = [
    "clopper_pearson",
    "curve",
    "e_process",
    "event_bound",
    "gaussian_one_run",
    "graded_bets",
    "guess_steps",
    "implied_points",
    "interval",
    "joint_region",
    "methods",
    "one_run",
    "plain",
    "power",
    "renyi",
    "sharp_one_run",
    "statement",
    "two_looks",
]
