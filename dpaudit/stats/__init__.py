"""How large must the privacy loss be, given these counts? Counts in, certified bounds out; no mechanism is known."""

__all__ = ["e_process", "event_bound", "guessing", "joint_region", "methods", "plain", "renyi", "two_looks"]
