"""Says what each recorded version of transformers makes of a checkpoint, by what it made of others of the type."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.architectures import registry
from hfcount.fetcher.layout import GENERATION, WEIGHTS_KEY, names_weights
from hfcount.formats.dtypes import is_of_torch
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.keys_without_shape import is_shapeless, may_bear
from hfcount.mapper.loader_differences import TIE
from hfcount.mapper.rotary_tables import RotaryTables, kindless, rotary_forms, rotary_tables
from hfcount.text import shown
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders import built, config_values, heads
from hfcount.verifier.loaders.by_findings import by_findings, errors_of
from hfcount.verifier.loaders.config_values import ABSENT, value_at
from hfcount.verifier.loaders.facts import LIBRARY, Facts, Size, facts, versions
from hfcount.verifier.loaders.loader import Basis, Checkpoint, Difference, Loader, Reading, lays_out_another

_OF_INDEX = frozenset({"HF205"})
"""Findings of an index that does not say what its files hold."""

_UNKNOWN_CLASS = "HF109"
"""The finding of a class that neither hfcount nor the newest version knows."""

_FAILED = re.compile(r"(?P<name>\w+): (?P<error>AttributeError: '\w+' object has no attribute '(?P<attribute>\w+)')")
"""What is recorded of a class that fails on what its own code lacks, or its config."""

_STALE = "HF504"
"""The finding of a quantisation that no tensor is stored by."""

_REFUSED_BY_4 = ("HF303",)
"""Findings of what version 4 refuses, and version 5 converts."""

_REFUSED_IN_PART = ("HF201",)
"""Findings of what version 5 refuses where it joins the tensors with others that are stored, such as the experts of a
layer (5.24, core_model_loading.py: the conversion fails, or makes a tensor of another size)."""

_NEW_KEYS = frozenset({"attn_implementation", "rope_parameters"})
"""Keys of config.json that version 4 takes nothing from (4.57.1, configuration_utils.py:806)."""

_BY_NEW_DEFAULT = ("dtype", "torch_dtype")
"""Keys that version 4 looks up in torch where they are texts, and takes nothing from unless it is asked to
(4.57.1, configuration_utils.py:274 and modeling_utils.py: `torch_dtype` is None)."""

_OF_PART = ".quantization_config.quant_method"
"""The end of a key that says how a part is quantised."""

_ATTENTION = frozenset({"attn_implementation", "_attn_implementation"})
_ROTARY = frozenset({"rope_scaling", "rope_theta"})
_BY_TRUTH = frozenset({"num_labels", "tie_word_embeddings"})
"""Keys that bear on shapes, and of which version 4 takes any value."""

_OF_MODULES = ("HF80", "HF84")
"""Beginnings of codes of what sentence-transformers puts around a model, at which transformers does not look."""

_ADAPTER = "adapter_model.bin"
_DROPPED = ("HF210",)
"""Notes of what it drops, which is then lost."""


GENERATION_KEYS = frozenset(
    {
        "assistant_ensemble_weight",
        "cache_implementation",
        "compile_config",
        "do_sample",
        "early_stopping",
        "max_new_tokens",
        "num_beams",
        "num_return_sequences",
        "suppress_tokens",
        "watermarking_config",
    }
)
"""The settings of generation that are checked, besides pad_token_id, which most configs have."""


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What a recorded version makes of a checkpoint."""
    version, source = loader.version, f"{LIBRARY}-{loader.version}.json"
    kind, recorded = checkpoint.kind, facts_of(version, checkpoint)
    if recorded is None and not any(facts(other, kind) for other in versions()):
        return Reading(loader, "unknown", "has no such model_type, as far as is recorded", evidence="none")
    lacks = f"has no model_type {kind}" if recorded is None else _lacks(version, recorded, checkpoint, kind)
    if recorded is None or lacks:
        return Reading(loader, "refuses", lacks, source=source)
    if is_taken_for_another(checkpoint):
        lacks = "" if checkpoint.class_name in recorded.classes else f" and has no class {checkpoint.class_name}"
        says = f"builds a plain {kind} by its model_type{lacks}: what it makes of these tensors is not known here"
        return Reading(loader, "unknown", says, evidence="none")
    if says := _lacks_class(recorded, checkpoint):
        return Reading(loader, "unknown", says, evidence="none")
    if says := _fails(recorded, checkpoint) or _of_nested_types(version, checkpoint):
        return Reading(loader, "refuses", says, source=source)
    return _by_contents(loader, recorded, checkpoint)


