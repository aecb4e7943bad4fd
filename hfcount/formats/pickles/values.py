"""What torch.save writes into a pickle, as values that do nothing: storages, tensors, and the names that build them.

Source: torch 2.13, torch/_weights_only_unpickler.py (`_get_allowed_globals`), torch/_utils.py (`_rebuild_*`),
torch/serialization.py (`_save`, `_legacy_save`), judged by torch.load(weights_only=True).
"""

from collections.abc import Callable, Sequence
from math import prod
from operator import mul
from typing import Any, Literal, NamedTuple

from hfcount.storage.dtypes import stored_as

Kind = Literal["dense", "sparse", "quantised", "nested", "meta", "subclass"]

MAX_SIZE = 2**63
"""Sizes, strides and bytes of a tensor are below it, as torch counts in signed numbers of 64 bits."""

MAX_DIMENSIONS = 64
"""Dimensions that torch takes at most."""

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


_PACKED = {"quint4x2": 4, "quint2x4": 2}
"""Bits of an element of tensors of which several share a byte; their storages count bytes."""


class Malformed(Exception):
    """What a pickle asks for cannot be built; the text says why, as the end of a sentence."""


class Beyond(Malformed):
    """A pickle has more of something than is read; it may be sound."""


class Global(NamedTuple):
    """A function or class that a pickle names. It is never looked up."""

    name: str


class Opaque:
    """A value of which nothing is known but that it is no tensor: what a call that is not simulated would return."""

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
        raise Malformed(f"says that storage {key[:60]} has {_number(elements)} elements")
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
            f"names elements up to {_number(offset + elements)} of storage {storage.key[:60]}, which has"
            f" {storage.elements:,}"
        )
    return storage._replace(elements=elements, begin=storage.begin + offset)


def call(name: str, values: Sequence[Any]) -> Any:
    """What a function of the allow-list returns, as far as that is a tensor or holds some; OPAQUE otherwise.

    Raises:
        Malformed: the arguments are none that it takes.
    """
    build = _BUILDERS.get(name)
    if build is None or (values and values[0] is OPAQUE and build is not _sparse):
        return OPAQUE
    try:
        return build(*values)
    except (TypeError, ValueError):
        raise Malformed(f"calls {name} with {len(values)} arguments that it does not take") from None


def _sizes(what: str, values: Any) -> tuple[int, ...]:
    if type(values) not in (tuple, list) or len(values) > MAX_DIMENSIONS:
        raise Malformed(f"gives a tensor a {what} that is no list of at most {MAX_DIMENSIONS} numbers")
    for size in values:
        if type(size) is not int or not 0 <= size < MAX_SIZE:
            raise Malformed(f"gives a tensor a {what} with {_number(size)} in it")
    return tuple(values)


def _number(value: Any) -> str:
    if type(value) is not int:
        return "something that is no whole number"
    return f"{value:,}" if abs(value) < 10**30 else f"a number of {value.bit_length()} bits"


def _dtype(value: Any) -> tuple[str, int]:
    name = value.name.removeprefix("torch.") if isinstance(value, Global) else ""
    if name in OTHER_DTYPES:
        return name, OTHER_DTYPES[name]
    known = stored_as(name)
    if known is None:
        raise Malformed("gives a tensor a dtype that torch does not have")
    return known


def _dense(storage: Any, offset: Any, size: Any, stride: Any, dtype: Any = None, kind: Kind = "dense") -> Tensor:
    if type(storage) is not Storage:
        raise Malformed("builds a tensor on something that is no storage")
    if type(offset) is not int or not 0 <= offset < MAX_SIZE:
        raise Malformed(f"gives a tensor the offset {_number(offset)}")
    shape, steps = _sizes("shape", size), _sizes("stride", stride)
    if len(shape) != len(steps):
        raise Malformed(f"gives a tensor {len(shape)} sizes and {len(steps)} strides")
    name, bits = (storage.dtype, storage.bits) if dtype is None else _dtype(dtype)
    return Tensor(name, bits, shape, steps, offset, storage, kind)


