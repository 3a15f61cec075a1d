"""What is certain of a mechanism, without running it at random? Proofs, exact losses, certified intervals."""

__all__ = ["certificate", "certified_delta", "counterexample", "exact", "fold", "merging", "prove", "prove_and_audit"]
