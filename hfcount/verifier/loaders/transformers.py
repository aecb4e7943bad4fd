"""Says what each recorded version of transformers makes of a checkpoint, by what it made of others of the type."""

import re
from collections.abc import Sequence

from hfcount.architectures import registry
from hfcount.formats.dtypes import is_of_torch
from hfcount.mapper.keys_without_shape import is_shapeless
from hfcount.mapper.loader_differences import TIE
from hfcount.mapper.refusals import is_refused_by_type
from hfcount.mapper.rotary_tables import kindless, rotary_tables
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders import built, heads
from hfcount.verifier.loaders.by_findings import by_findings, errors_of
from hfcount.verifier.loaders.differences import configs, differences, is_size_that_is_read
from hfcount.verifier.loaders.facts import LIBRARY, Facts, facts, versions
from hfcount.verifier.loaders.loader import Basis, Checkpoint, Loader, Reading

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

_OF_VALUES = ("HF001", "HF103", "HF110")
"""Findings of values of config.json that a version may take."""

_OF_PART = ".quantization_config.quant_method"
"""The end of a key that says how a part is quantised."""

_ROTARY = frozenset({"rope_scaling", "rope_theta"})
_BESIDE = frozenset({"rope_scaling.rope_theta", "rope_scaling.partial_rotary_factor"})
"""Settings that version 4 reads from the config alone (4.57.1, modeling_rope_utils.py)."""

_BY_TRUTH = frozenset({"num_labels", "tie_word_embeddings"})
"""Keys that bear on shapes, and of which version 4 takes any value."""

_CHECKED_BY_4 = frozenset({"id2label"})
"""Keys that bear on no shape, and of which it refuses what version 5 refuses (4.57.1, configuration_utils.py:248)."""

_OF_MODULES = ("HF80", "HF84")
"""Beginnings of codes of what sentence-transformers puts around a model, at which transformers does not look."""


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
    if difference := next(differences(version, recorded, checkpoint), None):
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
    uncounted = {finding.key for finding in errors_of(checkpoint) if finding.code == "HF001"} - {None, *_BY_NEW_DEFAULT}
    if not against and checkpoint.blueprint is None and uncounted:
        says = f"takes {min(filter(None, uncounted))}, and what it makes of that is not known here"
        return Reading(loader, "unknown", says, evidence="none")
    if unchecked := _unchecked(version, checkpoint, against):
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
    if finding.changes and is_size_that_is_read(version, checkpoint, finding.changes):
        return True
    if finding.code == "HF104" and version != versions()[-1]:
        return _is_unpadded(version, checkpoint, finding)
    if finding.codes == _OF_INDEX and not getattr(finding, "gone", True):
        # The index says which files there are: version 5 reads all that they hold, and version 4 what is listed.
        return not version.startswith("4.") or not getattr(finding, "omitted", True)
    if finding.code in _OF_VALUES and finding.key and version != versions()[-1]:
        parts = [*configs(checkpoint.values, checkpoint.kind)]
        if built.is_built(version, versions()[-1], parts, finding.key) or built.is_taken(version, parts, finding.key):
            return True
    return version.startswith("4.") and _is_taken_by_4(version, recorded, checkpoint, finding)


def _is_unpadded(version: str, checkpoint: Checkpoint, finding: Finding) -> bool:
    """Whether the only id beyond the vocabulary is one of padding, for which this version builds no row."""
    at, _, name = (finding.key or "").rpartition(".")
    kinds = [kind for path, _, kind in configs(checkpoint.values, checkpoint.kind) if path.rstrip(".") == at]
    recorded = facts(version, kinds[0]) if kinds else None
    alone = getattr(finding, "ids", "").count(" is ") == 1
    return name == "pad_token_id" and alone and recorded is not None and not recorded.padded


def _is_taken_by_4(version: str, recorded: Facts, checkpoint: Checkpoint, finding: Finding) -> bool:
    if finding.code == "HF108":  # it finds the type in the name of the folder, and a class by itself needs none
        return True
    if finding.code in ("HF001", "HF103"):
        return finding.key == TIE or _is_unread_dtype(checkpoint, finding.key)
    if finding.code == "HF110":
        key = finding.key or ""
        of_part = key.endswith(_OF_PART)  # it reads that of the whole alone (4.57.1, modeling_utils.py)
        if key.rpartition(".")[2] == TIE:  # which is read by its truth
            return checkpoint.blueprint is not None
        return of_part or _is_new(key) or _is_beside(key) or _is_unread(version, checkpoint, key)
    if finding.code == "HF201" and finding.tensors:  # what it ties, and so does not save
        name = checkpoint.class_name
        if all(recorded.is_omitted(tensor, name) for tensor in finding.tensors):
            return True
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


def _is_beside(key: str) -> bool:
    """Whether a key within rope_scaling, by its full path, is one that version 4 reads beside that alone."""
    return ".".join(key.split(".")[-2:]) in _BESIDE


def _is_unread(version: str, checkpoint: Checkpoint, key: str) -> bool:
    """Whether settings of rotary positions without a kind are such as this version does not look at."""
    for at, part, kind in configs(checkpoint.values, checkpoint.kind):
        tables, without = rotary_tables(kind, version), kindless(part, kind, older=True)
        if without and key.startswith(f"{at}{without.key}") and tables.kindless is not None:
            return not tables.refuses(without)
    return False


def _unchecked(version: str, checkpoint: Checkpoint, against: Sequence[Finding]) -> str:
    """A key whose value version 5 refuses by its checks of types, which 4 does not have; empty if more is wrong.

    Nor is it told where it is known what version 4 makes of it.
    """
    keys = [finding.key or "" for finding in against if finding.code in ("HF001", "HF110")]
    if not version.startswith("4.") or len(keys) < len(against):
        return ""
    parts = [*configs(checkpoint.values, checkpoint.kind)]
    return next(iter(keys), "") if all(_is_unchecked(version, parts, key) for key in keys) else ""


def _is_unchecked(version: str, parts: Sequence[built.Part], key: str) -> bool:
    name = key.rpartition(".")[2]
    if name in _CHECKED_BY_4 or name in _ROTARY or built.is_taken(version, parts, key) is False:
        return False
    by_type = any(
        key == f"{at}{name}" and name in values and is_refused_by_type(kind, name, values[name])
        for at, values, kind in parts
    )
    return by_type or name in _BY_TRUTH or is_shapeless(name)
