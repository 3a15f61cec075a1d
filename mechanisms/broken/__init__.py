"""Which mistakes do people make? Mechanisms that do not keep what they claim, each with its real loss."""
