"""How large must the privacy loss be, given these counts? Counts in, certified bounds out; no mechanism is known."""

__all__ = [
    "curve",
    "e_process",
    "event_bound",
    "joint_region",
    "methods",
    "one_run",
    "plain",
    "power",
    "renyi",
    "two_looks",
]
