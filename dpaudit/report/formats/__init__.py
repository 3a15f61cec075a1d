"""How does evidence read in the formats of others?"""
