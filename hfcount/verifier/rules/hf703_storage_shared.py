"""HF703: storage shared."""

from collections.abc import Sequence

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree, short


class StorageShared(Finding):
    """Tensors of a pickled file are one and the same, though the config ties none of them to another.

    Args:
        groups: the names of each such tensor.
    """

    code = "HF703"
    name = "storage-shared"
    level = "note"
    why = "The model that was saved shared them, by a tie of its class or of whoever trained it."
    remedy = "Set the tie in config.json if it is meant."
    informational = True
    advises = False

    file: str
    groups: Sequence[Sequence[str]]

    @property
    def text(self) -> str:
        first = self.groups[0]
        names = " and ".join(map(short, first[:2])) + (f" and {len(first) - 2:,} more" if len(first) > 2 else "")
        others = plural(len(self.groups) - 1, "other tensor")
        more = f" So {agree(len(self.groups) - 1, 'is', 'are')} {others}." if len(self.groups) > 1 else ""
        return f"{printable(self.file)}: {names} are one tensor, stored once; the config ties neither to another.{more}"
