"""HF109: unknown class."""

from hfcount.verifier.finding import Statement


class UnknownClass(Statement):
    """`architectures` names a class that hfcount does not know, or code in the repo that may build another model."""

    code = "HF109"
    name = "unknown-class"
    level = "note"
    why = "A known model_type with code of its own, a draft model, or a misspelt class name."
    remedy = "If the weights belong to a known class, name that class in architectures."
    proof = "lost"
