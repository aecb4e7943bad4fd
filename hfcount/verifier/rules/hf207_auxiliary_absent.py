"""HF207: auxiliary absent."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import MLX, NEWEST
from hfcount.verifier.wording import some


class AuxiliaryAbsent(Finding):
    """The config has multi-token-prediction layers, or a vision or audio tower, that are not stored.

    Args:
        announced: what the config announces.
        without: what the model is without it, in a sentence.
    """

    code = "HF207"
    name = "auxiliary-absent"
    level = "note"
    why = f"{NEWEST} drops such layers when it loads and saves a model; {MLX} converts only the language model."
    remedy = "Remove the key from config.json, or copy the tensors from the base model."

    announced: str
    without: str

    @property
    def text(self) -> str:
        return f"the config has {self.announced}, but no tensor of it is stored: {some(self.names)}. {self.without}"
