"""HF824: companion unreadable."""

from hfcount.fetcher.layout import GENERATION
from hfcount.fetcher.tokens import PROCESSORS
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST


class CompanionUnreadable(Finding):
    """A file of the tokenizer or the processor, or generation_config.json, cannot be parsed.

    Args:
        problem: what is wrong with the file, in sentences.
        follows: what a library does that loads nothing without the file; empty where the model is loaded without it.
    """

    code = "HF824"
    name = "companion-unreadable"
    level = "note"
    why = "A download that was cut off, a clone without Git LFS, or an edit by hand."
    remedy = "Download the file again, or copy it from the base model."
    informational = True

    file: str
    problem: str
    follows: str = ""

    @property
    def text(self) -> str:
        if self.follows:
            follows = f"{self.follows}."
        elif self.file == GENERATION:
            follows = f"{NEWEST} loads the model without it, and generates with the usual settings."
        elif self.file in PROCESSORS:
            follows = f"{NEWEST} refuses to load the processor."
        else:
            follows = f"{NEWEST} refuses to load the tokenizer."
        return f"{printable(self.problem, None)} {follows}"
