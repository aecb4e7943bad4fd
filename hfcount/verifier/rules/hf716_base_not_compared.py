"""HF716: base not compared."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class BaseNotCompared(Finding):
    """A GGUF file names its base model, but the base was not read: the file was checked by its metadata only.

    Args:
        base: the model; reason: why it was not read.
    """

    code = "HF716"
    name = "base-not-compared"
    level = "note"
    why = "Local files are checked without network, or the base is gated, private or not known to hfcount."
    remedy = "Name the base with --base: a folder, a config.json or a repo."
    informational = True

    file: str
    base: str
    reason: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} was not compared with its base {printable(self.base)}: {printable(self.reason)}."
        )
