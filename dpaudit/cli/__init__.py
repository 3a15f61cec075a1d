"""How is dpaudit used from the command line?"""

__all__ = ["main"]
