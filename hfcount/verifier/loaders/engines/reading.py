"""What engines have in common: differences with their place in the source, and lists of modules as they match them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any, NamedTuple

from hfcount.errors import DocumentError
from hfcount.formats.json import parse_object
from hfcount.mapper.classes import known
from hfcount.verifier.loaders.engines.facts import Engine, Registered
from hfcount.verifier.loaders.loader import FORMS, Checkpoint, Loader, Reading, ReadingOutcome

FUSED = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
"""Modules that engines make one of, with their parts as they are stored."""

_OF_FUSED = {part: fused for fused, parts in FUSED.items() for part in parts}
_PROJECTION = (
    r"(?P<block>(?!.*(?:vis|audio)).*\.layers\.(?:\d+|\{[^}]*\})\.(?:self_attn|mlp))"
    r"\.(?P<part>[qkvo]_proj|gate_proj|up_proj|down_proj)\.(?P<leaf>\w+)"
)
"""A pattern, compiled where it is first used: few checkpoints are quantised."""

_ORDER = ("refuses", "differs", "unknown")


_CACHE_SCALES = (".kv_scale", ".q_scale", ".k_scale", ".v_scale")
"""Endings of names of scales of the cache, which engines load where they keep it so, and else drop."""

DOUBTED = ("HF209", "HF211", "HF212", "HF501", "HF502", "HF506")
"""Notes of what transformers converts or passes over when it loads, and engines may not."""

ELSEWHERE = frozenset({"HF007"})
"""Findings of what only transformers needs: a certain name of the weight file."""


class Difference(NamedTuple):
    """What an engine does otherwise than load a checkpoint whole.

    Args:
        outcome: what comes of it.
        says: a sentence part whose subject is the engine.
        rule: the rule whose line in the source says so, or a line itself.
        codes: codes of findings that say so, too.
    """

    outcome: ReadingOutcome
    says: str
    rule: str = ""
    codes: tuple[str, ...] = ()


def reading(loader: Loader, facts: Engine, differences: Iterable[Difference], sound: str) -> Reading:
    """The reading that the worst of some differences makes; whole if there are none.

    Args:
        differences: those that an engine meets first come first; no more are asked for after a refusal.
        sound: the line in the source that takes a checkpoint without any.
    """
    worst: dict[str, Difference] = {}
    for difference in differences:
        worst.setdefault(difference.outcome, difference)
        if difference.outcome == "refuses":
            break
    for outcome in _ORDER:
        if found := worst.get(outcome):
            source = facts.lines.get(found.rule, found.rule)
            return Reading(loader, found.outcome, found.says, found.codes, "read" if source else "none", source)
    return Reading(loader, "whole", evidence="read", source=facts.lines.get(sound, sound))


def of_other_form(loader: Loader, checkpoint: Checkpoint, facts: Engine, rule: str) -> Reading:
    """The reading of what is no model with a config of transformers, by the rule that lists the formats."""
    if checkpoint.form == "mistral":
        return Reading(loader, "unknown", "is not known here to read Mistral's own names", evidence="none")
    says = f"has no loader for {FORMS[checkpoint.form]}"
    return Reading(loader, "foreign", says, evidence="read", source=facts.lines[rule])


def settings_beside(checkpoint: Checkpoint, file: str) -> Mapping[str, Any] | None:
    """The object in a file beside the config; None if there is none, or no object in it."""
    document = checkpoint.companions.get(file)
    if document is None:
        return None
    try:
        return parse_object(document)
    except DocumentError:
        return None


def part_of(values: Mapping[str, Any], *path: str) -> Mapping[str, Any] | None:
    """The object at a path of keys; None if there is none."""
    for key in path:
        inner = values.get(key)
        if not isinstance(inner, Mapping):
            return None
        values = inner
    return values


def class_names(checkpoint: Checkpoint) -> list[str]:
    """The classes that a config names."""
    names = checkpoint.values.get("architectures")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def in_transformers(name: str) -> bool:
    """Whether transformers has a class of exactly this name."""
    found = known(name)
    return found is not None and found.name == name


def has_remote_code(checkpoint: Checkpoint, *, exactly: bool) -> bool:
    """Whether the config names code for AutoModel, or for any auto class of models unless `exactly`."""
    classes = checkpoint.values.get("auto_map")
    if not isinstance(classes, Mapping):
        return False
    return "AutoModel" in classes if exactly else any(str(name).startswith("AutoModel") for name in classes)


def refusal(registered: Registered | None) -> ReadingOutcome:
    """What comes of names that no module has: refused by the shared loader, unknown of a loop of its own."""
    return "refuses" if registered and registered.is_strict else "unknown"


def are_of_cache(names: Collection[str]) -> bool:
    """Whether all of these are scales of keys and values in the cache."""
    return bool(names) and all(name.endswith(_CACHE_SCALES) for name in names)


def of_index(checkpoint: Checkpoint) -> frozenset[str]:
    """Findings of what an index says besides the files: engines do not read it, and the headers are known."""
    return frozenset({"HF205", "HF401", "HF402", "HF403"}) if checkpoint.shards is not None else frozenset()


def may_be_mapped(checkpoint: Checkpoint, registered: Registered) -> bool:
    """Whether names that nothing expects may stand for those that are missing, by a mapping that is not recorded."""
    if not {"HF201", "HF202"} <= checkpoint.codes:
        return False
    findings = (finding for finding in checkpoint.findings if not finding.codes.isdisjoint(("HF201", "HF202")))
    experts = any(".experts." in name for finding in findings for name in finding.tensors[:100])
    return bool(checkpoint.announced) or registered.maps or experts


class Projections(NamedTuple):
    """The projections of a block of a layer: which are stored packed, and which dense."""

    block: str
    packed: Collection[str]
    dense: Collection[str]


def projections(checkpoint: Checkpoint, markers: Collection[str]) -> Iterator[Projections]:
    """The attention and dense feed-forward projections, block by block, as they are stored.

    Args:
        markers: last parts of names that only packed modules have, such as weight_scale.
    """
    blocks: dict[str, dict[str, bool]] = {}
    ends = ("_proj.weight", *markers)
    for name in checkpoint.names():
        if name.endswith(ends) and ".experts." not in name and (match := re.fullmatch(_PROJECTION, name)):
            parts = blocks.setdefault(match["block"], {})
            parts[match["part"]] = parts.get(match["part"], False) or match["leaf"] in markers
    for block, parts in blocks.items():
        packed = [part for part, is_packed in parts.items() if is_packed]
        yield Projections(block, packed, [part for part in parts if part not in packed])


def is_projection(name: str) -> bool:
    """Whether a name, which may be folded, is of one of those projections."""
    return re.fullmatch(_PROJECTION, name) is not None


def fused_name(block: str, part: str) -> str:
    """The module that an engine builds for a projection, of which that may be a part."""
    return f"{block}.{_OF_FUSED.get(part, part)}"


def mapped(name: str, prefixes: Mapping[str, str]) -> str:
    """A name after the mapping of prefixes by a class, one after another."""
    for prefix, new in prefixes.items():
        if name.startswith(prefix):
            name = new + name.removeprefix(prefix)
    return name


def split_between(block: str, listed: Mapping[str, bool]) -> str | None:
    """A fused module of which some parts are listed and others are not; None if there is none.

    Args:
        listed: whether each stored part is in the list.
    """
    for fused, parts in FUSED.items():
        states = {listed[part] for part in parts if part in listed}
        if len(states) > 1:
            return f"{block}.{fused}"
    return None


def by_regex(module: str, patterns: Iterable[str]) -> bool:
    """Whether a list has a module by its exact name, or by `re:` and an expression that matches from the start."""
    for pattern in patterns:
        if pattern.startswith("re:"):
            try:
                if re.match(pattern[3:], module):
                    return True
            except re.error:
                continue
        elif pattern == module:
            return True
    return False


def by_glob(module: str, patterns: Iterable[str]) -> bool:
    """Whether a list has a module by its name, a part of it, or a shell pattern."""
    return any(pattern in module or fnmatch(module, pattern) for pattern in patterns)


def by_components(module: str, entries: Iterable[str]) -> bool:
    """Whether a list has a module by components of its path that follow one another; a leading model. is optional."""
    return any(f".{entry.removeprefix('model.').rstrip('.')}." in f".{module}." for entry in entries)


def strings(values: Mapping[str, Any], *keys: str) -> list[str]:
    """The strings in the list under the first of some keys that has one that is not empty."""
    for key in keys:
        entries = values.get(key)
        if isinstance(entries, list) and entries:
            return [entry for entry in entries if isinstance(entry, str)]
    return []
