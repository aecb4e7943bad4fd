"""HF204: buffer stored."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import some


class BufferStored(Finding):
    """A buffer or another tensor that loaders ignore is stored."""

    code = "HF204"
    name = "buffer-stored"
    level = "note"
    why = "transformers before 4.32 saved rotary frequencies, and some models saved their causal masks."
    remedy = "Nothing: loaders ignore it. Saving again with transformers drops it."
    advises = False

    parameters: int

    @property
    def text(self) -> str:
        return (
            f"{plural(self.count, 'tensor')} of {plural(self.parameters, 'element')} in all, which loaders skip:"
            f" {some(self.names)}. No parameters are counted for it."
        )
