"""Which kinds of proof are there, and how is each made, recorded, checked, and held against its program again?"""

__all__ = ["answers", "domains", "kind", "kinds", "releases"]
