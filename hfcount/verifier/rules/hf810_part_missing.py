"""HF810: part missing."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class PartMissing(Finding):
    """model_index.json lists a part of a pipeline, but its file is missing.

    Args:
        part: the name of the part; by: its class and library.
        lacks: what is not there, as a sentence goes on.
        wordless: whether it is the words of a tokenizer, which some classes do without.
    """

    code = "HF810"
    name = "part-missing"
    level = "error"
    why = "A folder was not uploaded or downloaded, or was renamed."
    remedy = "Upload or download the part again."

    part: str
    by: str
    lacks: str
    wordless: bool = False

    @property
    def text(self) -> str:
        part = printable(self.part)
        text = f"model_index.json lists {part} ({self.by}), but {self.lacks}."
        if self.wordless:
            return f"{text} transformers 5.24 refuses to load the tokenizer, or builds one of special tokens alone."
        return f"{text} {DIFFUSERS} does not load the pipeline."
