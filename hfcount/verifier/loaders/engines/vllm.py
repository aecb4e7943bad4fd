"""Says what vLLM makes of a checkpoint, as its source has it; what the source alone does not settle is unknown."""

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from hfcount.mapper.class_defaults import declared
from hfcount.verifier.finding import Finding
from hfcount.verifier.folded_names import numbers_of
from hfcount.verifier.loaders.engines.facts import Engine, Registered, engine
from hfcount.verifier.loaders.engines.reading import (
    DOUBTED,
    ELSEWHERE,
    Difference,
    are_of_cache,
    class_names,
    has_remote_code,
    in_transformers,
    mapped,
    may_be_mapped,
    of_index,
    of_other_form,
    part_of,
    reading,
    refusal,
)
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading

_INDEX, _HEAD = "model.safetensors.index.json", "lm_head.weight"
_PREDICTING = "num_nextn_predict_layers"
_LAYER = r"(?:model\.(?:language_model\.)?)?layers\.(?:\{([^{}]*)\}|(\d+))\."
_ADAPTER = "adapter_model.safetensors"
_MISTRAL = "consolidated*.safetensors"

_CACHES = ("rotary_pos_emb.inv_freq", "rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached")
"""Buffers that the shared loader drops wherever they are."""

_OF_FILES = frozenset("HF001 HF002 HF003 HF004 HF005".split())
_OF_SHAPE = frozenset({"HF301", "HF706"})

