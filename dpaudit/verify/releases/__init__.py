"""How much do the releases of a program lose, from records to ε, ρ or μ? The release calculus."""

__all__ = ["derive", "written"]
