"""Which neighbours of somebody's data are the most likely to give a release away?"""

__all__ = ["candidates", "edge_values"]
