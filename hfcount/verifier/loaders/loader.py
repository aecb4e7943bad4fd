"""Defines a loader, the checkpoint that it is given, and its reading of that checkpoint."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats.gguf.header import GgufHeader
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.mapper.quantization_config import Announcement
from hfcount.verifier.finding import Finding

ReadingOutcome = Literal["whole", "differs", "refuses", "foreign", "unknown"]
"""What a loader makes of a checkpoint.

whole: the same model, nothing random and nothing lost. differs: it loads, and something is random, dropped or read
otherwise. refuses: an error. foreign: the format is not for this loader. unknown: not known here.
"""

Basis = Literal["run", "read", "none"]
"""How an outcome is known: that version was run on such checkpoints, its source was read, or it is not known."""


class Loader(NamedTuple):
    """A library in a version."""

    library: str
    version: str

    def __str__(self) -> str:
        return f"{self.library} {'.'.join(self.version.split('.')[:2])}"

    @property
    def label(self) -> str:
        """As --for takes it."""
        return f"{self.library}@{self.version}"


class Reading(NamedTuple):
    """What one loader makes of a checkpoint.

    Args:
        loader: who reads it.
        outcome: the result.
        says: why, as a sentence part whose subject is the loader; empty if the checkpoint is whole.
        findings: codes of the findings of the same checkpoint that say why, too.
        evidence: how it is known.
        source: the recorded file, or file and line of the library's source.
        home: whether the checkpoint is made for this loader; the verdict is that of the home loaders.
    """

    loader: Loader
    outcome: ReadingOutcome
    says: str = ""
    findings: tuple[str, ...] = ()
    evidence: Basis = "run"
    source: str = ""
    home: bool = False


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as far as loaders look at it.

    Args:
        form: `model` for a model of transformers, else `diffusers`, `timm` or another library's, `gguf`, `adapter`.
        values: config.json; empty where there is none.
        findings: the findings of its comparison with its config.
        agrees: whether it is as its config says; None if that is not known.
        blueprint: of its config; None if it could not be built.
        index: None if it has none, or it was not read.
        shards: headers of its weight files, by file; None if they were not read.
        announced: what announces a quantisation, the config's first.
        companions: names of the documents beside its config.
        headers: of its GGUF files that hold models, by name; None of one that cannot be read.
        files: paths of what lies beside its config, as far as they are known.
    """

    form: str
    values: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    agrees: bool | None = None
    blueprint: Blueprint | None = None
    index: Index | None = None
    shards: Mapping[str, Shard] | None = None
    announced: Sequence[Announcement] = ()
    companions: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, GgufHeader | None] = field(default_factory=dict)
    files: Collection[str] = ()

    @cached_property
    def model_type(self) -> str:
        """The model_type of its config; empty if that names none."""
        kind = self.values.get("model_type")
        return kind if isinstance(kind, str) else ""

    @cached_property
    def class_name(self) -> str:
        """The first class that its config names; empty if that names none."""
        names = self.values.get("architectures")
        first = names[0] if isinstance(names, list) and names else None
        return first if isinstance(first, str) else ""

    def names(self) -> Iterator[str]:
        """The names of its tensors, as far as they were read."""
        if self.shards is not None:
            for shard in self.shards.values():
                yield from shard.header.tensors if shard.header else ()
        elif self.index is not None:
            yield from self.index.weight_map

    @property
    def is_listed(self) -> bool:
        """Whether the names of its tensors are known."""
        return self.shards is not None or self.index is not None

    @cached_property
    def codes(self) -> frozenset[str]:
        """Codes of its findings."""
        return frozenset(code for finding in self.findings for code in finding.codes)
