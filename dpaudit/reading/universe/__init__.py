"""What does a function release of its records, whatever the data? Its reading on one row for every kind of record.

*Universe*: every column holds one value for each kind of records that the declared domain allows. What treats each
record by itself is done by pandas and NumPy on it; sums over records are known by what each kind adds; noise hides them
at a price. Private data are no object of the process.
"""

__all__ = ["assumed", "cells", "drive", "given", "second", "second_draws", "second_sources", "state", "steps"]
