"""HF214: untied head absent."""

from hfcount.mapper.loader_differences import OLDER
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST


class UntiedHeadAbsent(Finding):
    """The config says that the head is not tied, but no head is stored. transformers ties it anyway."""

    code = "HF214"
    name = "untied-head-absent"
    level = "note"
    why = "A T5 whose head was tied in training, or whose own head was lost: names alone do not show which."
    remedy = "If the head was tied, set tie_word_embeddings to true; otherwise restore the head."
    proof = "lost"

    expected: str
    parameters: int

    @property
    def text(self) -> str:
        return (
            f"tie_word_embeddings is false, so {printable(self.subject)} needs {printable(self.expected)}"
            f" ({plural(self.parameters, 'element')}, counted), but it is not stored. {NEWEST} ties the head to the"
            f" embedding whatever the config says; {OLDER} fills it with random values."
        )
