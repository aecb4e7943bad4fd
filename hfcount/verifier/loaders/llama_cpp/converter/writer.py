"""Collects what the converter writes: the metadata and tensors of a GGUF file, as its header.

Source: gguf-py/gguf/gguf_writer.py of llama-cpp-python 0.3.36.
"""

from collections.abc import Callable
from math import prod
from struct import error, pack
from typing import TYPE_CHECKING, Any

from hfcount.formats.gguf.header import GgufHeader, GgufTensor
from hfcount.formats.gguf.values import Long
from hfcount.verifier.loaders.llama_cpp.converter.operators import Member, NotRun
from hfcount.verifier.loaders.llama_cpp.converter.tensors import Tensor

if TYPE_CHECKING:
    from hfcount.verifier.loaders.llama_cpp.converter.model import Model

_KINDS = {
    "uint8": ("u8", "B"),
    "int8": ("i8", "b"),
    "uint16": ("u16", "H"),
    "int16": ("i16", "h"),
    "uint32": ("u32", "I"),
    "int32": ("i32", "i"),
    "float32": ("f32", "f"),
    "uint64": ("u64", "Q"),
    "int64": ("i64", "q"),
    "float64": ("f64", "d"),
    "bool": ("bool", "?"),
    "string": ("str", ""),
}
_FILE = "gguf-py/gguf/gguf_writer.py"
_BYTES = 4


class Writer:
    """What is written.

    Args:
        model: whose it is.
        architecture: its name in GGUF.
    """

    def __init__(self, model: "Model", architecture: str) -> None:
        self.model, self.architecture = model, architecture
        self.metadata: dict[str, Any] = {"general.architecture": architecture}
        self.kinds = {"general.architecture": "str"}
        self.tensors: dict[str, GgufTensor] = {}

    def attribute(self, name: str) -> Any:
        """A method or attribute, as recorded functions ask for it."""
        if name == "arch":
            return self.architecture
        if name == "add_tensor":
            return self.add_tensor
        if name == "add_array":
            return self.add_array
        if name == "add_key_value":
            raise NotRun("add_key_value")
        if name.startswith("add_") and (kind := name.removeprefix("add_")) in _KINDS:
            return lambda key, value: self.add(key, _KINDS[kind][0], value)
        row = self.model.row(f"writer.{name}")
        if row is None:
            return lambda *given, **named: None  # of tokens, licences and the like
        function: Callable[..., Any] = self.model.compiler(_FILE).function(row)
        return lambda *given, **named: function(self, *given, **named)

    def add(self, key: str, kind: str, value: Any) -> None:
        """Writes one value."""
        if isinstance(value, Member):
            value = value.value
        if kind == "str" and not value:
            return
        self.metadata[key], self.kinds[key] = value, kind

    def add_array(self, key: str, values: Any) -> None:
        """Writes several values of one type."""
        values = [value.value if isinstance(value, Member) else value for value in values]
        if not values:
            return
        self.metadata[key], self.kinds[key] = tuple(values), f"{_kind(values[0])}[]"

    def add_tensor(self, name: str, tensor: Tensor, raw_shape: Any = None, raw_dtype: Any = None) -> None:
        """Writes a tensor.

        Raises:
            ValueError: there is one of that name.
        """
        if name in self.tensors:
            raise ValueError(f"Duplicated tensor name {name!r}")
        if not isinstance(tensor, Tensor):
            raise NotRun("a tensor that is made otherwise")
        kind = "F32" if len(tensor.shape) <= 1 else "F16"
        self.tensors[name] = GgufTensor(kind, tuple(raw_shape or tensor.shape), 0, prod(tensor.shape) * _BYTES)

    def check(self) -> None:
        """Refuses values that cannot be written."""
        codes = dict(_KINDS.values())
        for key, value in self.metadata.items():
            kind = self.kinds[key].removesuffix("[]")
            for each in value if isinstance(value, tuple) else (value,):
                if kind == "str":
                    if not isinstance(each, str | bytes):
                        raise TypeError(f"{key} is {each!r}, and has to be a text")
                elif kind != "bool":
                    try:
                        pack(codes[kind], each)
                    except (error, OverflowError) as problem:
                        raise ValueError(f"{key} is {each!r}: {problem}") from problem

    def header(self, tokens: int) -> GgufHeader:
        """The header of the file.

        Args:
            tokens: of its vocabulary.
        """
        metadata = {
            **self.metadata,
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": Long(tokens),
            "tokenizer.ggml.scores": Long(tokens),
            "tokenizer.ggml.token_type": Long(tokens),
        }
        kinds = {
            **self.kinds,
            "tokenizer.ggml.model": "str",
            "tokenizer.ggml.tokens": "str[]",
            "tokenizer.ggml.scores": "f32[]",
            "tokenizer.ggml.token_type": "i32[]",
        }
        return GgufHeader(3, metadata, self.tensors, (0, 0), 32, 0, (), False, kinds)


def _kind(value: Any) -> str:
    for kind, name in ((bool, "bool"), (int, "i32"), (float, "f32"), (str, "str")):
        if isinstance(value, kind):
            return name
    raise NotRun(f"an array of {type(value).__name__}")
