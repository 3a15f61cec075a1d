"""Was everything that can run of a program read, and does the program do what was read?"""

__all__ = ["agreement", "instructions", "outside"]
