"""HF501: unmodelled storage."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class UnmodelledStorage(Finding):
    """The weights are quantised with a scheme that hfcount does not know: counted from the config, not verified."""

    code = "HF501"
    name = "unmodelled-storage"
    level = "note"
    why = "Packed tensors have other names, shapes and dtypes than the model's parameters."
    remedy = "Verify the checkpoint that was quantised."
    proof = "lost"

    observed: str

    @property
    def text(self) -> str:
        return (
            f"the weights are quantised with {printable(self.observed)}, which hfcount does not know: parameters are"
            " counted from the config, and the stored tensors are not compared."
        )
