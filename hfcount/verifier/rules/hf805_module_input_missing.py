"""HF805: module input missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS
from hfcount.verifier.wording import listed


class ModuleInputMissing(Finding):
    """A sentence-transformers module reads a feature that no module before it writes.

    Args:
        label: the module.
        expected, observed: the feature that it reads, and those that there are.
    """

    code = "HF805"
    name = "module-input-missing"
    level = "error"
    why = "modules.json does not list a module, such as the pooling, or lists it in the wrong order."
    remedy = "In modules.json, list the module that writes it before this one."

    label: str
    expected: str
    observed: tuple[str, ...]

    @property
    def text(self) -> str:
        there = listed(self.observed) or "none"
        reads = f"{printable(self.label)} reads {printable(self.expected)}, which no module before it writes"
        return f"{reads} (they write: {there}): {SENTENCE_TRANSFORMERS} loads the model, which fails at the first text."
