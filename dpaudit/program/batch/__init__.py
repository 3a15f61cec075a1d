"""What does a program do in many runs at once? The batch reading."""

__all__ = ["path", "reading", "value"]
