"""What does a program release of its records? The tracked reading: public, private and released values.

The function is given a frame of unknown length over a declared domain in place of its data. What it computes of that
is *private*, and known by how far one record moves it; what noise was added to is *released*, a token; all else is
*public*. Control flow and outputs may depend on public and released values only. What is not known is refused, by line.
"""

__all__ = ["magnitude", "movement", "path", "reading", "rows"]
