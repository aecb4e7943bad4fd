"""Parses safetensors headers, and checks every rule of the format.

Source of the rules: the format's README and safetensors 0.8, safetensors/src/tensor.rs (`validate`). Duplicate keys
are an error here, as the README asks; the reference reader accepts them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.dtypes import BITS
from hfcount.formats.json import Document, check_keys, check_substitute, parse_loosely, parse_object
from hfcount.text import printable, shown

LENGTH_BYTES = 8
"""Bytes before the header that give its length, little-endian."""

MAX_HEADER = 100_000_000
"""Bytes: a longer header is refused, as by the reference reader."""

_SAVE = "Load it with torch and save it with safetensors.torch.save_file."
_ERROR = "probably a server's error message"
_AGAIN = "Download it again."
_OTHERS = (
    (b"PK\x03\x04", "a ZIP archive, as torch.save writes", _SAVE),
    (b"\x80\x02", "a pickled file, as torch.save writes", _SAVE),
    (b"GGUF", "a GGUF file", "Name it .gguf, and put the safetensors file in its place."),
    (b"\x1f\x8b", "compressed with gzip", "Decompress it."),
    (b"\x89HDF", "an HDF5 file, as Keras writes", "Convert it, and put the safetensors file in its place."),
    (b"<", f"XML, {_ERROR}", _AGAIN),
    (b"{", f"a JSON document, {_ERROR}", _AGAIN),
)
"""What other files begin with, what they are, and what to do."""

_MANY = 2_000_000  # values in a header: eight for each tensor
_MAX = 2**63
_MAX_BITS = 2**66


class Entry(NamedTuple):
    """One stored tensor: its dtype by the format's name, its shape in elements, its range in the data in bytes."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """The header of one file.

    Args:
        tensors: by name, in the order of the header.
        length: bytes of the header itself.
        data: bytes of all tensors together.
        raw: the header as it was read.
    """

    tensors: Mapping[str, Entry]
    length: int
    data: int
    raw: bytes

    @property
    def file_bytes(self) -> int:
        """The required size of the file, in bytes."""
        return LENGTH_BYTES + self.length + self.data


class Shard(NamedTuple):
    """One weight file: its size in bytes, None if unknown, and its header, or its problem and how to fix that.

    `holes` are parts of a sparse file on this machine that were never written: their first bytes and ends.
    """

    name: str
    size: int | None
    header: Header | None = None
    problem: str | None = None
    fix: str | None = None
    holes: tuple[tuple[int, int], ...] = ()


def header_end(first: bytes, size: int | None) -> int:
    """How many of a file's first bytes `read_shard` needs, given 8 or more; `size` is that of the file, or None."""
    try:
        return LENGTH_BYTES + header_length("", first, size)
    except DocumentError:  # further bytes would not help
        return len(first)


def read_shard(name: str, size: int | None, first: bytes) -> Shard:
    """One weight file from its first bytes; if they break a rule of the format (HF003), its `problem` says so.

    Args:
        size: bytes of the file; None if unknown.
        first: at least the first `header_end` bytes, or the whole file if it is shorter.
    """
    where = printable(name)
    try:
        length = header_length(where, first, size)
        header = first[LENGTH_BYTES : LENGTH_BYTES + length]
        if len(header) < length:
            raise DocumentError(f"{where} ends within its header: {len(header):,} of {length:,} bytes.", "HF003")
        return Shard(name, size, parse_header(where, header))
    except DocumentError as error:
        return Shard(name, size, problem=error.text, fix=error.fix)


def header_length(where: str, first: bytes, file_bytes: int | None) -> int:
    """The header's length in bytes, from the first bytes of a file.

    Raises:
        DocumentError: HF003, this is not a safetensors file.
    """
    check_substitute(where, first, "HF003")
    if len(first) < LENGTH_BYTES:
        raise DocumentError(f"{where} has {len(first)} bytes, and a header's length alone takes 8.", "HF003")
    length = int.from_bytes(first[:LENGTH_BYTES], "little")
    if length > MAX_HEADER and (other := next((kind for kind in _OTHERS if first.lstrip().startswith(kind[0])), None)):
        raise DocumentError(f"{where} is {other[1]}, not a safetensors file.", "HF003", fix=other[2])
    if length > MAX_HEADER:
        raise DocumentError(
            f"{where} declares a header of {length:,} bytes; at most {MAX_HEADER:,} are allowed. It is not a"
            " safetensors file, or its first bytes are damaged.",
            "HF003",
        )
    if file_bytes is not None and LENGTH_BYTES + length > file_bytes:
        raise DocumentError(
            f"{where} has {file_bytes:,} bytes, and its header alone takes 8 + {length:,}: it is cut off.", "HF003"
        )
    return length


