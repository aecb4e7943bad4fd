"""HF908: zeros in part."""

from hfcount.verifier.values import RangeFinding


class ZerosInPart(RangeFinding):
    """A long run of a weight matrix is zero, as a hole or a cut end leaves it, and the values around it are not.

    Rows that pruning has zeroed are sound, and so are embeddings and heads, whose last rows may be padding.
    """

    code = "HF908"
    name = "zeros-in-part"
    level = "error"
    why = "A download or a copy that was cut short in a file of full size, or a shard that one process never wrote."
    remedy = "Delete the file and download it again, or save the weights again from where they are whole."

    @property
    def text(self) -> str:
        return f"{self.place} is zero in {self.where}, and not around that.{self.others}"
