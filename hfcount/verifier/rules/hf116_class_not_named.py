"""HF116: class not named."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class ClassNotNamed(Finding):
    """config.json names no class that can be read, and the stored tensors are all those of one class of the type.

    Args:
        observed: the class; empty for the one that hfcount takes where none is named.
        family: the model_type.
        given: what architectures holds in place of names; empty if it is absent.
    """

    code = "HF116"
    name = "class-not-named"
    level = "note"
    why = "A base model that was saved by code that writes no architectures, or a config edited by hand."
    remedy = "Name the class in architectures."

    observed: str
    family: str
    given: str = ""

    @property
    def text(self) -> str:
        name, family = printable(self.observed, 60), printable(self.family, 60)
        compared = f"all those of {name}, and were compared with that" if name else f"all those of {family}"
        if self.given:
            return (
                f"architectures is {self.given}, which is no list of names: transformers 5.24 does not read it where a"
                f" program names the class. The stored tensors are {compared}."
            )
        return (
            f"config.json names no class in architectures. The stored tensors are {compared}. Where a program builds"
            f" another class of {family}, transformers 5.24 fills what that has besides with random values."
        )