def parse_header(where: str, raw: bytes) -> Header:
    """Parses a header, given its bytes without the 8 before it.

    Raises:
        DocumentError: HF003, with the rule that is broken.
    """
    document = Document(f"the header of {where}", raw)
    try:
        fields = parse_loosely(document, _MANY)
        metadata = fields.pop("__metadata__", None)
        if metadata is not None and not (isinstance(metadata, dict) and {str}.issuperset(map(type, metadata.values()))):
            raise DocumentError(f"{where}: __metadata__ must map strings to strings.")
        tensors = _entries(where, fields)
        if sum(map(len, fields.values())) == 3 * len(fields):
            check_keys(document, 4 * len(fields) + (0 if metadata is None else 1 + len(metadata)))
        else:  # fields beyond the format's are allowed, and may nest
            parse_object(document, _MANY)
    except DocumentError as error:
        raise DocumentError(error.text, "HF003", fix=error.fix) from None
    return Header(tensors, len(raw), _check_layout(where, tensors), raw)


def _entries(where: str, fields: Mapping[str, Any]) -> dict[str, Entry]:
    # One loop without calls: a large model has a hundred thousand tensors.
    tensors = {}
    for name, value in fields.items():
        try:
            dtype, shape, (begin, end) = value["dtype"], value["shape"], value["data_offsets"]
            bits = BITS[dtype]
            for size in shape:
                if type(size) is not int or size < 0:
                    raise ValueError
                bits *= size
                if bits >= _MAX_BITS:
                    raise ValueError
            if (
                type(begin) is not int
                or type(end) is not int
                or not 0 <= begin <= end < _MAX
                or type(shape) is not list
            ):
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise DocumentError(f"{where}: {printable(name)} {_what_is_wrong(value)}.") from None
        if bits != (end - begin) * 8:
            raise DocumentError(
                f"{where}: {printable(name)} has shape {printable(str(shape))} of {dtype}, {bits / 8:,.16g} bytes, and"
                f" takes {end - begin:,}."
            )
        tensors[name] = Entry(dtype, tuple(shape), begin, end)
    return tensors


def _what_is_wrong(value: Any) -> str:
    if not isinstance(value, dict):
        return f"is {shown(value)}, but must be an object with dtype, shape and data_offsets"
    for key in ("dtype", "shape", "data_offsets"):
        if key not in value:
            return f"has no {key}"
    offsets = value["data_offsets"]
    if value["dtype"] in ("", None) and isinstance(offsets, list) and offsets and offsets == offsets[:1] * 2:
        return "has no dtype and no data: a placeholder, with which safetensors 0.8 does not open the file"
    if not isinstance(value["dtype"], str) or value["dtype"] not in BITS:
        return f"has dtype {shown(value['dtype'])}, which the format does not have"
    shape = value["shape"]
    if not isinstance(shape, list) or any(type(size) is not int or not 0 <= size < _MAX for size in shape):
        return "has a shape that is not a list of whole numbers below 2^63"
    bits = BITS[value["dtype"]]
    for size in shape:
        bits *= size
        if bits >= _MAX_BITS:
            return "has a shape of 2^63 bytes or more"
    return f"has data_offsets {printable(str(offsets), 60)}, which are not a begin and an end"


def _check_layout(where: str, tensors: Mapping[str, Entry]) -> int:
    """Bytes of the data; checks that tensors follow one another without holes or overlaps."""
    place = 0
    for entry in tensors.values():  # writers list tensors in the order of their data
        if entry[2] != place:
            break
        place = entry[3]
    else:
        return place
    place = 0
    for begin, end, name in sorted((entry.begin, entry.end, name) for name, entry in tensors.items()):
        if begin != place:
            what = "overlaps the tensor before it by" if begin < place else "leaves a hole before it of"
            raise DocumentError(
                f"{where}: {printable(name)} begins at byte {begin:,} of the data, and {what}"
                f" {abs(begin - place):,} bytes.",
                "HF003",
            )
        place = end
    return place
