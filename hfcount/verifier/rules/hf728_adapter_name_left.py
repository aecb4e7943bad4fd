"""HF728: adapter name left."""

from hfcount.mapper.loader_differences import VLLM
from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT


class AdapterNameLeft(Finding):
    """The names of an adapter's tensors hold the adapter's own name."""

    code = "HF728"
    name = "adapter-name-left"
    level = "note"
    why = "It was saved from the state dict with torch.save or safetensors, not with save_pretrained."
    remedy = "Save it with save_pretrained."

    @property
    def text(self) -> str:
        return (
            f"The names of {plural(self.count, 'tensor')} hold the adapter's name (.default.): {PEFT} loads them, and"
            f" {VLLM} refuses them."
        )
