"""HF720: adapter empty."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class AdapterEmpty(Finding):
    """An adapter holds no tensor, or tensors without elements.

    Args:
        stored: how many tensors there are.
    """

    code = "HF720"
    name = "adapter-empty"
    level = "error"
    why = "It was saved under ZeRO-3 or FSDP without gathering the parts, or before anything was trained."
    remedy = "Gather the parameters and save it again."

    stored: int

    @property
    def text(self) -> str:
        if not self.count:
            what = "no tensor" if not self.stored else f"{plural(self.stored, 'tensor')}, all without elements"
            return (
                f"The adapter holds {what}. That happens when partitioned parameters (ZeRO-3, FSDP) are saved"
                " without being gathered."
            )
        has = agree(self.count, "has", "have")
        return f"{plural(self.count, 'tensor')} of the adapter {has} no elements: {some(self.names)}."
