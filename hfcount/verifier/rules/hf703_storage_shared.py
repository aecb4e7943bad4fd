"""HF703: storage shared."""

from collections.abc import Sequence

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import short


class StorageShared(Finding):
    """Several names in a pickled file are one tensor, but the config does not tie them.

    Args:
        groups: the names of each such tensor.
    """

    code = "HF703"
    name = "storage-shared"
    level = "note"
    why = "The model shared them when it was saved: its class or the training code tied them."
    remedy = "If they should be tied, set that in config.json."
    informational = True
    advises = False

    file: str
    groups: Sequence[Sequence[str]]

    @property
    def text(self) -> str:
        first = self.groups[0]
        names = " and ".join(map(short, first[:2])) + (f" and {len(first) - 2:,} more" if len(first) > 2 else "")
        others = plural(len(self.groups) - 1, "other tensor")
        more = f" {others} likewise." if len(self.groups) > 1 else ""
        return f"{printable(self.file)}: {names} are one tensor, stored once, but the config does not tie them.{more}"
