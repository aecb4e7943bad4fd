"""HF853: draft shares other width."""

from hfcount.verifier.draft_finding import DraftFinding


class DraftSharesOtherWidth(DraftFinding):
    """With --target MODEL only: a draft stores no embedding or head and uses its target's, which has another
    width."""

    code = "HF853"
    name = "draft-shares-other-width"
    level = "error"
    why = "A draft that is narrower than its target, saved without its own embedding."
    remedy = "Save the draft with its own tensors of that name, or use the draft that was made for this target."

    expected: int
    observed: int

    @property
    def text(self) -> str:
        names = " and no ".join(self.tensors)
        return (
            f"The draft stores no {names} and uses that of {self.target_name}, whose rows are"
            f" {self.observed:,} wide, but the draft's own layers are {self.expected:,} wide."
        )
