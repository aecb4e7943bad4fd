"""HF855: draft rope differs."""

from hfcount.text import printable
from hfcount.verifier.draft_finding import DraftFinding


class DraftRopeDiffers(DraftFinding):
    """With --target MODEL only: a draft is made of layers of its target, but has other rotary settings.

    Args:
        draft_value: the draft's setting.
        target_value: the target's.
    """

    code = "HF855"
    name = "draft-rope-differs"
    level = "error"
    why = "The rotary settings were lost when the layers were exported, or the target's were changed since."
    remedy = "Write the target's rotary settings into the draft's config."

    key: str
    draft_value: str
    target_value: str

    @property
    def text(self) -> str:
        return (
            f"{self.key} is {printable(self.draft_value, 60)} in the draft but {printable(self.target_value, 60)} in"
            f" {self.target_name}: the draft's layer is one of the target's and needs the same."
        )