def _by_contents(loader: Loader, recorded: Facts, checkpoint: Checkpoint) -> Reading:
    """What a version makes of what a config says and of what is stored, of a class that it has."""
    version, source = loader.version, f"{LIBRARY}-{loader.version}.json"
    unread = _of_settings(loader, checkpoint) if checkpoint.is_announced else None
    if unread and unread.outcome != "whole":
        refused = _as_compared(loader, recorded, checkpoint) if unread.outcome == "unknown" else unread
        return refused if refused.outcome == "refuses" else unread
    if difference := next(_differences(version, recorded, checkpoint), None):
        outcome, says, codes = difference
        basis: Basis = "none" if outcome == "unknown" else "run"
        return Reading(loader, outcome, says, codes, basis, "" if outcome == "unknown" else source)
    compared = _as_compared(loader, recorded, checkpoint)
    if unread and (compared.outcome == "unknown" or set(compared.findings) == {_STALE}):
        return unread
    return compared


def _lacks_class(recorded: Facts, checkpoint: Checkpoint) -> str:
    """What a version makes of a class that neither it nor the repo has; empty if it has the class."""
    name = checkpoint.class_name
    unknown = (
        _UNKNOWN_CLASS in checkpoint.codes and checkpoint.blueprint is None and "auto_map" not in checkpoint.values
    )
    if not (name and unknown) or name in recorded.classes:
        return ""
    return f"has no class {name}: its auto classes build one of their own by the model_type, which was not compared"


def _fails(recorded: Facts, checkpoint: Checkpoint) -> str:
    """Why a version cannot load any checkpoint of a class, whose code asks for what is not there; empty if it can."""
    failed = _FAILED.match(recorded.unknown)
    if failed and failed["name"] == checkpoint.class_name and failed["attribute"] not in checkpoint.values:
        return f"loads no {failed['name']}: {failed['error']}"
    return ""


def _of_nested_types(version: str, checkpoint: Checkpoint) -> str:
    """Why the newest version refuses a config that is not described, by the type of one nested in it."""
    if checkpoint.blueprint is not None or version != versions()[-1] or "auto_map" in checkpoint.values:
        return ""
    from hfcount.verifier.loaders import nested_types  # nearly all are described

    return next(nested_types.refusals(checkpoint.values, checkpoint.kind), "")


def is_taken_for_another(checkpoint: Checkpoint) -> bool:
    """Whether no version has the architecture that a checkpoint was compared with, but one has its model_type.

    Drafts are such: the class says that they are none of the models of their model_type, which the auto classes build;
    and layers that predict further tokens, without their model.
    """
    kind, blueprint = checkpoint.kind, checkpoint.blueprint
    if blueprint is not None and blueprint.naming.predicts:
        return True
    if blueprint is None or blueprint.spec.family == kind or "auto_map" in checkpoint.values:
        return False
    names = registry.together(kind) if registry.find(kind) else ()
    family = blueprint.spec.family
    return family not in names and not any(facts(version, family) for version in versions())


def facts_of(version: str, checkpoint: Checkpoint) -> Facts | None:
    """What is recorded of a version about the type of a checkpoint; None if it does not have the type."""
    kind = checkpoint.kind
    recorded = facts(version, kind)
    if recorded is None and not _in_auto_classes(kind):
        return _renamed(version, checkpoint, kind)
    return recorded


def _in_part(checkpoint: Checkpoint) -> bool:
    """Whether some of the tensors are stored that version 5 joins to one, and others of them are missing."""
    if checkpoint.blueprint is None or not any(finding.code == "HF201" for finding in checkpoint.findings):
        return False
    from hfcount.verifier.joined import stored_in_part  # few lack tensors

    return bool(stored_in_part(checkpoint.blueprint, checkpoint.names()))


