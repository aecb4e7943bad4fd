"""Runs the recorded class of llama.cpp's converter on one checkpoint, and gives the header of the GGUF file it writes.

Source: conversion/base.py (ModelBase, TextModel), gguf-py (TensorNameMap, GGUFWriter) of llama-cpp-python 0.3.36.
"""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from math import ceil, floor, log, pi, prod, sqrt
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.config import architecture
from hfcount.verifier.loaders.llama_cpp.converter.files import Folder, opened, parsed
from hfcount.verifier.loaders.llama_cpp.converter.objects import ERRORS, Instance, attribute
from hfcount.verifier.loaders.llama_cpp.converter.operators import Member, NotRun, Tick
from hfcount.verifier.loaders.llama_cpp.converter.python import Compiler
from hfcount.verifier.loaders.llama_cpp.converter.tensors import DTYPES, TORCH, Tensor, number
from hfcount.verifier.loaders.llama_cpp.converter.writer import Writer

Json = dict[str, Any]
Row = Callable[[str], Any]
Stored = Mapping[str, tuple[Sequence[int], str]]

_BASE = "ModelBase"
_FTYPE = Member("LlamaFileType", "MOSTLY_F16", 1)
_NOT_WRITTEN = (".attention.masked_bias", ".attention.bias", ".rotary_emb.inv_freq")
_FUNCTIONS: Mapping[str, Any] = {
    **{
        function.__name__: function
        for function in (
            abs, all, any, bool, dict, enumerate, frozenset, int, len, list, max, min, range, reversed, round, set,
            slice, sorted, str, sum, tuple, zip,
        )
    },
    "chain": chain,
    "float": number,
    "object": object,
}  # fmt: skip


