"""Is what was read of a program all that can run of it, and does it do what was read?"""

__all__ = ["agreement", "instructions", "regions", "watching"]
