"""HF210: other head stored."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class OtherHeadStored(Finding):
    """A head is stored that the class in `architectures` does not have."""

    code = "HF210"
    name = "other-head-stored"
    level = "note"
    why = "The weights were saved from another class than the config names."
    remedy = "Name the class with that head in architectures."

    @property
    def text(self) -> str:
        stored = f"{some(self.names)} {agree(self.count, 'is', 'are')} stored"
        return f"{stored}, but architectures names {printable(self.subject)}, which has no such head."
