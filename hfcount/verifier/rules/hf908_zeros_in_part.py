"""HF908: zeros in part."""

from hfcount.verifier.values import RangeFinding


class ZerosInPart(RangeFinding):
    """A long run of a weight matrix is zero, while the values around it are not, as after an incomplete download.

    Not reported are rows zeroed by pruning, and embeddings and heads, whose last rows may be padding.
    """

    code = "HF908"
    name = "zeros-in-part"
    level = "error"
    why = "A download or a copy that was cut short in a file of full size, or a shard that one process never wrote."
    remedy = "Delete the file and download it again, or save the weights again from a complete copy."

    @property
    def text(self) -> str:
        return f"{self.place} is zero in {self.where}, but not around it.{self.others}"
