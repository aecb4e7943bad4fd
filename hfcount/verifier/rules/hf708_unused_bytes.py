"""HF708: unused bytes."""

from collections.abc import Iterator

from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import agree


class UnusedBytes(Finding):
    """A pickled file holds bytes that no tensor uses.

    Args:
        of: bytes of all storages.
        longer: storages that have more bytes than the pickle says.
        trailing: bytes behind the last that belong to the file.
    """

    code = "HF708"
    name = "unused-bytes"
    level = "note"
    why = "A view was saved together with the larger tensor that it is part of, or something was appended to the file."
    remedy = "Save it again, with copies instead of views (tensor.clone())."
    informational = True
    advises = False

    file: str
    of: int
    longer: int
    trailing: int

    @property
    def text(self) -> str:
        return f"{printable(self.file)}: {'; '.join(self._reasons())}."

    def _reasons(self) -> Iterator[str]:
        if self.bytes:
            yield f"no tensor uses {self.bytes:,} of the {self.of:,} bytes of its storages"
        if self.longer:
            have = agree(self.longer, "has", "have")
            yield f"{plural(self.longer, 'storage')} {have} more bytes than the pickle says"
        if self.trailing:
            yield f"{plural(self.trailing, 'byte')} {agree(self.trailing, 'follows', 'follow')} its last tensor"
