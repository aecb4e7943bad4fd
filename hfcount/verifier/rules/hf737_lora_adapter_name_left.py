"""HF737: LoRA adapter name left."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class LoraAdapterNameLeft(Finding):
    """The names of a LoRA's tensors hold the name that the adapter had when it was saved.

    Args:
        left: that name.
    """

    code = "HF737"
    name = "lora-adapter-name-left"
    level = "error"
    why = "It was saved from the model's own state dict, not with save_lora_weights."
    remedy = "Remove that name from the tensor names, or save it with save_lora_weights."

    left: str

    @property
    def text(self) -> str:
        only = ", unless it is the first one loaded and gets no name" if self.left == "default_0" else ""
        return (
            f"The names of {plural(self.count, 'tensor')} hold the adapter's name (.{printable(self.left)}.):"
            f" {DIFFUSERS} applies none of them{only}."
        )
