"""An odometer forgets a logarithm, and says more than was lost: a mistake, and none of privacy.

100 answers of ε = 0.1 at a tolerance of 1e-6: √(1/tol) in place of √ln(1/tol) gives 1,414, where 5.8 holds. A claim
that is too large is kept.
"""

SOURCES = ("opendp/smartnoise-sdk#621",)
REPORTED = "2026-02"
COMMAND = "account {}"
LOSS = {}

reported = "\"Block('epsilon=0.1').times(100)\" --claim 'epsilon=1414, delta=1e-6'"
fixed = "\"Block('epsilon=0.1').times(100)\" --claim 'epsilon=5.77, delta=1e-6'"
