"""Reads names, dtypes, shapes and storages of torch.save files by a few ranges, without running the pickle.

Source: torch 2.13, torch/serialization.py (`_load`, `_legacy_load`), judged by torch.load(weights_only=True), its
default. A file takes two ranges, the first 64 KiB and the last, and with thousands of tensors two more: what is left of
the directory and of the pickle. A file in the format before torch 1.6 takes one, and more until its pickles end.
"""

from dataclasses import dataclass

from hfcount.errors import DocumentError
from hfcount.formats.json import check_substitute
from hfcount.formats.pickles.legacy import read_legacy
from hfcount.formats.pickles.state_dict import Pickle
from hfcount.formats.pickles.values import Storage, Tensor
from hfcount.formats.pickles.zipped import read_zipped
from hfcount.formats.window import Read, TooLarge, Window
from hfcount.formats.zip import TAIL
from hfcount.text import printable

__all__ = ["HEAD", "TAIL", "Broken", "Pickle", "PickleSet", "Storage", "Tensor", "look", "read_pickle"]

HEAD = 65_536
"""Bytes of the first range."""

MAX_TENSORS = 200_000
"""Tensors and storages of all files of a checkpoint."""

_AGAIN = "Download it again."
_OTHERS = (
    (b"GGUF", "a GGUF file", "Name it .gguf."),
    (b"\x1f\x8b", "compressed with gzip", "Decompress it."),
    (b"\x89HDF", "an HDF5 file, as Keras writes", "Convert it."),
    (b"PK\x05\x06", "an empty ZIP archive", _AGAIN),
    (b"<", "XML, probably a server's error message", _AGAIN),
    (b'{"', "a JSON document, probably a server's error message", _AGAIN),
)
"""What other files begin with, what they are, and what to do."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that cannot be read.

    Args:
        size: bytes of the file.
        problem: why, in a sentence.
        fix: what to do, in a sentence.
        code: of the rule that it breaks: HF004, it is cut off; HF003, anything else.
        expected: bytes that it is to have at least, where that is known.
        large: whether it has more than is read, and may be sound.
    """

    name: str
    size: int
    problem: str
    fix: str | None = None
    code: str = "HF003"
    expected: int | None = None
    large: bool = False


def look(name: str, size: int, read: Read) -> Pickle | Broken:
    """Reads a file, or says why it cannot be read; arguments as of `read_pickle`."""
    try:
        return read_pickle(name, size, read)
    except DocumentError as error:
        expected = error.expected if error.code == "HF004" and isinstance(error.expected, int) else None
        return Broken(name, size, error.text, error.fix, error.code, expected, isinstance(error, TooLarge))


class PickleSet:
    """Files of one checkpoint, read one after another until they hold more than is read."""

    def __init__(self) -> None:
        self.files: dict[str, Pickle | Broken] = {}
        self._left = MAX_TENSORS

    def look(self, name: str, size: int, read: Read) -> None:
        """Reads one more file, unless there is no room; arguments as of `read_pickle`."""
        file: Pickle | Broken | None = look(name, size, read) if self._left > 0 else None
        if isinstance(file, Pickle):
            self._left -= len(file.tensors) + len(file.storages) + (len(file.inner[1]) if file.inner else 0)
        elif file is not None and file.large:
            self._left = 0
        if file is None or self._left < 0:
            problem = f"{printable(name)} is beyond the {MAX_TENSORS:,} tensors and storages that are read in all."
            file = Broken(name, size, problem, large=True)
        self.files[name] = file


def read_pickle(name: str, size: int, read: Read) -> Pickle:
    """What a file of torch.save holds.

    Args:
        size: bytes of the file.
        read: gives the bytes of a range.

    Raises:
        DocumentError: HF004, it is cut off; HF003, it is no file of torch.save, or cannot be as it is.
    """
    where, window = printable(name), Window(read, size)
    if not size:
        raise DocumentError(f"{where} is empty (0 bytes).", "HF003", fix=_AGAIN)
    head = window.range(0, size if size <= HEAD + TAIL else HEAD)[:HEAD]
    if head.startswith(b"PK\3\4"):
        return read_zipped(name, window)
    _check_other(where, head)
    return read_legacy(name, window)


def _check_other(where: str, head: bytes) -> None:
    """Raises DocumentError for what is plainly something else than a file of torch.save."""
    check_substitute(where, head, "HF003")
    if not head.strip(b"\0"):
        raise DocumentError(
            f"{where} begins with {len(head):,} zeros: a download that was never finished.", "HF003", fix=_AGAIN
        )
    if head[257:262] == b"ustar":
        raise DocumentError(
            f"{where} is a tar archive, as the first versions of torch wrote: torch.load refuses it by default.",
            "HF003",
            fix="Load it with weights_only=False if you trust it, and save it again.",
        )
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 100_000_000:
        raise DocumentError(f"{where} is a safetensors file by another name.", "HF003", fix="Name it .safetensors.")
    text = head.lstrip()
    if other := next((other for other in _OTHERS if text.startswith(other[0])), None):
        raise DocumentError(f"{where} is {other[1]}, not a file of torch.save.", "HF003", fix=other[2])
