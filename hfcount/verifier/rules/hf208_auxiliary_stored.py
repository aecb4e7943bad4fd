"""HF208: auxiliary stored."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class AuxiliaryStored(Finding):
    """Multi-token-prediction layers are stored beside the model."""

    code = "HF208"
    name = "auxiliary-stored"
    level = "note"
    why = "They belong to the release, not to the model itself."
    remedy = "Nothing to do: they are counted separately."
    advises = False

    parameters: int

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} belong to multi-token-prediction"
            f" layers, stored beside the model: {some(self.names)}. They are counted separately."
        )
