"""Writes files as torch.save does, and files as it never would, without torch."""

import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import prod
from struct import pack
from zipfile import ZIP_STORED, ZipFile, ZipInfo

MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The pickle that begins a file before torch 1.6."""


def text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + pack("<I", len(raw)) + raw


def number(value: int) -> bytes:
    if 0 <= value < 256:
        return b"K" + bytes([value])
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def numbers(values: Sequence[int]) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def called(name: str, *values: bytes) -> bytes:
    """A call of a function with these arguments."""
    return function(name) + b"(" + b"".join(values) + b"tR"


def function(name: str) -> bytes:
    module, _, own = name.rpartition(".")
    return f"c{module}\n{own}\n".encode()


def storage(key: str = "0", elements: int = 6, kind: str = "torch.FloatStorage", view: bytes = b"") -> bytes:
    return b"(" + text("storage") + function(kind) + text(key) + text("cpu") + number(elements) + view + b"tQ"


def tensor(
    held: bytes = storage(),
    shape: Sequence[int] = (2, 3),
    stride: Sequence[int] = (3, 1),
    offset: int = 0,
    by: str = "torch._utils._rebuild_tensor_v2",
    more: bytes = b"",
) -> bytes:
    hooks = called("collections.OrderedDict")
    return called(by, held, number(offset), numbers(shape), numbers(stride), b"\x89", hooks, more)


def pickle(value: bytes, protocol: int = 2) -> bytes:
    return b"\x80" + bytes([protocol]) + value + b"."


def state(**values: bytes) -> bytes:
    """The pickle of a state dict; each value is given by its opcodes."""
    items = b"".join(text(name) + value for name, value in values.items())
    return pickle(called("collections.OrderedDict") + b"(" + items + b"u")


GOOD = state(w=tensor())


def archive(
    pickled: bytes = GOOD,
    storages: Mapping[str, bytes] | None = None,
    method: int = ZIP_STORED,
    without: str = "",
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    """An archive as torch writes it, of a pickle and of storages by their keys."""
    held = {"0": bytes(24)} if storages is None else storages
    records = {"data.pkl": pickled, "byteorder": b"little"}
    records |= {f"data/{key}": raw for key, raw in held.items()} | {"version": b"3\n"}
    out = BytesIO()
    entries = {f"archive/{name}": raw for name, raw in records.items() if name != without} | dict(more or {})
    with ZipFile(out, "w", method) as file:
        for name, raw in entries.items():
            # A time of its own and not the clock's: the same archive has the same bytes whenever it is made.
            file.writestr(ZipInfo(name), raw, method)
    return out.getvalue()


STORAGES = {"BF16": ("torch.BFloat16Storage", 2), "F32": ("torch.FloatStorage", 4), "F16": ("torch.HalfStorage", 2)}


def items(
    tensors: Mapping[str, tuple[str, Sequence[int]]],
    more: Mapping[str, bytes] | None = None,
    ties: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """Opcodes of tensors, given by dtype and shape; each has a storage of its name, or that of another, and `more`."""
    made = {}
    for name, (dtype, shape) in tensors.items():
        held = storage((ties or {}).get(name, name), prod(shape), STORAGES[dtype][0])
        made[name] = tensor(held, shape, [prod(shape[place + 1 :]) for place in range(len(shape))])
    return made | dict(more or {})


def zeros(tensors: Mapping[str, tuple[str, Sequence[int]]]) -> dict[str, bytes]:
    """The storages of tensors."""
    return {name: bytes(STORAGES[dtype][1] * prod(shape)) for name, (dtype, shape) in tensors.items()}


def legacy(pickled: bytes, storages: Mapping[str, tuple[int, bytes]], keys: Sequence[str] | None = None) -> bytes:
    """A file before torch 1.6, of a pickle and of storages: the number of elements and the bytes of each."""
    listed = pickle(b"](" + b"".join(map(text, storages if keys is None else keys)) + b"e")
    data = b"".join(pack("<q", elements) + raw for elements, raw in storages.values())
    return MAGIC + pickle(number(1001)) + pickle(b"}") + pickled + listed + data


def deflated(raw: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(raw) + packer.flush()
