"""What does a function compute of n numbers, as an expression?"""

__all__ = ["any_length", "domain", "graph", "noise", "selections", "tables", "ways"]
