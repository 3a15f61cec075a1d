"""What does a function compute of n numbers, as an expression?"""

__all__ = ["any_length", "chances", "domain", "graph", "noise", "tables", "ways"]
