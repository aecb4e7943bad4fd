"""HF004: truncated shard."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class TruncatedShard(Finding):
    """A weight file is shorter or longer than its contents need; a note where another dtype would explain it."""

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
            needed = f"should have {self.expected:,} (8 + {self.header:,} header + {self.data:,} data)"
            past, end = plural(self.count, "tensor"), agree(self.count, "ends", "end")
            after = f". {past} {end} after the end of the file: {some(self.tensors)}" if self.count else ""
        else:
            needed = (
                f"needs at least {self.expected:,} for the {plural(self.count, 'tensor')} that the index lists in it"
            )
            after = ". A Git LFS pointer is about that small" if self.pointer else ""
        if self.narrower:
            share = f". The file has {self.narrower} of their data"
            after += f"{share}: they may be stored in another dtype than the index assumes"
        if self.observed > self.expected:
            differs = f"{plural(self.observed - self.expected, 'byte')} too many"
        else:
            short = self.expected - self.observed
            differs = f"{plural(short, 'byte')} {agree(short, 'is', 'are')} missing"
        return f"{printable(self.file)} has {self.observed:,} bytes and {needed}: {differs}{after}."
