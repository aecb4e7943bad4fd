"""HF101: missing key."""

from hfcount.verifier.finding import Statement


class MissingKey(Statement):
    """The architecture needs a key that config.json lacks."""

    code = "HF101"
    name = "missing-key"
    level = "error"
    why = "A config stripped by hand, or a key under a new name."
    remedy = "Add the key."
