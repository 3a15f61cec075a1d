"""How large must the loss be, given these counts? Counts in, certain bounds out; no mechanism is known here."""

__all__ = [
    "clopper_pearson",
    "curve",
    "e_process",
    "event_bound",
    "interval",
    "joint_region",
    "methods",
    "one_run",
    "power",
    "renyi",
    "statement",
    "two_looks",
]
