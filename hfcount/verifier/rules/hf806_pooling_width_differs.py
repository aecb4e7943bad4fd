"""HF806: pooling width differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import SENTENCE_TRANSFORMERS


class PoolingWidthDiffers(Finding):
    """The width in the config of a pooling module is not the width of the model before it.

    Args:
        expected, observed: features that the model gives, and that its config says.
    """

    code = "HF806"
    name = "pooling-width-differs"
    level = "note"
    why = "A config that was copied from another model."
    remedy = "Correct the width in the config of the pooling."

    file: str
    key: str
    expected: int
    observed: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} has {self.key} {self.observed}, but the model's embeddings are {self.expected:,}"
            " wide."
            f" {SENTENCE_TRANSFORMERS} pools them all the same, but reports {self.observed} as the embedding width."
        )
