"""Can the claim be believed? From a request to evidence."""

__all__ = ["audit", "canaries", "pair", "plan", "question", "scores", "sensitivity", "trace", "verdict"]
