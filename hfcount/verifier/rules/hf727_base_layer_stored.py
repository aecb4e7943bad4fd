"""HF727: base layer stored."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import agree, some


class BaseLayerStored(Finding):
    """Weights of the base are stored beside an adapter."""

    code = "HF727"
    name = "base-layer-stored"
    level = "note"
    why = "It was saved with save_embedding_layers, or from a state dict that was not filtered."
    remedy = f"Remove them, unless they were trained: {PEFT} overwrites the weights of the base with them."

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of the base {agree(self.count, 'is', 'are')} stored beside the adapter,"
            f" with {plural(self.parameters or 0, 'element')}: {some(self.names)}."
        )
