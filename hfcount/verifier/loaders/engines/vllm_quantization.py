"""Says where vLLM looks for the settings of a quantisation, which it refuses, and which modules it takes for packed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.verifier.loaders.compressed_tensors import stores_dense
from hfcount.verifier.loaders.engines import other_methods
from hfcount.verifier.loaders.engines.facts import Engine, Registered
from hfcount.verifier.loaders.engines.reading import (
    Difference,
    Projections,
    by_glob,
    by_regex,
    fused_name,
    is_projection,
    mapped,
    part_of,
    projections,
    refusal,
    settings_beside,
    split_between,
    strings,
)
from hfcount.verifier.loaders.loader import Checkpoint

_NESTED = {
    "FP8": "modelopt",
    "FP8_PER_CHANNEL_PER_TOKEN": "modelopt",
    "FP8_PB_WO": "modelopt",
    "NVFP4": "modelopt_fp4",
    "MIXED_PRECISION": "modelopt_mixed",
}
"""What quant_algo of ModelOpt's nested form makes the method."""

_GPTQ_KEYS = ("bits", "group_size", "desc_act", "sym")
_GPTQ_KINDS = ((4, True), (8, True))
_NVFP4_KEYS = ("group_size", "kv_cache_quant_algo", "exclude_modules")
_ORDERS = ("group", "dynamic")
_INC_BACKENDS = ("auto", "gptq", "gptq:marlin", "awq", "awq:marlin", "marlin")
_INC_FORMATS = ("auto_round:auto_gptq", "auto_round:auto_awq", "auto_round:fp8", "auto_round:llm_compressor")
_PACKED = ("weight_scale", "weight_scale_inv", "weight_packed", "qweight", "weight_scale_2")
_SETTLED = frozenset("gptq awq fp8 compressed-tensors modelopt modelopt_fp4 auto-round inc".split())
"""Methods whose sound checkpoints of dense classes are loaded whole."""


_BY_STORAGE = {"gptq": "modules_in_block_to_quantize", "awq": "modules_to_not_convert"}
"""Methods that look into the headers for what is packed, each with the list without which they do."""


class Settings(NamedTuple):
    """The settings of a quantisation that vLLM takes, and its name for the method; empty if it takes none."""

    method: str
    values: Mapping[str, Any]
    error: Difference | None = None


def chosen(checkpoint: Checkpoint) -> Settings | None:
    """The settings that vLLM takes, by its order of places; None if it sees none."""
    values = checkpoint.values
    for part in (values, part_of(values, "text_config") or {}):
        config = part.get("quantization_config")
        if config is None and part is values:
            config = settings_beside(checkpoint, "hf_quant_config.json")
        if isinstance(config, Mapping):
            return _normalised(config)
        if isinstance(early := part.get("compression_config"), Mapping):
            return Settings(_method(early), early)
    return None


def _normalised(config: Mapping[str, Any]) -> Settings:
    producer = config.get("producer")
    inner = config.get("quantization")
    nested = inner if isinstance(inner, Mapping) else {}
    made = isinstance(producer, Mapping) and producer.get("name") == "modelopt"
    algorithm = nested.get("quant_algo") if made or "modelopt_quant_config" in nested else None
    if algorithm is None:
        return Settings(_method(config), config)
    method = _NESTED.get(str(algorithm).upper())
    if method is None:
        says = f"refuses quant_algo {algorithm} in the form that has producer"
        return Settings("", config, Difference("refuses", says, "modelopt_algorithm"))
    return Settings(method, config)


def _method(config: Mapping[str, Any]) -> str:
    method = config.get("quant_method")
    return method.lower().replace("compressed_tensors", "compressed-tensors") if isinstance(method, str) else ""


