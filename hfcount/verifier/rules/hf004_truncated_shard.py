"""HF004: truncated shard."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class TruncatedShard(Finding):
    """A weight file has not all the bytes that it needs; a note where another dtype would explain it."""

    code = "HF004"
    name = "truncated-shard"
    level = "error"
    why = "An interrupted upload or download."
    remedy = "Upload or download it again."

    file: str


class CutOff(TruncatedShard):
    """A file that is not of safetensors lacks its end.

    Args:
        statement: how that is seen, with what is known of both sizes.
    """

    statement: str

    @property
    def text(self) -> str:
        return self.statement


class OtherSize(TruncatedShard):
    """The size of a file is not that of what it holds, by its header or by the index.

    Args:
        header, data: bytes of the header and of the data, by the header; None if only the index tells.
        pointer: whether it is as small as a Git LFS pointer.
        narrower: the share of the bytes of its data that it has, where another dtype would explain it.
    """

    expected: int
    observed: int
    header: int | None = None
    data: int = 0
    pointer: bool = False
    narrower: str | None = None

    @property
    def text(self) -> str:
        if self.header is not None:
            needed = f"should have {self.expected:,} (8 + {self.header:,} of header + {self.data:,} of data)"
            past, lie = plural(self.count, "tensor"), agree(self.count, "lies", "lie")
            after = f", and {past} {lie} past the end: {some(self.tensors)}" if self.count else ""
        else:
            needed = f"needs {self.expected:,} or more for the {plural(self.count, 'tensor')} that the index puts there"
            after = ". A Git LFS pointer is about as small" if self.pointer else ""
        if self.narrower:
            share = f". That is {self.narrower} of their data"
            after += f"{share}: they may be stored in another dtype than the index assumes"
        if self.observed > self.expected:
            differs = f"{self.observed - self.expected:,} too many"
        else:
            differs = f"{self.expected - self.observed:,} are missing"
        return f"{printable(self.file)} has {self.observed:,} bytes and {needed}: {differs}{after}."
