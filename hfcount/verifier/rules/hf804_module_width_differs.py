"""HF804: module width differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS


class ModuleWidthDiffers(Finding):
    """A sentence-transformers module reads more or fewer features than the module before it writes.

    Args:
        label, source: the module, and the one that has written what it reads.
        expected, observed: features that it reads, and that it is given.
    """

    code = "HF804"
    name = "module-width-differs"
    level = "error"
    why = "The module, or the one before it, is of another model, or a module between them was left out."
    remedy = "Use the module that was trained with this model, or correct the order of modules in modules.json."

    label: str
    source: str
    key: str
    expected: int
    observed: int

    @property
    def text(self) -> str:
        reads = f"{printable(self.label)} reads {self.expected:,} features ({self.key})"
        given = f"{printable(self.source)} writes {self.observed:,}"
        return f"{reads}, but {given}: {SENTENCE_TRANSFORMERS} loads the model, which fails at the first text."
