"""What does a function as it is do in very many runs?"""

__all__ = ["passes", "values"]
