"""Lists the architectures by kind, or describes one, for `hfcount architectures`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.architectures import families, plugins, stand_ins
from hfcount.errors import BrokenPlugin, UnknownArchitecture
from hfcount.mapper.class_defaults import declared, version
from hfcount.mapper.classes import HEAD
from hfcount.verifier.loaders import facts as recorded_facts

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

_READ = "read only: "
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
        yield from (f"  {_line(row)}" for row in _plugged())


def _recorded_line(model_type: str) -> str:
    """`recorded from transformers 5.24.0, not described (DoryForCausalLM)`."""
    known = stand_ins.stand_ins(model_type)
    return f"recorded from {next(iter(known.values())).version}, not described ({', '.join(known)})"


class _Described(NamedTuple):
    """Types that share a description; a BrokenPlugin of a type whose package cannot be used."""

    types: tuple[str, ...]
    family: families.Family | BrokenPlugin


def _described() -> Iterator[_Described]:
    """Every architecture, those of installed packages last."""
    yield from (_Described(family.types, family) for family in families.everyone())
    yield from _plugged()


def _plugged() -> Iterator[_Described]:
    """A row for each type that an installed package describes."""
    for model_type in plugins.types():
        try:
            family = families.find(model_type)
        except BrokenPlugin as error:
            yield _Described((model_type,), error)
        else:
            assert family is not None
            yield _Described((model_type,), family)


def having(text: str) -> Iterator[str]:
    """The architectures in whose line, or in the names of whose classes, all words of a text are found."""
    return map(_line, _having(text))


def _having(text: str) -> Iterator[_Described]:
    catalogue, words = _catalogue(), text.lower().split()
    for row in _described() if words else ():
        classes = " ".join(name for type_ in row.types for name in catalogue.get(type_, {}).get("classes", ()))
        if all(word in f"{_line(row)} {classes}".lower() for word in words):
            yield row


def _line(row: _Described) -> str:
    types = ", ".join(row.types)
    if isinstance(row.family, BrokenPlugin):
        return f"{types}: {row.family}"
    return f"{types}: {row.family.summary}{f' [{row.family.package}]' if row.family.package else ''}"


class TypeFacts(NamedTuple):
    """What is known of a model_type, as JSON has it.

    Args:
        keys: those of the config that bear on shapes, and `defaults` of transformers for those that have one.
        parts: the types of parts, by the key that holds their config.
        judged_by: who built such a model and was compared; None if its tensors were only read from source.
        read_by: what each recorded version of transformers makes of a checkpoint of this type.
        source: the implementation that it is from, and `file` where it is described.
        package: the installed package that describes it; None if hfcount does.
        error: why the installed package that describes it cannot be used.
    """

    model_type: str
    summary: str
    kind: str | None
    classes: list[str]
    layers: list[str]
    keys: list[str]
    defaults: dict[str, Any]
    parts: dict[str, str]
    judged_by: str | None
    read_by: list[str]
    source: str
    file: str
    package: str | None = None
    error: str | None = None


def facts_of(name: str) -> TypeFacts:
    """One type, by model_type or class; raises UnknownArchitecture if there is none."""
    return _facts(*_found(name))


def facts_of_all() -> Iterator[TypeFacts]:
    """Every type."""
    return _facts_of(_described())


def facts_having(text: str) -> Iterator[TypeFacts]:
    """The types of the architectures that `having` finds."""
    return _facts_of(_having(text))


def _facts_of(rows: Iterable[_Described]) -> Iterator[TypeFacts]:
    for row in rows:
        for model_type in row.types:
            if isinstance(row.family, BrokenPlugin):
                yield TypeFacts(model_type, "", None, [], [], [], {}, {}, None, [], "", "", error=str(row.family))
            else:
                yield _facts(model_type, row.family)


def _found(name: str) -> tuple[str, families.Family]:
    """The type and the architecture of a model_type or class; raises UnknownArchitecture if there is none."""
    family = families.find(name)
    named = "" if family else _type_of(name[:200])
    if named:
        name, family = named, families.find(named)
    if family is None:
        raise UnknownArchitecture(families.unknown(name))
    return name, family


def _type_of(name: str) -> str:
    """The model_type of a class; empty for another name, or where no family describes the class."""
    of_class = families.of_class(name) if HEAD.search(name) else ""
    return families.owner(name) or of_class


def _facts(model_type: str, family: families.Family) -> TypeFacts:
    if family.package:
        file = str(plugins.file(model_type))
        return TypeFacts(model_type, family.summary, None, [], [], [], {}, {}, None, [], "", file, family.package)
    entry = _catalogue().get(model_type, {})
    judge, known = entry.get("judge", ""), declared(model_type).keys
    path = families.file(model_type)
    return TypeFacts(
        model_type,
        family.summary,
        entry.get("kind"),
        entry.get("classes", []),
        entry.get("layers", []),
        entry.get("keys", []),
        {key: known[key] for key in entry.get("keys", ()) if key in known},
        entry.get("parts", {}),
        None if not judge or _READ in judge else judge,
        list(_read_by(model_type)),
        _source(path),
        f"hfcount/architectures/models/{path.name}",
    )


def one(model_type: str) -> Iterator[str]:
    """One architecture, by model_type or class: its layers, keys and source.

    Raises:
        UnknownArchitecture: there is no family for it, or the installed package that describes it cannot be used.
    """
    if families.find(model_type) is None and stand_ins.stand_ins(model_type):
        yield f"{model_type}: {_recorded_line(model_type)}"
        yield f"  file      hfcount/architectures/recorded/{model_type}.json"
        return
    facts = facts_of(model_type)
    yield f"{facts.model_type}: {facts.summary}"
    if facts.package:
        yield f"  not checked here: {facts.package} describes it"
        yield f"  file      {facts.file}"
        return
    rows = {
        "kind": [facts.kind or ""],
        "classes": facts.classes,
        "layers": [", ".join(facts.layers)],
        "keys": [f"{key}{_default(key, facts.defaults)}" for key in facts.keys],
        "parts": [f"{key}: as --families {part} says" for key, part in facts.parts.items()],
        "checked against": _judged(_catalogue().get(facts.model_type, {}).get("judge", "")),
        "read by": facts.read_by,
        "source": [facts.source],
        "file": [facts.file],
    }
    width = max(map(len, rows)) + 2
    for name, lines in rows.items():
        for place, line in enumerate(filter(None, lines)):
            yield f"  {'' if place else name:{width}}{line}"


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
    recorded = {release: recorded_facts.facts(release, model_type) for release in reversed(recorded_facts.versions())}
    for release, known in recorded.items() if any(recorded.values()) else ():
        yield f"transformers {release} {'; '.join(known.differences) if known else 'has no such type'}"


def _default(key: str, defaults: Mapping[str, Any]) -> str:
    if key not in defaults:
        return ""
    text = json.dumps(defaults[key])
    return f" = {text if len(text) <= 60 else f'{text[:57]}...'}"


@lru_cache(1)  # the types of a file follow each other
def _source(file: Path) -> str:
    """The comment at MODEL_TYPES of a file, which cites the implementation."""
    text = file.read_text(encoding="utf-8")
    above = re.search(r"((?:^#.*\n)*)^MODEL_TYPES = \([^)]*\)(?:  # (.*))?", text, re.MULTILINE)
    return " ".join(line.strip("# ") for line in (*above[1].splitlines(), above[2] or "") if line) if above else ""


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    catalogue: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return catalogue
