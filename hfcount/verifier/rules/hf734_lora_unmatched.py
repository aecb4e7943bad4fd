"""HF734: LoRA unmatched."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class LoraUnmatched(Finding):
    """Tensors of a LoRA that is not of PEFT match no module of its base.

    Args:
        base: the model or pipeline that it was compared with.
        outcome: what the library does with them, with its name and version.
    """

    code = "HF734"
    name = "lora-unmatched"
    level = "error"
    why = "It was trained on another base, or saved with names that this library does not read."
    remedy = "Name the base that it was trained on with --base, or save it again with the library that loads it."

    base: str
    outcome: str

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of the LoRA {agree(self.count, 'matches', 'match')} no module of"
            f" {self.base}:"
            f" {some(self.names)}. {self.outcome}."
        )
