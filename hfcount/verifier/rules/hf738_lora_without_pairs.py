"""HF738: LoRA without pairs."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class LoraWithoutPairs(Finding):
    """A file that is named as diffusers names a LoRA holds no tensor of one."""

    code = "HF738"
    name = "lora-without-pairs"
    level = "error"
    why = "The weights of a whole model were saved in its place, perhaps after the LoRA was merged."
    remedy = "Save it with save_lora_weights, or name the file as that of a model."

    file: str

    @property
    def text(self) -> str:
        return (
            f"None of the {plural(self.count, 'tensor')} of {printable(self.file)} is a LoRA's: {DIFFUSERS} refuses"
            " to load it as one."
        )
