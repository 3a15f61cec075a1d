"""On which neighbours of a user's data does a release probably reveal most?"""

__all__ = ["candidates", "edge_values", "exhaustive"]