def _plain(storage: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    return _dense(storage, offset, size, stride)


def _second(storage: Any, offset: Any, size: Any, stride: Any, grad: Any, *more: Any) -> Tensor:
    _check_flag(grad)
    _hooks, attributes = more if len(more) == 2 else (*more, None)
    if attributes and type(attributes) is not dict:
        raise Malformed("gives a tensor attributes that are no dictionary")
    return _dense(storage, offset, size, stride)


def _third(storage: Any, offset: Any, size: Any, stride: Any, grad: Any, *more: Any) -> Tensor:
    _check_flag(grad)
    _hooks, dtype, _attributes = more if len(more) == 3 else (*more, None)
    return _dense(storage, offset, size, stride, dtype)


def _check_flag(grad: Any) -> None:
    if type(grad) is not bool:
        raise Malformed("says whether a tensor is trained by something that is neither true nor false")


def _quantised(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> Tensor:
    tensor = _dense(storage, offset, size, stride, kind="quantised")
    return tensor._replace(bits=_PACKED.get(tensor.dtype, tensor.bits))


def _parameter(data: Any, grad: Any = True, _hooks: Any = None, _state: Any = None) -> Any:
    _check_flag(grad)
    if type(data) is not Tensor:
        raise Malformed("makes a parameter of something that is no tensor")
    return data


def _sparse(_layout: Any, data: Any) -> Any:
    if type(data) is not tuple or len(data) not in (3, 4):
        raise Malformed("builds a sparse tensor of something else than indices, values and a shape")
    values, size = (data[1], data[2]) if len(data) == 3 or type(data[2]) in (tuple, list) else (data[2], data[3])
    if type(values) is not Tensor:
        return OPAQUE
    return Tensor(values.dtype, values.bits, _sizes("shape", size), kind="sparse")


def _nested(buffer: Any, *_: Any) -> Any:
    return buffer._replace(kind="nested") if type(buffer) is Tensor else OPAQUE


def _meta(dtype: Any, size: Any, stride: Any, _grad: Any) -> Tensor:
    return Tensor(*_dtype(dtype), _sizes("shape", size), _sizes("stride", stride), kind="meta")


def _subclass(_class: Any, dtype: Any, size: Any, stride: Any, *_: Any) -> Tensor:
    return Tensor(*_dtype(dtype), _sizes("shape", size), _sizes("stride", stride), kind="subclass")


def _moved(data: Any, dtype: Any, _device: Any, _grad: Any) -> Any:
    if type(data) is not Tensor:
        return OPAQUE
    name, bits = _dtype(dtype)
    if (name, bits) == (data.dtype, data.bits):
        return data
    return Tensor(name, bits, data.shape, kind="subclass")


def _typed_again(function: Any, _class: Any, values: Any, _state: Any) -> Any:
    if not isinstance(function, Global) or type(values) is not tuple:
        raise Malformed("rebuilds a tensor by something that is no function")
    if function.name.endswith("_rebuild_from_type_v2"):
        raise Malformed("rebuilds a tensor by the function that rebuilds tensors")
    return call(function.name, values)


_UTILS = "torch._utils._rebuild_"
_BUILDERS: dict[str, Callable[..., Any]] = {
    f"{_UTILS}tensor": _plain,
    f"{_UTILS}tensor_v2": _second,
    f"{_UTILS}tensor_v3": _third,
    f"{_UTILS}qtensor": _quantised,
    f"{_UTILS}parameter": _parameter,
    f"{_UTILS}parameter_with_state": _parameter,
    f"{_UTILS}sparse_tensor": _sparse,
    f"{_UTILS}nested_tensor": _nested,
    f"{_UTILS}meta_tensor_no_storage": _meta,
    f"{_UTILS}wrapper_subclass": _subclass,
    f"{_UTILS}device_tensor_from_cpu_tensor": _moved,
    "torch._tensor._rebuild_from_type_v2": _typed_again,
    "torch.nn.parameter.Parameter": _parameter,
}
