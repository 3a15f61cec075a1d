"""What do tests share? Hand-made evidence, certificates, results and projects; programs; naive twins."""
