"""Which function is it, with all that it reaches, and what is claimed of it?"""

__all__ = ["mechanism", "source_digest"]
