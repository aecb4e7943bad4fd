"""HF913: text in weights."""

from hfcount.text import printable
from hfcount.verifier.values import RangeFinding


class TextInWeights(RangeFinding):
    """There is text where weights should be, such as an error page of a server, or a Git LFS pointer.

    Args:
        observed: how the text begins.
    """

    code = "HF913"
    name = "text-in-weights"
    level = "error"
    why = "A download that wrote the answer of a server, or of a proxy, into the file."
    remedy = "Delete the file and download it again."

    observed: str

    @property
    def text(self) -> str:
        return f"{self.place} holds text in {self.where}: {printable(self.observed)!r}."