_LINEAR = (
    "_proj.",
    "embed_tokens.",
    "lm_head.",
    ".experts.",
    ".q.",
    ".k.",
    ".v.",
    ".fc1.",
    ".fc2.",
    "query_key_value.",
)
"""What the names of weights have that vLLM's linear and embedding layers hold."""


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What vLLM makes of a checkpoint."""
    facts = engine(loader)
    if checkpoint.form == "adapter":
        from hfcount.verifier.loaders.engines import adapters  # few are adapters

        return reading(loader, facts, adapters.of_vllm(checkpoint, facts), "adapter_scaling")
    if checkpoint.form != "model":
        return of_other_form(loader, checkpoint, facts, "no_format")
    return reading(loader, facts, _differences(checkpoint, facts), "unexpected")


def _differences(checkpoint: Checkpoint, facts: Engine) -> Iterator[Difference]:
    """The differences, those first that vLLM meets first."""
    yield from _of_config(checkpoint, facts)
    registered, differences = _class(checkpoint, facts)
    yield from differences
    if packed := checkpoint.is_announced:
        from hfcount.verifier.loaders.engines import vllm_quantization  # few are quantised

        yield from vllm_quantization.settings(checkpoint, facts, registered)
    yield from _files(checkpoint, registered)
    if registered is None:
        return
    if packed:
        yield from vllm_quantization.modules(checkpoint, registered)
    yield from _prediction(checkpoint, registered, facts)
    yield from _ties(checkpoint)
    yield from _stored(checkpoint, registered, facts)
    yield from _unsettled(checkpoint, registered)


def _of_config(checkpoint: Checkpoint, facts: Engine) -> Iterator[Difference]:
    values, kind = checkpoint.values, checkpoint.model_type
    if not kind and "speculators_config" not in values and not class_names(checkpoint):
        yield Difference("refuses", "needs model_type, or a class, in config.json", "config")
    for path in (("rope_scaling",), ("rope_parameters",)):
        for inner in ((), ("text_config",)):
            rope = part_of(values, *inner, *path)
            if rope is not None:
                yield from _rope(rope, ".".join((*inner, *path)))
    dtype = values.get("dtype", values.get("torch_dtype"))
    if kind in facts.half_refused and isinstance(dtype, str) and dtype.removeprefix("torch.") in ("float16", "half"):
        yield Difference("refuses", f"refuses float16 for {kind}, and needs --dtype bfloat16", "half")
    if "HF110" in checkpoint.errors and kind not in facts.configs:
        yield Difference("refuses", "reads the config by transformers, which refuses a value", "config", ("HF110",))


def _rope(rope: Mapping[str, Any], where: str) -> Iterator[Difference]:
    """Settings of one kind of layers, or of each."""
    nested = [value for value in rope.values() if isinstance(value, Mapping)]
    for settings in nested or [rope]:
        new, old = settings.get("rope_type"), settings.get("type")
        both = "rope_type" in settings and "type" in settings
        if both and new != old and (old, new) not in (("su", "longrope"), ("mrope", "default")):
            yield Difference("refuses", f"refuses {where} with type {old} beside rope_type {new}", "rope_types")
        elif (new if "rope_type" in settings else old) == "mrope" and "mrope_section" not in settings:
            yield Difference("refuses", f"needs {where}.mrope_section", "rope_sections")


def _class(checkpoint: Checkpoint, facts: Engine) -> tuple[Registered | None, list[Difference]]:
    """The class that runs it, and what there is to say of it."""
    names = class_names(checkpoint)
    if not names:
        return None, [Difference("unknown", "takes the class of the model_type, since the config names none")]
    there = [row for name in names if (row := facts.registered(name)) and row.is_there]
    if there:
        return there[0], []
    first = names[0]
    if in_transformers(first):
        says = f"has no {first}, and runs that of transformers if its attention can be replaced"
        return None, [Difference("unknown", says, "backend")]
    if has_remote_code(checkpoint, exactly=False):
        return None, [Difference("unknown", f"has no {first}, and runs the repository's code if that fits", "backend")]
    for name in names:
        if base := _converted(name, facts):
            return None, [Difference("unknown", f"runs {name} as a conversion of {base.name}", "suffix")]
    for name in names:
        row = facts.registered(name)
        if row and row.retired:
            return None, [Difference("refuses", f"had {name} until {row.retired} and refuses it now", row.line)]
        if row and row.plugin:
            return None, [Difference("refuses", f"needs {row.plugin} for {name}", row.line)]
    return None, [Difference("refuses", f"has no {first}", "unsupported_class")]


def _converted(name: str, facts: Engine) -> Registered | None:
    """The class that vLLM turns into a pooling model of this name."""
    suffix = next((suffix for suffix in facts.suffixes if name.endswith(suffix)), None)
    for other in facts.suffixes if suffix else ():
        row = facts.registered(name.replace(suffix or "", other))
        if row and row.is_there:
            return row
    return None


def _files(checkpoint: Checkpoint, registered: Registered | None) -> Iterator[Difference]:
    """Which files are read, and whether they are those that were compared."""
    yield from _mistral_files(checkpoint, registered)
    index = checkpoint.index
    if index and any("/" in shard for shard in index.shards):
        inner = next(shard for shard in sorted(index.shards) if "/" in shard)
        yield Difference("refuses", f"reads the files of the root alone, and does not find {inner}", "index_files")
    read = [file for file in checkpoint.files if "/" not in file and file.endswith(".safetensors")]
    compared = set(checkpoint.shards or (index.shards if index else ()))
    if not read or not compared or _chosen(checkpoint.files):
        return
    if _INDEX in checkpoint.files:
        if index and not compared <= index.shards:
            says = "reads the shards of the index, which were not compared, in place of the single file"
            yield Difference("unknown", says, "index_filter")
        return
    more = sorted(set(read) - compared)
    if more:
        yield _further(checkpoint, registered, more[0], compared)


def _chosen(files: Collection[str]) -> bool:
    """Whether a file of Mistral's names is chosen in place of all others."""
    return any(fnmatchcase(file.rpartition("/")[2], _MISTRAL) for file in files)


def _mistral_files(checkpoint: Checkpoint, registered: Registered | None) -> Iterator[Difference]:
    named = sorted(file for file in checkpoint.files if fnmatchcase(file.rpartition("/")[2], _MISTRAL))
    if not named:
        return
    root = [file for file in named if "/" not in file]
    if not root:
        says = f"takes consolidated*.safetensors of the root alone once there is {named[0]}, and finds none"
        yield Difference("refuses", says, "consolidated")
        return
    if set(root) == set(checkpoint.shards or ()):
        return
    if "params.json" in checkpoint.files:
        says = f"reads params.json and {root[0]} in place of what was compared"
        yield Difference("unknown", says, "params_json")
        return
    names = checkpoint.beside(root[0])
    compared = frozenset(checkpoint.names())
    if names is None or (compared and compared >= set(names)) or "MistralForCausalLM" in class_names(checkpoint):
        yield Difference("unknown", f"reads {root[0]} in place of what was compared", "consolidated")
    else:
        other = next(name for name in names if name not in compared)
        says = f"reads {root[0]} in place of the other files, and refuses its names, such as {other}"
        yield Difference(refusal(registered), says, "consolidated")


