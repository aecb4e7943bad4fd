"""HF110: value refused."""

from hfcount.verifier.finding import Statement


class ValueRefused(Statement):
    """transformers rejects a value of config.json: wrong type, out of range, or an unknown word."""

    code = "HF110"
    name = "value-refused"
    level = "error"
    why = "A config edited by hand, or written by a tool or version that did not check it."
    remedy = "Write a value that its class takes."
