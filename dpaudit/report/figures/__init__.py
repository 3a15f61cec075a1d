"""How is evidence drawn as figures?"""

__all__ = [
    "accounting",
    "canvas",
    "curves",
    "event",
    "event_cells",
    "history",
    "loss",
    "loss_bins",
    "number_line",
    "rates",
    "side_by_side",
]
