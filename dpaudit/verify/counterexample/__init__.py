"""Which pair and event refute a claim, and how likely is the event, with certainty?"""

__all__ = ["counterexample", "forest_probability", "search"]
