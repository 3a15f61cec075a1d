"""What is certain of a mechanism, without running it at random? Proofs, exact losses, certified intervals."""
