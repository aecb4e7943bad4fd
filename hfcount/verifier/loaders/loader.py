"""Defines a loader, the checkpoint that it is given, and its reading of that checkpoint."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.errors import HfcountError
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.mapper.quantization_config import Announcement
from hfcount.record import Record
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.finding import Finding
from hfcount.verifier.folded_names import names_of

if TYPE_CHECKING:
    from hfcount.formats.gguf.header import GgufHeader

ReadingOutcome = Literal["whole", "differs", "refuses", "foreign", "unknown"]
"""What a loader makes of a checkpoint.

whole: the same model, nothing random and nothing lost. differs: it loads, and something is random, dropped or read
otherwise. refuses: an error. foreign: the format is not for this loader. unknown: not known here.
"""

Basis = Literal["run", "read", "none"]
"""How an outcome is known: that version was run on such checkpoints, its source was read, or it is not known."""


NAMES = {"vllm": "vLLM", "sglang": "SGLang", "peft": "PEFT"}
"""How libraries call themselves, where --for has them in small letters."""

PEFT, SENTENCE_TRANSFORMERS = "0.21.2", "6.2"
"""The versions that what hfcount says of adapters, and of modules around a model, was compared with."""


def short(library: str, version: str) -> str:
    """A version without the patch; SGLang's has a meaning."""
    return version if library == "sglang" else ".".join(version.split(".")[:2])


FORMS = {
    "model": "models with a config of transformers",
    "gguf": "GGUF",
    "adapter": "adapters",
    "diffusion adapter": "adapters of diffusion models",
    "mlx adapter": "adapters of mlx-lm",
    "diffusers": "classes of diffusers",
    "mistral": "Mistral's own files",
    "open_clip": "models of open_clip",
    "timm": "models of timm",
}
"""The forms of checkpoints, as messages call them."""


class Loader(NamedTuple):
    """A library in a version."""

    library: str
    version: str

    def __str__(self) -> str:
        return f"{NAMES.get(self.library, self.library)} {short(self.library, self.version)}"

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


_OF_CONFIG = ("HF103", "HF109")
"""Findings of configs of types that hfcount describes, by which it does not know the tensors."""

Difference = tuple[ReadingOutcome, str, tuple[str, ...]]
"""What a loader makes of one thing that it does otherwise: the outcome, why, and codes of findings that say so, too."""


