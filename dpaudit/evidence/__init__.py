"""What was found, written down so that anyone can cite it and check it?"""

__all__ = ["build", "canonical_json", "event", "evidence", "installed", "records", "renderers"]
