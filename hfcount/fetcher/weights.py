"""Sorts the weight files of a checkpoint: the model's, others that may be loaded, and those that are not by default."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hfcount.fetcher.interface import SHORT, TOKENIZER, TOKENS, Documents, top_level
from hfcount.fetcher.layout import (
    DIFFUSION,
    HF_LAYOUT,
    LEROBOT_LAYOUT,
    MISTRAL_LAYOUT,
    MODULES,
    OPEN_CLIP_LAYOUT,
    Layout,
    is_consolidated,
    layout_of,
)
from hfcount.fetcher.unread_files import OWN, PICKLES, kind
from hfcount.formats.index import MAX_SHARDS, Index
from hfcount.formats.json import Document
from hfcount.record import Record, made

PICKLED = (".bin", ".pt", ".pth", ".ckpt")
"""What the names of files of torch.save end in."""

# Names that transformers takes by itself for no part of the model, and why.
_APART = (
    (r"consolidated[\w.-]*", "the layout of the author's own code"),
    (r"(adapter_|pytorch_lora_weights|ip-adapter)[\w.-]*", "an adapter"),
    (r"(open_clip|diffusion)_[\w.-]*", "another library's layout"),
    (r"model\.((fp|bf|f|int|nf|q)\d+\w*|(non_)?ema|\d-?bit)(-\d+-of-\d+)?", "a variant, loaded only on request"),
    (r"(optimizer|scheduler|scaler|random_states|rng_state|training_args)[\w.-]*", "training state"),
)
_OF_OPEN_CLIP = ("open_clip_model", "open_clip_pytorch_model")
_PICKLED_PART = r"(?a)pytorch_model-\d+-of-\d+\.bin"  # compiled where it is first used, as those below
_RECORDED = (".json", ".safetensors", ".bin", ".pt", ".pth", ".gguf")  # besides those of a kind of their own
_PART = r"(?a)(.*?)(\d{1,9})([-_]of[-_])(\d{1,9})(\.\w+)"


class Weights(Record, kw_only=False):
    """The weight files of a checkpoint.

    Args:
        named: files that the index names, or that stand for the model where there is no index.
        sizes: bytes of those of `named` and `beside` that are there, None for an unknown size; None where no file is
            known.
        beside: other files of the same folder that a loader may take.
        apart: those that none takes by itself, and why.
        whole: whether a file that is not found is nowhere.
        files: names of all files that are known, those in folders below included where `listed` says so.
        index: what names the files, if it was read.
        companions: further documents, by name.
        layout: the names that their loader looks for.
        unfinished: a sentence about a download of files that are not there; empty if none was begun.
    """

    named: Collection[str] = ()
    sizes: Mapping[str, int | None] | None = None
    beside: Sequence[str] = ()
    apart: Mapping[str, str] = made(factory=dict)
    whole: bool = False
    files: Collection[str] = ()
    listed: bool = False
    index: Index | None = None
    companions: Mapping[str, Document] = made(factory=dict)
    layout: Layout = HF_LAYOUT
    unfinished: str = ""

    @property
    def usual(self) -> bool:
        """Whether transformers looks for files of these names, where they are pickled."""
        return self.index is not None or all(
            name == self.layout.pickled or re.fullmatch(_PICKLED_PART, name) for name in self.named
        )

    @property
    def absent(self) -> list[str]:
        """The files of the model that are not there."""
        if not self.whole or self.sizes is None:
            return []
        return sorted(name for name in self.named if name not in self.sizes)

    @property
    def bytes(self) -> int | None:
        """Bytes of all files of the model, headers included; None if they are not known."""
        sizes = [(self.sizes or {}).get(name) for name in self.named]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def there(self) -> list[str]:
        """The files of the model that are there or may be."""
        gone = set(self.absent)
        return sorted(name for name in self.named if name not in gone)


def _apart(others: Sequence[str], layout: Layout, indexed: bool) -> dict[str, str]:
    """Why some files that no index names are no weights of the model, by name."""
    apart = {name: why for name in others if name != layout.single and (why := set_apart(name, layout))}
    if indexed and layout.reader == "diffusers" and layout.single in others:
        apart[layout.single] = "diffusers does not read it, because there is an index"
    if layout.named:
        named = layout.listing if indexed else layout.single
        unread = f"transformers does not read it, because the config names {named}"
        apart |= dict.fromkeys((name for name in others if name != layout.single), unread)
    return apart


def weights(documents: Documents, index: Index | None) -> Weights:
    """The weight files of a checkpoint, as its index names them and its listing shows them."""
    names, named = documents.shards.names, index.shards if index else frozenset[str]()
    others = [name for name in names or () if name not in named]
    layout = documents.layout
    apart = _apart(others, layout, index is not None)
    beside = [name for name in others if name not in apart]
    if index is None and (layout.named or names is None or layout.single in names):
        named = frozenset({layout.single})
    elif index is None:
        named = frozenset(beside)
    beside = sorted(name for name in beside if name not in named)
    apart |= dict.fromkeys(_long_tokenizers(documents), "too long for a tokenizer")
    return _weights(documents, index, named, beside, apart)


def pickled_names(files: Iterable[str]) -> list[str]:
    """Those of the files of a repo that transformers looks for where there are none of safetensors."""
    names = top_level(files)
    layout = layout_of(names)
    if any(name.endswith(".safetensors") and set_apart(name, layout) is None for name in names):
        return []
    return [name for name in names if name == layout.pickled or re.fullmatch(_PICKLED_PART, name)]


def pickled_weights(documents: Documents, index: Index | None) -> Weights:
    """The pickled weight files of a checkpoint, as their index names them or as they are called.

    Where nothing has a name that transformers looks for, every other pickled file at the top may be the model.
    """
    there = [name for name in top_level(documents.files) if name.endswith(PICKLED)]
    parts = {name for name in there if re.fullmatch(_PICKLED_PART, name)}
    single = documents.layout.pickled
    if single in there and index and single not in index.shards:
        index = None  # which transformers does not read then
    named: Collection[str] = index.shards if index else {single} if single in there else parts
    named = named or {name for name in there if kind(name) in (PICKLES, OWN)}
    return _weights(documents, index, named, (), {})


def _weights(
    documents: Documents,
    index: Index | None,
    named: Collection[str],
    beside: Sequence[str],
    apart: Mapping[str, str],
) -> Weights:
    """The weight files of these names, with what is known of the checkpoint besides."""
    sizes = documents.shards.sizes([*named, *beside])
    return Weights(
        named,
        sizes,
        beside,
        apart,
        documents.shards.whole,
        documents.files if documents.sizes is None else documents.sizes,
        documents.sizes is not None,
        index,
        _companions(documents),
        documents.layout,
        "" if sizes is not None and all(name in sizes for name in named) else _unfinished(documents),
    )


def _unfinished(documents: Documents) -> str:
    """What is to be said of a download that was begun, where files are not there."""
    folder = getattr(documents.shards, "folder", None)  # only those on disk have one
    if folder is None:
        return ""
    from hfcount.fetcher.unfinished import unfinished  # most checkpoints are whole

    return unfinished(folder)


def _companions(documents: Documents) -> Mapping[str, Document]:
    """The further documents; of a model with modules its config besides, which a module may read as its own."""
    known = {documents.layout.config: documents.config} if MODULES in documents.companions else {}
    return {**known, **documents.companions}


def _long_tokenizers(documents: Documents) -> list[str]:
    """The files of a tokenizer that were too long to be read, where none was."""
    if documents.source == "folder" or not documents.sizes or not documents.companions.keys().isdisjoint(TOKENS):
        return []
    return [name for name in TOKENS if name != TOKENIZER and (documents.sizes.get(name) or 0) > SHORT]


def recorded_sizes(documents: Documents, weights: Weights) -> Mapping[str, int | None] | None:
    """What a recording says of the files of a checkpoint: bytes by name, None where a file may be elsewhere."""
    known = weights.sizes or {}
    if documents.source == "folder":
        listed = (documents.sizes or {}).items()
        return {name: size for name, size in listed if name.endswith(_RECORDED) or kind(name)} | dict(known)
    if documents.source == "cache" and not weights.whole:
        return {name: known.get(name) for name in sorted({*weights.named, *known})}
    return documents.sizes


class IncompleteSet(NamedTuple):
    """A numbered set with missing files: `numbers` of `of`."""

    names: list[str]
    numbers: list[int]
    of: int


def incomplete_sets(names: Iterable[str]) -> list[IncompleteSet]:
    """The numbered sets with missing files, such as `model-00002-of-00002` if only the first exists."""
    incomplete = []
    for (start, between, of, end), numbers in _parts(names).items():
        there, width, total = set(map(int, numbers)), len(next(iter(numbers))), int(of)
        first = 0 if 0 in there else 1
        gone = [number for number in range(first, first + min(total, MAX_SHARDS)) if number not in there]
        if gone and max(there) < first + total:
            absent = [f"{start}{number:0{width}}{between}{of}{end}" for number in gone]
            incomplete.append(IncompleteSet(absent, gone, total))
    return incomplete


def numbered(names: Iterable[str]) -> list[set[str]]:
    """Sets of files that number themselves."""
    sets = _parts(names).items()
    return [{f"{start}{number}{between}{of}{end}" for number in numbers} for (start, between, of, end), numbers in sets]


def _parts(names: Iterable[str]) -> dict[tuple[str, str, str, str], set[str]]:
    """The numbers of files that number themselves, by what stands before, between and after them."""
    sets: dict[tuple[str, str, str, str], set[str]] = {}
    for name in names:
        if match := re.fullmatch(_PART, name):
            start, number, between, of, end = match.groups()
            sets.setdefault((start, between, of, end), set()).add(number)
    return sets


_PROCESSOR = r".+_step_\d+(?:_.+)?"
"""How LeRobot calls what a step of a processor keeps (processor/pipeline.py of 0.4)."""


def set_apart(name: str, layout: Layout = HF_LAYOUT) -> str | None:
    """Why no loader of a layout takes a file by itself for a part of the model, by its name; None where one may."""
    stem = name.rpartition(".")[0]
    if layout is MISTRAL_LAYOUT and is_consolidated(name):
        return None
    if layout.reader == "diffusers":
        return _apart_of_diffusers(stem)
    if layout is LEROBOT_LAYOUT and re.fullmatch(_PROCESSOR, stem):
        return "the statistics of a processor of LeRobot"
    if layout is OPEN_CLIP_LAYOUT:
        return None if stem in _OF_OPEN_CLIP else "open_clip does not read it beside its own files"
    return next((why for pattern, why in _APART if re.fullmatch(pattern, stem)), None)


def _apart_of_diffusers(stem: str) -> str | None:
    if re.fullmatch(rf"{DIFFUSION}(-\d+-of-\d+)?", stem):
        return None
    if stem.startswith((f"{DIFFUSION}.", f"{DIFFUSION}-")):
        return "a variant, loaded only on request"
    return next((why for pattern, why in _APART if re.fullmatch(pattern, stem)), "another library's layout")
