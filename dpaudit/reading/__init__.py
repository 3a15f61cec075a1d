"""What does a function as it is written do with values of another kind?

Its source is rewritten so that every operation on a value is asked of a domain, and Python itself runs it: scopes,
closures, the order of evaluation, generators and exceptions are Python's own. What a value is depends on the domain.
"""

__all__ = [
    "alone",
    "callables",
    "definite",
    "dispatch",
    "draws",
    "expressions",
    "python",
    "rewrite",
    "runs",
    "seeded",
    "source",
    "universe",
]
