"""Lists the architectures by kind, or describes one, for `hfcount architectures`."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hfcount.architectures import families, plugins
from hfcount.errors import BrokenPlugin, UnknownArchitecture
from hfcount.mapper.class_defaults import declared, version
from hfcount.mapper.classes import HEAD
from hfcount.verifier.loaders.facts import facts, versions

FILE = Path(families.__file__).with_name("catalogue.json")

KINDS = (
    "language models",
    "multimodal language models",
    "encoder-decoders",
    "text encoders",
    "image and text",
    "vision",
    "audio",
    "time series",
    "classes of diffusers",
    "others",
    "parts of other models",
)

_INSTALLED = "Described by installed packages, not checked here"

_READ = "from source only: "
"""Prefix of a type's record if its tensors were read from source and never compared."""


def everything() -> Iterator[str]:
    """All architectures by kind, one line each: types, summary, and the judge if not transformers."""
    catalogue, usual = _catalogue(), f"transformers {version()}"
    yield f"Names and shapes were checked against {usual}, unless brackets name another library."
    for kind in KINDS:
        names = {name for name, entry in catalogue.items() if entry["kind"] == kind}
        if names:
            yield f"\n{kind.capitalize()} ({len(names):,})"
        for family in families.everyone():
            named = [type_ for type_ in family.types if type_ in names]
            if named:
                judges = dict.fromkeys(catalogue[type_]["judge"].partition(": ")[0] for type_ in named)
                others = "; ".join(judge for judge in judges if not judge.endswith(usual))
                yield f"  {', '.join(named)}: {family.summary}{f' [{others}]' if others else ''}"
    if further := plugins.types():
        yield f"\n{_INSTALLED} ({len(further):,})"
        yield from map(_plugged, further)


def _plugged(model_type: str) -> str:
    """A line about a type that an installed package describes, or about why it cannot."""
    try:
        family = families.find(model_type)
    except BrokenPlugin as error:
        return f"  {model_type}: {error}"
    assert family is not None
    return f"  {model_type}: {family.summary} [{family.package}]"


def having(text: str) -> Iterator[str]:
    """The architectures in whose line, or in the names of whose classes, all words of a text are found."""
    catalogue, words = _catalogue(), text.lower().split()
    for family in families.everyone():
        classes = " ".join(name for type_ in family.types for name in catalogue.get(type_, {}).get("classes", ()))
        line = f"{', '.join(family.types)}: {family.summary}"
        if words and all(word in f"{line} {classes}".lower() for word in words):
            yield line
    yield from (line.strip() for line in map(_plugged, plugins.types()) if all(word in line.lower() for word in words))


def one(model_type: str) -> Iterator[str]:
    """One architecture, by model_type or class: its layers, keys and source.

    Raises:
        UnknownArchitecture: there is no family for it, or the installed package that describes it cannot be used.
    """
    family = families.find(model_type)
    if family is None and HEAD.search(model_type[:200]) and (named := families.of_class(model_type[:200])):
        model_type, family = named, families.find(named)
    if family is None:
        raise UnknownArchitecture(families.unknown(model_type))
    yield f"{model_type}: {family.summary}"
    if family.package:
        yield f"  not checked here: {family.package} describes it"
        yield f"  file      {plugins.file(model_type)}"
        return
    entry = _catalogue().get(model_type, {})
    class_ = declared(model_type)
    keys = {key: _default(key, class_.keys) for key in entry.get("keys", ())}
    rows = {
        "kind": [entry.get("kind", "")],
        "classes": entry.get("classes", []),
        "layers": [", ".join(entry.get("layers", ()))],
        "keys": [f"{key}{default}" for key, default in keys.items()],
        "parts": [f"{key}: as --families {part} says" for key, part in entry.get("parts", {}).items()],
        "checked against": _judged(entry.get("judge", "")),
        "read by": list(_read_by(model_type)),
        "source": [_source(families.file(model_type).read_text())],
        "file": [f"hfcount/architectures/models/{families.file(model_type).name}"],
    }
    for name, lines in rows.items():
        for place, line in enumerate(filter(None, lines)):
            yield f"  {'' if place else name:10}{line}"


def _judged(judge: str) -> list[str]:
    """The judge of names and shapes, or that they were only read, with the source."""
    _, read, source = judge.partition(_READ)
    if not read:
        return [judge]
    return [
        "nobody: its tensors were read from the source and never compared with a built model",
        source,
    ]


def _read_by(model_type: str) -> Iterator[str]:
    """What each recorded version of transformers makes of a checkpoint of this type; nothing if none has it."""
    recorded = {release: facts(release, model_type) for release in reversed(versions())}
    for release, known in recorded.items() if any(recorded.values()) else ():
        yield f"transformers {release} {'; '.join(known.differences) if known else 'has no such type'}"


def _default(key: str, defaults: Mapping[str, Any]) -> str:
    if key not in defaults:
        return ""
    text = json.dumps(defaults[key])
    return f" = {text if len(text) <= 60 else f'{text[:57]}...'}"


def _source(text: str) -> str:
    """The comment at MODEL_TYPES, which cites the implementation."""
    above = re.search(r"((?:^#.*\n)*)^MODEL_TYPES = \([^)]*\)(?:  # (.*))?", text, re.MULTILINE)
    return " ".join(line.strip("# ") for line in (*above[1].splitlines(), above[2] or "") if line) if above else ""


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    catalogue: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return catalogue
