"""Can the claim be believed? From a request to evidence."""

__all__ = [
    "assumed",
    "audit",
    "canaries",
    "pair",
    "plan",
    "question",
    "scores",
    "scores_checked",
    "sensitivity",
    "trace",
    "verdict",
]
