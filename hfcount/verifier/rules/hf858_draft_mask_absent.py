"""HF858: draft mask absent."""

from hfcount.verifier.draft_finding import DraftFinding


class DraftMaskAbsent(DraftFinding):
    """With --target MODEL only: the mask token of a draft that proposes blocks is not a token of its target."""

    code = "HF858"
    name = "draft-mask-absent"
    level = "error"
    why = "The token was added to the tokenizer, and the target's embedding has no row for it."
    remedy = "Use the draft that was made for this target, or a target whose embedding has that row."

    expected: int
    observed: int

    @property
    def text(self) -> str:
        return (
            f"{self.key} of the draft is {self.observed:,}, but {self.target_name} has {self.expected:,} tokens,"
            f" numbered 0 to {self.expected - 1:,}: its embedding has no row for it."
        )
