"""HF904: tied copy differs."""

from hfcount.mapper.loader_differences import OLDER
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.values import ValueFinding
from hfcount.verifier.wording import short


class TiedCopyDiffers(ValueFinding):
    """A copy of a tied weight begins and ends like the weight that it is tied to, but differs in between.

    Args:
        expected: the weight that it is tied to.
    """

    code = "HF904"
    name = "tied-copy-differs"
    level = "note"
    why = "The embedding was trained or edited and the copy was not, or tie_word_embeddings was set to true afterwards."
    remedy = "If the model needs both, set tie_word_embeddings to false; otherwise save it again without the copy."
    divides = True

    expected: str

    @property
    def text(self) -> str:
        return (
            f"{self.place} is the first value that differs from {short(self.expected)}, to which the config ties it:"
            f" {self.values:,} {self.of} differ. {NEWEST} then loads both, untied (both are counted here);"
            f" {OLDER} drops the one that its class ties, and computes something else."
        )
