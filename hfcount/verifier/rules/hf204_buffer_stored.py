"""HF204: buffer stored."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


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
        in_all = " in all" if self.count > 1 else ""
        many = f"{plural(self.count, 'tensor')} ({plural(self.parameters, 'element')}{in_all})"
        counted = agree(self.count, "It is not counted", "They are not counted")
        if self.reader:
            return f"{self.reader} skips {many}: {some(self.names)}. {counted}."
        are = agree(self.count, "is no parameter", "are no parameters")
        return f"{many} {are} of the model: {some(self.names)}. {counted}."