def _further(checkpoint: Checkpoint, registered: Registered | None, file: str, compared: Collection[str]) -> Difference:
    """A file that is read beside those that were compared, since no index leaves it out."""
    if file == _ADAPTER:  # whose names begin with base_model.model., so that no header is needed
        return Difference(refusal(registered), f"reads {file}, too, and refuses the names of PEFT", "index_absent")
    names = checkpoint.beside(file)
    if names is None:
        return Difference("unknown", f"reads {file}, too, since no index leaves it out", "index_absent")
    stored = frozenset(checkpoint.names())
    extra = sorted(name for name in names if name not in stored and not _is_dropped(name, ()))
    if any(name.endswith(_HEAD) for name in extra) and checkpoint.values.get("tie_word_embeddings") is True:
        return Difference("unknown", f"reads {file}, too, and unties the head for what it holds", "untied")
    if extra:
        says = f"reads {file}, too, and refuses its names, such as {extra[0]}"
        return Difference(refusal(registered), says, "index_absent")
    if names and file > max(compared):
        return Difference(
            "differs", f"reads {file} last, whose tensors replace those that were compared", "index_absent"
        )
    return Difference("unknown", f"reads {file}, too, with tensors of the same names", "index_absent")


def _predicting(checkpoint: Checkpoint, facts: Engine) -> tuple[range, range]:
    """The numbers of layers behind the last: those that the config announces, and those that it does not.

    Where the key is absent, the default of transformers' class holds. None are announced, and none are behind the
    last, where the config does not say how many layers there are.
    """
    config = part_of(checkpoint.values, "text_config") or checkpoint.values
    kind, layers = config.get("model_type", checkpoint.model_type), config.get("num_hidden_layers")
    count = config.get(_PREDICTING)
    if isinstance(kind, str) and _PREDICTING not in config and kind not in facts.configs:
        known = declared(kind).default([_PREDICTING])
        count = known[1] if known else None
    if not isinstance(layers, int):
        return range(0), range(0)
    end = layers + (max(0, count) if isinstance(count, int) else 0)
    return range(layers, end), range(end, sys.maxsize)


def _are_of(names: Collection[str], layers: range) -> bool:
    """Whether all names, which may be folded, are of these layers alone."""
    return all((numbers := _layers(name)) and all(number in layers for number in numbers) for name in names)


def _layers(name: str) -> list[int]:
    """The numbers of the layers that a name is of; none if it is of no layer, or does not list them all."""
    match = re.match(_LAYER, name)
    return (numbers_of(match[1] or match[2]) or []) if match else []


def _prediction(checkpoint: Checkpoint, registered: Registered, facts: Engine) -> Iterator[Difference]:
    """A layer behind the last: dropped if the config announces it, else a name that no module has."""
    if not registered.nextn or not registered.is_strict or not checkpoint.codes & {"HF202", "HF208"}:
        return
    announced, further = _predicting(checkpoint, facts)
    if announced:
        return
    if name := next((name for name in checkpoint.names() if _are_of([name], further)), None):
        says = f"drops prediction layers by num_nextn_predict_layers alone, and without it refuses {name}"
        yield Difference("refuses", says, "prediction", tuple(checkpoint.codes & {"HF202", "HF208"}))


def _ties(checkpoint: Checkpoint) -> Iterator[Difference]:
    """A file that the index leaves out and that holds a head: the headers of all files decide on ties."""
    if checkpoint.values.get("tie_word_embeddings") is not True or _INDEX not in checkpoint.files:
        return
    compared = checkpoint.shards or {}
    for file in sorted(checkpoint.files):
        if "/" not in file and file.endswith(".safetensors") and file not in compared:
            names = checkpoint.beside(file) or ()
            if any(name.endswith(_HEAD) for name in names) and not any(n.endswith(_HEAD) for n in checkpoint.names()):
                says = f"unties the head for {file}, which it does not load, and leaves it random"
                yield Difference("differs", says, "untied")
                return


