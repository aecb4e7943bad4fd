"""HF505: quantization settings contradict."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class QuantizationSettingsContradict(Finding):
    """A number in the quantisation settings contradicts a name beside it.

    Args:
        source, place: where the settings are, and where the number is in them.
        by: the name that rules it out, `expected` what that means.
    """

    code = "HF505"
    name = "quantization-settings-contradict"
    level = "error"
    why = "A manual edit, or settings merged from two checkpoints."
    remedy = "Set the number to what the name means, if the weights were packed that way."

    expected: int | str
    observed: int | str
    source: str
    place: str
    by: str

    @property
    def text(self) -> str:
        number = f"{printable(self.source)}{printable(self.place)} is {printable(str(self.observed))}"
        return (
            f"{number}, but {printable(self.by)} means {printable(str(self.expected))}: whatever"
            " uses the wrong one builds other tensors, or misreads them."
        )
