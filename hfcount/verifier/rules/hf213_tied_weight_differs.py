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
        counted = " as they are counted here," if self.counted else ""
        return (
            f"{short(self.observed)} is stored beside {printable(self.expected)}, which the config ties it to, and they"
            f" differ: {plural(self.parameters, 'element')} in all. {NEWEST} then does not tie them and loads both,"
            f"{counted} and {VLLM} uses such a head; {OLDER} drops the one that its class ties, and computes something"
            " else."
        )
