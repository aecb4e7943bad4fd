"""HF109: unknown class."""

from hfcount.verifier.finding import Statement


class UnknownClass(Statement):
    """The config names a class that is not described here, or code of the repo's own that may build another model."""

    code = "HF109"
    name = "unknown-class"
    level = "note"
    why = "A model with code of its own under a known model_type, a draft model, or a name with a typing error."
    remedy = "If the weights are of a known class, name that in architectures."
    proof = "lost"