class Model:
    """One checkpoint in the hands of the converter.

    Args:
        row: gives the line of the record that has a title.
        kind: the converter's class.
        config: as the converter reads it.
        stored: shape and dtype (as safetensors has it) of each tensor, by its name.
        folder: the files of the checkpoint.
        steps: how many it may take.
    """

    def __init__(self, row: Row, kind: str, config: Json, stored: Stored, folder: Folder, steps: int) -> None:
        self.row, self.config, self.stored, self.folder = row, config, stored, folder
        self.kind, self.tick = kind, Tick(steps)
        self.rows: dict[str, Json] = {}
        self._classes: dict[str, Instance] = {}
        self._functions: dict[tuple[str, str], tuple[Callable[..., Any], str]] = {}
        self._compilers: dict[str, Compiler] = {}
        self.self: Instance | None = None
        self.name = ""
        self.dropped: list[str] = []
        self.unscaled: list[str] = []

    # Classes

    def class_row(self, name: str) -> Json:
        """The record of a class."""
        if name not in self.rows:
            self.rows[name] = self.row(f"class {name}")
        return self.rows[name]

    def class_of(self, name: str) -> Instance:
        """A class as an object."""
        if name not in self._classes:
            self._classes[name] = Instance(
                name,
                lambda attribute: self.looked_up(name, attribute, None),
                lambda *given, **named: self.made(name, given, named),
            )
        return self._classes[name]

    def made(self, kind: str, given: Sequence[Any], named: Json) -> Instance:
        """An object of a class."""
        made = Instance(kind, lambda name: self.looked_up(kind, name, made))
        made.get("__init__")(*given, **named)
        return made

    def looked_up(self, kind: str, name: str, owner: Instance | None, after: str = "") -> Any:
        """An attribute of a class, or of an object of it.

        Args:
            owner: the object; None for the class.
            after: is looked for in the classes that come after this one.
        """
        order = [kind, *self.class_row(kind)["order"]]
        for each in order[order.index(after) + 1 :] if after else order:
            if not after and each in self._classes and name in self._classes[each].attributes:
                return self._classes[each].attributes[name]
            row = self.class_row(each)
            if each == _BASE and name in _NATIVE:
                native = _NATIVE[name]
                return lambda *given, **named: native(self, owner, *given, **named)
            if name in row["methods"]:
                return self._bound(each, name, owner, kind)
            if name in row["attributes"]:
                value = self.compiler(row["file"]).value(row["attributes"][name])({})
                self.class_of(each).attributes[name] = value
                return value
        if name == "__name__":
            return kind
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def _bound(self, kind: str, name: str, owner: Instance | None, of: str) -> Any:
        """A method of a class, with its object where it has one."""
        function, first = self._functions.get((kind, name)) or self._compiled(kind, name)
        holder = self.class_of(of) if first == "cls" else owner if first == "self" else None
        return function if holder is None else lambda *given, **named: function(holder, *given, **named)

    def _compiled(self, kind: str, name: str) -> tuple[Callable[..., Any], str]:
        """A method of a class, and its first parameter."""
        code = self.row(f"{kind}.{name}")
        compiled = self.compiler(self.class_row(kind)["file"]).function(code, None, {"<class>": kind})
        result = self._functions[kind, name] = compiled, code[0][0][0] if code[0] else ""
        return result

    def compiler(self, file: str) -> Compiler:
        """What compiles the functions of a file."""
        if file not in self._compilers:
            module = self.row(f"module {file}") or {"functions": {}, "constants": {}}
            self._compilers[file] = Compiler(file, lambda name: self._global(file, module, name), self.tick)
        return self._compilers[file]

    def _global(self, file: str, module: Json, name: str) -> Any:
        """What a name means in a file, where no function defines it."""
        if name in self._globals:
            return self._globals[name]
        if name in module["functions"]:
            return self.compiler(file).function(module["functions"][name])
        if name in module["constants"]:
            return self.compiler(file).value(module["constants"][name])({})
        if self.row(f"class {name}"):
            return self.class_of(name)
        raise NotRun(f"the name {name}")

    @cached_property
    def _globals(self) -> Mapping[str, Any]:
        return {
            **_FUNCTIONS,
            **ERRORS,
            "super": self._super,
            "ModelType": _Namespace({"TEXT": "TEXT", "MMPROJ": "MMPROJ"}),
            "get_model_architecture": _architecture,
            "type": self._type,
            "isinstance": _isinstance,
            "hasattr": self._has,
            "getattr": self._get,
            "next": _next,
            "cast": _cast,
            "torch": _Namespace(TORCH, {"nn": {"functional": TORCH}}),
            "F": _Namespace(TORCH),
            "np": _Namespace(TORCH),
            "Tensor": Tensor,
            "re": _Namespace(_PATTERNS),
            "math": _Namespace(_MATH),
            "json": _Namespace({"load": parsed}),
            "copy": _Namespace({"deepcopy": copy.deepcopy}),
            "open": opened,
            "__file__": Folder((), {}, "conversion"),
            "Path": _same,
            "LazyTorchTensor": _Namespace({"to_eager": _same, "from_eager": _same, "_dtype_str_map": DTYPES}),
            "gguf": _Namespace(
                {
                    "MODEL_TENSORS": _Rows(self.row, "arch", "tensors"),
                    "MODEL_ARCH_NAMES": _Rows(self.row, "arch", "name"),
                    "TENSOR_NAMES": _Rows(self.row, "tensor", 0),
                    "get_tensor_name_map": partial(TensorMap, self.row),
                }
            ),
        }

    def _super(self, variables: Json) -> Instance:
        """The object of a method, as the classes after that of the method see it."""
        after = variables["<class>"]
        owner: Instance | None = variables.get("self")
        kind = owner.kind if owner is not None else variables["cls"].kind
        return Instance(kind, lambda name: self.looked_up(kind, name, owner, after))

    def _type(self, value: Any) -> Any:
        return self.class_of(value.kind) if isinstance(value, Instance) else type(value)

    def _has(self, owner: Any, name: str) -> bool:
        try:
            self._get(owner, name)
        except AttributeError:
            return False
        return True

    @staticmethod
    def _get(owner: Any, name: str, *default: Any) -> Any:
        try:
            return attribute(owner, name)
        except AttributeError:
            if default:
                return default[0]
            raise

    # The run

    def converted(self) -> None:
        """Converts it: the writer has what is written.

        Raises:
            NotRun: it cannot be run here.
            Exception: the converter's error.
        """
        made = self.made(self.kind, (self.folder, _FTYPE, self.folder), {})
        self.self = made = made.attributes.get("impl", made)
        made.get("prepare_tensors")()
        made.get("set_gguf_parameters")()
        self._vocabulary(made)
        self.writer.check()

    @property
    def hparams(self) -> Json:
        """The config as the class has it at the end."""
        values: Json = self.self.get("hparams") if self.self else self.config
        return values

    @property
    def writer(self) -> Writer:
        """What is written."""
        if self.self is None:
            raise NotRun("nothing is written")
        writer: Writer = self.self.get("gguf_writer")
        return writer

    def _vocabulary(self, made: Instance) -> None:
        """Writes what a vocabulary says of the count of token types."""
        for name in (made.kind, *self.class_row(made.kind)["order"]):
            row = self.class_row(name)
            if "types" in row:
                count = self.compiler(row["file"]).value(row["types"])({"self": made})
                self.writer.add("tokenizer.ggml.token_type_count", "u32", count)
                return


