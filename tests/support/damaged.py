"""Checkpoints on disk, what is done to their files, and `hfcount fix`."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from build import Json, config
from defects import header_of, with_header
from loopback import write_checkpoint

import hfcount
from hfcount.cli.commands import find
from hfcount.fetcher.unread_files import KEPT, RECORD

CONFIG, INDEX, ONE = "config.json", "model.safetensors.index.json", "model.safetensors"
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
STALE = {"metadata": {"total_size": 1}, "weight_map": {"a.weight": "model-00001-of-00009.safetensors"}}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic", "fmt": "e4m3"}
SHARED: Json = {"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": True}

Files = dict[str, bytes]


def files(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def kept(folder: Path, run: int = 1) -> Files:
    """The originals of a repair, by the names of the files; of a weight file its header alone."""
    return {path.name: path.read_bytes() for path in (folder / KEPT / str(run)).glob("*") if path.name != RECORD}


def header(raw: bytes) -> bytes:
    return raw[8 : 8 + int.from_bytes(raw[:8], "little")]


def sound(folder: Path, family: str = "qwen3", shards: int = 2, **changes: Any) -> Path:
    """A checkpoint of which every byte of data is another, written as transformers writes it."""
    write_checkpoint(folder, config(family, **changes), shards)
    for path in folder.glob("*.safetensors"):
        raw = path.read_bytes()
        size = 8 + int.from_bytes(raw[:8], "little")
        path.write_bytes(raw[:size] + Random(path.name).randbytes(len(raw) - size))
    if shards > 1:
        claims(total_parameters=hfcount.blueprint(config(family, **changes)).total)(folder)
    for path in folder.glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()), indent=2, sort_keys=True) + "\n")
    return folder


def fix(folder: Path, *options: str) -> int:
    code = find("fix").main([str(folder), *options], standalone_mode=False)
    assert type(code) is int
    return code


def edit(name: str, change: Callable[[Json], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        values = json.loads((folder / name).read_text())
        change(values)
        (folder / name).write_text(json.dumps(values, indent=2, sort_keys=True) + "\n")

    return spoil


def says(**changes: Any) -> Callable[[Path], None]:
    return edit(CONFIG, lambda values: values.update(changes))


def claims(**changes: Any) -> Callable[[Path], None]:
    return edit(INDEX, lambda index: index["metadata"].update(changes))


def maps(change: Callable[[dict[str, str]], Any]) -> Callable[[Path], None]:
    return edit(INDEX, lambda index: change(index["weight_map"]))


def named(new: Callable[[str], str]) -> Callable[[Path], None]:
    """All tensors under other names."""

    def spoil(folder: Path) -> None:
        for path in folder.glob("*.safetensors"):
            header = json.loads(header_of(path.read_bytes()))
            renamed = {name if name == "__metadata__" else new(name): one for name, one in header.items()}
            path.write_bytes(with_header(path.read_bytes(), json.dumps(renamed).encode()))
        if (folder / INDEX).exists():
            index = json.loads((folder / INDEX).read_text())
            index["weight_map"] = {new(name): file for name, file in index["weight_map"].items()}
            (folder / INDEX).write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")

    return spoil


def prefixed(prefix: str) -> Callable[[Path], None]:
    return named(lambda name: prefix + name)


def content(name: str, text: str | None) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink() if text is None else (folder / name).write_text(text) and None


def each(*spoils: Callable[[Path], None]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        for one in spoils:
            one(folder)

    return spoil


Spoil = Callable[[Path], None]
