"""HF806: pooling width differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class PoolingWidthDiffers(Finding):
    """The width in the settings of a pooling is not that of the model before it.

    Args:
        expected, observed: features that the model gives, and that the settings say.
    """

    code = "HF806"
    name = "pooling-width-differs"
    level = "note"
    why = "Settings that were copied from another model."
    remedy = "Correct the settings."

    file: str
    key: str
    expected: int
    observed: int

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} says {self.observed:,} for {self.key}, and the model gives {self.expected:,}."
            " sentence-transformers pools what it is given, whatever its width, but answers questions about the width"
            " of embeddings by this number."
        )
