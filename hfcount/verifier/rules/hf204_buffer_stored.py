"""HF204: buffer stored."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class BufferStored(Finding):
    """A buffer or another tensor is stored that the model does not load.

    Args:
        reader: the library that skips it, with its version; empty where that is not known.
    """

    code = "HF204"
    name = "buffer-stored"
    level = "note"
    # transformers 4.57.1, models/qwen2_5_omni/modeling_qwen2_5_omni.py:2494 registers a buffer that is saved.
    why = (
        "transformers before 4.32 saved rotary frequencies (4.57 still does for some models), and some models saved"
        " their causal masks."
    )
    remedy = "Nothing to do. Saving the model again with its own library drops the tensor."
    advises = False

    parameters: int
    reader: str = ""

    @property
    def text(self) -> str:
        skipped = f"which {self.reader} skips" if self.reader else "which are not parameters of the model"
        return (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} in all, {skipped}:"
            f" {some(self.names)}. They are not counted."
        )
