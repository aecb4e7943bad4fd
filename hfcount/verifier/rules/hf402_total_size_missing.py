"""HF402: total size missing."""

from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS, NEWEST


class TotalSizeMissing(Finding):
    """The index has no metadata.total_size, or it is 0; without any metadata it cannot be loaded.

    Args:
        bare: whether it has no metadata at all, which transformers and diffusers read before any tensor.
    """

    code = "HF402"
    name = "total-size-missing"
    level = "note"
    why = "Some writers leave it out."
    remedy = "Rebuild the index with total_size."
    proof = "weakened"

    observed: int | None
    bare: bool = False

    @property
    def text(self) -> str:
        if self.bare:
            return (
                f"the index has no metadata, which {NEWEST} and {DIFFUSERS} read before any tensor: loading ends with"
                " an error (KeyError)."
            )
        gives = "no" if self.observed is None else "0 for"
        return f"the index gives {gives} metadata.total_size, so it does not say how many bytes its tensors have."
