"""What can be said of a mechanism with certainty, without sampling it? Proofs, exact losses, certified intervals."""

__all__ = [
    "answer",
    "certificate",
    "certified_delta",
    "counterexample",
    "differences",
    "exact",
    "forest_probability",
    "moves",
    "proofs",
]
