"""HF128: vocabulary missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class VocabularyMissing(Finding):
    """tokenizer_config.json names a tokenizer, but the file with its words is missing.

    Args:
        kind: the class that it names.
    """

    code = "HF128"
    name = "vocabulary-missing"
    level = "note"
    why = "The upload or the copy left out files of the tokenizer."
    remedy = "Copy the tokenizer files from the base model."
    informational = True

    file: str
    kind: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} names {printable(self.kind, 60)}, but tokenizer.json, or another file with its"
            " words, is missing: transformers 5.23 refuses to load the tokenizer, or builds one with special tokens"
            " only."
        )
