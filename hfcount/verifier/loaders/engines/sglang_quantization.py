"""Says where SGLang finds the settings of a quantisation, which it refuses, and which modules it builds packed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.verifier.loaders.engines import list_matching as lists
from hfcount.verifier.loaders.engines.facts import Registered
from hfcount.verifier.loaders.engines.reading import (
    Difference,
    is_projection,
    part_of,
    projections,
    settings_beside,
    split_between,
    strings,
)
from hfcount.verifier.loaders.loader import Checkpoint

_BESIDE = "hf_quant_config.json"

_MARLIN_GROUPS = (-1, 32, 64, 128)
_MARLIN_KINDS = ((4, True), (8, True))
_GPTQ_KEYS = ("bits", "group_size", "sym", "desc_act")
_FP4_ALGORITHMS = ("NVFP4", "NVFP4_AWQ", "W4A16_NVFP4")
_INC_BITS, _INC_FORMATS = (2, 3, 4, 8), ("auto_round:auto_gptq", "auto_round:auto_awq")
_INC_BACKENDS = ("auto", "gptq", "gptq:marlin", "awq", "awq:marlin", "marlin")
_INC_KEYS = ("bits", "group_size", "sym")
_HEAD = "lm_head"
_PACKED = ("qweight", "weight_packed", "weight_scale", "weight_scale_inv", "weight_scale_2")
"""Last parts of names that packed modules alone have, as far as their methods are known here."""

_UNREAD = {
    "mxfp4": ("is not known here to put experts in MXFP4 together as they are stored", "mxfp4_experts"),
    "modelopt_mixed": (
        "takes the method of each module from quantized_layers, and is not known here to find all",
        "modelopt_mixed",
    ),
}
"""Methods of which some is known: what is not, and the rule that says what is."""

SETTLED = frozenset("gptq awq compressed-tensors modelopt_fp8 modelopt_fp4 auto-round".split())
"""Methods, besides FP8, whose sound checkpoints of dense classes are loaded whole."""


class Settings(NamedTuple):
    """The settings of a quantisation that SGLang takes.

    Args:
        method: its name for the method; empty if the settings give none.
        values: the object that has them.
        nested: the object around it, which has it under `quantization`; None if there is none.
    """

    method: str
    values: Mapping[str, Any]
    nested: Mapping[str, Any] | None = None


class _Form(NamedTuple):
    """How a method builds linear layers.

    Args:
        rule: the rule that says which.
        packs: whether it packs a module, by the name that SGLang gives that.
        kind: `named` if packed weights have names of their own, `shaped` if they have another shape than dense ones,
            `scaled` if only a scale is added.
        head: whether it packs the head.
        head_rule: the rule that says so.
    """

    rule: str
    packs: Callable[[str], bool]
    kind: str
    head: bool
    head_rule: str


def chosen(checkpoint: Checkpoint) -> Settings | None:
    """The settings that SGLang takes, by its order of places; None if it sees none."""
    values = checkpoint.values
    if isinstance(config := values.get("quantization_config"), Mapping):
        return _of_config(config)
    if isinstance(early := values.get("compression_config"), Mapping):
        return Settings(_named(early), early) if _named(early) else None
    if (beside := settings_beside(checkpoint, _BESIDE)) is not None:
        inner = part_of(beside, "quantization")
        method = _of_algorithm(inner or beside)
        return Settings(method, inner or beside, beside if inner else None) if method else None
    return None


def _of_config(config: Mapping[str, Any]) -> Settings:
    method = config.get("quant_method")
    inner = part_of(config, "quantization")
    if method in (None, "modelopt") and (parsed := _of_algorithm(inner or config)):
        return Settings(parsed, inner or config, config if inner else None)
    return Settings(_named(config), config)


def _named(config: Mapping[str, Any]) -> str:
    method = config.get("quant_method")
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


def differences(checkpoint: Checkpoint, registered: Registered | None, settings: Settings) -> Iterator[Difference]:
    """What a method other than FP8 refuses, and which modules it builds otherwise than they are stored."""
    rule = _RULES.get(settings.method)
    if rule is None:
        says, line = _UNREAD.get(settings.method, (f"has {settings.method}, whose modules and lists were not read", ""))
        yield Difference("unknown", says, line)
        return
    yield from rule(checkpoint, registered or Registered(name="", line=""), settings)


def settles(checkpoint: Checkpoint, settings: Settings) -> bool:
    """Whether all that a dense model of text stores packed is known here: projections, or the head."""
    if settings.method not in SETTLED or not checkpoint.is_of_text or checkpoint.has_experts:
        return False
    packed = (name for name in checkpoint.names() if name.rpartition(".")[2] in _PACKED)
    return checkpoint.is_listed and all(is_projection(name) or name.startswith(f"{_HEAD}.") for name in packed)


def _gptq(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    """GPTQ is taken by gptq_marlin alone; what that does not take is left to a method that CUDA does not have."""
    values = settings.values
    if absent := next((key for key in _GPTQ_KEYS if values.get(key) is None), None):
        yield Difference("refuses", f"needs {absent} in the settings of GPTQ", "gptq_marlin")
        return
    if (values["bits"], values["sym"]) not in _MARLIN_KINDS:
        says = f"refuses GPTQ of {values['bits']} bits with sym {str(values['sym']).lower()}"
        yield Difference("refuses", says, "gptq_marlin")
    elif values["group_size"] not in _MARLIN_GROUPS:
        yield Difference("refuses", f"refuses GPTQ in groups of {values['group_size']}", "gptq_group")
    elif values.get("checkpoint_format") == "marlin" or values.get("is_marlin_format"):
        yield Difference("refuses", "refuses GPTQ that is stored in the order of Marlin", "gptq_format")
    if values["desc_act"] and values["group_size"] != -1:
        says = "keeps one g_idx for projections that it puts together, and is not known here to find theirs alike"
        yield Difference("unknown", says, "gptq_index")
    dynamic = values.get("dynamic") or {}
    yield from _gptq_rules(checkpoint, registered, values, dynamic)
    form = _Form(
        "gptq_lists",
        lambda module: lists.dynamic_rule(module, dynamic) is not False,
        "named",
        bool(values.get("lm_head")) and lists.dynamic_rule(_HEAD, dynamic) is not False,
        "gptq_head",
    )
    yield from _modules(checkpoint, registered, form, bool(dynamic))


def _gptq_rules(
    checkpoint: Checkpoint, registered: Registered, values: Mapping[str, Any], dynamic: Mapping[str, Any]
) -> Iterator[Difference]:
    """Modules to which `dynamic` gives settings of their own."""
    for module in _built(checkpoint, registered) if dynamic else ():
        rule = lists.dynamic_rule(module, dynamic)
        if not isinstance(rule, Mapping):
            continue
        bits, sym = rule.get("bits", values["bits"]), rule.get("sym", values["sym"])
        if (bits, sym) not in _MARLIN_KINDS:
            says = f"refuses {module}, to which dynamic gives {bits} bits with sym {str(sym).lower()}"
            yield Difference("refuses", says, "gptq_rules")
            return
        if any(rule.get(key, values[key]) != values[key] for key in _GPTQ_KEYS):
            says = f"is not known here to load {module}, to which dynamic gives settings of its own"
            yield Difference("unknown", says, "gptq_rules")
            return


def _awq(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    """AWQ is taken by awq_marlin where that has a kernel, else by plain AWQ, which has no bfloat16."""
    values = settings.values
    bits, group = values.get("w_bit", values.get("bits")), values.get("q_group_size", values.get("group_size"))
    for key, value in (("bits", bits), ("group_size", group), ("zero_point", values.get("zero_point"))):
        if value is None:
            yield Difference("refuses", f"needs {key} in the settings of AWQ", "awq_keys")
            return
    if bits != 4:
        yield Difference("refuses", f"refuses AWQ of {bits} bits", "awq_bits")
    is_marlin = values.get("bits") == 4 and values.get("group_size") in _MARLIN_GROUPS and values["zero_point"] is True
    dtype = str(checkpoint.values.get("dtype", checkpoint.values.get("torch_dtype"))).removeprefix("torch.")
    if not is_marlin and dtype == "bfloat16":
        yield Difference("refuses", "refuses bfloat16 where AWQ does not fit Marlin", "method_dtype")
    if str(values.get("version", "gemm")).lower() != "gemm":
        says = f"does not read version, and is not known here to take AWQ of version {values['version']}"
        yield Difference("unknown", says, "awq_keys")
    entries = strings(values, "modules_to_not_convert")
    form = _Form(
        "awq_lists",
        lambda module: not any(entry in module for entry in entries),
        "named",
        is_marlin and bool(values.get("lm_head")) and not any(entry in _HEAD for entry in entries),
        "awq_head",
    )
    yield from _modules(checkpoint, registered, form, bool(entries))


def _compressed(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    from hfcount.verifier.loaders.engines import compressed_groups  # few are in this format

    values = settings.values
    yield from compressed_groups.of_groups(values)
    ignored, targets = strings(values, "ignore"), compressed_groups.targets(values)
    by_name = ignored not in ([], [_HEAD]) or any(target != "Linear" for target in targets)
    for stored in projections(checkpoint, _PACKED) if registered.fuses and ignored else ():
        listed = {part: lists.by_suffix(f"{stored.block}.{part}", ignored) for part in (*stored.packed, *stored.dense)}
        fused = split_between(stored.block, listed)
        if fused and fused.rpartition(".")[2] in registered.fuses and fused not in ignored:
            yield Difference("refuses", f"refuses {fused}, of which some parts are ignored", "ct_fused")
            return
    for module in _built(checkpoint, registered):
        taken = not targets or lists.is_ignored(module, ignored, registered.fuses)
        if not taken and not lists.has_target(module, targets, registered.fuses):
            yield Difference("refuses", f"refuses {module}, which no target has", "ct_target")
            return
    form = _Form(
        "ct_lists",
        lambda module: bool(targets) and not lists.is_ignored(module, ignored, registered.fuses),
        "named" if compressed_groups.renames(values) else "scaled",
        lists.by_suffix(_HEAD, targets) and not lists.by_suffix(_HEAD, ignored),
        "ct_head",
    )
    yield from _modules(checkpoint, registered, form, by_name)


def _modelopt(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    """ModelOpt in FP8 or FP4; another algorithm is left to the reader of FP8, which refuses it."""
    values, algorithm = settings.values, settings.values.get("quant_algo")
    if settings.method == "modelopt":
        yield Difference("refuses", f"refuses quant_algo {algorithm} of ModelOpt", "modelopt_fp8")
        return
    excluded = strings(values, "exclude_modules" if settings.nested is not None else "ignore")
    if settings.method == "modelopt_fp4":
        yield from _modelopt_fp4(settings)
        if settings.nested is None:
            keys = ("ignore", "modules_to_not_convert", "exclude_modules")
            excluded = strings(values, next((key for key in keys if key in values), "ignore"))
    for stored in projections(checkpoint, _PACKED):
        parts = (*stored.packed, *stored.dense)
        listed = {part: lists.by_path(f"{stored.block}.{part}", excluded) for part in parts}
        if fused := split_between(stored.block, listed):
            yield Difference("refuses", f"refuses {fused}, of which some parts are excluded", "fused")
            return
    form = _Form(
        "modelopt_lists",
        lambda module: not lists.is_excluded(module, excluded),
        "shaped" if settings.method == "modelopt_fp4" else "scaled",
        not lists.is_excluded(_HEAD, excluded),
        "modelopt_head",
    )
    yield from _modules(checkpoint, registered, form, excluded not in ([], [_HEAD]))


def _modelopt_fp4(settings: Settings) -> Iterator[Difference]:
    values, algorithm = settings.values, settings.values["quant_algo"]
    if algorithm not in _FP4_ALGORITHMS:
        yield Difference("refuses", f"refuses quant_algo {algorithm} of ModelOpt", "modelopt_fp4")
        return
    if algorithm == "NVFP4_AWQ":
        yield Difference("unknown", "is not known here to take scales before NVFP4", "modelopt_fp4")
    sizes = _group_sizes(values if settings.nested is None else {**settings.nested, **values})
    if settings.nested is not None and len(sizes) != 1:
        found = "several" if sizes else "no"
        yield Difference("refuses", f"needs one group_size, and finds {found} for {algorithm}", "modelopt_group")
    elif sizes - {16}:
        yield Difference("unknown", "is not known here to take NVFP4 in groups other than 16", "modelopt_group")


def _group_sizes(values: Mapping[str, Any]) -> set[int]:
    """The sizes of groups that settings of ModelOpt name."""
    groups = values.get("config_groups")
    objects = [values]
    for group in groups.values() if isinstance(groups, Mapping) else ():
        if isinstance(group, Mapping):
            objects += [group, *(inner for inner in group.values() if isinstance(inner, Mapping))]
    return {size for each in objects if isinstance(size := each.get("group_size"), int)}


def _auto_round(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    values = settings.values
    if absent := next((key for key in _INC_KEYS if key not in values), None):
        yield Difference("refuses", f"needs {absent} in the settings of auto-round", "inc_keys")
        return
    packing, kind = values.get("packing_format", _INC_FORMATS[0]), values.get("data_type", "int")
    backend = next((values[key] for key in ("backend", "vllm_backend", "sglang_backend") if key in values), "auto")
    checks = (
        (values["bits"] in _INC_BITS, f"refuses auto-round of {values['bits']} bits", "inc_bits"),
        (kind == "int", f"refuses data_type {kind} of auto-round", "inc_type"),
        (packing in _INC_FORMATS, f"refuses packing_format {packing} of auto-round", "inc_format"),
        (backend in _INC_BACKENDS, f"refuses backend {backend} of auto-round", "inc_backend"),
    )
    for holds, says, rule in checks:
        if not holds:
            yield Difference("refuses", says, rule)
            return
    yield from _auto_round_kernel(values, packing, backend)
    if values.get("extra_config"):
        yield Difference("unknown", "is not known here to load modules to which extra_config gives their own", "")
    blocks = values.get("block_name_to_quantize", values.get("to_quant_block_names"))
    names = blocks.split(",") if isinstance(blocks, str) else blocks
    begins = tuple(str(name) for name in names) if isinstance(names, list) else ()
    form = _Form("inc_blocks", lambda module: not begins or module.startswith(begins), "named", False, "inc_blocks")
    yield from _modules(checkpoint, registered, form, bool(begins))


def _auto_round_kernel(values: Mapping[str, Any], packing: str, backend: str) -> Iterator[Difference]:
    """Which kernel takes the packing: Marlin, or for AWQ of 4 bits a plain one."""
    bits, sym = values["bits"], values["sym"]
    by_marlin = (backend == "auto" or "marlin" in backend) and values["group_size"] in _MARLIN_GROUPS
    if "gptq" in packing or "gptq" in backend:
        if not by_marlin or (bits, sym) not in _MARLIN_KINDS:
            says = f"has no kernel for GPTQ of auto-round in {bits} bits, groups of {values['group_size']}"
            yield Difference("refuses", f"{says} and backend {backend}", "gptq_kernel")
    elif bits != 4:
        yield Difference("refuses", f"refuses AWQ of {bits} bits", "awq_bits")
    elif not by_marlin or sym:
        yield Difference("unknown", "is not known here to load AWQ of auto-round without Marlin", "awq_bits")


def _bitsandbytes(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    del checkpoint
    storage = settings.values.get("bnb_4bit_quant_storage")
    if storage not in (None, "uint8"):
        yield Difference("refuses", f"refuses bnb_4bit_quant_storage {storage}", "bitsandbytes_storage")
    elif registered.skips:
        says = "passes over the scales of bitsandbytes unless --load-format bitsandbytes is given"
        yield Difference("differs", says, "bitsandbytes_loader")
    else:
        yield Difference("unknown", "needs --load-format bitsandbytes to read the scales", "bitsandbytes_loader")


def _w8a8(checkpoint: Checkpoint, registered: Registered, settings: Settings) -> Iterator[Difference]:
    del checkpoint, registered
    stored = "int8" if settings.method == "w8a8_int8" else "FP8"
    says = f"takes weight in {stored} and weight_scale for each row, which hfcount does not compare"
    yield Difference("unknown", says, settings.method)


def _built(checkpoint: Checkpoint, registered: Registered) -> Iterator[str]:
    """The modules that it builds for the projections that are stored."""
    for stored in projections(checkpoint, _PACKED):
        parts = (*stored.packed, *stored.dense)
        yield from dict.fromkeys(lists.module(stored.block, part, registered.stacks) for part in parts)


def _modules(checkpoint: Checkpoint, registered: Registered, form: _Form, by_name: bool) -> Iterator[Difference]:
    """Modules that are stored otherwise than the method builds them.

    Args:
        by_name: whether names decide, so that they have to be given to the layers.
    """
    if by_name and (registered.unnamed or registered.renames):
        says = "builds layers without names" if registered.unnamed else "maps the names in lists"
        yield Difference("unknown", f"{says}, and is not known here to match them", registered.unnamed or form.rule)
        return
    for stored in projections(checkpoint, _PACKED):
        states = {**dict.fromkeys(stored.packed, True), **dict.fromkeys(stored.dense, False)}
        for part, is_packed in states.items():
            name = f"{stored.block}.{part}"
            if form.packs(lists.module(stored.block, part, registered.stacks)) != is_packed:
                yield _otherwise(name, is_packed, form.kind, form.rule)
                return
    yield from _head(checkpoint, form)


def _head(checkpoint: Checkpoint, form: _Form) -> Iterator[Difference]:
    is_packed = any(checkpoint.has(f"{_HEAD}.{ending}") for ending in _PACKED)
    is_stored = is_packed or checkpoint.has(f"{_HEAD}.weight")
    if is_stored and is_packed != form.head and checkpoint.values.get("tie_word_embeddings") is not True:
        yield _otherwise(_HEAD, is_packed, form.kind, form.head_rule)


def _otherwise(name: str, is_packed: bool, kind: str, rule: str) -> Difference:
    """A module that is stored packed and built dense, or the reverse."""
    if kind == "shaped":
        is_built = "dense" if is_packed else "packed"
        return Difference(
            "refuses", f"builds {name} {is_built}, and refuses its weight in the shape of the other", rule
        )
    if is_packed:
        lost = "is random" if kind == "named" else "has no scale"
        return Difference("differs", f"builds {name} dense, so that it {lost}", rule)
    if kind == "named":
        return Difference("differs", f"builds {name} packed, passes over its dense weight, and leaves it random", rule)
    return Difference("differs", f"builds {name} packed, whose scale is not stored", rule)


_RULES: Mapping[str, Callable[[Checkpoint, Registered, Settings], Iterator[Difference]]] = {
    "gptq": _gptq,
    "awq": _awq,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
    "modelopt_fp8": _modelopt,
    "modelopt_fp4": _modelopt,
    "auto-round": _auto_round,
    "bitsandbytes": _bitsandbytes,
    "w8a8_int8": _w8a8,
    "w8a8_fp8": _w8a8,
}
