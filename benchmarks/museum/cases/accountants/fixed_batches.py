"""ε is computed for Poisson sampling, and batches have a fixed size.

256 of 60,000 records, σ = 1, 1,000 steps: Poisson keeps ε = 1 at δ = 1e-5. Of a fixed size, the batch holds another
record where one is replaced, and the sum moves by 2. The loss is certified by the account itself, from below.
"""

SOURCES = ("meta-pytorch/opacus#80", "tensorflow/privacy#483", "google-deepmind/jax_privacy#272")
REPORTED = "2020-10"
COMMAND = "account {} --claim 'epsilon=1, delta=1e-5'"
LOSS = {}
NAMED = ("batch|without replacement|256",)

wrong = "--gaussian 1 --sensitivity 2 --batch 256 --records 60000 --steps 1000"
fixed = "--gaussian 1 --rate 0.0042666666 --steps 1000"
