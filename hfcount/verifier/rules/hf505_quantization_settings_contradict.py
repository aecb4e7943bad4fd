"""HF505: quantization settings contradict."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class QuantizationSettingsContradict(Finding):
    """A number of the quantisation's settings is ruled out by a name beside it.

    Args:
        source, place: where the settings are, and where the number is in them.
        by: the name that rules it out, `expected` what that means.
    """

    code = "HF505"
    name = "quantization-settings-contradict"
    level = "error"
    why = "An edit by hand, or settings that were put together from those of two checkpoints."
    remedy = "Set the number to what the name means if the weights were packed so."

    expected: int | str
    observed: int | str
    source: str
    place: str
    by: str

    @property
    def text(self) -> str:
        number = f"{printable(self.source)}{printable(self.place)} is {printable(str(self.observed))}"
        return (
            f"{number}, and {printable(self.by)} means {printable(str(self.expected))}. Some loaders go by the name and"
            " others by the number, and these refuse the weights or misread them."
        )
