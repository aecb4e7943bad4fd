"""HF401: total size differs."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import by_how_much


class TotalSizeDiffers(Finding):
    """metadata.total_size is not the number of bytes of the listed tensors.

    Args:
        width: bytes of an element of which the claim was expected; None where headers or a scheme tell.
        elements: how many elements are listed, in that case.
        scheme: how the weights are packed, where that was expected.
        files: whether the claim is the sum of the file sizes.
        without: what the claim leaves out.
        reading: of which dtype the claim is.
    """

    code = "HF401"
    name = "total-size-differs"
    level = "error"
    why = "An index kept after its shards changed, a config of another size, or the sum of the file sizes."
    remedy = "Rebuild the index from the shards."

    expected: int
    observed: int
    width: int | None = None
    elements: int = 0
    scheme: str | None = None
    files: bool = False
    without: str | None = None
    reading: str | None = None

    @property
    def text(self) -> str:
        if self.scheme is not None:
            have = f"listed packed and dense tensors have {self.expected:,}"
        elif self.width is not None:
            have = (
                f"{self.elements:,} listed elements have {self.expected:,} bytes at {plural(self.width, 'byte')} each"
            )
        else:
            have = f"listed tensors have {self.expected:,}"
        return (
            f"metadata.total_size is {self.observed:,} bytes, but the {have}:"
            f" {by_how_much(self.observed, self.expected)}{self._explanation()}.{self._either()}"
        )

    def _explanation(self) -> str:
        text = ", and no other dtype explains that" if self.width is not None else ""
        if self.files:
            text += ". That is the sum of the file sizes, headers included"
        if self.without:
            text += f". total_size leaves out {printable(self.without)}"
        if self.reading is not None:
            taken = f". It is the size in {printable(self.reading)}"
            text += f"{taken}: the weights were converted, but total_size was not updated"
        return text

    def _either(self) -> str:
        if self.width is not None:
            return " Either the index is outdated, or config.json is of a model of another size."
        if self.scheme is not None:
            return f" Either the index is outdated, or the weights are not packed as {printable(self.scheme)} says."
        return ""
