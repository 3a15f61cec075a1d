"""How is evidence drawn as figures?"""

__all__ = ["accounting", "canvas", "curves", "event", "lines", "loss"]