def settings(checkpoint: Checkpoint, facts: Engine, registered: Registered | None) -> Iterator[Difference]:
    """What vLLM does otherwise for the settings, and for want of them."""
    taken = chosen(checkpoint)
    if taken is None or (not taken.method and not taken.error):
        yield from _unseen(checkpoint, taken, registered)
        return
    if taken.error:
        yield taken.error
    method = _flat(taken)
    if method in facts.deprecated:
        says = f"refuses {method} without --allow-deprecated-quantization"
        yield Difference("refuses", says, "deprecated_method")
    if method not in facts.methods and method not in facts.aliases and method:
        yield Difference("refuses", f"has no quantisation method {method}", "unknown_method")
    yield from _RULES.get(method, _no_rule)(taken.values)
    if method not in _SETTLED and method in facts.methods | facts.aliases.keys():
        yield other_methods.unread(method)


def _flat(taken: Settings) -> str:
    """The method that takes over modelopt in its flat form, by quant_algo."""
    algorithm = str(taken.values.get("quant_algo", "")).upper()
    if taken.method != "modelopt" or not algorithm:
        return taken.method
    for part, method in (("MIXED", "modelopt_mixed"), ("MXFP8", "modelopt_mxfp8"), ("FP4", "modelopt_fp4")):
        if part in algorithm:
            return method
    return taken.method


def _unseen(checkpoint: Checkpoint, taken: Settings | None, registered: Registered | None) -> Iterator[Difference]:
    """Packed weights whose settings it does not see: names of no module."""
    if not checkpoint.announced:
        return
    first = checkpoint.announced[0]
    where = first.key or first.file
    rule = "settings" if taken is None else "method_absent"
    if first.file != "config.json":
        says = f"does not read {first.file} without --quantization, and refuses the packed weights"
    elif taken is None:
        says = f"does not read {where}, and refuses the packed weights"
    else:
        says = f"takes {where} without quant_method for none, and refuses the packed weights"
    yield Difference(refusal(registered), says, rule)


def _gptq(values: Mapping[str, Any]) -> Iterator[Difference]:
    if absent := [key for key in _GPTQ_KEYS if key not in values]:
        yield Difference("refuses", f"needs {absent[0]} in the settings of GPTQ", "gptq_keys")
        return
    dynamic = values.get("dynamic")
    rules = [values]
    for pattern, rule in (dynamic or {}).items() if isinstance(dynamic, Mapping) else ():
        if not str(pattern).startswith("-:") and isinstance(rule, Mapping):
            rules.append({**{key: values[key] for key in ("desc_act", "group_size")}, **rule})
    if any(rule.get("desc_act") and rule.get("group_size") != -1 for rule in rules):
        yield Difference("refuses", "refuses desc_act with groups", "gptq_order")
    if (values["bits"], values["sym"]) not in _GPTQ_KINDS:
        says = f"refuses GPTQ of {values['bits']} bits with sym {str(values['sym']).lower()}"
        yield Difference("refuses", says, "gptq_bits")


def _awq(values: Mapping[str, Any]) -> Iterator[Difference]:
    if "zero_point" not in values:
        yield Difference("refuses", "needs zero_point in the settings of AWQ", "awq_keys")
    if (bits := values.get("w_bit", values.get("bits"))) != 4:
        yield Difference("refuses", f"refuses AWQ of {bits} bits", "awq_bits")


def _fp8(values: Mapping[str, Any]) -> Iterator[Difference]:
    from hfcount.verifier.loaders.engines import fp8_blocks  # few are in FP8

    yield from fp8_blocks.of_settings(values)


def _compressed(values: Mapping[str, Any]) -> Iterator[Difference]:
    sparsity = values.get("sparsity_config")
    if isinstance(sparsity, Mapping) and sparsity.get("targets"):
        yield Difference("refuses", "refuses sparsity_config", "ct_sparsity")
    groups = values.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        order = weights.get("actorder") if isinstance(weights, Mapping) else None
        if order in _ORDERS or order is True:
            yield Difference("refuses", f"refuses actorder {str(order).lower()}", "ct_order")
    cache = values.get("kv_cache_scheme")
    if isinstance(cache, Mapping) and (cache.get("type"), cache.get("num_bits")) != ("float", 8):
        yield Difference(
            "refuses", f"refuses a cache of {cache.get('num_bits')} bits of {cache.get('type')}", "ct_cache"
        )


