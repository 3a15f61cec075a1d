"""What tests share: evidence, certificates, results and projects made by hand, programs, naive twins."""
