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
                f"the index has no metadata. {NEWEST} and {DIFFUSERS} read it before any tensor, and fail with a"
                " KeyError."
            )
        total = "metadata.total_size is missing in" if self.observed is None else "metadata.total_size is 0 in"
        return f"{total} the index, so the bytes of the tensors cannot be compared with it."
