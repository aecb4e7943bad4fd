"""HF715: bytes after end."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class BytesAfterEnd(Finding):
    """A GGUF file goes on after its last tensor. llama.cpp ignores that."""

    code = "HF715"
    name = "bytes-after-end"
    level = "note"
    why = "A download that was resumed wrongly, or something that was appended."
    remedy = "Compare its size with the published one. If it differs, download it again."

    expected: int
    observed: int
    file: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} has {self.observed:,} bytes, but its last tensor ends at {self.expected:,}:"
            f" the last {self.observed - self.expected:,} bytes belong to no tensor."
        )
