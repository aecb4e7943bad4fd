"""HF715: bytes after end."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class BytesAfterEnd(Finding):
    """A GGUF file goes on after its last tensor. llama.cpp does not mind."""

    code = "HF715"
    name = "bytes-after-end"
    level = "note"
    why = "A download that was resumed wrongly, or something that was appended."
    remedy = "Compare its size with the published one, and download it again where that differs."

    expected: int
    observed: int
    file: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} has {self.observed:,} bytes, and its last tensor ends at {self.expected:,}:"
            f" {self.observed - self.expected:,} more belong to none."
        )
