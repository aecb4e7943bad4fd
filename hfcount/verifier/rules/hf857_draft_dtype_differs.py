"""HF857: draft dtype differs."""

from hfcount.mapper.loader_differences import VLLM
from hfcount.verifier.draft_finding import DraftFinding


class DraftDtypeDiffers(DraftFinding):
    """With --target MODEL only: the config of a draft declares another dtype than its target's."""

    code = "HF857"
    name = "draft-dtype-differs"
    level = "note"
    informational = True
    why = "The draft was trained or saved in another dtype."
    remedy = f"Nothing to do for {VLLM}: it runs a draft in the dtype of its target."

    expected: str
    observed: str

    @property
    def text(self) -> str:
        return f"The draft's config declares {self.observed}, that of {self.target_name} {self.expected}."
