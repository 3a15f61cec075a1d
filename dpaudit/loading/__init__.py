"""Where is the mechanism that somebody names, and may its code be run?"""

__all__ = ["named", "trust"]
