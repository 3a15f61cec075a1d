"""How does evidence become an HTML page?"""

__all__ = ["index", "page", "templates"]
