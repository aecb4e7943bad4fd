"""HF601: not divisible."""

from hfcount.mapper.loader_differences import SGLANG, VLLM
from hfcount.text import printable
from hfcount.verifier.finding import Finding


class NotDivisible(Finding):
    """With --tp N only: N GPUs (tensor-parallel ranks) cannot share the heads, channels, groups or blocks of the model.

    Args:
        reasons: why they cannot share it.
        engine: the one engine that this holds for; empty if it holds for all.
    """

    code = "HF601"
    name = "not-divisible"
    level = "error"
    why = (
        f"{VLLM} and {SGLANG} give each GPU whole heads and channels, and whole groups or blocks of quantised weights."
    )
    remedy = "Choose a number of GPUs that works."
    of_serving = True

    observed: int
    reasons: str
    engine: str = ""

    @property
    def text(self) -> str:
        where = f" in {printable(self.engine)}" if self.engine else ""
        return f"{self.observed:,} GPUs cannot share this model{where}: {printable(self.reasons, 4000)}."
