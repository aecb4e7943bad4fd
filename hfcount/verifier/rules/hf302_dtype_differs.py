"""HF302: dtype differs."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class DtypeDiffers(Finding):
    """Weights are stored in another dtype than the config declares.

    Args:
        declared: the dtype by the config's own name.
    """

    code = "HF302"
    name = "dtype-differs"
    level = "note"
    why = "A conversion changed the weights or the config, not both."
    remedy = "Set dtype in config.json to the stored dtype, or convert the weights."

    expected: str
    declared: str
    parameters: int


class ByClaim(DtypeDiffers):
    """The bytes that the index claims are those of another dtype.

    Args:
        element_bytes: bytes of an element, as declared.
        claim: metadata.total_size.
        width: bytes of an element at which that is exact.
    """

    element_bytes: int
    claim: int
    width: int

    @property
    def text(self) -> str:
        return (
            f"config.json declares {printable(self.declared)} ({plural(self.element_bytes, 'byte')} an element), but"
            f" total_size in the index, {self.claim:,} bytes, fits {plural(self.width, 'byte')} an element: either the"
            " weights are stored that way, or total_size is outdated. The headers show which (--depth headers)."
        )


class ByHeaders(DtypeDiffers):
    """Headers have another dtype than the config declares.

    Args:
        dtypes: the dtypes that are stored.
        times: how many times the bytes these take; empty where that is no round number.
    """

    dtypes: str
    times: str = ""

    @property
    def text(self) -> str:
        stored = (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} {agree(self.count, 'is', 'are')}"
        )
        times = f", {self.times} the bytes" if self.times else ""
        return (
            f"config.json declares {printable(self.declared)} ({printable(self.expected)}), but {stored} stored as"
            f" {printable(self.dtypes)}{times}: {some(self.tensors)}."
        )
