"""What does a program do, on every path? The symbolic reading."""

__all__ = ["fold_machine", "linear", "noise", "tree", "value"]
