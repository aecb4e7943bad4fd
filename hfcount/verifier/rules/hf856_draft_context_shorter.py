"""HF856: draft context shorter."""

from hfcount.verifier.draft_finding import DraftFinding


class DraftContextShorter(DraftFinding):
    """With --target MODEL only: a draft allows fewer tokens of context than its target."""

    code = "HF856"
    name = "draft-context-shorter"
    level = "note"
    informational = True
    why = "A draft is trained on shorter texts than its target."
    remedy = "Expect few or no accepted tokens beyond that length."

    expected: int
    observed: int

    @property
    def text(self) -> str:
        return f"The draft allows {self.observed:,} tokens of context, {self.target_name} allows {self.expected:,}."