def _modelopt(values: Mapping[str, Any]) -> Iterator[Difference]:
    yield from other_methods.of_algorithm(values)
    inner = values.get("quantization")
    if not isinstance(inner, Mapping):
        return
    absent = [key for key in _NVFP4_KEYS if key not in inner]
    if str(inner.get("quant_algo", "")).upper() == "NVFP4" and absent:
        yield Difference("refuses", f"needs quantization.{absent[0]} for NVFP4", "modelopt_keys")


def _inc(values: Mapping[str, Any]) -> Iterator[Difference]:
    backend, packing = values.get("backend", "auto"), values.get("packing_format", _INC_FORMATS[0])
    if backend not in _INC_BACKENDS and "backend" in values and values.get("backend"):
        yield Difference("refuses", f"refuses backend {backend} of auto-round", "inc_backend")
    if packing not in _INC_FORMATS:
        yield Difference("refuses", f"refuses packing_format {packing} of auto-round", "inc_format")
    bits = values.get("bits")
    if isinstance(bits, int) and not 2 <= bits <= 8:
        yield Difference("refuses", f"refuses auto-round of {bits} bits", "inc_bits")


def _no_rule(values: Mapping[str, Any]) -> Iterator[Difference]:
    del values
    yield from ()


_RULES = {
    "gptq": _gptq,
    "awq": _awq,
    "fp8": _fp8,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "modelopt_mxfp8": _modelopt,
    "modelopt_mixed": _modelopt,
    "auto-round": _inc,
    "inc": _inc,
}


def modules(checkpoint: Checkpoint, registered: Registered) -> Iterator[Difference]:
    """Modules that the lists make packed and that are stored dense, or the reverse."""
    taken = chosen(checkpoint)
    if taken is None or not taken.method or not checkpoint.is_listed:
        return
    from hfcount.verifier.loaders.engines import fp8_blocks  # few are in FP8

    yield from fp8_blocks.of_vllm(checkpoint, _block(taken.values), taken.method)
    if checkpoint.has_experts:
        from hfcount.verifier.loaders.engines import vllm_experts  # few have experts

        yield from vllm_experts.differences(checkpoint, taken.method, taken.values, registered)
    if not checkpoint.is_of_text:
        yield Difference("unknown", "is not known here to tell which parts of a tower are quantised", registered.skips)
    if taken.method == "fp8":
        yield from _of_fp8(checkpoint, taken.values, registered)
    elif taken.method == "compressed-tensors":
        yield from _of_compressed(checkpoint, taken.values, registered)
    elif taken.method in ("modelopt", "modelopt_fp4"):
        yield from _of_modelopt(checkpoint, taken.values, registered)
    elif taken.method in ("auto-round", "inc"):
        yield from other_methods.of_auto_round(checkpoint, taken.values, registered)


def _block(values: Mapping[str, Any]) -> object:
    """Rows and columns of a block of FP8, in the settings of FP8 or in a group of compressed-tensors."""
    groups = values.get("config_groups")
    if isinstance(groups, Mapping):
        every = (part_of(groups, name, "weights") for name in groups)
        return next((weights["block_structure"] for weights in every if weights and "block_structure" in weights), None)
    return values.get("weight_block_size")


def settles(checkpoint: Checkpoint, names: Iterable[str]) -> bool:
    """Whether vLLM's own way to tell packed modules from dense is known for all of these."""
    taken = chosen(checkpoint)
    if taken is None or checkpoint.has_experts or not checkpoint.is_of_text:
        return False
    if taken.method in _BY_STORAGE:
        return not taken.values.get(_BY_STORAGE[taken.method]) and not taken.values.get("lm_head")
    heads = taken.method in ("fp8", "compressed-tensors")
    return taken.method in _SETTLED and all(is_projection(name) or (heads and "lm_head." in name) for name in names)


