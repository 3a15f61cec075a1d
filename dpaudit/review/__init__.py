"""Is evidence right? It is checked, run again, or compared with earlier evidence."""

__all__ = ["check", "compare", "replay"]
