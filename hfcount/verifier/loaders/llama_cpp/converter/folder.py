"""Says whether a folder comes through llama.cpp's converter, and whether llama.cpp loads the result.

The converter is run as tests/tools/llama_cpp_converter.py recorded it; the vocabulary is taken to be sound, and to have
as many tokens as the config says.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats.gguf.header import GgufHeader
from hfcount.formats.json import parse_object
from hfcount.text import printable
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.llama_cpp.converter.config import architecture, hparams
from hfcount.verifier.loaders.llama_cpp.converter.files import Folder
from hfcount.verifier.loaders.llama_cpp.converter.model import Model
from hfcount.verifier.loaders.llama_cpp.converter.operators import NotRun
from hfcount.verifier.loaders.llama_cpp.converter.shallow import shallow
from hfcount.verifier.loaders.llama_cpp.gguf import loading
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading

LIBRARY = "llama.cpp_converter"

_STEPS = 3_000_000
_TOKENIZER = "tokenizer.json"
_DOCUMENTS = ("hf_quant_config.json",)
_BASE = "conversion/base.py"
_MISSING = frozenset({"HF005", "HF201", "HF503"})
_TOWER = re.compile(
    r"vision|visual|audio|projector|image_newline|talker|token2wav|code2wav|connector|merger|patch_embed"
)


class Converted(NamedTuple):
    """What becomes of a folder.

    Args:
        outcome: converts, refuses or unknown.
        says: why not, as a sentence part whose subject is the converter.
        source: file and line of its source.
        model: what it made of the folder; None if it did not get so far.
    """

    outcome: str
    says: str = ""
    source: str = ""
    model: Model | None = None


@lru_cache(1024)
def _row(version: str, title: str) -> Any:
    line = _lines(version).get(title.encode())
    return None if line is None else json.loads(line[len(title) + 4 :].removesuffix(b","))


@cache
def _lines(version: str) -> Mapping[bytes, bytes]:
    """The lines of the record, by their titles."""
    return {line[1 : line.find(b'"', 1)]: line for line in recorded.file(LIBRARY, version).split(b"\n")[1:]}


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What llama.cpp makes of a checkpoint that its converter is given."""
    if not checkpoint.values:
        return Reading(loader, "unknown", "was given no config that could be read", evidence="none")
    stored = _stored(checkpoint)
    if isinstance(stored, Converted):
        return _reading(loader, stored)
    tensors, guessed = stored
    values, kept = shallow(checkpoint.values, tensors)
    result = converted(loader.version, values, kept, _folder(checkpoint), raw=_is_refused(checkpoint))
    if guessed and not (result.outcome == "refuses" and any(repr(name) in result.says for name in guessed)):
        name = next(iter(guessed))
        return Reading(loader, "unknown", f"is not known here to map {printable(name)}", evidence="none")
    if result.outcome != "converts" or result.model is None:
        return _reading(loader, _cured(loader.version, checkpoint, values, kept, result))
    if checkpoint.shards is None and checkpoint.agrees is None:
        return Reading(loader, "unknown", "was given nothing that was compared", evidence="none")
    return _loaded(loader, checkpoint, result.model)


def converted(
    version: str,
    values: Mapping[str, Any],
    stored: Mapping[str, tuple[Sequence[int], str]],
    folder: Folder,
    no_mtp: bool = False,
    raw: bool = False,
) -> Converted:
    """What becomes of a checkpoint in the converter.

    Args:
        version: of llama.cpp.
        values: config.json.
        stored: shape and dtype of each tensor.
        folder: its files.
        no_mtp: whether layers that predict further tokens are left out, as --no-mtp does.
        raw: whether transformers refuses the config, so that the converter reads config.json as it is.
    """

    def row(title: str) -> Any:
        return _row(version, title)

    model = None
    try:
        config = hparams(values, row, raw)
        name = architecture(config)
        kind = row(name)
        if kind is None:
            return Converted("refuses", f"has no class {printable(name, 80)}", "conversion/__init__.py")
        model = Model(row, kind["class"], config, stored, folder, _STEPS)
        model.name = name
        if no_mtp:
            model.class_of("ModelBase").attributes["no_mtp"] = True
        model.converted()
    except NotRun as error:
        return Converted("unknown", f"does something here that is not known: {error}", _source(model), model)
    except RecursionError:
        return Converted("unknown", "goes too deep", _source(model), model)
    except Exception as error:  # as the converter raises it
        return Converted("refuses", _told(error), _source(model), model)
    return Converted("converts", model=model)


