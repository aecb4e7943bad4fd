"""HF006: unlisted weights."""

from typing import Literal

from hfcount.mapper.loader_differences import VLLM
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.wording import agree, some


class UnlistedWeights(Finding):
    """A weight file exists that the index does not name, and a library reads it or the model needs it; a note where
    none does, as far as is known.

    Args:
        files, many: the files, and how many they are.
        kind: the worst that they hold: what nothing else has, copies, or what the config does not describe; or their
            headers cannot be read.
        problem: why a header cannot be read.
        indexed: whether there is an index.
        predicting: whether what nothing else has are layers that predict further tokens.
        taken: who takes the files for a part of the model.
    """

    code = "HF006"
    name = "unlisted-weights"
    level = "error"
    why = "Shards of an earlier save, or an index written from only some of the files."
    remedy = "Move the leftover files away."

    files: str
    many: int
    kind: Literal["needed", "copies", "alien", "problem"]
    problem: str = ""
    indexed: bool
    predicting: bool = False
    taken: str | None = None

    @property
    def text(self) -> str:
        if self.indexed:
            place = f"but the index does not name {agree(self.many, 'it', 'them')}"
        else:
            place = f"beside model.safetensors, and {NEWEST} reads only model.safetensors"
        there = f"{printable(self.files)} {agree(self.many, 'exists', 'exist')} {place}"
        return f"{there}. {agree(self.many, 'It holds', 'They hold')} {self._contents()}.{self._effect()}"

    def _contents(self) -> str:
        if self.kind == "problem":
            return f"a header that cannot be read: {printable(self.problem)}"
        subject = printable(self.subject)
        which = {
            "needed": f"that {subject} describes and that no other file holds",
            "copies": "under names that other files hold, too",
            "alien": f"that {subject} does not describe",
        }[self.kind]
        return f"{plural(self.count, 'tensor')} {which}: {some(self.tensors)}"

    def _effect(self) -> str:
        if self.kind == "needed":
            layers = ", and with them the layers that predict further tokens (MTP)" if self.predicting else ""
            who = f"{NEWEST} and {VLLM} follow the index and lose" if self.indexed else f"{NEWEST} loses"
            return f" {who} them{layers}."
        return f" {printable(self.taken)}." if self.taken else ""
