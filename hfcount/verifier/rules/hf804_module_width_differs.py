"""HF804: module width differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class ModuleWidthDiffers(Finding):
    """A sentence-transformers module reads more or fewer features than the modules before it give.

    Args:
        label, source: the module, and the one that has written what it reads.
        expected, observed: features that it reads, and that it is given.
    """

    code = "HF804"
    name = "module-width-differs"
    level = "error"
    why = "A module of another model, or a module before it that was exchanged or left out."
    remedy = "Take the module that was trained with this model, or correct the order of modules in modules.json."

    label: str
    source: str
    key: str
    expected: int
    observed: int

    @property
    def text(self) -> str:
        reads = f"{printable(self.label)} reads {self.expected:,} features ({self.key})"
        given = f"{printable(self.source)} gives {self.observed:,}"
        return f"{reads}, and {given}: the model loads, and fails at the first text."
