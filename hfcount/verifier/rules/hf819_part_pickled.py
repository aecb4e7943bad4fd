"""HF819: part pickled."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class PartPickled(Finding):
    """A part of a pipeline has pickled weights alone, and others have safetensors.

    Args:
        part: its name.
    """

    code = "HF819"
    name = "part-pickled"
    level = "note"
    why = "The part was never converted, or its safetensors files were left out."
    remedy = "Save the part again as safetensors."
    proof = "lost"

    part: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.part)} has pickled weights alone (.bin), and other parts have safetensors. From a folder"
            " diffusers loads both; from a repo it then looks for the pickled weights of every part."
        )