class Checkpoint(Record):
    """A checkpoint as far as loaders look at it.

    Args:
        form: `model` for a model with a config of transformers, else `gguf`, `adapter`, `diffusers`, `mistral`, `timm`,
            `open_clip`.
        values: config.json; empty where there is none.
        findings: the findings of its comparison with its config.
        agrees: whether it is as its config says; None if that is not known.
        blueprint: of its config; None if it could not be built.
        index: None if it has none, or it was not read.
        shards: headers of its weight files, by file; None if they were not read.
        announced: what announces a quantisation, the config's first.
        companions: the documents beside its config, by name.
        headers: of its GGUF files that hold models, by name; None of one that cannot be read.
        files: names of all its files, those in folders below included; empty if they were not listed.
        named: the file that it was asked for by; empty if it was asked for as a whole.
        beside: gives the names of the tensors in a file beside the model; None if they are not read.
    """

    form: str
    values: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    agrees: bool | None = None
    blueprint: Blueprint | None = None
    index: Index | None = None
    shards: Mapping[str, Shard] | None = None
    announced: Sequence[Announcement] = ()
    companions: Mapping[str, Any] = MappingProxyType({})
    headers: "Mapping[str, GgufHeader | None]" = MappingProxyType({})
    files: Collection[str] = ()
    named: str = ""
    beside: Callable[[str], Collection[str] | None] = lambda file: None

    @cached_property
    def model_type(self) -> str:
        """The model_type of its config; empty if that names none."""
        kind = self.values.get("model_type")
        return kind if isinstance(kind, str) else ""

    @property
    def kind(self) -> str:
        """The model_type of its config, or the architecture that describes it where the config names none."""
        if self.model_type or self.blueprint is None:
            return self.model_type
        return self.blueprint.spec.family

    @cached_property
    def class_name(self) -> str:
        """The first class that its config names; empty if that names none."""
        names = self.values.get("architectures")
        first = names[0] if isinstance(names, list) and names else None
        return first if isinstance(first, str) else ""

    def names(self) -> Iterator[str]:
        """The names of its tensors, as far as they were read."""
        if self.shards is not None:
            for file in sorted(self.shards):
                header = self.shards[file].header
                yield from header.tensors if header else ()
        elif self.index is not None:
            yield from self.index.weight_map

    def has(self, name: str) -> bool:
        """Whether a tensor of this name is stored, as far as names were read."""
        if self.shards is not None:
            return any(shard.header and name in shard.header.tensors for shard in self.shards.values())
        return self.index is not None and name in self.index.weight_map

    def copies(self, name: str) -> bool | None:
        """Whether a stored tensor is a copy of the one that the config ties it to; None if that was not compared.

        A tensor that the config does not tie, or that differs from the other, is none.
        """
        parts = (part for finding in self.findings for part in (finding, *finding.joined) if part.code == "HF203")
        about = (part for part in parts if any(name in (names_of(row) or ()) for row in part.tensors))
        return next((getattr(part, "alike", None) for part in about), False)

    @property
    def head_in_place(self) -> Leaf | None:
        """A head that is stored in place of the embedding that the config ties it to; None if there is none."""
        heads = self._stored_ties() if "HF212" in self.codes else ()
        return next((head for head in heads if not self.has(head.tied_to or "")), None)

    def uncompared_heads(self) -> Iterator[Leaf]:
        """The stored heads that the config ties, and that were not compared with the embedding."""
        return (head for head in self._stored_ties() if self.copies(head.first) is None)

    def _stored_ties(self) -> Iterator[Leaf]:
        leaves = self.blueprint.leaves if self.blueprint else ()
        heads = (leaf for leaf in leaves if leaf.component == "lm_head" and leaf.tied_to)
        return (head for head in heads if self.has(head.first))

    @cached_property
    def is_announced(self) -> bool:
        """Whether anything announces a quantisation, in whatever form."""
        keys = ("quantization_config", "compression_config", "quantization")
        text = self.values.get("text_config")
        parts = (self.values, text) if isinstance(text, Mapping) else (self.values,)
        return bool(self.announced) or any(part.get(key) is not None for part in parts for key in keys)

    @property
    def is_listed(self) -> bool:
        """Whether the names of its tensors are known."""
        return self.shards is not None or self.index is not None

    @cached_property
    def has_experts(self) -> bool:
        """Whether its config describes experts, as far as that could be read."""
        return self.blueprint is not None and self.blueprint.active != self.blueprint.total

    @property
    def is_of_text(self) -> bool:
        """Whether it has no config of a tower."""
        return {"vision_config", "audio_config"}.isdisjoint(self.values)

    @property
    def uncompared(self) -> str:
        """Why nothing of it was compared, as a sentence part whose subject is a loader."""
        read = not self.codes.isdisjoint(_OF_CONFIG)
        if self.blueprint is None and not self.errors and self.model_type and not read:
            return (
                f"was given model_type {self.model_type}, which hfcount does not describe, so that nothing was compared"
            )
        return "was given nothing that was compared"

    @property
    def is_plain(self) -> bool:
        """Whether it is neither quantised nor has experts, nor a tower."""
        return not self.announced and not self.has_experts and self.is_of_text

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """Codes of its findings that are errors, in their order."""
        errors = (finding for finding in self.findings if finding.severity == "error" and not finding.of_serving)
        return tuple(dict.fromkeys(finding.code for finding in errors))

    @cached_property
    def codes(self) -> frozenset[str]:
        """Codes of its findings."""
        return frozenset(code for finding in self.findings for code in finding.codes)


def lays_out_another(checkpoint: Checkpoint, key: str, value: Any) -> bool:
    """Whether a config with another value describes other tensors, or none; True if those of this one are not known.

    Args:
        key: its path, such as `text_config.head_dim`.
    """
    if checkpoint.blueprint is None:
        return True
    from hfcount.blueprints.build import blueprint

    outer, _, name = key.rpartition(".")
    values = dict(checkpoint.values)
    inner: dict[str, Any] = values
    for part in filter(None, outer.split(".")):
        inner[part] = dict(inner.get(part) or {})
        inner = inner[part]
    inner[name] = value
    with suppress(HfcountError):
        other = blueprint(values)
        shapes = [(leaf.name, leaf.shape) for leaf in checkpoint.blueprint.leaves]
        return shapes != [(leaf.name, leaf.shape) for leaf in other.leaves]
    return True