def _as_compared(loader: Loader, recorded: Facts, checkpoint: Checkpoint) -> Reading:
    """What a version makes of a checkpoint that it reads as the newest does, by what was compared."""
    version = loader.version
    against = [finding for finding in errors_of(checkpoint) if not _is_taken(version, recorded, checkpoint, finding)]
    if unchecked := _unchecked(version, against):
        says = f"checks no types of {unchecked}, and what it makes of that is not known here"
        return Reading(loader, "unknown", says, evidence="none")
    if against:
        refused = _REFUSED_BY_4 if version.startswith("4.") else _REFUSED_IN_PART if _in_part(checkpoint) else ()
        return by_findings(loader, against, f"{LIBRARY}-{version}.json", refused)
    if checkpoint.agrees is None:
        return Reading(loader, "unknown", checkpoint.uncompared, evidence="none")
    failed = not recorded.unknown.startswith(("never loaded", "too large"))  # what this version itself would write
    if recorded.unknown and (failed or version != versions()[-1]) and not _is_saved_by(version, checkpoint):
        return Reading(loader, "unknown", f"is not known here: {recorded.unknown}", evidence="none")
    return Reading(loader, "whole", source=f"{LIBRARY}-{version}.json")


def _of_settings(loader: Loader, checkpoint: Checkpoint) -> Reading | None:
    """What a version makes of settings of a quantisation that it passes over, refuses or reads in its own way."""
    from hfcount.verifier.loaders import compressed_tensors, quantizers  # few are quantised

    if unread := next(quantizers.unread(loader.version, checkpoint), None):
        return Reading(loader, unread.outcome, unread.says, evidence="read", source=unread.line)
    if packs := next(compressed_tensors.differences(checkpoint), None):
        source = compressed_tensors.SOURCES[loader.version]
        return Reading(loader, "differs", packs, evidence="read", source=source)
    return None


def _in_auto_classes(kind: str) -> bool:
    """Whether the auto classes of any recorded version know a type; what they do not know is opened by its class."""
    return any(known.auto for version in versions() if (known := facts(version, kind)))


def _renamed(version: str, checkpoint: Checkpoint, kind: str) -> Facts | None:
    """What is recorded of the class in a version that calls its type by another name."""
    names = registry.together(kind) if registry.find(kind) else ()
    recorded = (facts(version, name) for name in names)
    return next((known for known in recorded if known and checkpoint.class_name in known.classes), None)


def _lacks(version: str, recorded: Facts, checkpoint: Checkpoint, kind: str) -> str:
    """Why a version that has a type cannot open its checkpoint by name; empty if it can."""
    if not recorded.auto and not _is_saved_by(version, checkpoint) and _in_auto_classes(kind):
        return f"opens no {kind} by its auto classes"
    name = checkpoint.class_name
    missing = name and name not in recorded.classes and _known_elsewhere(checkpoint, kind)
    return f"has no class {name}" if missing else ""


def _known_elsewhere(checkpoint: Checkpoint, kind: str) -> bool:
    others = (facts(version, kind) for version in versions())
    return any(checkpoint.class_name in other.classes for other in others if other)


def _is_saved_by(version: str, checkpoint: Checkpoint) -> bool:
    """Whether the config says that this version, patches aside, has saved it."""
    saved = checkpoint.values.get("transformers_version")
    return isinstance(saved, str) and saved.split(".")[:2] == version.split(".")[:2]


def _is_taken(version: str, recorded: Facts, checkpoint: Checkpoint, finding: Finding) -> bool:
    """Whether this version takes what the newest does not, or does not look at it."""
    if finding.code.startswith(_OF_MODULES):
        return True
    if finding.code == "HF006":  # no version reads a file that the index does not name, or beside model.safetensors
        return getattr(finding, "kind", "needed") != "needed"
    if finding.codes == _OF_INDEX and not getattr(finding, "gone", True):
        # The index says which files there are: version 5 reads all that they hold, and version 4 what is listed.
        return not version.startswith("4.") or not getattr(finding, "omitted", True)
    if finding.code in ("HF103", "HF110") and finding.key and version != versions()[-1]:
        parts = _parts(checkpoint.values, checkpoint.kind)
        if built.is_built(version, versions()[-1], parts, finding.key):
            return True
    return version.startswith("4.") and _is_taken_by_4(version, recorded, checkpoint, finding)


