"""To hold small results back, noisy reach is released beside noisy impressions; only one of them is charged.

Two Gaussian answers of μ = 1/2 are μ = 0.7071, by hand. Fixed: σ = 2.8285 each.
"""

SOURCES = ("world-federation-of-advertisers/cross-media-measurement#2778",)
REPORTED = "2025-08"
COMMAND = "account {} --claim mu=0.5"
LOSS = {"wrong": 0.70711, "fixed": 0.5}
NAMED = ("0.707",)

wrong = "\"Gaussian('2') + Gaussian('2')\""
fixed = "\"Gaussian('2.8285') + Gaussian('2.8285')\""
