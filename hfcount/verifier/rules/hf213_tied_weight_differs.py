"""HF213: tied weight differs."""

from hfcount.mapper.loader_differences import OLDER, VLLM
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import short


class TiedWeightDiffers(Finding):
    """A tied weight is stored beside the weight it is tied to, with other values.

    Args:
        counted: whether it is counted as well.
    """

    code = "HF213"
    name = "tied-weight-differs"
    level = "note"
    why = "tie_word_embeddings is true, set or by default, though the model was trained with a separate head."
    remedy = "Set tie_word_embeddings to false."
    divides = True

    expected: str
    observed: str
    parameters: int
    counted: bool

    @property
    def text(self) -> str:
        counted = " (both are counted here)" if self.counted else ""
        return (
            f"{short(self.observed)} and {printable(self.expected)} are both stored. The config ties them, but their"
            f" values differ: {plural(self.parameters, 'element')} in all. {NEWEST} then loads both, untied{counted};"
            f" {VLLM} uses the stored head; {OLDER} drops the one that its class ties, and computes something else."
        )
