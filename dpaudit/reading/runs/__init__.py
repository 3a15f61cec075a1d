"""What does a function as it is do in very many runs?

From the bottom: what a value is (`values`, `joins`), which runs are where (`active`), one operation for all of them
(`applied`), operations and draws by type (`numbers`, `draws`, `tables`, `table_methods`, `containers`), calls
(`builtin_calls`, `calls`), the domain (`domain`, and `masked`, how control is rewritten for it), and passes (`passes`).
"""

__all__ = ["passes", "values"]
