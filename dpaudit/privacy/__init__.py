"""What does a promise of privacy mean? Claims as values, their curves, and their texts.

Nothing here is random and nothing here knows a mechanism.
"""

from dpaudit.privacy.claims import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.privacy.text import parse_claim

__all__ = ["ApproxDP", "Claim", "GaussianDP", "PureDP", "RenyiDP", "ZeroConcentratedDP", "parse_claim"]
