"""Gives llama.cpp's loader what it asks of a GGUF file, and refuses what that refuses.

Source: llama.cpp 0.5.0, src/llama-model-loader.cpp (get_key, get_key_or_arr, get_arr, get_arr_n, check_tensor_dims).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from hfcount.formats.gguf.header import GgufHeader, GgufTensor
from hfcount.formats.gguf.values import Long
from hfcount.text import printable

_DIMS = 4
_KINDS = {
    "uint32_t": "u32",
    "int": "i32",
    "int32_t": "i32",
    "float": "f32",
    "bool": "bool",
    "std::string": "str",
    "llama_pooling_type": "u32",
}
_ELEMENTS: Mapping[str, tuple[str, ...]] = {
    "uint32_t": ("u32", "i32", "bool"),
    "int32_t": ("u32", "i32", "bool"),
    "int": ("u32", "i32", "bool"),
    "llama_token": ("u32", "i32"),
    "uint64_t": ("u64",),
    "float": ("f32",),
    "std::string": ("str",),
}


class Refused(Exception):
    """llama.cpp does not load the file.

    Args:
        says: why, as a sentence part whose subject is llama.cpp.
        line: of its source; 0 if that is not known.
    """

    def __init__(self, says: str, line: int = 0) -> None:
        super().__init__(says)
        self.says, self.line = says, line


class FileTensor(NamedTuple):
    """A tensor of the file: its extents, the fastest first, are always four."""

    name: str
    type: str
    extents: tuple[int, ...]


class File:
    """A GGUF file as the loader asks it.

    Args:
        header: of all its parts joined.
        architecture: its name.
        n_tokens: entries of its vocabulary.

    Attributes:
        used: how often each tensor was asked for.
        absent: those that were asked for, are not there, and need not be.
        shared: those that stand in for another, as the embedding does for a head that is not stored.
    """

    def __init__(self, header: GgufHeader, architecture: str, n_tokens: int) -> None:
        self.header, self.architecture, self.n_tokens = header, architecture, n_tokens
        self.used: Counter[str] = Counter()
        self.absent: set[str] = set()
        self.shared: set[str] = set()

    @property
    def n_token_types(self) -> int:
        """Kinds of tokens, where it says that."""
        return self.header.number("tokenizer.ggml.token_type_count") or 0

    def title(self, key: str) -> str:
        """A key with its architecture."""
        return key.replace("%s", self.architecture, 1)

    # Metadata

    def _found(self, key: str, required: bool, line: int) -> bool:
        if key in self.header.metadata:
            return True
        if required:
            raise Refused(f"needs the key {printable(key)}", line)
        return False

    def get_key(self, key: str, kind: str, required: bool, count: Any, line: int) -> Any:
        """One value, of exactly the type; None if it is absent."""
        key = self.title(key)
        if not self._found(key, required, line):
            return None
        wanted, held = _KINDS.get(kind, "u32"), self.header.kinds.get(key, "")
        if held != wanted:
            raise Refused(f"needs {printable(key)} to be {wanted}, and it is {held}", line)
        value = self.header.metadata[key]
        return "" if isinstance(value, Long) else value

    def get_key_or_arr(self, key: str, kind: str, required: bool, count: Any, line: int) -> Any:
        """A value for each of so many, which may be one for all; None if it is absent."""
        title = self.title(key)
        if not self._found(title, required, line):
            return None
        held = self.header.length(title)
        if count is None:
            if held is None:
                return self.get_key(key, kind, required, None, line)
            if required:
                raise Refused(f"needs {printable(title)} to be one value, and it is an array", line)
            return None
        if held is None:
            return [self.get_key(key, kind.partition("[")[0], required, None, line)] * count
        if held != count:
            raise Refused(f"needs {count:,} values of {printable(title)}, and it has {held:,}", line)
        return self.get_arr(key, kind, required, None, line)

    def get_arr(self, key: str, kind: str, required: bool, count: Any, line: int) -> Any:
        """The values of an array; None if it is absent, or no array."""
        title = self.title(key)
        element, _, length = kind.rstrip("]").partition("[")
        held = self.header.kinds.get(title, "")
        if not held.endswith("[]"):
            if required:
                raise Refused(f"needs the array {printable(title)}", line)
            return None
        if held[:-2] not in _ELEMENTS.get(element, ()) or (held == "bool[]" and length == "-1"):
            raise Refused(f"does not take {printable(title)} as an array of {held[:-2]}", line)
        values = self.header.metadata[title]
        stored = self.header.length(title) or 0
        if 0 <= int(length or -1) < stored:
            raise Refused(f"takes at most {length} values of {printable(title)}, and it has {stored:,}", line)
        return [0] * stored if isinstance(values, Long) else list(values) if isinstance(values, tuple) else []

    def get_arr_n(self, key: str, kind: str, required: bool, count: Any, line: int) -> Any:
        """How many values an array has; None if it is absent."""
        title = self.title(key)
        if not self._found(title, required, line):
            return None
        held = self.header.length(title)
        if held is None:
            raise Refused(f"needs {printable(title)} to be an array", line)
        return held

    # Tensors

    def found(self, name: str) -> FileTensor | None:
        """A tensor; None if it is absent."""
        tensor = self.header.tensors.get(name)
        return None if tensor is None else FileTensor(name, tensor.type, _extents(tensor))

    def tensor(
        self, name: str, extents: tuple[int, ...], optional: bool, reshaped: bool, line: int
    ) -> FileTensor | None:
        """A tensor of these extents; None if it is absent and may be."""
        held = self.header.tensors.get(name)
        if held is None:
            if optional:
                self.absent.add(name)
                return None
            raise Refused(f"needs the tensor {printable(name)}", line)
        stored = _extents(held)
        if reshaped:
            product = 1
            for extent in extents:
                product *= extent
            fits = product == held.elements
        else:
            fits = stored == (*extents, *(1,) * (_DIMS - len(extents)))
        if not fits:
            shown = ", ".join(map(str, reversed(extents))), ", ".join(map(str, held.shape))
            raise Refused(f"needs {printable(name)} to be ({shown[0]}), and it is ({shown[1]})", line)
        return FileTensor(name, held.type, stored)

    def check_all_used(self) -> None:
        """Refuses tensors that were not asked for, and those that were asked for twice."""
        count = sum(self.used.values())
        held = len(self.header.tensors)
        if count < held:
            left = [name for name in self.header.tensors if not self.used[name]]
            more = f" and {len(left) - 1:,} others" if len(left) > 1 else ""
            raise Refused(f"makes no use of {printable(left[0]) if left else 'a tensor'}{more}, and refuses such files")
        if count > held:
            twice = next(name for name, times in self.used.items() if times > 1)
            raise Refused(f"asks for {printable(twice)} more than once, and refuses the file")


def _extents(tensor: GgufTensor) -> tuple[int, ...]:
    return (*reversed(tensor.shape), *(1,) * (_DIMS - len(tensor.shape)))
