"""HF129: tokenizer refused."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST


class TokenizerRefused(Finding):
    """A file of the tokenizer names a class or files that transformers does not find, or has a value that it refuses.

    Args:
        problem: what is wrong, as a sentence begins.
        follows: what transformers does.
    """

    code = "HF129"
    name = "tokenizer-refused"
    level = "note"
    why = "The upload or the copy left out files of the tokenizer, or one is from another library, or edited."
    remedy = "Copy the tokenizer files from the base model."
    informational = True

    file: str
    problem: str
    follows: str = "refuses to load the tokenizer"

    @property
    def text(self) -> str:
        return f"{printable(self.file)} {self.problem}: {NEWEST} {self.follows}."
