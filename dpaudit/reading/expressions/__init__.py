"""What does a function compute of n numbers, as an expression?"""

__all__ = ["domain", "graph", "ways"]
