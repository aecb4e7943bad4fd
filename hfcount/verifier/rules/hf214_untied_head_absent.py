"""HF214: untied head absent."""

from hfcount.mapper.loader_differences import OLDER
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST


class UntiedHeadAbsent(Finding):
    """The config says that the head is not tied and no head is stored, yet transformers ties it anyway."""

    code = "HF214"
    name = "untied-head-absent"
    level = "note"
    why = "A T5 whose head was tied in training, or whose own head was lost: names alone do not tell which."
    remedy = "If the head was tied, set tie_word_embeddings to true; else restore it."
    proof = "lost"

    expected: str
    parameters: int

    @property
    def text(self) -> str:
        return (
            f"{printable(self.subject)} has no {printable(self.expected)}, and tie_word_embeddings is false: a head of"
            f" its own, of {plural(self.parameters, 'element')}, is counted. {NEWEST} ties it to the embedding"
            f" whatever the config says; {OLDER} fills it with random values."
        )
