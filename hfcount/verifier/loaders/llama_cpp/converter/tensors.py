"""Gives recorded functions tensors without values: shapes and dtypes as torch computes them, and its errors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.operators import NotRun

DTYPES: Mapping[str, str] = {
    "F64": "float64",
    "F32": "float32",
    "BF16": "bfloat16",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
}
"""torch's dtypes by those of safetensors, as the converter has them."""

_BYTES = {"64": 8, "32": 4, "16": 2}


class Dtype(str):
    """A dtype, by its name."""

    __slots__ = ()

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        name = str(self)
        return next((size for ending, size in _BYTES.items() if name.endswith(ending)), 1)

    def attribute(self, name: str) -> Any:
        """The attributes that recorded functions ask for."""
        return {"itemsize": self.itemsize}[name]


class Tensor:
    """A tensor without values.

    Args:
        shape: in elements.
        dtype: by torch's name.
    """

    __slots__ = ("dtype", "shape")
    __hash__ = None  # type: ignore[assignment]  # == gives a tensor, so that it cannot be a key

    def __init__(self, shape: Iterable[int], dtype: str = "float32") -> None:
        self.shape, self.dtype = tuple(shape), Dtype(dtype)

    def attribute(self, name: str) -> Any:
        """An attribute or method, as recorded functions ask for it."""
        plain = {"shape": self.shape, "dtype": self.dtype, "ndim": len(self.shape)}
        if name in plain:
            return plain[name]
        if name == "T":
            return self._like(reversed(self.shape))
        if name == "mT":
            return _transpose(self, -1, -2)
        function = _METHODS.get(name)
        if function is None:
            raise NotRun(f"{name} of a tensor")
        return lambda *given, **named: function(self, *given, **named)

    def _like(self, shape: Iterable[int], dtype: str = "") -> "Tensor":
        return Tensor(shape, dtype or self.dtype)

    def __bool__(self) -> bool:
        raise NotRun("it asks for values")

    __float__ = __int__ = __index__ = __iter__ = __bool__

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any) -> "Tensor":
        return self._like(_indexed(self.shape, place if isinstance(place, tuple) else (place,)))

    def __setitem__(self, place: Any, value: Any) -> None:
        self[place]

    def _computed(self, other: Any) -> "Tensor":
        if isinstance(other, Tensor):
            floating = next((one.dtype for one in (self, other) if "float" in one.dtype), self.dtype)
            return Tensor(_broadcast(self.shape, other.shape), floating)
        if not isinstance(other, int | float):
            raise TypeError(f"unsupported operand type(s): 'Tensor' and {type(other).__name__!r}")
        return self

    def _compared(self, other: Any) -> "Tensor":
        return Tensor(self._computed(other).shape, "bool")

    def _itself(self) -> "Tensor":
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _computed
    __floordiv__ = __mod__ = __pow__ = __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rpow__ = _computed
    __lt__ = __gt__ = __le__ = __ge__ = _compared
    __eq__ = __ne__ = _compared  # type: ignore[assignment]  # == of torch gives a tensor, where mypy wants a bool
    __neg__ = __invert__ = _itself

    def __matmul__(self, other: "Tensor") -> "Tensor":
        if self.shape[-1] != other.shape[-2]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({self.shape} and {other.shape})")
        return self._like((*self.shape[:-1], other.shape[-1]))