class FileOfModel(NamedTuple):
    """What the converter makes of a model, as far as all its layers have that in common.

    Args:
        architecture: as llama.cpp calls it.
        shared: tensors that stand in for another, such as the embedding for a head that is not stored; None if that is
            not known.
    """

    architecture: str
    shared: frozenset[str] | None


def file_of(version: str, values: Mapping[str, Any], blueprint: Blueprint) -> FileOfModel | None:
    """What the converter makes of a model of which nothing but its config is known; None if that is not known."""
    shortened, kept = shallow(values, _described(blueprint))
    folder = Folder((), {"config.json": dict(values), _TOKENIZER: _vocabulary(values)})
    result = converted(version, shortened, kept, folder)
    if result.outcome != "converts" or result.model is None:
        return None
    loaded = loading(version, _header(result.model))
    return FileOfModel(result.model.writer.architecture, loaded.shared if loaded.loads else None)


def _source(model: Model | None) -> str:
    return f"{model.tick.file}:{model.tick.line}" if model and model.tick.file else _BASE


def _told(error: Exception) -> str:
    """An error of the converter as a sentence part."""
    text = " ".join(str(part) for part in error.args)
    if isinstance(error, KeyError):
        if text.startswith("could not find any of: "):
            return f"needs one of the keys {text.removeprefix('could not find any of: ').strip('[]')}"
        return f"needs {printable(text, 200)}"
    if text.startswith("Can not map tensor "):
        return f"cannot map {text.removeprefix('Can not map tensor ')}"
    if text.startswith("Quant method is not yet supported: "):
        return f"does not undo {text.removeprefix('Quant method is not yet supported: ')}"
    if isinstance(error, FileNotFoundError):
        return f"needs the file {text.rpartition(': ')[2]}"
    if isinstance(error, AssertionError):
        return f"asserts {text.removeprefix('assert ').partition(', ')[0] if text else 'something'}"
    return f"refuses it: {type(error).__name__}: {text}"


def _reading(loader: Loader, result: Converted) -> Reading:
    says = f"cannot load it, as its converter {printable(result.says, 400)}"
    if result.outcome == "refuses":
        return Reading(loader, "refuses", says, evidence="read", source=result.source)
    return Reading(
        loader, "unknown", f"has a converter that {printable(result.says, 300)}", evidence="none", source=result.source
    )


def _cured(
    version: str,
    checkpoint: Checkpoint,
    values: Mapping[str, Any],
    stored: Mapping[str, tuple[Sequence[int], str]],
    result: Converted,
) -> Converted:
    """A refusal that says, too, whether --no-mtp helps."""
    if result.outcome != "refuses" or result.model is None or "mtp" not in result.says:
        return result
    again = converted(version, values, stored, _folder(checkpoint), no_mtp=True, raw=_is_refused(checkpoint))
    return result._replace(says=f"{result.says}; with --no-mtp it takes it") if again.outcome == "converts" else result


def _loaded(loader: Loader, checkpoint: Checkpoint, model: Model) -> Reading:
    """What llama.cpp makes of the result."""
    loaded = loading(loader.version, _header(model))
    if loaded.loads is None:
        return Reading(
            loader, "unknown", f"{loaded.says} with what its converter writes", evidence="none", source=loaded.source
        )
    if not loaded.loads:
        return Reading(loader, "refuses", f"{loaded.says} in what its converter writes", (), "read", loaded.source)
    for says, codes in _losses(checkpoint, model):
        return Reading(loader, "differs", says, codes, "read", loaded.source)
    return Reading(loader, "whole", evidence="read", source=f"{LIBRARY}-{loader.version}.json")


def _header(model: Model) -> GgufHeader:
    """The header of what was written."""
    embedding = model.writer.tensors.get("token_embd.weight")
    tokens = model.hparams.get("vocab_size")
    return model.writer.header(tokens if isinstance(tokens, int) else embedding.shape[0] if embedding else 0)


