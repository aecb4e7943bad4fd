"""HF735: LoRA shape differs."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, sides, some


class LoraShapeDiffers(Finding):
    """Tensors of a LoRA that is not of PEFT do not have the shapes that their modules need.

    Args:
        outcome: what the library does with it, with its name and version.
    """

    code = "HF735"
    name = "lora-shape-differs"
    level = "error"
    why = "It was trained on a base of another size, or the two halves of a pair are of different ranks."
    remedy = "Name the base that it was trained on with --base."

    expected: tuple[int, ...]
    observed: tuple[int, ...]
    outcome: str

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of the LoRA {agree(self.count, 'has', 'have')} another shape than the"
            f" module needs, such as {some(self.names[:1])}: expected {sides(self.expected)}, stored"
            f" {sides(self.observed)}. {self.outcome}."
        )
