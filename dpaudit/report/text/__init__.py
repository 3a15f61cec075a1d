"""How is evidence put into words?"""

__all__ = ["accounting", "chain", "findings", "numerals", "phrases", "reproduce", "reviewer", "training", "verdict"]
