"""Says what SGLang makes of a checkpoint, as its source has it; what the source alone does not settle is unknown."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

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
    projections,
    reading,
    split_between,
    strings,
)
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading

if TYPE_CHECKING:
    from hfcount.verifier.loaders.engines.sglang_quantization import Settings

_TABLES = ("embed_tokens.weight", "lm_head.weight")
_INDEX, _SINGLE = "model.safetensors.index.json", "model.safetensors"
_DESCRIPTION, _BESIDE, _PREDICTION = "quant_model_description.json", "hf_quant_config.json", "mtp.safetensors"

_GPTQ = "gptq"
"""A method that it knows by what takes it over alone."""

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
    if _DESCRIPTION in checkpoint.files:
        says = f"takes {_DESCRIPTION} before all other settings, which is for NPUs, and is not known here to read it"
        yield Difference("unknown", says, "modelslim")
        return
    if (taken := _taken(checkpoint)) is None:
        yield from _unseen(checkpoint, registered)
        return
    yield from _of_method(checkpoint, facts, registered, taken)


def _taken(checkpoint: Checkpoint) -> "Settings | None":
    """The settings that it takes; None if it sees none."""
    if not checkpoint.is_announced and _BESIDE not in checkpoint.companions:
        return None
    from hfcount.verifier.loaders.engines import sglang_quantization  # few are quantised

    return sglang_quantization.chosen(checkpoint)


def _of_method(
    checkpoint: Checkpoint, facts: Engine, registered: Registered | None, taken: "Settings"
) -> Iterator[Difference]:
    from hfcount.verifier.loaders.engines import sglang_quantization  # few are quantised

    method = taken.method
    if method not in facts.methods and method != _GPTQ:
        named = f"has no quantisation method {method}" if method else "refuses settings without quant_method"
        yield Difference("refuses", named, "unknown_method")
    elif method == "fp8":
        if registered and registered.unnamed and strings(taken.values, "ignored_layers", "modules_to_not_convert"):
            says = "builds layers without names, and is not known here to match lists with them"
            yield Difference("unknown", says, registered.unnamed)
        yield from _of_fp8(checkpoint, taken.values)
    else:
        yield from sglang_quantization.differences(checkpoint, registered, taken)


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
    elif not registered.skips or not (checkpoint.is_plain or _is_dense_and_settled(checkpoint)):
        yield Difference("unknown", _unsettled(checkpoint, registered), registered.skips)


def _unsettled(checkpoint: Checkpoint, registered: Registered) -> str:
    """What is not known of a checkpoint in which nothing differs."""
    if not registered.skips or not checkpoint.is_announced:
        return f"has a loop of its own for {registered.name}, which is not recorded"
    if checkpoint.has_experts:
        return "is not known here to put quantised experts together as they are stored"
    if not checkpoint.is_of_text:
        return "is not known here to tell which parts of a tower are quantised"
    return "is not known here to load packed modules beside projections and the head"


def _is_dense_and_settled(checkpoint: Checkpoint) -> bool:
    """Whether every layer of a model of text is dense, and packed in a way that is known: scales go as weights do."""
    if not checkpoint.is_of_text or checkpoint.has_experts or (taken := _taken(checkpoint)) is None:
        return False
    if taken.method == "fp8":
        return not any(name.startswith("lm_head.weight_scale") for name in checkpoint.names())
    from hfcount.verifier.loaders.engines import sglang_quantization  # few are quantised

    return sglang_quantization.settles(checkpoint, taken)


def _is_settled(checkpoint: Checkpoint, finding: Finding) -> bool:
    """Whether what a finding says of packed modules is known: by the list as SGLang reads it, or dropped."""
    if are_of_cache(finding.tensors) and finding.codes == {"HF502"}:
        return checkpoint.is_announced
    names = finding.tensors
    are_known = bool(names) and all(is_projection(name) or name.startswith("lm_head.") for name in names)
    return are_known and _is_dense_and_settled(checkpoint)


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