def _is_settled(checkpoint: Checkpoint, finding: Finding) -> bool:
    """Whether the modules of a finding are packed or dense as vLLM reads its settings."""
    from hfcount.verifier.loaders.engines import vllm_quantization

    return vllm_quantization.settles(checkpoint, finding.tensors)


def _is_dropped(name: str, prefixes: tuple[str, ...]) -> bool:
    return name.endswith(".bias") or name.startswith(prefixes) or any(cache in name for cache in _CACHES)


def _stored(checkpoint: Checkpoint, registered: Registered, facts: Engine) -> Iterator[Difference]:
    """What the findings mean for vLLM; where they say nothing, the names of its parts."""
    dropped = _predicting(checkpoint, facts)[0] if registered.nextn else range(0)
    for finding in checkpoint.findings:
        if finding.of_serving or (dropped and finding.tensors and _are_of(finding.tensors, dropped)):
            continue
        codes = finding.codes
        if are_of_cache(finding.tensors) and registered.is_strict:
            yield from _of_cache(checkpoint, finding)
            continue
        if codes == {"HF502"} and _is_settled(checkpoint, finding):
            continue
        if finding.severity == "error" and not codes <= (ELSEWHERE | of_index(checkpoint)):
            yield _of_error(checkpoint, registered, finding)
        elif doubt := _doubt(registered, finding):
            yield doubt


def _doubt(registered: Registered, finding: Finding) -> Difference | None:
    """What is not known of vLLM where a finding is no error; None if the finding raises no doubt."""
    codes = finding.codes
    if not codes.isdisjoint(DOUBTED):
        code = next(code for code in DOUBTED if code in codes)
        return Difference("unknown", "is not known here to convert what transformers converts", "", (code,))
    if "HF207" in codes and "mtp" not in str(finding.key) and "nextn" not in str(finding.key):
        return Difference("unknown", "is not known here without a part that the config announces", "", ("HF207",))
    if "HF204" in codes and not all(_is_dropped(name, registered.drops) for name in finding.tensors):
        return Difference("unknown", "is not known here to drop every buffer that is stored", "", ("HF204",))
    return None


def _of_cache(checkpoint: Checkpoint, finding: Finding) -> Iterator[Difference]:
    """Scales of the cache: mapped and loaded or dropped where anything is quantised, else names of no module."""
    codes = tuple(sorted(finding.codes))
    if not checkpoint.is_announced:
        stored = next((name for name in checkpoint.names() if are_of_cache([name])), finding.tensors[0])
        yield Difference("refuses", f"refuses names that no module has, such as {stored}", "unexpected", codes)
    elif "HF503" in codes:
        yield Difference("differs", f"takes 1.0 for {finding.tensors[0]}, which is not stored", "cache_default", codes)


def _of_error(checkpoint: Checkpoint, registered: Registered, finding: Finding) -> Difference:
    codes, name = tuple(sorted(finding.codes)), next(iter(finding.tensors), "a tensor")
    if not _OF_FILES.isdisjoint(codes):
        return Difference("refuses", "as the findings say", "index_files", codes)
    if not _OF_SHAPE.isdisjoint(codes):
        return Difference("refuses", f"refuses {name} in that shape", "shape", codes)
    if "HF211" in codes and (part := _no_part(checkpoint, registered)):
        return Difference("refuses", f"refuses names that no module has, such as {part}", "unexpected", codes)
    if finding.code == "HF202" and finding.tensors:
        return _unexpected(checkpoint, registered, finding.tensors, codes)
    if finding.code in ("HF201", "HF214"):
        return _missing(checkpoint, registered, finding.tensors, codes)
    if finding.code == "HF302" and not checkpoint.announced:
        return Difference("unknown", "casts tensors to the dtype of the config", "", codes)
    return Difference("unknown", "is not known here with such a difference", "", codes)


def _no_part(checkpoint: Checkpoint, registered: Registered) -> str | None:
    """A name that leads to no part of a class which maps no names but by their prefixes."""
    if not registered.is_strict or registered.maps:
        return None
    starts = dict.fromkeys(".".join(name.split(".", 2)[:2]) for name in checkpoint.names())
    return next((start for start in starts if not _leads(start, registered)), None)


