"""Which pair of neighbours does a release give away the most on? Search runs in, one pair out.

Pairs are compared by what measuring them would probably show (`quick_predict`), on runs of a phase of their own that no
bound ever looks at: `successive_halving` drops the less telling half of them again and again, `hill_climbing` goes on
from there over a declared domain, `shrink` looks for a simpler pair that is about as telling. What comes out is a pair
and nothing else; it is learned and measured afresh, at the full confidence, like a pair that somebody gave.
"""

from dpaudit.auditing.search.search import find, first_of, least_of, with_search

__all__ = ["find", "first_of", "least_of", "with_search"]
