"""HF724: half missing."""

from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.labels import PEFT
from hfcount.verifier.wording import agree, some


class HalfMissing(Finding):
    """Tensors that an adapter's settings require are not stored.

    Args:
        halves: how many are missing beside others of the same module.
        every: whether no demanded tensor is stored.
    """

    code = "HF724"
    name = "half-missing"
    level = "error"
    why = "It was saved only in part, or its settings are from another run."
    remedy = "Save the adapter again, or download it again."

    halves: int
    every: bool

    @property
    def text(self) -> str:
        if self.every:
            return (
                f"None of the {plural(self.count, 'tensor')} that adapter_config.json requires for this base is stored,"
                f" such as {some(self.names[:1])}: loaded with {PEFT}, the adapter has no effect."
            )
        which = agree(self.count, "its module", f"the modules of {self.halves:,} of them")
        half = f", though other tensors of {which} are" if self.halves else ""
        return (
            f"{plural(self.count, 'tensor')} that adapter_config.json requires {agree(self.count, 'is', 'are')} not"
            f" stored{half}: {some(self.names)}. {PEFT} refuses the adapter, or leaves those modules as they are."
        )
