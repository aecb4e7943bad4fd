"""HF502: packed differently."""

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, some


class PackedDifferently(Finding):
    """A module is quantised though the config excludes it, or not though it does not, or in another way than it says.

    Args:
        source: where the settings are.
        reason: why this is a note; empty for an error.
    """

    code = "HF502"
    name = "packed-differently"
    level = "error"
    why = "A list of excluded modules that does not match what was done, or a module added or converted later."
    remedy = "List exactly the modules that are not quantised as excluded, or quantise again."

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
            return f"{text} This is a note, not an error: {printable(self.reason)}."
        text += f" A model built from {printable(self.source)} has other tensors."
        return text + (
            " If they are quantised after all, their scales are lost: headers show that (--depth headers)."
            if self.unseen
            else ""
        )

    def _stored(self) -> str:
        source, them = printable(self.source), agree(self.count, "it", "them")
        them_is = agree(self.count, "it is", "they are")
        if self.expected == self.observed:
            return f"not quantised, but {source} does not list {them} as such"
        if self.observed is None:
            return f"not quantised, but {source} says {them_is} ({printable(self.expected or '')})"
        if self.expected is None:
            return f"quantised ({printable(self.observed)}), but {source} excludes {them}"
        return f"quantised as {printable(self.observed)}, but {source} says {printable(self.expected)}"


class StoredBeside(PackedDifferently):
    """Tensors are stored beside the model's own, as tools of the scheme write them."""

    @property
    def text(self) -> str:
        many = f"{plural(self.count, 'tensor')} {agree(self.count, 'is', 'are')} stored beside the model's own"
        return f"{many}: {some(self.names)}. This is a note, not an error: {printable(self.reason)}."
