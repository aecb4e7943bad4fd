"""HF819: part pickled."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartPickled(Finding):
    """A part of a pipeline has only pickled weights, while others have safetensors.

    Args:
        part: its name.
        form: the variant that it has as safetensors.
        fails: a part without pickled weights, where diffusers would download these alone and find none.
    """

    code = "HF819"
    name = "part-pickled"
    level = "note"
    why = "The part was never converted, or its safetensors files are missing."
    remedy = "Save the part again as safetensors."

    part: str
    fails: str | None = None
    form: str | None = None

    @property
    def text(self) -> str:
        besides = f" besides those of its variant {printable(self.form)}" if self.form else ""
        text = (
            f"{printable(self.part)} has only pickled weights (.bin){besides}; other parts have safetensors. From"
            f" a folder {DIFFUSERS} loads both; from a repo it downloads only the pickled weights of every part"
        )
        return f"{text}: {printable(self.fails)} has none, so it is not loaded." if self.fails else f"{text}."
