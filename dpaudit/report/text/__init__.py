"""How is evidence put into words?"""

__all__ = ["chain", "findings", "listed", "phrases", "reproduce", "reviewer", "verdict"]
