"""HF107: class of another type."""

from hfcount.verifier.finding import Statement


class ClassOfAnotherType(Statement):
    """`architectures` names a class of another model_type, with other tensors; a note where they are the same."""

    code = "HF107"
    name = "class-of-another-type"
    level = "error"
    why = "A config edited by hand, or merged from the configs of two models."
    remedy = "Name the right class in architectures, or its model_type."
