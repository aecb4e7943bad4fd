"""Says whether llama.cpp loads a GGUF file: runs what tests/tools/llama_cpp.py recorded of its source on the header."""

import json
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from hfcount.formats.gguf.header import GgufHeader
from hfcount.mapper import json_lines
from hfcount.text import printable
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.llama_cpp.code import Machine, NotRun
from hfcount.verifier.loaders.llama_cpp.file import File, Refused

LIBRARY = "llama.cpp"

_VOCABULARY = "src/llama-vocab.cpp"
LOADER = "src/llama-model-loader.cpp"
_ALIGNED = 32
"""Bytes that the data of a mapped file is aligned to (TENSOR_ALIGNMENT)."""
_SCALED = (".scale", ".input_scale")


class Loading(NamedTuple):
    """What becomes of a file.

    Args:
        loads: None if that is not known.
        says: why it does not, as a sentence part whose subject is llama.cpp.
        source: file and line of its source.
        absent: tensors that it asks for, that are not there, and that it does without.
        taken: tensors that it makes use of.
        shared: those of them that stand in for another, too, as the embedding does for a head that is not stored.
    """

    loads: bool | None
    says: str = ""
    source: str = ""
    absent: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


@cache
def _common(version: str) -> Mapping[str, Any]:
    text = recorded.file(LIBRARY, version)
    common: Mapping[str, Any] = json.loads(text[: text.index(b"\n")] + b"}}")
    return common


@lru_cache(64)
def loading(version: str, header: GgufHeader) -> Loading:
    """What becomes of a file of which this is the header, in a version of llama.cpp."""
    architecture = header.text("general.architecture")
    common, row = _common(version), json_lines.of_kind(recorded.file(LIBRARY, version), architecture)
    if row is None:
        return Loading(False, f"knows no architecture {printable(architecture, 60) or '(none)'}", common["file"])
    if refusal := _refused_file(header, common):
        return Loading(False, *refusal)
    path = common["file"]
    try:
        file = File(header, architecture, 0)
        machine = Machine(common, row, file)
        machine.run(common["load_hparams"])
        path = row["files"][0]
        machine.run(row["hparams"])
        path = _VOCABULARY
        file.n_tokens = _tokens(header, common)
        path = row["files"][-1]
        machine.run(row["tensors"])
        path = common["file"]
        if any(name.endswith(_SCALED) for name in header.tensors):
            machine.model["n_layer_all"] = machine.hparams["n_layer_all"]  # a variable of the function around
            machine.run(common["scales"])
        path = LOADER
        file.check_all_used()
    except Refused as refused:
        return Loading(False, refused.says, f"{path}:{refused.line}" if refused.line else path)
    except NotRun as error:
        return Loading(None, f"does something here that is not known: {error}", path)
    shared = frozenset(file.shared)
    return Loading(True, "", path, frozenset(file.absent), frozenset(file.used) | shared, shared)


def _refused_file(header: GgufHeader, common: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why a file is refused whatever it holds, with the source; None if it is not."""
    for name in header.foreign:
        kind = header.tensors[name].type
        if int(kind.removeprefix("type ")) not in common["types"]:
            return f"has no tensors of {kind}, as {printable(name)} is", "ggml/include/ggml.h"
    if (header.number("split.count") or 0) > 1 and "split.tensors.count" not in header.metadata:
        return "needs the key split.tensors.count of a split file", LOADER
    if header.tensors and header.data % _ALIGNED:
        return f"aborts, since the data begins at no multiple of {_ALIGNED} bytes", "ggml/src/ggml-backend.cpp"
    return None


def _tokens(header: GgufHeader, common: Mapping[str, Any]) -> int:
    """How many tokens the vocabulary has."""
    name = header.text("tokenizer.ggml.model")
    if header.kinds.get("tokenizer.ggml.model") != "str":
        raise Refused("needs the key tokenizer.ggml.model")
    kind = common["tokenizers"].get(name)
    if kind is None:
        raise Refused(f"knows no tokenizer {printable(name, 60)}")
    if kind == "NONE":
        return header.number(f"{header.text('general.architecture')}.vocab_size") or 0
    if kind == "BPE":
        _check_pairs(header, name, common["pre_tokenizers"])
    if header.kinds.get("tokenizer.ggml.tokens") != "str[]":
        raise Refused("needs the texts tokenizer.ggml.tokens")
    count = header.length("tokenizer.ggml.tokens") or 0
    for title, kinds in _OF_TOKENS.items():
        if title not in header.metadata:
            continue
        if header.kinds.get(title) not in kinds:
            raise Refused(f"needs {title} to be {kinds[0]}, and it is {header.kinds.get(title)}")
        if (held := header.length(title) or 0) < count:
            raise Refused(f"needs {count:,} values of {title}, and it has {held:,}")
    return count


_OF_TOKENS = {"tokenizer.ggml.scores": ("f32[]", "i32[]"), "tokenizer.ggml.token_type": ("i32[]",)}
"""What may be there of each token, with its types."""


def _check_pairs(header: GgufHeader, name: str, known: Collection[str]) -> None:
    """Refuses a tokenizer of merged pairs without them, or with an unknown way to cut texts."""
    pre, merges = header.text("tokenizer.ggml.pre"), header.kinds.get("tokenizer.ggml.merges")
    if merges is None and (pre != "kimi-k2" or name == "gemma4"):
        raise Refused("needs the key tokenizer.ggml.merges")
    if merges not in (None, "str[]"):
        raise Refused(f"needs tokenizer.ggml.merges to be str[], and it is {merges}")
    if pre and pre not in known and name != "gemma4":
        raise Refused(f"knows no pre-tokenizer {printable(pre, 60)}")