def _leads(start: str, registered: Registered) -> bool:
    """Whether the beginning of a name is that of a part of the class, or dropped."""
    start = f"{start}."
    return (
        start.startswith(registered.drops) or mapped(start, registered.prefixes).partition(".")[0] in registered.modules
    )


def _unexpected(
    checkpoint: Checkpoint, registered: Registered, names: tuple[str, ...], codes: tuple[str, ...]
) -> Difference:
    """Names that transformers does not look for; those that stand for missing ones may be mapped.

    Classes of prediction layers pick theirs from a whole checkpoint, each by a loop of its own.
    """
    if checkpoint.blueprint is not None and checkpoint.blueprint.naming.predicts:
        return Difference("unknown", f"picks the tensors of {registered.name} by a loop of its own", "", codes)
    if checkpoint.announced or may_be_mapped(checkpoint, registered):
        return Difference("unknown", f"is not known here to map names such as {names[0]}", "", codes)
    kept = [name for name in names if not _is_dropped(name, registered.drops)]
    biases = [name for name in names if name.endswith(".bias")]
    if kept and registered.is_strict:
        return Difference("refuses", f"refuses names that no module has, such as {kept[0]}", "unexpected", codes)
    if not kept and biases:
        return Difference("differs", f"drops every bias that no module has, such as {biases[0]}", "dropped_bias", codes)
    if kept:
        return Difference("unknown", f"has a loop of its own for {registered.name}", registered.skips, codes)
    return Difference("unknown", "drops what is not expected", "dropped_caches", codes)


def _missing(
    checkpoint: Checkpoint, registered: Registered, names: tuple[str, ...], codes: tuple[str, ...]
) -> Difference:
    """Weights of linear layers and embeddings are left as they are without a check; others raise if not quantised."""
    if may_be_mapped(checkpoint, registered):
        return Difference("unknown", f"is not known here to find {names[0]} under another name", "", codes)
    tied = checkpoint.values.get("tie_word_embeddings") is True
    if tied and any("embed_tokens." in name for name in names) and any(n.endswith(_HEAD) for n in checkpoint.names()):
        return Difference(
            "unknown", "unties the head, and leaves the embedding that is missing random", "untied", codes
        )
    others = [name for name in names if not any(part in f".{name}" for part in _LINEAR)]
    if not others:
        head = names[0] if names else "a weight"
        return Difference("differs", f"leaves {head} random, without a warning", "missing_unseen", codes)
    if checkpoint.announced or registered.loads != "auto":
        return Difference("differs", f"does not notice that {others[0]} is missing", "missing_unchecked", codes)
    if all("norm" in name for name in others):
        return Difference("refuses", f"needs {others[0]}", "missing", codes)
    return Difference("unknown", f"is not known here without {others[0]}", "", codes)


def _unsettled(checkpoint: Checkpoint, registered: Registered) -> Iterator[Difference]:
    """Why a checkpoint without any difference may yet not be loaded whole."""
    if checkpoint.agrees is None:
        yield Difference("unknown", f"has {registered.name}, and {checkpoint.uncompared}", registered.line)
    elif not checkpoint.agrees and not checkpoint.errors:
        yield Difference("unknown", "was given a checkpoint that does not agree with its config")
    if not registered.is_strict and registered.module != "transformers":
        yield Difference(
            "unknown", f"has a loop of its own for {registered.name}, which is not recorded", registered.skips
        )
    if checkpoint.has_experts and registered.module == "transformers":
        yield Difference("unknown", "runs transformers' module, and is not known here to merge its experts", "backend")
    if registered.prefixes or not checkpoint.is_of_text:
        yield from _parts(checkpoint, registered)


def _parts(checkpoint: Checkpoint, registered: Registered) -> Iterator[Difference]:
    """A name that leads to no part of the class after it is mapped."""
    for first in dict.fromkeys(".".join(name.split(".", 2)[:2]) for name in checkpoint.names()):
        if not _leads(first, registered):
            yield Difference("unknown", f"is not known here to take names such as {first}", registered.line)
            return
