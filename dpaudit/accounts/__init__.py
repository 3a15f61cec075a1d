"""What is lost in all by what was run, and does that keep the claim? From a list of releases to evidence.

A list is typed, stands in a plan file, or was recorded by another library; `dpaudit.accounting` bounds what it loses.
"""

__all__ = ["account", "plan", "recorded"]
