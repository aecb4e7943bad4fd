"""HF915: hole in file."""

from hfcount.verifier.values import RangeFinding


class HoleInFile(RangeFinding):
    """A part of a weight matrix was never written: the file has a hole there, which reads as zeros."""

    code = "HF915"
    name = "hole-in-file"
    level = "error"
    why = "A download or copy reserved the full size of the file, and stopped before it was written."
    remedy = "Delete the file and download or copy it again."

    @property
    def text(self) -> str:
        return (
            f"{self.place} was never written in {self.where}: the file has a hole there, which reads as"
            f" zeros.{self.others}"
        )