class TensorMap:
    """The names that are mapped to tensors of an architecture.

    Args:
        row: gives the line of the record that has a title.
        arch: the architecture.
        count: its layers.
    """

    def __init__(self, row: Row, arch: str, count: int) -> None:
        known = row(f"arch {arch}")
        self.count = count
        self.names: dict[str, tuple[str, str]] = {}
        for _, tensor, title, mapped in sorted(
            (row(f"tensor {name}")[2], name, *row(f"tensor {name}")[:2]) for name in known["tensors"]
        ):
            for name in (title, *known["names"].get(tensor, mapped)):
                self.names[name] = (tensor, title)

    def attribute(self, name: str) -> Any:
        """The methods that recorded functions call."""
        return {"get_name": self.get_name, "get_type_and_name": self.get_type_and_name, "mapping": {}}[name]

    def get_name(self, key: str, try_suffixes: Sequence[str] = ()) -> str | None:
        """The name in GGUF; None if it is not mapped."""
        result = self.get_type_and_name(key, try_suffixes)
        return None if result is None else result[1]

    def get_type_and_name(self, key: str, try_suffixes: Sequence[str] = ()) -> tuple[str, str] | None:
        """The tensor and its name in GGUF; None if it is not mapped."""
        if (result := self._mapped(key)) is not None:
            return result
        for suffix in try_suffixes:
            if key.endswith(suffix) and (result := self._mapped(key[: -len(suffix)])) is not None:
                return result[0], result[1] + suffix
        return None

    def _mapped(self, key: str) -> tuple[str, str] | None:
        if (result := self.names.get(key)) is not None:
            tensor, title = result
            if "{bid}" not in title:
                return result
            return (tensor, title.replace("{bid}", str(self.count - 1))) if self.count and "{bid}" not in key else None
        parts = key.split(".")
        for place, part in enumerate(parts):
            if part.isdecimal() and (number := int(part)) < self.count and str(number) == part:
                result = self.names.get(".".join((*parts[:place], "{bid}", *parts[place + 1 :])))
                if result is not None:
                    return result[0], result[1].replace("{bid}", part)
        return None


# What ModelBase does, in place of its recorded methods


def _init(model: Model, owner: Instance, dir_model: Any, ftype: Any, fname_out: Any, **named: Any) -> None:
    attributes = owner.attributes
    for name in (
        "_gate_exp_buffer",
        "_up_exp_buffer",
        "_q_buffer",
        "_k_buffer",
        "_v_buffer",
        "_nvfp4_layer_algo",
        "_prec_a4",
    ):
        attributes[name] = {}
    for name in ("fuse_gate_up_exps", "fuse_qkv", "_is_nvfp4", "_is_mxfp4", "_fp8_as_q8", "dry_run"):
        attributes[name] = False
    architecture_name = model.row(f"arch {owner.get('model_arch')}")["name"]
    attributes |= {
        "dir_model": dir_model,
        "dir_model_card": dir_model,
        "fname_out": fname_out,
        "ftype": ftype,
        "lazy": False,
        "remote_hf_model_id": None,
        "target_model_dir": None,
        "model_name": None,
        "sentence_transformers_dense_modules": False,
        "_nvfp4_global_algo": None,
        "_fp8_dequantized": set(),
        "gguf_writer": Writer(model, architecture_name),
    }
    attributes["hparams"] = named["hparams"] if named.get("hparams") is not None else copy.deepcopy(model.config)
    attributes["model_tensors"] = owner.get("index_tensors")(remote_hf_model_id=None)


def _index_tensors(model: Model, owner: Instance, remote_hf_model_id: Any = None) -> dict[str, Callable[[], Tensor]]:
    filtered = owner.get("filter_tensors")
    tensors: dict[str, Callable[[], Tensor]] = {}
    for name, (shape, dtype) in model.stored.items():
        if dtype not in DTYPES:
            raise KeyError(dtype)
        pair = filtered((name, _maker(shape, dtype)))
        if pair:
            tensors[pair[0]] = pair[1]
        else:
            model.dropped.append(name)
    return tensors


def _maker(shape: Sequence[int], dtype: str) -> Callable[[], Tensor]:
    return lambda: Tensor(shape, DTYPES[dtype])


