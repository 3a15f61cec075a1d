"""What does a program do, on every path? The symbolic reading."""

__all__ = ["budget", "fold_machine", "linear", "noise", "reading", "simplex", "tree", "value"]
