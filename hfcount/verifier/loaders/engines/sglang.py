"""Says what SGLang makes of a checkpoint, as its source has it; what the source alone does not settle is unknown."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.engines.facts import Engine, Registered, engine
from hfcount.verifier.loaders.engines.reading import (
    DOUBTED,
    ELSEWHERE,
    Difference,
    are_of_cache,
    by_components,
    class_names,
    has_remote_code,
    in_transformers,
    is_projection,
    may_be_mapped,
    of_index,
    of_other_form,
    part_of,
    projections,
    reading,
    settings_beside,
    split_between,
    strings,
)
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading

_TABLES = ("embed_tokens.weight", "lm_head.weight")
_INDEX, _SINGLE = "model.safetensors.index.json", "model.safetensors"
_DESCRIPTION, _BESIDE, _PREDICTION = "quant_model_description.json", "hf_quant_config.json", "mtp.safetensors"

_GPTQ_KINDS = ((4, True), (8, True))
_GPTQ_KEYS = ("bits", "group_size", "sym", "desc_act")
_ALIASES = ("gptq", "compressed_tensors")
_SETTLED = frozenset({"fp8", "compressed-tensors", "gptq", "awq"})
_OF_FILES = frozenset("HF001 HF002 HF003 HF004 HF005".split())
_PREDICTING = ("Glm4MoeForCausalLM", "Glm4MoeLiteForCausalLM")


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What SGLang makes of a checkpoint."""
    facts = engine(loader)
    if checkpoint.form == "adapter":
        from hfcount.verifier.loaders.engines import adapters  # few are adapters

        return reading(loader, facts, adapters.of_sglang(checkpoint, facts), "adapter_scaling")
    if checkpoint.form == "gguf":
        says = "reads GGUF in a way that is not known here"
        return Reading(loader, "unknown", says, evidence="none", source=facts.lines["gguf"])
    if checkpoint.form != "model":
        return of_other_form(loader, checkpoint, facts, "pattern")
    return reading(loader, facts, _differences(checkpoint, facts), "pattern")


def _differences(checkpoint: Checkpoint, facts: Engine) -> Iterator[Difference]:
    """The differences, those first that SGLang meets first."""
    registered, differences = _class(checkpoint, facts)
    yield from _settings(checkpoint, facts, registered)
    yield from differences
    yield from _files(checkpoint)
    if registered is None:
        return
    yield from _ties(checkpoint, registered)
    yield from _stored(checkpoint, registered)


def _class(checkpoint: Checkpoint, facts: Engine) -> tuple[Registered | None, list[Difference]]:
    names = class_names(checkpoint)
    for name in names:
        if row := facts.registered(name):
            return row, []
    if not names:
        return None, [Difference("unknown", "is not known here without a class in the config")]
    if in_transformers(names[0]):
        says = f"has no {names[0]}, and runs that of transformers if its attention can be replaced"
        return None, [Difference("unknown", says, "backend")]
    if has_remote_code(checkpoint, exactly=True):
        return None, [
            Difference("unknown", f"has no {names[0]}, and runs the repository's code if that fits", "backend")
        ]
    return None, [Difference("refuses", f"has no {names[0]}", "unsupported_class")]


def _settings(checkpoint: Checkpoint, facts: Engine, registered: Registered | None) -> Iterator[Difference]:
    """Where it looks for the settings of a quantisation, and what it makes of them."""
    values = checkpoint.values
    config, method = values.get("quantization_config"), ""
    if _DESCRIPTION in checkpoint.files:
        yield Difference("unknown", f"takes {_DESCRIPTION} before all other settings", "modelslim")
        return
    if isinstance(config, Mapping):
        method = _of_config(config)
    elif isinstance(early := values.get("compression_config"), Mapping):
        config, method = early, str(early.get("quant_method", "")).lower()
    elif (beside := settings_beside(checkpoint, _BESIDE)) is not None:
        inner = part_of(beside, "quantization") or beside
        config, method = inner, _of_algorithm(inner)
    if config is None or (not method and config is not values.get("quantization_config")):
        yield from _unseen(checkpoint, registered)
        return
    yield from _of_method(checkpoint, facts, method, config)


def _of_config(config: Mapping[str, Any]) -> str:
    method = config.get("quant_method")
    if method in (None, "modelopt") and (parsed := _of_algorithm(config)):
        return parsed
    return method.lower() if isinstance(method, str) else ""


