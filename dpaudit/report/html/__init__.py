"""How does evidence become a page?"""

__all__ = ["embedded_json", "index", "page", "templates"]
