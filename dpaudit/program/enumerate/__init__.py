"""What does a program return, and with which exact probability? The exact reading of discrete noise.

A *trace* is one possible sequence of draws of a run; its weight is the product of the probabilities that the program
asked for. All traces together give the exact law of the output. Numbers stay exact on the way: parameters and data are
the decimals that are written (`Exact`, `Whole`), and ``math.exp`` of one is a symbol, not a float. So randomised
response at ε = 1 has the ratio e, not 2.718….

The numbers form the field of quotients of sums Σ c·e^r with rational c and r (`number`). If a program needs
something that is not exact (a float, a root), it is refused, and the message names the line (`number.refuse`). A float
that the program computes from its own literals counts as the decimal that Python writes for it, if that has at most 15
digits.
"""

from dpaudit.program.enumerate.number import Exact, NotExactError, Whole, exact, parameter_of, parse_exact
from dpaudit.program.enumerate.reading import MOST_TRACES, OutputLaw, Weight, exact_reading, output_text

__all__ = [
    "MOST_TRACES",
    "Exact",
    "NotExactError",
    "OutputLaw",
    "Weight",
    "Whole",
    "exact",
    "exact_reading",
    "output_text",
    "parameter_of",
    "parse_exact",
]
