"""Simulates the functions by which a pickle builds tensors: shapes and storages, no values.

Source: torch 2.13, torch/_utils.py (`_rebuild_*`), torch/_tensor.py (`_rebuild_from_type_v2`).
"""

from collections.abc import Callable, Sequence
from typing import Any

from hfcount.formats.dtypes import stored_as
from hfcount.formats.pickles.values import (
    MAX_SIZE,
    OPAQUE,
    OTHER_DTYPES,
    Global,
    Kind,
    Malformed,
    Storage,
    Tensor,
    counted,
)

MAX_DIMENSIONS = 64
"""Dimensions that torch takes at most."""

_PACKED = {"quint4x2": 4, "quint2x4": 2}
"""Bits of an element of tensors of which several share a byte; their storages count bytes."""


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
            raise Malformed(f"gives a tensor a {what} with {counted(size)} in it")
    return tuple(values)


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
        raise Malformed(f"gives a tensor the offset {counted(offset)}")
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