def _is_taken_by_4(version: str, recorded: Facts, checkpoint: Checkpoint, finding: Finding) -> bool:
    if finding.code == "HF108":  # it finds the type in the name of the folder, and a class by itself needs none
        return True
    if finding.code in ("HF001", "HF103"):
        return finding.key == TIE or _is_unread_dtype(checkpoint, finding.key)
    if finding.code == "HF110":
        key = finding.key or ""
        of_part = key.endswith(_OF_PART)  # it reads that of the whole alone (4.57.1, modeling_utils.py)
        return of_part or _is_new(key) or _is_unread(version, checkpoint, key)
    names = {leaf.name for leaf in heads.over_vocabulary(checkpoint)}
    only_heads = bool(finding.tensors) and names.issuperset(finding.tensors)
    return finding.code == "HF201" and only_heads and bool(heads.is_tied(recorded, checkpoint))


def _is_unread_dtype(checkpoint: Checkpoint, key: str | None) -> bool:
    """Whether what stands for a dtype is none that version 4 looks up in torch in vain."""
    value = checkpoint.values.get(key) if key in _BY_NEW_DEFAULT else []
    return is_of_torch(value) if isinstance(value, str) else not isinstance(value, list)


def _is_new(key: str) -> bool:
    """Whether a key, by its full path, is one that version 4 takes nothing from, or within such a one."""
    return not _NEW_KEYS.isdisjoint(key.split("."))


def _is_unread(version: str, checkpoint: Checkpoint, key: str) -> bool:
    """Whether settings of rotary positions without a kind are such as this version does not look at."""
    for at, part, kind in _parts(checkpoint.values, checkpoint.kind):
        tables, without = rotary_tables(kind, version), kindless(part, kind, older=True)
        if without and key.startswith(f"{at}{without.key}") and tables.kindless is not None:
            return not tables.refuses(without)
    return False


def _unchecked(version: str, against: Sequence[Finding]) -> str:
    """A key whose value version 5 refuses by its checks of types, which 4 does not have; empty if more is wrong."""
    keys = [finding.key or "" for finding in against if finding.code == "HF110"]
    if not version.startswith("4.") or len(keys) < len(against):
        return ""
    names = {key.rpartition(".")[2] for key in keys} - _BY_TRUTH
    return next(iter(keys), "") if all(map(is_shapeless, names)) and _ROTARY.isdisjoint(names) else ""


