"""Where is a named mechanism, and may its code be run?"""

__all__ = ["named"]
