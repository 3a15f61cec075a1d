"""How is somebody's code run in a process of its own?"""

__all__ = ["handover", "process"]
