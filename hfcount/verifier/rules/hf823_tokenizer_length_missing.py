"""HF823: tokenizer length missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class TokenizerLengthMissing(Finding):
    """A tokenizer of a pipeline does not say how long a text may be, and the pipeline pads to that length.

    Args:
        kind: the class of the pipeline; part: the tokenizer's name.
        there: whether there is a tokenizer_config.json at all.
    """

    code = "HF823"
    name = "tokenizer-length-missing"
    level = "note"
    why = "The upload left out tokenizer_config.json, or the tokenizer is from another model."
    remedy = "Copy tokenizer_config.json from the pipeline that this one was made from."

    kind: str
    part: str
    key: str
    file: str
    there: bool

    @property
    def text(self) -> str:
        lacks = f"{printable(self.file)} has no {self.key}" if self.there else f"there is no {printable(self.file)}"
        return (
            f"{lacks}, so that the {printable(self.part)} allows texts of any length. {DIFFUSERS} loads the pipeline,"
            f" and {printable(self.kind)} fails at its first text, which it pads to that length."
        )
