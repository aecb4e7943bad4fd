"""HF815: part class differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartClassDiffers(Finding):
    """The config of a part names another class than model_index.json. diffusers builds the latter.

    Args:
        part: the name of the part; expected: the class in model_index.json; observed: that in the part's config.
    """

    code = "HF815"
    name = "part-class-differs"
    level = "note"
    why = "The config was copied from another model, or the part was saved by a class with another name."
    remedy = "Name one class in both files."

    part: str
    expected: str
    observed: str

    @property
    def text(self) -> str:
        part, kind = printable(self.part), printable(self.expected, 60)
        return (
            f"model_index.json names the class {kind} for {part}, but {part}/config.json names"
            f" {printable(self.observed, 60)}. {DIFFUSERS} builds {kind}; hfcount compared with that."
        )
