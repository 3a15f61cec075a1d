"""Does evidence say what is so? Checked, run again, or held beside earlier evidence."""

__all__ = ["check", "compare", "replay"]