class Numbers(Tensor):
    """A tensor of one dimension whose values are known.

    Args:
        values: its values.
        dtype: by torch's name.
    """

    __slots__ = ("values",)

    def __init__(self, values: Sequence[float], dtype: str = "float32") -> None:
        super().__init__([len(values)], dtype)
        self.values = list(values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __truediv__(self, other: Any) -> Tensor:
        known = isinstance(other, int | float) and other
        return Numbers([value / other for value in self.values]) if known else super().__truediv__(other)

    def __rtruediv__(self, other: Any) -> Tensor:
        known = isinstance(other, int | float) and all(self.values)
        return Numbers([other / value for value in self.values]) if known else super().__rtruediv__(other)

    def __rpow__(self, other: Any) -> Tensor:
        known = isinstance(other, int | float) and other > 0
        return Numbers([other**value for value in self.values]) if known else super().__rpow__(other)


def number(value: Any = 0.0) -> float:
    """What float gives; of a tensor that is no number, as its values are not known."""
    return float("nan") if isinstance(value, Tensor) else float(value)


def _broadcast(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    count = max(len(left), len(right))
    padded = [(1,) * (count - len(shape)) + tuple(shape) for shape in (left, right)]
    result = []
    for first, second in zip(*padded, strict=True):
        if first != second and 1 not in (first, second):
            raise RuntimeError(f"shapes {tuple(left)} and {tuple(right)} do not broadcast")
        result.append(second if first == 1 else first)
    return tuple(result)


def _indexed(shape: Sequence[int], places: Sequence[Any]) -> tuple[int, ...]:
    used = sum(place is not None and place is not Ellipsis for place in places)
    result: list[int] = []
    left = list(shape)
    taken: tuple[int, ...] | None = None
    for place in places:
        if place is None:
            result.append(1)
        elif place is Ellipsis:
            behind = len(shape) - used
            result += left[:behind]
            left = left[behind:]
        elif not left:
            raise IndexError("too many indices for tensor")
        else:
            size = left.pop(0)
            if isinstance(place, slice):
                result.append(len(range(*place.indices(size))))
            elif isinstance(place, Tensor):
                if place.dtype == "bool":
                    raise NotRun("it asks for values")
                taken = place.shape if taken is None else _broadcast(taken, place.shape)
                result += place.shape if taken is place.shape else ()
            elif isinstance(place, list | range):
                result.append(len(place))
            elif not -size <= place < size:
                raise IndexError(f"index {place} is out of bounds for dimension of size {size}")
    return (*result, *left)


def _sizes(given: Sequence[Any]) -> list[int]:
    sizes = list(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else list(given)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"sizes must be whole numbers, not {sizes}")
    return sizes


def _reshape(tensor: Tensor, *given: Any) -> Tensor:
    if len(given) == 1 and isinstance(given[0], Dtype):
        return _viewed(tensor, given[0])
    sizes, count = _sizes(given), prod(tensor.shape)
    if -1 in sizes:
        known = prod(size for size in sizes if size != -1)
        if not known or count % known:
            raise RuntimeError(f"shape '{sizes}' is invalid for input of size {count}")
        sizes[sizes.index(-1)] = count // known
    if prod(sizes) != count or min(sizes, default=0) < 0:
        raise RuntimeError(f"shape '{sizes}' is invalid for input of size {count}")
    return Tensor(sizes, tensor.dtype)


def _viewed(tensor: Tensor, dtype: Dtype) -> Tensor:
    before = tensor.dtype.itemsize
    if before == dtype.itemsize:
        return Tensor(tensor.shape, dtype)
    *others, last = tensor.shape
    if last * before % dtype.itemsize:
        raise RuntimeError("self.size(-1) must be divisible to view as a larger dtype")
    return Tensor((*others, last * before // dtype.itemsize), dtype)


def _at(tensor: Tensor, dim: int, more: int = 0) -> int:
    count = len(tensor.shape) + more
    if not -max(count, 1) <= dim < max(count, 1):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim % max(count, 1)


def _permute(tensor: Tensor, *given: Any) -> Tensor:
    order = _sizes(given)
    if sorted(_at(tensor, dim) for dim in order) != list(range(len(tensor.shape))):
        raise RuntimeError(f"permute: number of dimensions {len(tensor.shape)} is not that of {order}")
    return Tensor([tensor.shape[dim] for dim in order], tensor.dtype)


def _transpose(tensor: Tensor, first: int, second: int) -> Tensor:
    shape = list(tensor.shape)
    one, other = _at(tensor, first), _at(tensor, second)
    shape[one], shape[other] = shape[other], shape[one]
    return Tensor(shape, tensor.dtype)


def _squeeze(tensor: Tensor, dim: Any = None) -> Tensor:
    dims = (
        range(len(tensor.shape))
        if dim is None
        else [_at(tensor, one) for one in ([dim] if isinstance(dim, int) else dim)]
    )
    return Tensor([size for at, size in enumerate(tensor.shape) if at not in dims or size != 1], tensor.dtype)


def _unsqueeze(tensor: Tensor, dim: int) -> Tensor:
    shape = list(tensor.shape)
    shape.insert(_at(tensor, dim, 1), 1)
    return Tensor(shape, tensor.dtype)


def _expand(tensor: Tensor, *given: Any) -> Tensor:
    sizes = _sizes(given)
    padded = [1] * (len(sizes) - len(tensor.shape)) + list(tensor.shape)
    result = []
    for held, size in zip(padded, sizes, strict=True):
        if size not in (-1, held) and held != 1:
            raise RuntimeError(f"The expanded size of the tensor ({size}) must match the existing size ({held})")
        result.append(held if size == -1 else size)
    return Tensor(result, tensor.dtype)


def _split(tensor: Tensor, sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    at = _at(tensor, dim)
    held = tensor.shape[at]
    if isinstance(sizes, int):
        if sizes <= 0:
            raise RuntimeError("split expects a positive size")
        if held // sizes > 100_000:
            raise NotRun("it makes too long a list")
        sizes = [min(sizes, held - start) for start in range(0, held, sizes)]
    if sum(sizes) != held:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {held}, but got {list(sizes)}")
    return tuple(Tensor((*tensor.shape[:at], size, *tensor.shape[at + 1 :]), tensor.dtype) for size in sizes)


def _chunk(tensor: Tensor, count: int, dim: int = 0) -> tuple[Tensor, ...]:
    size = -(-tensor.shape[_at(tensor, dim)] // count)
    return _split(tensor, max(size, 1), dim)


def _repeated(tensor: Tensor, count: int, dim: int | None = None) -> Tensor:
    if dim is None:
        return Tensor([prod(tensor.shape) * count], tensor.dtype)
    at = _at(tensor, dim)
    return Tensor([size * count if place == at else size for place, size in enumerate(tensor.shape)], tensor.dtype)


def _flatten(tensor: Tensor, start: int = 0, end: int = -1) -> Tensor:
    first, last = _at(tensor, start), _at(tensor, end)
    return Tensor(
        (*tensor.shape[:first], prod(tensor.shape[first : last + 1]), *tensor.shape[last + 1 :]), tensor.dtype
    )


def _to(tensor: Tensor, *given: Any, **named: Any) -> Tensor:
    dtypes = [one for one in (*given, *named.values()) if isinstance(one, Dtype)]
    return Tensor(tensor.shape, dtypes[0]) if dtypes else tensor


def _float(tensor: Tensor) -> Tensor:
    return Tensor(tensor.shape, "float32")


def _same(tensor: Tensor, *given: Any, **named: Any) -> Tensor:
    return tensor


def _reduced(tensor: Tensor, dim: Any = None, keepdim: bool = False, **named: Any) -> Tensor:
    if dim is None:
        return Tensor((), tensor.dtype)
    dims = [_at(tensor, one) for one in ([dim] if isinstance(dim, int) else dim)]
    kept = [1 if at in dims else size for at, size in enumerate(tensor.shape) if keepdim or at not in dims]
    return Tensor(kept, tensor.dtype)


def _size(tensor: Tensor, dim: int | None = None) -> Any:
    return tensor.shape if dim is None else tensor.shape[dim]


def _selected(tensor: Tensor, dim: int, index: Any) -> Tensor:
    at = _at(tensor, dim)
    return Tensor((*tensor.shape[:at], len(index), *tensor.shape[at + 1 :]), tensor.dtype)


def _sorted(tensor: Tensor, *given: Any, **named: Any) -> tuple[Tensor, Tensor]:
    return tensor, Tensor(tensor.shape, "int64")


def _turned(tensor: Tensor) -> Tensor:
    return _transpose(tensor, 0, -1)


def _dimensions(tensor: Tensor) -> int:
    return len(tensor.shape)


def _elements(tensor: Tensor) -> int:
    return prod(tensor.shape)


def _reshape_as(tensor: Tensor, other: Tensor) -> Tensor:
    return _reshape(tensor, *other.shape)


def _values(tensor: Tensor) -> Any:
    raise NotRun("it asks for values")


def _equal(left: Tensor, right: Tensor) -> Any:
    return _values(left)


_METHODS: Mapping[str, Callable[..., Any]] = {
    "reshape": _reshape,
    "view": _reshape,
    "permute": _permute,
    "transpose": _transpose,
    "swapaxes": _transpose,
    "t": _turned,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "expand": _expand,
    "split": _split,
    "chunk": _chunk,
    "repeat_interleave": _repeated,
    "flatten": _flatten,
    "to": _to,
    "type": _to,
    "float": _float,
    "sum": _reduced,
    "mean": _reduced,
    "norm": _reduced,
    "size": _size,
    "dim": _dimensions,
    "numel": _elements,
    "index_select": _selected,
    "sort": _sorted,
    "reshape_as": _reshape_as,
    "item": _values,
    "tolist": _values,
    **dict.fromkeys(
        (
            "contiguous clone numpy cpu detach copy copy_ clamp exp log log2 sqrt abs round floor neg div_ mul_ sub_"
            " add_ astype requires_grad_ flip roll".split()
        ),
        _same,
    ),
}


def _cat(tensors: Sequence[Tensor], dim: int = 0, axis: int | None = None) -> Tensor:
    at = _at(tensors[0], dim if axis is None else axis)
    shapes = [tensor.shape for tensor in tensors]
    if len({(*shape[:at], *shape[at + 1 :]) for shape in shapes}) > 1:
        raise RuntimeError("Sizes of tensors must match except in dimension " + str(at))
    first = shapes[0]
    return Tensor((*first[:at], sum(shape[at] for shape in shapes), *first[at + 1 :]), tensors[0].dtype)


def _stack(tensors: Sequence[Tensor], dim: int = 0, axis: int | None = None) -> Tensor:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    if len({tensor.shape for tensor in tensors}) > 1:
        raise RuntimeError("stack expects each tensor to be equal size")
    shape = list(tensors[0].shape)
    shape.insert(_at(tensors[0], dim if axis is None else axis, 1), len(tensors))
    return Tensor(shape, tensors[0].dtype)


def _filled(*given: Any, dtype: str = "float32", **named: Any) -> Tensor:
    return Tensor(_sizes([named["size"]] if "size" in named else given), dtype)


def _full(size: Sequence[int], value: Any, dtype: str = "float32", **named: Any) -> Tensor:
    return Tensor(size, dtype)


def _tensor(values: Any, dtype: str = "float32", **named: Any) -> Tensor:
    shape = []
    while isinstance(values, list | tuple | range):
        shape.append(len(values))
        values = values[0] if values else None
    return Tensor(shape, dtype)


def _arange(*given: Any, dtype: str = "int64", **named: Any) -> Tensor:
    return Numbers(range(*map(int, given)), dtype)


def _like(tensor: Tensor, *given: Any, **named: Any) -> Tensor:
    return Tensor(tensor.shape, named.get("dtype") or tensor.dtype)


def _both(left: Any, right: Any, **named: Any) -> Tensor:
    result: Tensor = left + right
    return result


def _linear(values: Tensor, weight: Tensor, *given: Any) -> Tensor:
    return values @ _transpose(weight, 0, 1)


TORCH: Mapping[str, Any] = {
    **{name: Dtype(name) for name in DTYPES.values()},
    "long": Dtype("int64"),
    "float": Dtype("float32"),
    "int": Dtype("int32"),
    "Tensor": Tensor,
    "cat": _cat,
    "concat": _cat,
    "concatenate": _cat,
    "stack": _stack,
    "array": _tensor,
    "tensor": _tensor,
    "zeros": _filled,
    "ones": _filled,
    "empty": _filled,
    "full": _full,
    "arange": _arange,
    "zeros_like": _like,
    "ones_like": _like,
    "from_numpy": _same,
    "linear": _linear,
    "equal": _equal,
    "all": _reduced,
    "any": _reduced,
    **dict.fromkeys("bitwise_and bitwise_or bitwise_right_shift bitwise_left_shift".split(), _both),
    **{
        name: _METHODS[name]
        for name in (
            "reshape permute transpose squeeze unsqueeze split chunk flatten exp log sqrt abs sort norm sum mean"
            " repeat_interleave clamp round floor"
        ).split()
    },
    "exp2": _same,
}
"""What recorded functions use of torch and numpy."""
