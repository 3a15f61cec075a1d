"""How is a loop of a library watched, without changing what it does? Instances are wrapped, and given back."""

__all__ = ["jax_watch", "torch_watch"]
