"""HF711: split incomplete."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class SplitIncomplete(Finding):
    """The files of a split GGUF set do not make one model: llama.cpp refuses them.

    Args:
        key: which of the numbers differs; `parts`, a key of the metadata, or `tensors twice`.
        lost: the files that are missing.
    """

    code = "HF711"
    name = "split-incomplete"
    level = "error"
    why = "A file was not uploaded or downloaded, or the folder has files of two sets."
    remedy = "Download all files of the set again, or split the model again with llama-gguf-split."

    expected: int
    observed: int
    file: str
    key: str
    lost: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        where = printable(self.file)
        if self.lost:
            lost = f"missing: {some(self.lost)}"
            return f"{where} is split into {self.expected:,} files, but only {self.observed:,} are there; {lost}."
        if self.key == "tensors twice":
            return f"{where}: {self.observed:,} tensors are in more than one file of the set: {some(self.tensors)}."
        return f"{where}: {self.key} is {self.observed:,}, but the files of the set make {self.expected:,}."
