"""Looks up what an engine's source says of loading, as tests/tools/engines.py recorded it."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from hfcount.mapper import json_lines
from hfcount.record import Record
from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.loader import Loader


class Registered(Record):
    """A class that a config may name.

    Args:
        name: the class.
        line: file and line of its registration.
        module: the engine's module; `transformers` where the engine runs the library's own.
        retired: the last version that had it, if it is gone.
        plugin: where it went, if another package has it.
        loads: `auto` by the shared loader, which refuses names that it does not know, `own` by a loop of its own.
        skips: where names are passed over that are not known.
        drops: prefixes of names that are dropped.
        prefixes: prefixes of names, each with what it is mapped to.
        maps: whether other parts of names are mapped, too.
        modules: the parts of the class.
        router: where its module builds routers that are quantised unless a list has them; empty if it builds none so.
        nextn: whether prediction layers are dropped as num_nextn_predict_layers says.
        adapters: whether it takes LoRA adapters.
        ties: whether a stored head is dropped where the config ties it.
        dense_router: where routers of experts are built without the settings of a quantisation.
        stacks: the modules that projections are put into, by a loop of its own.
        fuses: those of them whose parts lists of compressed-tensors may name.
        unnamed: where a layer is built with the settings and without its name, so that no list holds for it.
        renames: whether the names in lists are mapped before they are matched.
    """

    name: str
    line: str
    module: str = ""
    retired: str = ""
    plugin: str = ""
    loads: str = "own"
    skips: str = ""
    drops: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = {}
    maps: bool = False
    modules: frozenset[str] = frozenset()
    router: str = ""
    nextn: bool = False
    adapters: bool = False
    ties: bool = False
    dense_router: str = ""
    stacks: frozenset[str] = frozenset()
    fuses: frozenset[str] = frozenset()
    unnamed: str = ""
    renames: bool = False

    @property
    def is_there(self) -> bool:
        """Whether this version runs it."""
        return not self.retired and not self.plugin

    @property
    def is_strict(self) -> bool:
        """Whether every name that it does not know is refused, as far as its source says."""
        return self.loads == "auto" and not self.skips


class Engine(Record):
    """What holds for all classes of an engine in a version.

    Args:
        methods: the quantisation methods.
        deprecated: those that a flag has to allow.
        aliases: methods that another takes over.
        suffixes: endings of class names that stand for one another.
        half_refused: model_types that it refuses in float16.
        configs: model_types whose config class is its own.
        max_rank: the highest rank of an adapter that it takes by default.
        lines: file and line of each rule.
    """

    library: str
    version: str
    methods: frozenset[str]
    lines: Mapping[str, str]
    deprecated: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = {}
    suffixes: tuple[str, ...] = ()
    half_refused: frozenset[str] = frozenset()
    configs: frozenset[str] = frozenset()
    max_rank: int = 0

    def registered(self, name: str) -> Registered | None:
        """The class of this name; None if it is not registered and never was."""
        return _registered(self.library, self.version, name)


@cache
def engine(loader: Loader) -> Engine:
    """What is recorded of an engine."""
    values = json_lines.of_all(recorded.file(loader.library, loader.version))
    return Engine(
        library=values["library"],
        version=values["version"],
        methods=_words(values, "methods"),
        lines=values["lines"],
        deprecated=_words(values, "deprecated"),
        aliases=values.get("aliases", {}),
        suffixes=tuple(values.get("suffixes", "").split()),
        half_refused=_words(values, "half_refused"),
        configs=_words(values, "configs"),
        max_rank=values.get("max_rank", 0),
    )


def _words(values: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(values.get(key, "").split())


@lru_cache(256)
def _registered(library: str, version: str, name: str) -> Registered | None:
    row = json_lines.of_kind(recorded.file(library, version), name)
    if row is None:
        return None
    row["drops"], row["modules"] = tuple(row.get("drops", ())), frozenset(row.get("modules", ()))
    row["stacks"], row["fuses"] = _words(row, "stacks"), _words(row, "fuses")
    return Registered(name=name, **{key: value for key, value in row.items() if key in Registered._fields})
