"""HF806: pooling width differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS


class PoolingWidthDiffers(Finding):
    """The width in the config of a pooling is not that of the model before it.

    Args:
        expected, observed: features that the model gives, and that its config says.
    """

    code = "HF806"
    name = "pooling-width-differs"
    level = "note"
    why = "A config that was copied from another model."
    remedy = "Correct the config."

    file: str
    key: str
    expected: int
    observed: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} says {self.observed} for {self.key}, and the model gives {self.expected:,}."
            f" {SENTENCE_TRANSFORMERS} pools what it is given, whatever its width, but answers questions about the"
            " width of embeddings by this number."
        )
