"""How is other people's code run in a separate process?"""

__all__ = ["handover", "process"]
