"""How is evidence put into words?"""

__all__ = [
    "about",
    "accounting",
    "accuracy",
    "bound_kinds",
    "chain",
    "cite",
    "command",
    "drawn",
    "glossary",
    "headline",
    "method_text",
    "numerals",
    "phrases",
    "plain_words",
    "questions",
    "search",
    "sensitivity",
    "trace",
    "training",
]
