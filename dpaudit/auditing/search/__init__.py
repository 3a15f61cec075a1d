"""On which pair of neighbours does a release reveal the most? Search runs in, one pair out.

Pairs are compared by the bound that measuring them would probably show (`quick_predict`), on runs of a phase of their
own that no bound uses. `successive_halving` repeatedly drops the less promising half, `hill_climbing` continues from
there over a declared domain, and `shrink` looks for a simpler pair that shows about as much. The result is a pair and
nothing else; it is learned and measured afresh at the full confidence, like a pair that a user gave.
"""

from dpaudit.auditing.search.search import DRAWN_PAIR, find, first_of, least_of, with_search

__all__ = ["DRAWN_PAIR", "find", "first_of", "hill_climbing", "least_of", "with_search"]
