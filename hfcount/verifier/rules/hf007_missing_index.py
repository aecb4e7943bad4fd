"""HF007: missing index."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import agree


class MissingIndex(Finding):
    """There are several weight files, and no index maps tensors to them.

    Args:
        files, many: the weight files, and how many they are.
        complete: whether nothing but the index is missing.
        reader: the library that looks for it, with its version where that is known.
        pickled: pickled weights, or their index, that it reads instead; "" if there are none.
    """

    code = "HF007"
    name = "missing-index"
    level = "error"
    why = "The index was left out of the upload."
    remedy = "Write the index from the files."

    file: str
    files: str
    many: int
    complete: bool
    reader: str = NEWEST
    pickled: str = ""

    @property
    def text(self) -> str:
        effect = f"reads {self.pickled} instead" if self.pickled else "finds no weights"
        text = (
            f"{plural(self.many, 'weight file')} {agree(self.many, 'exists', 'exist')} ({printable(self.files)}), but"
            f" {printable(self.file)}, which says what tensor is in what file, is missing. {self.reader} {effect}."
        )
        if self.complete:
            text += f" Only the index is missing: the files hold every tensor that {printable(self.subject)} describes."
        return text
