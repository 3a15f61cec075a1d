"""What can be said of a mechanism with certainty, without sampling it? Proofs, exact losses, certified intervals."""

__all__ = [
    "answer",
    "certificate",
    "certified_delta",
    "counterexample",
    "exact",
    "fold",
    "merging",
    "moves",
    "proofs",
    "prove",
    "prove_and_audit",
    "releases",
    "scope",
]
