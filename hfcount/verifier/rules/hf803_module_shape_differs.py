"""HF803: module shape differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short, sides


class ModuleShapeDiffers(Finding):
    """A tensor of a sentence-transformers module does not have the shape that the module's settings give it.

    Args:
        file: of the module's weights; kind: its class; settings: the file of its settings.
        expected, observed: the shapes, of the first tensor that differs; `any` stands for a side of any length.
    """

    code = "HF803"
    name = "module-shape-differs"
    level = "error"
    why = "Settings of another module, or weights that were trained with other sizes."
    remedy = "Correct the module's settings, or save the module again."

    file: str
    kind: str
    settings: str
    expected: str
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        by = f" by {printable(self.settings)}" if self.settings else ""
        differs = f"{printable(self.file)} stores {short(self.tensors[0])} as {sides(self.observed)}"
        return f"{differs}, and {self.kind}{by} has {self.expected}. sentence-transformers refuses to load it."
