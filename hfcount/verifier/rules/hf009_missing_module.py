"""HF009: missing module."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree


class MissingModule(Finding):
    """modules.json names a module of sentence-transformers whose files are not there.

    Args:
        files, many: what is not there, and how many modules lack it.
    """

    code = "HF009"
    name = "missing-module"
    level = "error"
    why = "An upload or a copy that left its folder out."
    remedy = "Upload or download it."

    expected: int
    files: str
    many: int

    @property
    def text(self) -> str:
        return (
            f"modules.json names {plural(self.expected, 'module')}, and {printable(self.files)}"
            f" {agree(self.many, 'is', 'are')} not there: without {agree(self.many, 'it', 'them')} the embeddings are"
            " not those that the model was trained to give."
        )