def _prepare_tensors(model: Model, owner: Instance) -> None:
    row = model.class_row(_BASE)
    parameters, body, yields = model.row(f"{_BASE}.prepare_tensors")
    loop = next(place for place, statement in enumerate(body) if statement[0] == "for")
    model.compiler(row["file"]).function([parameters, body[:loop], yields], None, {"<class>": _BASE})(owner)
    modify, writer = owner.get("modify_tensors"), owner.get("gguf_writer")
    for name, tensor in chain(owner.get("generate_extra_tensors")(), owner.get("get_tensors")()):
        if name.endswith(_NOT_WRITTEN):
            continue
        if tensor.dtype not in ("float16", "float32"):
            if tensor.dtype.startswith("float8_e4") or tensor.dtype.startswith("float8_e5"):
                model.unscaled.append(name)
            tensor = Tensor(tensor.shape)
        bid = next((int(part) for part in name.split(".") if part.isdecimal()), None)
        for title, result in modify(tensor, name, bid) or ():
            writer.add_tensor(title, result)


def _load_hparams(model: Model, owner: Any, dir_model: Any, is_mistral_format: bool = False) -> Json:
    return copy.deepcopy(model.config)


def _nvfp4_pack(model: Model, owner: Any, weight: Tensor, scale: Tensor) -> tuple[Tensor, list[int]]:
    rows, blocks = weight.shape[0], scale.shape[1]
    weight.attribute("reshape")(rows, blocks, 8)
    scale.attribute("reshape")(rows, blocks // 4, 4)
    return Tensor((rows, blocks // 4 * 64)), [rows, blocks // 4 * 64]


def _written_scale(model: Model, owner: Instance, scale_name: str, scale: Any) -> None:
    count = len(scale) if isinstance(scale, list) else 1
    owner.get("gguf_writer").add_tensor(scale_name, Tensor([count]))


def _dequantized(model: Model, owner: Instance) -> None:
    from hfcount.verifier.loaders.llama_cpp.converter import quantized  # few are

    if owner.get("hparams").get("quantization_config"):
        quantized.know_shapes(owner)
        row = model.class_row(_BASE)
        model.compiler(row["file"]).function(model.row(f"{_BASE}.dequant_model"), None, {"<class>": _BASE})(owner)


def _nothing(model: Model, owner: Instance) -> None:
    """What bears on no tensor."""


def _pieces(model: Model, owner: Instance) -> tuple[list[str], list[float], list[int]]:
    return [""] * (owner.get("hparams").get("vocab_size") or 0), [], []


_NATIVE: Mapping[str, Callable[..., Any]] = {
    "__init__": _init,
    "index_tensors": _index_tensors,
    "prepare_tensors": _prepare_tensors,
    "prepare_qkv_fusion": _nothing,
    "load_hparams": _load_hparams,
    "_nvfp4_pack": _nvfp4_pack,
    "_write_scale_tensor": _written_scale,
    "_write_scales_tensor": _written_scale,
    "dequant_model": _dequantized,
    "_create_vocab_sentencepiece": _pieces,
}


# Functions of Python and its libraries


class _Namespace:
    """A module, as recorded functions may use it."""

    def __init__(self, *parts: Mapping[str, Any]) -> None:
        self.parts = parts

    def attribute(self, name: str) -> Any:
        """A member of it."""
        for part in self.parts:
            if name in part:
                return (
                    _Namespace(part[name])
                    if isinstance(part[name], dict) and name not in ("_dtype_str_map",)
                    else part[name]
                )
        raise NotRun(f"{name} of a module")


class _Rows:
    """A table of gguf's, whose values are in lines of the record."""

    def __init__(self, row: Callable[[str], Any], title: str, part: str | int) -> None:
        self.row, self.title, self.part = row, title, part

    def __getitem__(self, name: str) -> Any:
        return self.row(f"{self.title} {name}")[self.part]


def _architecture(config: Mapping[str, Any], kind: str) -> str:
    return architecture(config)


def _cast(kind: Any, value: Any) -> Any:
    return value


def _same(value: Any, *given: Any, **named: Any) -> Any:
    return value


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(kinds, Instance):
        return False
    return isinstance(value, kinds)


def _next(values: Iterable[Any] | Iterator[Any], *default: Any) -> Any:
    return next(iter(values), *default)


_PATTERNS: Mapping[str, Any] = {
    "match": re.match,
    "search": re.search,
    "fullmatch": re.fullmatch,
    "compile": re.compile,
    "sub": re.sub,
}
_MATH: Mapping[str, Any] = {
    "pi": pi,
    "log": log,
    "sqrt": sqrt,
    "ceil": ceil,
    "floor": floor,
    "prod": prod,
}
