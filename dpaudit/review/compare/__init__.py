"""What changed between two audits?"""

__all__ = ["intervals", "page"]
