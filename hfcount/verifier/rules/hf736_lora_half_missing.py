"""HF736: LoRA half missing."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class LoraHalfMissing(Finding):
    """A pair of matrices of a LoRA that is not of PEFT is incomplete, or missing where its names ask for it.

    Args:
        outcome: what the library does with it, with its name and version.
    """

    code = "HF736"
    name = "lora-half-missing"
    level = "error"
    why = "It was saved only in part, or merged from files of different training runs."
    remedy = "Save the LoRA again, or download it again."

    outcome: str

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} {agree(self.count, 'is', 'are')} missing: {some(self.names)}."
            f" {self.outcome}."
        )
