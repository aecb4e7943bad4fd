"""Inert values of a torch.save pickle: storages, tensors, names of functions.

Source: torch 2.13, torch/serialization.py (`_save`, `_legacy_save`), torch/storage.py (`_dtype_to_storage_type_map`).
"""

from math import prod
from operator import mul
from typing import Any, Literal, NamedTuple

Kind = Literal["dense", "sparse", "quantised", "nested", "meta", "subclass"]

MAX_SIZE = 2**63
"""Sizes, strides and bytes of a tensor are below it, as torch counts in signed numbers of 64 bits."""

STORAGES = {
    "Double": ("F64", 64),
    "Float": ("F32", 32),
    "Half": ("F16", 16),
    "BFloat16": ("BF16", 16),
    "Long": ("I64", 64),
    "Int": ("I32", 32),
    "Short": ("I16", 16),
    "Char": ("I8", 8),
    "Byte": ("U8", 8),
    "Bool": ("BOOL", 8),
    "ComplexFloat": ("C64", 64),
    "ComplexDouble": ("complex128", 128),
    "QInt8": ("qint8", 8),
    "QUInt8": ("quint8", 8),
    "QInt32": ("qint32", 32),
    "QUInt4x2": ("quint4x2", 8),
    "QUInt2x4": ("quint2x4", 8),
}
"""Dtype and bits of an element by the name of the storage, without its ending; by torch's name where safetensors has
none."""

OTHER_DTYPES = {
    "complex128": 128,
    "complex32": 32,
    "qint32": 32,
    "bits16": 16,
    **dict.fromkeys("qint8 quint8 quint4x2 quint2x4 bits8 bits1x8 bits2x4 bits4x2 float4_e2m1fn_x2".split(), 8),
    **{f"{sign}int{bits}": 8 for sign in ("", "u") for bits in range(1, 8)},
}
"""Bits of one element of what safetensors does not have, by torch's name: each takes whole bytes."""


class Malformed(Exception):
    """What a pickle asks for cannot be built; the text says why, as the end of a sentence."""


class Beyond(Malformed):
    """A pickle has more of something than is read; it may be sound."""


class Global(NamedTuple):
    """A function or class that a pickle names. It is never looked up."""

    name: str


class Opaque:
    """A value that is not a tensor: the result of a call that is not simulated."""

    __slots__ = ()


OPAQUE = Opaque()


class Storage(NamedTuple):
    """A run of elements in a file.

    Args:
        key: its name in the file.
        dtype: of the elements, as safetensors names it, or torch where that has no name for it.
        bits: of one element.
        elements: how many there are.
        begin: elements of the run under `key` that come before, where it is a part of that.
    """

    key: str
    dtype: str
    bits: int
    elements: int
    begin: int = 0

    @property
    def bytes(self) -> int:
        """Bytes in the file."""
        return self.elements * self.bits // 8


class Tensor(NamedTuple):
    """A tensor as it was saved: a view of a storage.

    Args:
        dtype: as of a storage.
        bits: of one element.
        shape: in elements.
        stride: elements between neighbours of each dimension.
        offset: elements of the storage before the first.
        storage: None where the values lie in other tensors or nowhere.
    """

    dtype: str
    bits: int
    shape: tuple[int, ...]
    stride: tuple[int, ...] = ()
    offset: int = 0
    storage: Storage | None = None
    kind: Kind = "dense"

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def extent(self) -> int:
        """Elements of the storage up to its last one; 0 if it has none."""
        if 0 in self.shape:
            return 0
        return self.offset + 1 + int(sum(map(mul, self.shape, self.stride))) - sum(self.stride)

    @property
    def bytes(self) -> int:
        """Bytes of its elements."""
        return self.elements * self.bits // 8


def storage_of(kind: Any, key: Any, elements: Any, legacy: bool = False) -> Storage:
    """The storage of a persistent id.

    Args:
        legacy: whether the file has the format before torch 1.6.

    Raises:
        Malformed: these are no class of storages, name and number.
    """
    name = kind.name.rpartition(".")[2].removesuffix("Storage") if isinstance(kind, Global) else ""
    known = ("U8", 8) if name == "Untyped" else STORAGES.get(name)
    if known is None or not kind.name.startswith("torch.") or not kind.name.endswith("Storage"):
        raise Malformed("names a storage of no class of torch's")
    if name == "Untyped" and legacy:
        raise Malformed("names a storage without a dtype, which torch writes in this old format and does not read")
    if type(key) is not str:
        raise Malformed("names a storage by something else than text")
    if type(elements) is not int or not 0 <= elements < MAX_SIZE // (known[1] // 8):
        raise Malformed(f"says that storage {key[:60]} has {counted(elements)} elements")
    return Storage(key, *known, elements)


def part_of(storage: Storage, view: Any) -> Storage:
    """The part of a storage that a persistent id of a file before torch 1.6 names: key, offset and number of elements.

    Raises:
        Malformed: it is none.
    """
    if type(view) is not tuple or len(view) != 3 or any(type(size) is not int or size < 0 for size in view[1:]):
        raise Malformed(f"names a part of storage {storage.key[:60]} by something else than key, offset and size")
    _, offset, elements = view
    if offset + elements > storage.elements:
        raise Malformed(
            f"names elements up to {counted(offset + elements)} of storage {storage.key[:60]}, which has"
            f" {storage.elements:,}"
        )
    return storage._replace(elements=elements, begin=storage.begin + offset)


def counted(value: Any) -> str:
    """A number of a pickle as a message repeats it."""
    if type(value) is not int:
        return "something that is no whole number"
    return f"{value:,}" if abs(value) < 10**30 else f"a number of {value.bit_length()} bits"
