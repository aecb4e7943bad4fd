"""HF857: draft dtype differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftDtypeDiffers(Finding):
    """With --target MODEL only: the config of a draft declares another dtype than its target's.

    Args:
        target: the target, as it is named.
    """

    code = "HF857"
    name = "draft-dtype-differs"
    level = "note"
    informational = True
    why = "The draft was trained or saved in another dtype."
    remedy = "Nothing, where the engine converts: vLLM runs a draft in the dtype of its target."

    expected: str
    observed: str
    target: str

    @property
    def text(self) -> str:
        return f"The draft declares {self.observed}, and {printable(self.target)} {self.expected}."
