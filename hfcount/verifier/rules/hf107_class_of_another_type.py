"""HF107: class of another type."""

from hfcount.verifier.finding import Statement


class ClassOfAnotherType(Statement):
    """`architectures` names a class of another model_type, with other tensors; with the same ones, it is a note."""

    code = "HF107"
    name = "class-of-another-type"
    level = "error"
    why = "A config edited by hand, or put together of two models'."
    remedy = "Name the class that the weights are of in architectures, or its model_type."
