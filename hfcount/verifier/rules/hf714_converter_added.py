"""HF714: converter added."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import LLAMA_CPP
from hfcount.verifier.wording import agree, some


class ConverterAdded(Finding):
    """A GGUF file holds tensors that its base does not have: rotary factors, or a copy of a tied head."""

    code = "HF714"
    name = "converter-added"
    level = "note"
    why = f"{LLAMA_CPP} reads rotary factors from tensors, and some conversions also write a copy of a tied head."
    remedy = "Nothing to do."
    advises = False
    informational = True

    file: str

    @property
    def text(self) -> str:
        made = agree(self.count, "is made", "are made")
        what = f"{plural(self.count, 'tensor')} ({some(self.tensors)})"
        return f"{printable(self.file)}: {what} {made} by the converter; the base has no such tensors."
