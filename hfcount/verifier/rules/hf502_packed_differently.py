"""HF502: packed differently."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class PackedDifferently(Finding):
    """A module is packed though the config excludes it, dense though it does not, or packed in another way.

    Args:
        source: where the settings are.
        reason: why this is a note; empty for an error.
    """

    code = "HF502"
    name = "packed-differently"
    level = "error"
    why = "A list of excluded modules that does not match what was done, or a module added or converted later."
    remedy = "List exactly the dense modules as excluded, or convert again."

    source: str
    reason: str = ""


class ModulesDiffer(PackedDifferently):
    """Modules are stored otherwise than the settings say.

    Args:
        expected, observed: how the settings pack them, and how they are packed; None where they are dense. Both are
            None where what is dense is not listed as such.
        unseen: whether they may be packed all the same, which only headers tell.
    """

    expected: str | None
    observed: str | None
    unseen: bool = False

    @property
    def dense(self) -> bool:
        """Whether what the settings pack is stored dense."""
        return self.observed is None and self.expected is not None

    @property
    def text(self) -> str:
        text = f"{plural(self.count, 'module')} {agree(self.count, 'is', 'are')} {self._stored()}: {some(self.names)}."
        if self.reason:
            return f"{text} This is a note, and no error: {printable(self.reason)}."
        text += f" A model that is built by {printable(self.source)} has other tensors."
        return text + (" If they are packed all the same, their scales are lost: headers tell." if self.unseen else "")

    def _stored(self) -> str:
        source, them = printable(self.source), agree(self.count, "it", "them")
        if self.expected == self.observed:
            return f"stored dense, and {source} does not say so"
        if self.observed is None:
            return f"stored dense, and {source} packs {them} ({printable(self.expected or '')})"
        if self.expected is None:
            return f"packed ({printable(self.observed)}), and {source} leaves {them} dense"
        return f"packed ({printable(self.observed)}), and {source} packs {them} otherwise ({printable(self.expected)})"


class StoredBeside(PackedDifferently):
    """Tensors are stored beside the model's own, as tools of the scheme write them."""

    @property
    def text(self) -> str:
        many = f"{plural(self.count, 'tensor')} {agree(self.count, 'is', 'are')} stored beside the model's own"
        return f"{many}: {some(self.names)}. This is a note, and no error: {printable(self.reason)}."
