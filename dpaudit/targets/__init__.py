"""Which function is audited, with everything that it reaches, and what is claimed about it?"""

__all__ = ["mechanism", "signature"]
