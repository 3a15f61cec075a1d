"""What can be done from the command line?"""

__all__ = ["main"]
