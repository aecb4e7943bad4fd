"""HF716: base not compared."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class BaseNotCompared(Finding):
    """A GGUF file names the model that it was made of, and that was not read, so that only its metadata judges it.

    Args:
        base: the model; reason: why it was not read.
    """

    code = "HF716"
    name = "base-not-compared"
    level = "note"
    why = "A local file asks nothing of the Hub, or the base is gated, private or not described here."
    remedy = "Name it with --base: a folder, a config.json or a repo."
    informational = True

    file: str
    base: str
    reason: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} was not compared with its base {printable(self.base)}: {printable(self.reason)}."
        )
