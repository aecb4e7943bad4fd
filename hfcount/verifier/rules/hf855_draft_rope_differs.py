"""HF855: draft rope differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftRopeDiffers(Finding):
    """With --target MODEL only: a draft whose layer is one of its target's has other rotary positions than that.

    Args:
        target: the target, as it is named.
        said: the draft's setting.
        seen: the target's.
    """

    code = "HF855"
    name = "draft-rope-differs"
    level = "error"
    why = "The rotary settings were lost when the layers were exported, or the target's were changed since."
    remedy = "Write the target's rotary settings into the draft's config."

    key: str
    target: str
    said: str
    seen: str

    @property
    def text(self) -> str:
        return (
            f"{self.key} is {printable(self.said, 60)} in the draft and {printable(self.seen, 60)} in"
            f" {printable(self.target)}, and its layer has the positions that the target's layers have."
        )