def _of_algorithm(config: Mapping[str, Any]) -> str:
    """The method that quant_algo of ModelOpt stands for; empty if it stands for none."""
    algorithm = config.get("quant_algo")
    if not isinstance(algorithm, str):
        return ""
    if algorithm == "MIXED_PRECISION":
        return "modelopt_mixed"
    if "FP4" in algorithm:
        return "modelopt_fp4"
    return {"FP8": "modelopt_fp8", "MXFP8": "mxfp8"}.get(algorithm, "")


def _of_method(checkpoint: Checkpoint, facts: Engine, method: str, config: Mapping[str, Any]) -> Iterator[Difference]:
    if method == "gptq":
        if absent := next((key for key in _GPTQ_KEYS if config.get(key) is None), None):
            yield Difference("refuses", f"needs {absent} in the settings of GPTQ", "gptq_marlin")
        elif (config["bits"], config["sym"]) not in _GPTQ_KINDS:
            says = f"refuses GPTQ of {config['bits']} bits with sym {str(config['sym']).lower()}"
            yield Difference("refuses", says, "gptq_marlin")
    elif method not in facts.methods and method not in _ALIASES:
        named = f"has no quantisation method {method}" if method else "refuses settings without quant_method"
        yield Difference("refuses", named, "unknown_method")
    if method == "fp8":
        yield from _of_fp8(checkpoint, config)
    if method not in _SETTLED:
        yield Difference("unknown", f"is not known here to load all of {method}")


def _of_fp8(checkpoint: Checkpoint, config: Mapping[str, Any]) -> Iterator[Difference]:
    """Lists hold for whole components of a module's path."""
    from hfcount.verifier.loaders.engines import fp8_blocks  # few are in FP8

    yield from fp8_blocks.of_settings(config)
    yield from fp8_blocks.of_sglang(checkpoint, config.get("weight_block_size"))
    entries = strings(config, "ignored_layers", "modules_to_not_convert")
    for stored in projections(checkpoint, ("weight_scale_inv", "weight_scale")):
        listed = {part: by_components(f"{stored.block}.{part}", entries) for part in (*stored.packed, *stored.dense)}
        if fused := split_between(stored.block, listed):
            yield Difference("refuses", f"refuses {fused}, of which some parts are ignored", "fused")
            return
        if part := next((part for part in stored.dense if not listed[part]), None):
            says = f"builds {stored.block}.{part} in FP8, since the list does not have it, without its scale"
            yield Difference("differs", says, "components")
            return
        if part := next((part for part in stored.packed if listed[part]), None):
            says = f"leaves {stored.block}.{part} out of the quantisation by a component in the list, without its scale"
            yield Difference("differs", says, "components")
            return


def _unseen(checkpoint: Checkpoint, registered: Registered | None) -> Iterator[Difference]:
    """Packed weights whose settings it does not see: names that loops of its own pass over."""
    if not checkpoint.announced:
        return
    first = checkpoint.announced[0]
    where = first.file if first.file != "config.json" else first.key
    if registered and registered.skips:
        says = f"does not read {where}, and passes over the packed weights: what they hold is random"
        yield Difference("differs", says, registered.skips)
    else:
        yield Difference("unknown", f"does not read {where}", "top_settings")


def _files(checkpoint: Checkpoint) -> Iterator[Difference]:
    index = checkpoint.index
    if index and (inner := next((shard for shard in sorted(index.shards) if "/" in shard), None)):
        says = f"reads the files of the root alone, so that {inner} is not loaded, without a warning"
        yield Difference("differs", says, "index_files")
    compared = set(checkpoint.shards or (index.shards if index else ()))
    read = {file for file in checkpoint.files if "/" not in file and file.endswith(".safetensors")}
    if not read or not compared:
        return
    if _INDEX in checkpoint.files:
        if index and not compared <= index.shards:
            says = "reads the shards of the index, which were not compared, in place of the single file"
            yield Difference("unknown", says, "index_filter")
        elif _PREDICTION in read - compared and _predicts(checkpoint):
            yield Difference("unknown", f"adds {_PREDICTION}, which the index leaves out", "prediction_file")
        return
    more = sorted(read - compared)
    if more and (more != ["consolidated.safetensors"] or _SINGLE not in compared):
        yield Difference("unknown", f"reads {more[0]}, too, since no index leaves it out", "index_absent")


