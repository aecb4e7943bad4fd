"""HF128: vocabulary missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class VocabularyMissing(Finding):
    """tokenizer_config.json names a tokenizer, and there is no file with its words.

    Args:
        kind: the class that it names.
    """

    code = "HF128"
    name = "vocabulary-missing"
    level = "note"
    why = "Files of the tokenizer were left out."
    remedy = "Copy the tokenizer of the model that it was made of."
    informational = True

    file: str
    kind: str

    @property
    def text(self) -> str:
        return (
            f"{printable(self.file)} names {printable(self.kind, 60)}, and there is no tokenizer.json nor another file"
            " with its words: transformers 5.23 refuses to load the tokenizer, or makes one of special tokens alone."
        )