def _differences(version: str, recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """What this version makes otherwise than the newest, the worst first."""
    values, older = checkpoint.values, version.startswith("4.")
    yield from _of_quantisation(values, checkpoint.kind) if older else ()
    for key in config_values.refused_keys(version) & values.keys():
        yield "refuses", f"refuses a config with the key {key}, which is the name of what its class calls", ()
    if says := _of_named_weights(checkpoint):
        yield "refuses", says, ()
    for at, part, kind in _parts(values, checkpoint.kind):
        inner = recorded if not at else facts(version, kind)
        yield from _of_common_keys(version, part, kind, at)
        yield from _of_rescaling(version, part, kind, at)
        if inner is not None:
            tables = rotary_tables(kind, version)
            yield from _of_config(inner, part, at, checkpoint)
            yield from _of_rotary(inner, tables, part, kind, (at, older))
            if width := tables.odd_width(part, declared(kind).keys):
                yield "refuses", f"refuses {at}head_dim {width}: rotary positions need an even width", ()
            yield from _unnamed(inner, part, kind, at)
    for says in built.refusals(version, versions()[-1], _parts(values, checkpoint.kind)):
        yield "refuses", says, ()
    yield from _of_attention(version, values, checkpoint.kind)
    if _has_generation_settings(checkpoint):
        from hfcount.verifier.loaders import generation  # many have none

        yield from (("refuses", refusal.says, ()) for refusal in generation.refusals(version, checkpoint))
    if checkpoint.is_listed:
        yield from _of_names(recorded, checkpoint)
        yield from _without_prefix(recorded, checkpoint) if older else ()
    yield from heads.differences(recorded, checkpoint) if older else ()
    yield from heads.copies(recorded, checkpoint) if older else ()
    if dropped := checkpoint.codes.intersection(_DROPPED):
        yield "differs", "drops tensors that are stored", tuple(dropped)


def _of_rescaling(version: str, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """Weights that are changed whenever they are loaded."""
    if "rescale_prenorm_residual" in values:
        from hfcount.verifier.loaders import rescaled  # few types have the key

        yield from rescaled.differences(version, values, kind, at)


def _of_quantisation(values: Mapping[str, Any], kind: str) -> Iterator[Difference]:
    """Empty settings of a quantisation, and null, also of a part, which version 4 asks for what they are."""
    if values.get("quantization_config") == {}:
        yield "refuses", "refuses a quantization_config without quant_method", ()
    for at, part, _ in _parts(values, kind):
        if "quantization_config" in part and part["quantization_config"] is None:
            yield "refuses", f'refuses "{at}quantization_config": null', ()


def _of_common_keys(version: str, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """Values of keys that all classes read alike."""
    from hfcount.verifier.loaders import common_keys

    if not common_keys.COMMON_KEYS.isdisjoint(values):
        for key, why in common_keys.problems(version, values, declared(kind).keys, not at, kind):
            yield "refuses", f"refuses {at}{key}: {why}", ()


def _of_attention(version: str, values: Mapping[str, Any], kind: str) -> Iterator[Difference]:
    """Kernels of attention that the class, or that of a model within it, does not support."""
    parts = [(at, part) for at, part, _ in _parts(values, kind) if not _ATTENTION.isdisjoint(part)]
    if not parts:
        return
    from hfcount.verifier.loaders import attention  # few configs name one

    for key, why in attention.refusals(version, values, kind, declared(kind)):
        yield "refuses", f"refuses {key}: {why}", ()
    if unknown := next((key for at, part in parts for key in attention.nested(version, part, at)), None):
        yield "unknown", f"may obey {unknown}, and whether its class supports that is not known here", ()


def _has_generation_settings(checkpoint: Checkpoint) -> bool:
    """Whether there are settings of generation that a version may refuse, in their own file or in config.json."""
    padding = checkpoint.values.get("pad_token_id")
    odd = padding is not None and not isinstance(padding, int | float)
    return GENERATION in checkpoint.companions or odd or not GENERATION_KEYS.isdisjoint(checkpoint.values)


def _parts(values: Mapping[str, Any], kind: str, path: str = "") -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """A config and those nested in it: where each is, what it says, and its model_type."""
    yield path, values, kind
    known = declared(kind).parts
    for name, value in values.items():
        if isinstance(value, dict) and name in known:
            inner = value.get("model_type", known[name].kind)
            inner = known[name].kind if inner == kind else inner  # version 4 writes the type of all there
            if isinstance(inner, str):
                yield from _parts(value, inner, f"{path}{name}.")


def _of_config(recorded: Facts, values: Mapping[str, Any], at: str, checkpoint: Checkpoint) -> Iterator[Difference]:
    for need in recorded.needs:
        key, _, wanted = need.partition("=")
        value = value_at(values, key)
        if value is ABSENT or (value is None and not wanted):  # who wrote the key knew what goes with its value
            yield "refuses", f"needs {at}{need}", ()
    for refused in recorded.refuses:
        value = value_at(values, refused.key)
        if value is not ABSENT and refused.holds(value):
            yield "refuses", f"refuses {at}{refused.key}: {refused.error}", ()
    for key in recorded.nulls:
        if (at or not isinstance(values.get("text_config"), dict)) and key in values and values[key] is None:
            yield "refuses", f"refuses {at}{key}: null", ()
    for size in recorded.sizes:
        other = _other_size(values, size)
        # A class that does without that part takes either size.
        if other is not None and lays_out_another(checkpoint, f"{at}{size.written}", other):
            yield "refuses", f"does not read {at}{size.written}, and takes {other} for {at}{size.read}", ()


def _of_named_weights(checkpoint: Checkpoint) -> str:
    """Why the file that the config names for its weights is refused; empty if it is not, or there is no such key."""
    name, files = checkpoint.values.get(WEIGHTS_KEY), checkpoint.files
    if name is None or (name == _ADAPTER and name in files):
        return ""
    if not names_weights(name):
        return f"refuses {WEIGHTS_KEY}, which is {shown(name)} and must name a file *.safetensors, or its index"
    return f"refuses {WEIGHTS_KEY}: there is no {name}" if files and name not in files else ""


def _of_rotary(
    recorded: Facts, tables: RotaryTables, values: Mapping[str, Any], name: str, place: tuple[str, bool]
) -> Iterator[Difference]:
    """Settings of rotary positions that are refused.

    Args:
        name: the model_type.
        place: the path of the config, and whether version 4 reads it.
    """
    at, older = place
    if tables.kindless is not None and (without := kindless(values, name, older)):
        if tables.refuses(without):
            yield "refuses", f"refuses {at}{without.key}, which is {without.says}", ()
        return
    for form, kind in rotary_forms(values, declared(name).keys, older) if recorded.rotary else ():
        if kind in recorded.rotary.get(form, "").split():
            key = "rope_parameters" if form in ("rope_parameters", "nested") else "rope_scaling"
            head = " without head_dim" if form == "headless" else ""
            yield "refuses", f"refuses {at}{key} of the kind {kind} in this form{head}", ()


def _unnamed(recorded: Facts, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """Sizes under a further name that this version does not take, so that it takes their defaults."""
    known = declared(kind)
    for name in filter(known.names.__contains__, recorded.unnamed):  # what is recorded may be of a type like this
        key, value = known.names[name], values.get(name)
        usual = known.keys.get(key)
        if type(value) is int and key not in values and may_bear(name, value) and usual not in (None, value):
            yield "refuses", f"does not read {at}{name}, and takes {usual} for {at}{key}", ()


def _of_names(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    for name in checkpoint.names() if recorded.renamed else ():
        if wanted := recorded.wanted(name, checkpoint.class_name):
            yield "differs", f"looks for {wanted} in place of {name}, and leaves that random", ()
            return
    if wants := recorded.random(checkpoint.class_name):
        yield from _random(wants, checkpoint)
    yield from _dropped(recorded, checkpoint) if recorded.omits else ()


def _dropped(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """A stored tensor that the newest version reads by itself, and of which this one has none, or a tied one."""
    newest = facts(versions()[-1], checkpoint.kind) if isinstance(checkpoint.kind, str) else None
    alone = newest.random(checkpoint.class_name) if newest else ()
    for name in checkpoint.names() if alone else ():
        if name in alone and recorded.is_omitted(name, checkpoint.class_name):
            yield "differs", f"does not read {name} by itself, as the newest version does", ()
            return


def _random(wants: tuple[str, ...], checkpoint: Checkpoint) -> Iterator[Difference]:
    """Names that are wanted, in every layer where they have a number, and are not stored."""
    whole = [want for want in wants if "{}" not in want]
    for want in whole and sorted(set(whole) - {name.removeprefix("model.") for name in checkpoint.names()}):
        above = want.rsplit(".", 2)[0]  # a model of other parts has no such module
        if any(name.removeprefix("model.").startswith(f"{above}.") for name in checkpoint.names()):
            yield "differs", f"leaves {want} as it is initialised, for it is not stored", ()
    layers: dict[str, set[str]] = defaultdict(set)
    stored: dict[str, set[str]] = defaultdict(set)
    for name in checkpoint.names():
        for want in wants:
            before, _, after = want.partition("{}")
            if match := re.match(rf"(?:model\.)?{re.escape(before)}(\d+)\.", name):
                layers[want].add(match[1])
                if name[match.end() - 1 :] == after:
                    stored[want].add(match[1])
    for want in wants:
        if lacking := layers[want] - stored[want]:
            yield "differs", f"leaves {want.replace('{}', min(lacking, key=int))} random, which is not stored", ()


def _without_prefix(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """Names without the base model's own, which version 4 adds by another name, or refuses beside a head."""
    if "HF209" not in checkpoint.codes:
        return
    leaves = checkpoint.blueprint.leaves if checkpoint.blueprint else ()
    prefix, dot, _ = next((leaf.name for leaf in leaves if leaf.component == "embedding"), "").partition(".")
    if not dot or any(name.startswith(f"{prefix}.") for name in checkpoint.names()):
        return
    if any(checkpoint.has(leaf.name) for leaf in heads.over_vocabulary(checkpoint) if not leaf.tied_to):
        yield "refuses", f"refuses names of a head beside names without {prefix}.", ("HF209",)
    elif prefix == "model" != recorded.prefix:
        yield "differs", f"adds no {prefix}. to names, and leaves the model random", ("HF209",)


def _other_size(values: Mapping[str, Any], size: Size) -> Any:
    """The size that is taken in place of the one that is written; None if it is the same, or not known."""
    written, read_ = value_at(values, size.written), value_at(values, size.read)
    if written is ABSENT or (size.absent is not None and read_ is not ABSENT):
        return None
    taken = read_ if size.absent is None else size.absent
    return taken if taken is not ABSENT and taken != written else None