def _losses(checkpoint: Checkpoint, model: Model) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is lost on the way to a file that loads."""
    if model.unscaled:
        yield f"takes the FP8 values of {printable(model.unscaled[0])} without a scale", ()
    missing = [finding for finding in checkpoint.findings if finding.code in _MISSING and finding.severity == "error"]
    if missing:
        codes = tuple(dict.fromkeys(finding.code for finding in missing))
        yield "loads it without what the findings say", codes
    if "output.weight" not in model.writer.tensors and "token_embd.weight" in model.writer.tensors:
        head = next((name for name in model.stored if name.endswith("lm_head.weight")), "")
        if head and model.hparams.get("tie_word_embeddings") is False:
            yield f"takes the embedding for the head, as its converter drops {head}", ()
    dropped = [name for name in model.dropped if _TOWER.search(name)]
    if dropped and not model.row("projectors").get(model.name):
        yield f"has no {printable(dropped[0])}, as its converter drops it and has no class for the tower", ()


# What it is given


def _is_refused(checkpoint: Checkpoint) -> bool:
    """Whether transformers refuses the config."""
    return "HF110" in checkpoint.codes


def _stored(checkpoint: Checkpoint) -> "Converted | tuple[dict[str, tuple[Sequence[int], str]], frozenset[str]]":
    """Shape and dtype of each tensor that the converter reads, and the names whose shapes are not known."""
    if checkpoint.shards is not None:
        return _in_files(checkpoint)
    blueprint = checkpoint.blueprint
    if blueprint is None or checkpoint.announced:
        return Converted("unknown", "was given no headers", _BASE)
    shapes = _described(blueprint, every=checkpoint.index is not None)
    if checkpoint.index is None:
        return shapes, frozenset()
    names = checkpoint.index.weight_map
    guessed = frozenset(name for name in names if name not in shapes)
    return {name: shapes.get(name, ((1,), "BF16")) for name in names}, guessed


def _described(blueprint: Blueprint, every: bool = False) -> dict[str, tuple[Sequence[int], str]]:
    """Shape and dtype of each tensor that a checkpoint has to hold, or of `every` one that it may."""
    return {
        name: (tuple(map(int, leaf.shape)), "BF16")
        for leaf in blueprint.leaves
        if every or (leaf.presence == "required" and not leaf.tied_to)
        for name in leaf.names()
    }


def _in_files(checkpoint: Checkpoint) -> "Converted | tuple[dict[str, tuple[Sequence[int], str]], frozenset[str]]":
    shards, index = checkpoint.shards or {}, checkpoint.index
    files = set(index.weight_map.values()) if index else _parts(shards)
    tensors: dict[str, tuple[Sequence[int], str]] = {}
    for file in sorted(files):
        header = shards[file].header if file in shards else None
        if header is None:
            return Converted("refuses", f"needs the file {printable(file)}", f"{_BASE}:264")
        for name, tensor in header.tensors.items():
            tensors[name] = (tensor.shape, tensor.dtype)
    if index and (odd := index.weight_map.keys() ^ tensors.keys()):
        name = min(odd)
        place = "files" if name in index.weight_map else "index"
        return Converted(
            "refuses", f"needs index and files of the same names, and {name} is not in the {place}", f"{_BASE}:303"
        )
    if not tensors:
        return Converted("refuses", "finds no model*.safetensors and no pytorch_model*.bin", f"{_BASE}:237")
    return tensors, frozenset()


def _parts(files: Collection[str]) -> set[str]:
    """The weight files that are read where there is no index."""
    named = {name for name in files if name.startswith("model") and name.endswith(".safetensors")}
    return named or {name for name in files if name.startswith("pytorch_model") and name.endswith(".bin")}


def _folder(checkpoint: Checkpoint) -> Folder:
    documents: dict[str, Any] = {"config.json": dict(checkpoint.values)}
    for name in _DOCUMENTS:
        if name in checkpoint.companions:
            documents[name] = parse_object(checkpoint.companions[name])
    if not checkpoint.files or _TOKENIZER in checkpoint.files:
        documents[_TOKENIZER] = _vocabulary(checkpoint.values)
    return Folder(checkpoint.files, documents)


def _vocabulary(values: Mapping[str, Any]) -> dict[str, Any]:
    """A vocabulary of as many tokens as the config says."""
    text = values.get("text_config")
    size = values.get("vocab_size", text.get("vocab_size") if isinstance(text, Mapping) else None)
    return {"model": {"vocab": range(size if isinstance(size, int) else 0)}, "added_tokens": ()}
