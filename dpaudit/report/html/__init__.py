"""How does evidence become an HTML page?"""

__all__ = ["embedded_json", "index", "page", "recheck", "templates"]
