"""How is evidence drawn?"""
