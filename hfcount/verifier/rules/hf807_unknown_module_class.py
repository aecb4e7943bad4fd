"""HF807: unknown module class."""

from hfcount.text import printable, shown
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS


class UnknownModuleClass(Finding):
    """modules.json names a class that sentence-transformers does not have, as far as hfcount knows.

    Args:
        label: the module.
        observed: the class; foreign: whether it is of another package, or of the repo's own code.
        path: the path by which it cannot be imported, where that is known; None where it is unknown.
    """

    code = "HF807"
    name = "unknown-module-class"
    level = "note"
    why = "A misspelt name, or a class that is newer than hfcount."
    remedy = "Correct the class in modules.json, or update hfcount."
    proof = "lost"

    label: str
    observed: str
    foreign: bool = False
    path: str | None = None

    @property
    def text(self) -> str:
        if self.path is not None:
            return (
                f"modules.json names the class {shown(self.path)} for {printable(self.label)}, which"
                f" {SENTENCE_TRANSFORMERS} cannot import. The module's tensors were not compared."
            )
        if self.foreign:
            return (
                f"modules.json names the class {printable(self.observed)} for {printable(self.label)}, which"
                f" {SENTENCE_TRANSFORMERS} does not have and loads only with trust_remote_code=True. The module's"
                " tensors were not compared."
            )
        return (
            f"modules.json names the class {printable(self.observed)} for {printable(self.label)}, which"
            f" {SENTENCE_TRANSFORMERS} does not have and refuses to load. The module's tensors were not compared."
        )
