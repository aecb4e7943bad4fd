"""HF803: module shape differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS
from hfcount.verifier.wording import short, sides


class ModuleShapeDiffers(Finding):
    """A tensor of a sentence-transformers module does not have the shape that the module's config describes.

    Args:
        file: of the module's weights; kind: its class; config: the file of its config.
        expected, observed: the shapes, of the first tensor that differs; `any` stands for a side of any length.
    """

    code = "HF803"
    name = "module-shape-differs"
    level = "error"
    why = "The config of another module, or weights that were trained with other sizes."
    remedy = "Correct the module's config, or save the module again."

    file: str
    kind: str
    config: str
    expected: str
    observed: tuple[int, ...]

    @property
    def text(self) -> str:
        by = f" by {printable(self.config)}" if self.config else ""
        differs = f"{printable(self.file)} stores {short(self.tensors[0])} as {sides(self.observed)}"
        return f"{differs}, but {self.kind}{by} needs {self.expected}. {SENTENCE_TRANSFORMERS} refuses to load it."
