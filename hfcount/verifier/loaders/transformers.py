"""Says what each recorded version of transformers makes of a checkpoint, by what it made of others of the type."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hfcount.mapper.class_defaults import declared
from hfcount.mapper.loader_differences import OLDER
from hfcount.verifier.loaders.facts import LIBRARY, Facts, Size, facts, versions
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading, ReadingOutcome

if TYPE_CHECKING:
    from hfcount.verifier.loaders.quantizers import Unread

_REFUSED = frozenset("HF001 HF002 HF003 HF004 HF005 HF007 HF101 HF103 HF107 HF109 HF110 HF301 HF706".split())
"""Findings of what transformers refuses to load; with others it fills or drops tensors, and warns."""

_ABSENT = object()

_Difference = tuple[ReadingOutcome, str, tuple[str, ...]]


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What a recorded version makes of a checkpoint."""
    version, source = loader.version, f"{LIBRARY}-{loader.version}.json"
    if checkpoint.form != "model":
        return Reading(loader, "foreign", f"is not for {checkpoint.form}", evidence="none")
    recorded = facts(version, checkpoint.model_type)
    if recorded is None:
        if any(facts(other, checkpoint.model_type) for other in versions()):
            return Reading(loader, "refuses", f"has no model_type {checkpoint.model_type}", source=source)
        return Reading(loader, "unknown", "has no such model_type, as far as is recorded", evidence="none")
    class_name = checkpoint.class_name
    if class_name and class_name not in recorded.classes and _known_elsewhere(checkpoint):
        return Reading(loader, "refuses", f"has no class {class_name}", source=source)
    if unread := _unread_settings(version, checkpoint):
        return Reading(loader, unread.outcome, unread.says, evidence="read", source=unread.line)
    difference = next(_differences(version, recorded, checkpoint), None)
    if difference:
        outcome, says, codes = difference
        return Reading(loader, outcome, says, codes, source=source)
    if checkpoint.agrees is None:
        return Reading(loader, "unknown", "was given nothing that was compared", evidence="none")
    if not checkpoint.agrees:
        return _by_findings(loader, checkpoint)
    if recorded.unknown and version != versions()[-1]:
        return Reading(loader, "unknown", f"is not known here: {recorded.unknown}", evidence="none")
    return Reading(loader, "whole", source=source)


def _unread_settings(version: str, checkpoint: Checkpoint) -> "Unread | None":
    if not checkpoint.announced and not checkpoint.values.get("quantization_config"):
        return None
    from hfcount.verifier.loaders.quantizers import unread  # few checkpoints are quantised

    return next(unread(version, checkpoint), None)


def _by_findings(loader: Loader, checkpoint: Checkpoint) -> Reading:
    errors = [finding for finding in checkpoint.findings if finding.severity == "error"]
    codes = tuple(dict.fromkeys(finding.code for finding in errors))
    refused = not _REFUSED.isdisjoint(codes)
    return Reading(loader, "refuses" if refused else "differs", "as the findings say", codes)


def _known_elsewhere(checkpoint: Checkpoint) -> bool:
    others = (facts(version, checkpoint.model_type) for version in versions())
    return any(checkpoint.class_name in other.classes for other in others if other)


def _differences(version: str, recorded: Facts, checkpoint: Checkpoint) -> Iterator[_Difference]:
    """What this version makes otherwise than the newest, the worst first."""
    values, older = checkpoint.values, version.startswith("4.")
    if older and "quantization_config" in values and values["quantization_config"] is None:
        yield "refuses", 'refuses "quantization_config": null', ()
    for at, part, kind in _parts(values, checkpoint.model_type):
        inner = recorded if not at else facts(version, kind)
        if inner is not None:
            yield from _of_config(inner, part, at)
    if checkpoint.is_listed and recorded.renamed:
        yield from _of_names(recorded, checkpoint)
    if older:
        yield from _ties(checkpoint)


def _parts(values: Mapping[str, Any], kind: str, path: str = "") -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """A config and those nested in it: where each is, what it says, and its model_type."""
    yield path, values, kind
    known = declared(kind).parts
    for name, value in values.items():
        if isinstance(value, dict) and name in known:
            inner = value.get("model_type", known[name].kind)
            if isinstance(inner, str):
                yield from _parts(value, inner, f"{path}{name}.")


def _of_config(recorded: Facts, values: Mapping[str, Any], at: str) -> Iterator[_Difference]:
    for need in recorded.needs:
        key, _, wanted = need.partition("=")
        value = _value(values, key)
        if value is None or value is _ABSENT or (wanted and str(value) != wanted):
            yield "refuses", f"needs {at}{need}", ()
    for refused in recorded.refuses:
        value = _value(values, refused.key)
        if value is not _ABSENT and refused.holds(value):
            yield "refuses", f"refuses {at}{refused.key}: {refused.error}", ()
    for size in recorded.sizes:
        if (other := _other_size(values, size)) is not None:
            says = f"does not read {at}{size.written}, and takes {other} for {at}{size.read}"
            yield "refuses", says, ()


def _of_names(recorded: Facts, checkpoint: Checkpoint) -> Iterator[_Difference]:
    for name in checkpoint.names():
        if wanted := recorded.wanted(name, checkpoint.class_name):
            yield "differs", f"looks for {wanted} in place of {name}, and leaves that random", ()
            return


def _ties(checkpoint: Checkpoint) -> Iterator[_Difference]:
    blueprint, codes = checkpoint.blueprint, checkpoint.codes
    if "HF213" in codes:
        yield "differs", "ties the head to the embedding, and drops the one that is stored", ("HF213",)
    if "HF112" in codes and blueprint and any(tie.reader == OLDER for tie in blueprint.ties_otherwise):
        yield "differs", "ties the head otherwise", ("HF112",)


def _other_size(values: Mapping[str, Any], size: Size) -> Any:
    """The size that is taken in place of the one that is written; None if it is the same, or not known."""
    written = _value(values, size.written)
    if written is _ABSENT or _value(values, size.read) is not _ABSENT or size.absent is None:
        return None
    return size.absent if size.absent != written else None


def _value(values: Mapping[str, Any], key: str) -> Any:
    """The value of a key by its full path; _ABSENT if it is not there."""
    value: Any = values
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value
