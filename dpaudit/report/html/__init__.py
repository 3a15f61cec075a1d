"""How does evidence become an HTML page?"""

__all__ = ["dossier", "embedded_json", "history", "index", "page", "recheck", "side_by_side", "templates"]
