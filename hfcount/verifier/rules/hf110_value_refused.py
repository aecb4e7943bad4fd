"""HF110: value refused."""

from hfcount.verifier.finding import Statement


class ValueRefused(Statement):
    """transformers refuses a value of config.json: another type, out of range, or a word that it does not know."""

    code = "HF110"
    name = "value-refused"
    level = "error"
    why = "A config edited by hand, or written by a tool or a version that did not check it."
    remedy = "Write a value that the key may have."