def _of_fp8(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> Iterator[Difference]:
    ignored = {
        mapped(entry, registered.prefixes) for entry in strings(values, "ignored_layers", "modules_to_not_convert")
    }
    if any(name.endswith("lm_head.weight_scale_inv") for name in checkpoint.names()):
        yield Difference("refuses", "never builds the head in FP8, and refuses lm_head.weight_scale_inv", "fp8_head")
    for stored in projections(checkpoint, ("weight_scale_inv", "weight_scale")):
        block = mapped(stored.block, registered.prefixes)
        listed = {
            part: f"{block}.{part}" in ignored or fused_name(block, part) in ignored
            for part in (*stored.packed, *stored.dense)
        }
        fused = split_between(block, listed)
        if fused and fused not in ignored:
            yield Difference("refuses", f"refuses {fused}, of which some parts are ignored", "fused")
            return
        if wrong := _other_form(registered, stored, listed, "exact"):
            yield wrong
            return


def _of_compressed(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> Iterator[Difference]:
    if stores_dense(checkpoint):
        yield Difference(
            "differs", "reads packed weights whatever quantization_status says, and these are dense", "ct_match"
        )
        return
    ignored = [entry if "." not in entry else mapped(entry, registered.prefixes) for entry in strings(values, "ignore")]
    general, halved = _takes_all(values), "pack" in str(values.get("format"))
    for stored in projections(checkpoint, _PACKED):
        block = mapped(stored.block, registered.prefixes)
        listed = {
            part: by_regex(fused_name(block, part), ignored) or by_regex(f"{block}.{part}", ignored)
            for part in (*stored.packed, *stored.dense)
        }
        if fused := split_between(block, listed):
            yield Difference("refuses", f"refuses {fused}, of which some parts are ignored", "ct_fused")
            return
        if general and (wrong := _other_form(registered, stored, listed, "ct_match", halved)):
            yield wrong
            return


def _takes_all(values: Mapping[str, Any]) -> bool:
    """Whether a group is for every linear layer."""
    groups = values.get("config_groups")
    listed = [part_of(groups, name) for name in groups] if isinstance(groups, Mapping) else []
    return any("Linear" in strings(group, "targets") for group in listed if group)


def _of_modelopt(checkpoint: Checkpoint, values: Mapping[str, Any], registered: Registered) -> Iterator[Difference]:
    halved = "FP4" in str((part_of(values, "quantization") or values).get("quant_algo")).upper()
    excluded = other_methods.excluded_by(values, registered)
    for stored in projections(checkpoint, _PACKED):
        block = mapped(stored.block, registered.prefixes)
        parts = (*stored.packed, *stored.dense)
        if fused := split_between(block, {part: f"{block}.{part}" in excluded for part in parts}):
            yield Difference("refuses", f"refuses {fused}, of which some parts are excluded", "fused")
            return
        listed = {part: f"{block}.{part}" in excluded or by_glob(fused_name(block, part), excluded) for part in parts}
        if wrong := _other_form(registered, stored, listed, "modelopt_excluded", halved):
            yield wrong
            return
    yield from other_methods.of_head(checkpoint, excluded, registered, halved)


_MATCHED = {
    "exact": "by full names alone",
    "ct_match": "by full names and re: alone",
    "modelopt_excluded": "by names, parts of names and patterns",
}
"""How lists are matched, by the rule that says so."""


def _other_form(
    registered: Registered, stored: Projections, listed: Mapping[str, bool], rule: str, halved: bool = False
) -> Difference | None:
    """A module that is stored otherwise than the list makes it.

    Args:
        halved: whether a packed weight has another name or shape than a dense one, which is then refused.
    """
    for part in stored.packed:
        if listed[part]:
            says = f"leaves {stored.block}.{part} out of the quantisation, and refuses its scale"
            return Difference(refusal(registered), says, "unexpected")
    for part in stored.dense:
        if not listed[part]:
            says = f"matches lists {_MATCHED[rule]}, and builds {stored.block}.{part} packed"
            if halved:
                return Difference(refusal(registered), f"{says}, which no dense weight fits", rule)
            return Difference("differs", f"{says}, whose scale is not stored", rule)
    return None
