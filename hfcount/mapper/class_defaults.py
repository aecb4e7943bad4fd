"""Looks up the defaults of absent keys, as recorded of classes of transformers and diffusers.

They are recorded by tests/tools/reference.py and tests/tools/diffusers_defaults.py.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper import json_lines


class NestedConfig(NamedTuple):
    """A nested config.

    Args:
        kind: its class.
        free: whether a model_type of its own overrides that.
        absent: what it holds where the whole of it is absent.
        merged: whether it holds that, too, where single keys are absent.
    """

    kind: str
    free: bool
    absent: Mapping[str, Any]
    merged: bool = False


class Declared(NamedTuple):
    """What a configuration class declares; empty for a class that transformers does not have.

    `names` are further names of its keys, each with that key, and `aliases` the same by key. What an absent key means
    is `settled` if nothing but the class says it.
    """

    keys: Mapping[str, Any]
    names: Mapping[str, str]
    parts: Mapping[str, NestedConfig]
    aliases: Mapping[str, list[str]]
    settled: bool = False

    def default(self, names: Iterable[str]) -> tuple[str, Any] | None:
        """The first of these names that the class knows, under its own name, with its default; None if none is."""
        canonical = (self.names.get(name, name) for name in names)
        return next(((name, self.keys[name]) for name in canonical if name in self.keys), None)

    def spellings(self, names: Collection[str]) -> list[str]:
        """Further names of the keys of these names."""
        if not self.names:
            return []
        canonical = dict.fromkeys(self.names.get(name, name) for name in names)
        return [name for key in canonical for name in (key, *self.aliases.get(key, ())) if name not in names]

    def counting(self, names: Iterable[str]) -> list[str]:
        """Of these names of one key, in the order of a config, the one that the class takes; none if it knows none.

        Another name than its own is set after its own, and so the last one counts.
        """
        given = list(names)
        return [name for name in given if name in self.names][-1:] or [name for name in given if name in self.keys][:1]

    def part(self, name: str, values: Mapping[str, Any] | None) -> NestedConfig:
        """The nested config `name`, with its class; `values` is what is written there, None if it is absent."""
        nested = self.parts.get(name, NestedConfig("", True, {}))
        model_type = (values or {}).get("model_type")
        return nested._replace(kind=model_type) if nested.free and isinstance(model_type, str) else nested


_NOTHING = Declared({}, {}, {}, {})


@lru_cache(256)
def declared(kind: str) -> Declared:
    """What the class of a model_type declares, or the class of that name."""
    row = json_lines.of_kind(_file(), kind)
    if row is None and kind[:1].isupper():  # as the names of classes begin
        keys = json_lines.of_kind(_diffusers(), kind)
        return _NOTHING if keys is None else Declared(keys["keys"], {}, {}, {}, settled=True)
    if row is None:
        return _NOTHING
    parts = {name: NestedConfig(*part) for name, part in row.get("parts", {}).items()}
    names, aliases = row.get("names", {}), dict[str, list[str]]()
    for name, key in names.items():
        aliases.setdefault(key, []).append(name)
    return Declared(row.get("keys", {}), names, parts, aliases)


def declares(kind: str, name: str) -> bool:
    """Whether the class of a model_type, or of that name, declares or saves a key of this name."""
    known = declared(kind)
    if known is _NOTHING:
        return False
    return name in known.keys or name in known.names or name in known.parts or name in _further(kind)


@lru_cache(64)
def _further(kind: str) -> frozenset[str]:
    """What a class declares beside the keys that its absent ones are read by."""
    names = _names()
    return frozenset(f"{names['*']} {names.get(kind, '')}".split())


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = json.loads((Path(__file__).parent / "declared.json").read_bytes())
    return names


@lru_cache(256)
def knows(model_type: str) -> bool:
    """Whether transformers has this model_type."""
    return f"\n{json.dumps(model_type)}: ".encode() in _file()


def wholes(kind: str) -> list[str]:
    """The model_types of transformers whose configs hold one of this type by default."""
    every = (line.split(b'"', 2) for line in _file().splitlines() if b'["' + kind.encode() + b'",' in line)
    return sorted(parts[1].decode() for parts in every)


@lru_cache(256)
def is_of_diffusers(kind: str) -> bool:
    """Whether diffusers has a model class of this name."""
    return f"\n{json.dumps(kind)}: ".encode() in _diffusers()


@cache
def diffusers_version() -> str:
    """The version of diffusers that the defaults of its classes are from."""
    return _diffusers().split(b'"', 4)[3].decode()


@cache
def version() -> str:
    """The version of transformers that the defaults are from."""
    return _file().split(b'"', 4)[3].decode()


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "reference.json").read_bytes()


@cache
def _diffusers() -> bytes:
    return (Path(__file__).parent / "diffusers.json").read_bytes()
