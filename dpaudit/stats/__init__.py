"""How large must the loss be, given these counts? Counts in, certain bounds out; no mechanism is known here."""

from dpaudit.stats.methods import METHODS, BoundMethod, method_of

__all__ = ["METHODS", "BoundMethod", "method_of"]
