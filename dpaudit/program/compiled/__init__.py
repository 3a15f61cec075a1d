"""What does a program do in very many runs? The compiled reading: the tree of all paths as one loop."""

__all__ = ["installed", "reading", "refused"]
