"""How does evidence become a page?"""
