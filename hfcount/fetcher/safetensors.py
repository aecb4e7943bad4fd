"""The safetensors header: bytes in, tensors out, every rule of the format held.

Source of the rules: the format's README and safetensors 0.8, safetensors/src/tensor.rs (`validate`). A name that
stands twice is refused here, as the README asks and the reference reader does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.fetcher.documents import Document, parse_object
from hfcount.storage.dtypes import BITS
from hfcount.text import printable, shown

LENGTH_BYTES = 8
"""Bytes before the header that give its length, little-endian."""

MAX_HEADER = 100_000_000
"""Bytes: a longer header is refused, as the reference reader does."""

_MAX = 2**63


class Entry(NamedTuple):
    """One stored tensor: its dtype by the format's name, its shape in elements, its place in the data in bytes."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Header:
    """What one file says it holds.

    Args:
        tensors: by name, in the order of the header.
        length: bytes of the header itself; data: bytes of all tensors together.
        raw: the header as it was read.
    """

    tensors: Mapping[str, Entry]
    length: int
    data: int
    raw: bytes = field(repr=False)

    @property
    def file_bytes(self) -> int:
        """What the file's size must be."""
        return LENGTH_BYTES + self.length + self.data


def header_length(where: str, first: bytes, file_bytes: int | None) -> int:
    """The header's length in bytes, from the first bytes of a file.

    Raises:
        DocumentError: HF003, it cannot be a safetensors file.
    """
    if first.startswith(b"version https://git-lfs"):
        raise DocumentError(f"{where} is a Git LFS pointer, not the file itself. Run `git lfs pull`.", "HF003")
    if first.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")):
        raise DocumentError(f"{where} is an HTML page: some server answered with an error page.", "HF003")
    if len(first) < LENGTH_BYTES:
        raise DocumentError(f"{where} has {len(first)} bytes, and a header's length alone takes 8.", "HF003")
    length = int.from_bytes(first[:LENGTH_BYTES], "little")
    if length > MAX_HEADER:
        raise DocumentError(
            f"{where} gives its header {length:,} bytes, and {MAX_HEADER:,} are the most: it is no safetensors file,"
            " or its first bytes are damaged.",
            "HF003",
        )
    if file_bytes is not None and LENGTH_BYTES + length > file_bytes:
        raise DocumentError(
            f"{where} has {file_bytes:,} bytes, and its header alone takes 8 + {length:,}: it is cut off.", "HF003"
        )
    return length


def parse_header(where: str, raw: bytes) -> Header:
    """The tensors of a header, given its bytes without the 8 before it.

    Raises:
        DocumentError: HF003, with the rule that it breaks.
    """
    try:
        fields = parse_object(Document(f"the header of {where}", raw))
        tensors = _tensors(where, fields)
    except DocumentError as error:
        raise DocumentError(str(error), "HF003") from None
    return Header(tensors, len(raw), _check_layout(where, tensors), raw)


def _tensors(where: str, fields: dict[str, Any]) -> dict[str, Entry]:
    metadata = fields.pop("__metadata__", None)
    if metadata is not None and not (
        isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())
    ):
        raise DocumentError(f"{where}: __metadata__ must map texts to texts.")
    return {name: _entry(where, name, value) for name, value in fields.items()}


def _entry(where: str, name: str, value: Any) -> Entry:
    try:
        dtype, shape, (begin, end) = value["dtype"], value["shape"], value["data_offsets"]
        bits = BITS[dtype]
        if type(begin) is int and type(end) is int and 0 <= begin <= end < _MAX and type(shape) is list:
            size = _checked_product(shape) * bits
            if size == (end - begin) * 8:
                return Entry(dtype, tuple(shape), begin, end)
            raise DocumentError(
                f"{where}: {printable(name)} has shape {printable(str(shape))} of {dtype}, {size // 8:,} bytes, and"
                f" takes {end - begin:,}."
            )
    except (KeyError, TypeError, ValueError):
        pass
    raise DocumentError(f"{where}: {printable(name)} {_what_is_wrong(value)}.")


def _checked_product(shape: list[int]) -> int:
    """Elements, multiplied from left to right without leaving 63 bits."""
    product = 1
    for size in shape:
        if type(size) is not int or size < 0:
            raise ValueError
        product *= size
        if product >= _MAX:
            raise ValueError
    return product


def _what_is_wrong(value: Any) -> str:
    if not isinstance(value, dict):
        return f"is {shown(value)}, and must be an object with dtype, shape and data_offsets"
    for key in ("dtype", "shape", "data_offsets"):
        if key not in value:
            return f"has no {key}"
    if not isinstance(value["dtype"], str) or value["dtype"] not in BITS:
        return f"has dtype {shown(value['dtype'])}, which the format does not have"
    shape, offsets = value["shape"], value["data_offsets"]
    if not isinstance(shape, list) or any(type(size) is not int or not 0 <= size < _MAX for size in shape):
        return "has a shape that is not a list of whole numbers below 2^63"
    try:
        _checked_product(shape)
    except ValueError:
        return "has a shape of more than 2^63 elements"
    return f"has data_offsets {printable(str(offsets), 60)}, which are not a begin and an end"


def _check_layout(where: str, tensors: Mapping[str, Entry]) -> int:
    """Bytes of the data: tensors follow one another without holes or overlaps."""
    place = 0
    for name, entry in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if entry.begin != place:
            what = "overlaps the tensor before it by" if entry.begin < place else "leaves a hole before it of"
            raise DocumentError(
                f"{where}: {printable(name)} begins at byte {entry.begin:,} of the data, and {what}"
                f" {abs(entry.begin - place):,} bytes.",
                "HF003",
            )
        place = entry.end
    return place
