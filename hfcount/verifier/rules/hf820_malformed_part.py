"""HF820: malformed part."""

from typing import Any

from hfcount.text import printable, shown
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import DIFFUSERS


class MalformedPart(Finding):
    """model_index.json has something other than a library and a class for a part that the pipeline can do without.

    Args:
        part: the name of the part; value: what there is for it.
    """

    code = "HF820"
    name = "malformed-part"
    level = "error"
    why = "An edit by hand, such as null in place of [null, null]."
    remedy = "Write [null, null] if there is no such part, or remove the key."

    part: str
    value: Any

    @property
    def text(self) -> str:
        return (
            f"model_index.json has {shown(self.value)} for {printable(self.part)}, but needs [library, class]."
            f" {DIFFUSERS} does not load the pipeline."
        )
