"""HF501: unmodelled storage."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class UnmodelledStorage(Finding):
    """The weights are quantised in a way that hfcount does not model: counted from the config, not verified."""

    code = "HF501"
    name = "unmodelled-storage"
    level = "note"
    why = "Packed tensors have other names, shapes and dtypes than the model's parameters."
    remedy = "Verify the checkpoint it was made from."
    proof = "lost"

    observed: str

    @property
    def text(self) -> str:
        return (
            f"the weights are quantised with {printable(self.observed)}, which is not modelled: the parameters are"
            " counted from the config, and the stored tensors are not held against it."
        )
