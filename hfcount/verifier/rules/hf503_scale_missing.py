"""HF503: scale missing."""

from hfcount.mapper.loader_differences import VLLM
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class ScaleMissing(Finding):
    """A packed tensor lacks a scale, zero point or index that its scheme needs."""

    code = "HF503"
    name = "scale-missing"
    level = "error"
    why = "A conversion, merge or name filter kept the weights and dropped the tensors that belong to them."
    remedy = "Restore what is missing from the original checkpoint, or quantise again."


class ModulesLackScales(ScaleMissing):
    """Packed modules lack what belongs to them.

    Args:
        modules: how many they are.
        layout: how they are packed.
    """

    modules: int
    layout: str

    @property
    def text(self) -> str:
        many = f"{plural(self.modules, 'module')} {agree(self.modules, 'is', 'are')} packed ({printable(self.layout)})"
        lack = f"{agree(self.count, 'a tensor', 'tensors')} that {agree(self.modules, 'it needs', 'they need')}"
        return f"{many}, but {lack} {agree(self.count, 'is', 'are')} missing: {some(self.names)}."


class CacheLacksScales(ScaleMissing):
    """Attention lacks scales of the 8-bit cache.

    Args:
        others: whether other layers have theirs.
    """

    others: bool

    @property
    def text(self) -> str:
        missing = f"{agree(self.count, 'is', 'are')} missing{'; other layers have theirs' if self.others else ''}"
        return (
            f"{plural(self.count, 'scale')} of the 8-bit cache of keys and values {missing}: {some(self.names)}."
            f" {VLLM} then uses 1, or for the values the scale of the keys where that is stored."
        )