def _predicts(checkpoint: Checkpoint) -> bool:
    layers = checkpoint.values.get("num_nextn_predict_layers")
    return isinstance(layers, int) and layers > 0 and class_names(checkpoint)[:1] in ([name] for name in _PREDICTING)


def _ties(checkpoint: Checkpoint, registered: Registered) -> Iterator[Difference]:
    if (head := checkpoint.head_in_place) and registered.ties:
        says = f"drops {head.first}, which is tied, and leaves {head.tied_to} random, which is not stored"
        yield Difference("differs", says, "tied", ("HF212",))
    elif "HF213" in checkpoint.codes and registered.ties:
        says = "ties the head to the embedding, and drops the one that is stored"
        yield Difference("differs", says, "tied", ("HF213",))
    elif registered.ties and (head := next(checkpoint.uncompared_heads(), None)):
        says = f"ties {head.first}, and drops the one that is stored, whose values were not compared"
        yield Difference("unknown", says, "", ("HF203",))
    elif "HF213" in checkpoint.codes:
        yield Difference("unknown", "is not known here to keep a head that the config ties", "", ("HF213",))


def _stored(checkpoint: Checkpoint, registered: Registered) -> Iterator[Difference]:
    """What the findings mean; a class's own loop passes over names, and nothing checks that every weight came."""
    for finding in checkpoint.findings:
        if finding.of_serving:
            continue
        if finding.codes <= (ELSEWHERE | of_index(checkpoint)):
            continue
        if "HF502" in finding.codes and _is_settled(checkpoint, finding):
            continue
        if finding.severity == "error":
            yield _of_error(checkpoint, registered, finding)
        elif code := next((code for code in DOUBTED if code in finding.codes), None):
            yield Difference("unknown", "is not known here to convert what transformers converts", "", (code,))
    if checkpoint.agrees is None:
        yield Difference("unknown", f"has {registered.name}, and {checkpoint.uncompared}", registered.line)
    elif not checkpoint.agrees and not checkpoint.errors:
        yield Difference("unknown", "was given a checkpoint that does not agree with its config")
    elif not registered.skips or not (checkpoint.is_plain or _is_dense_fp8(checkpoint)):
        yield Difference("unknown", f"has a loop of its own for {registered.name}, which is not recorded")


def _is_dense_fp8(checkpoint: Checkpoint) -> bool:
    """Whether every layer of a model of text is dense, and in FP8 by its config: scales then go the way of weights."""
    config = checkpoint.values.get("quantization_config")
    method = config.get("quant_method") if isinstance(config, Mapping) else None
    headless = not any(name.startswith("lm_head.weight_scale") for name in checkpoint.names())
    return method == "fp8" and headless and checkpoint.is_of_text and not checkpoint.has_experts


def _is_settled(checkpoint: Checkpoint, finding: Finding) -> bool:
    """Whether what a finding says of packed modules is known: by the list as SGLang reads it, or dropped."""
    if are_of_cache(finding.tensors) and finding.codes == {"HF502"}:
        return checkpoint.is_announced
    return _is_dense_fp8(checkpoint) and bool(finding.tensors) and all(map(is_projection, finding.tensors))


def _of_error(checkpoint: Checkpoint, registered: Registered, finding: Finding) -> Difference:
    codes, name = tuple(sorted(finding.codes)), next(iter(finding.tensors), "a tensor")
    if not _OF_FILES.isdisjoint(codes):
        return Difference("refuses", "as the findings say", "index_files", codes)
    if finding.code == "HF301" and name.endswith(_TABLES):
        return Difference("refuses", f"refuses {name} in that shape", "rows", codes)
    if may_be_mapped(checkpoint, registered):
        return Difference("unknown", f"is not known here to find {name} under another name", "", codes)
    if finding.code == "HF201":
        says = f"leaves {name} random, since nothing checks that every weight came"
        return Difference("differs" if registered.skips else "unknown", says, registered.skips, codes)
    if finding.code in ("HF202", "HF211") and registered.skips:
        return Difference("differs", f"passes over {name}", registered.skips, codes)
    return Difference("unknown", "is not known here with such a difference", "", codes)
