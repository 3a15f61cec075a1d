"""How is a mechanism run reproducibly, and what do its outputs look like to an attacker?"""

__all__ = ["checkpoint", "engines", "forms", "outputs", "play", "runs"]
