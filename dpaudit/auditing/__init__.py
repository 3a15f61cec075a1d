"""Can the claim be believed? From a request to evidence."""

__all__ = [
    "assumed",
    "audit",
    "calibration",
    "pair",
    "plan",
    "plan_error",
    "question",
    "recorded",
    "scores",
    "second_look",
    "seeds",
    "sensitivity",
    "trace",
    "verdict",
]
