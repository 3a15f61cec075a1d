"""How far does one number of the data move what a function releases, and what follows?"""

__all__ = ["derive"]
