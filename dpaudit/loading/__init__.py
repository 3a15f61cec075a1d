"""Where is the mechanism that somebody names, and may its code be run?"""
