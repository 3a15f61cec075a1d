"""How large must the loss be, given these counts? Counts in, certain bounds out; no mechanism is known here."""

from dpaudit.stats.clopper_pearson import probability_at_least, probability_at_most
from dpaudit.stats.exact_region import enumerated_region, two_sided_enumerated_region
from dpaudit.stats.guessing import guess_bound
from dpaudit.stats.joint_region import Region, joint_region, joint_weight, two_sided_region, two_sided_weight

__all__ = [
    "Region",
    "enumerated_region",
    "guess_bound",
    "joint_region",
    "joint_weight",
    "probability_at_least",
    "probability_at_most",
    "two_sided_enumerated_region",
    "two_sided_region",
    "two_sided_weight",
]
