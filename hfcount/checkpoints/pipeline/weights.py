"""Weight files of a part of a pipeline: plain, variants and pickled."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from hfcount.fetcher.layout import Layout
from hfcount.formats.model_index import Entry

# diffusers 0.42.1: pipelines/pipeline_loading_utils.py, variant_compatible_siblings; utils/constants.py.
_NUMBERS = r"-\d{5}-of-\d{5}"
_FILE = rf"(?:{_NUMBERS})?(?:\.(?P<variant>[A-Za-z]\w*)(?:{_NUMBERS})?)?\."
_INDEX = r"(?:\.(?P<early>\w+))?\.index(?:\.(?P<variant>\w+))?\.json"
_STEMS = {
    "diffusers": ("diffusion_pytorch_model", "diffusion_pytorch_model"),
    "transformers": ("model", "pytorch_model"),
}
"""Stems of the file names that a library loads: safetensors, and pickled."""

_FOREIGN = re.compile(r"Flax\w+|OnnxRuntimeModel|ORT\w+")


class WeightFiles(NamedTuple):
    """The weight files of a folder: file names by variant, "" for plain ones; of safetensors, and of pickles."""

    safe: Mapping[str, Sequence[str]]
    pickled: Mapping[str, Sequence[str]]

    @property
    def plain(self) -> bool:
        """Whether there are weights that are loaded without naming a variant."""
        return "" in self.safe or "" in self.pickled

    @property
    def pickled_name(self) -> str:
        """The first pickled file of those that are loaded without naming a variant, if there are such."""
        return (self.pickled.get("") or next(iter(self.pickled.values())))[0]

    @property
    def sharded(self) -> bool:
        """Whether the pickled files are several shards."""
        return len(self.pickled.get("", ())) > 1

    @property
    def only_pickled(self) -> bool:
        """Whether all of them are pickled."""
        return bool(self.pickled) and not self.safe

    def loads_pickled(self, variant: str | None) -> bool:
        """Whether pickled files are what is loaded, with a variant or, where that is None, without one."""
        return self.only_pickled or (variant is None and "" in self.pickled and "" not in self.safe)


def weight_files(entry: Entry, names: Collection[str]) -> WeightFiles:
    """The weight files among the names of a part's folder, their indexes included."""
    stems = [_STEMS[entry.library]] if entry.library in _STEMS else [*_STEMS.values()]
    safe = _by_variant(names, [stem for stem, _ in stems], "safetensors")
    return WeightFiles(safe, _by_variant(names, [stem for _, stem in stems], "bin"))


def _by_variant(names: Collection[str], stems: Collection[str], ending: str) -> dict[str, list[str]]:
    begin, by_variant = f"(?:{'|'.join(stems)})", dict[str, list[str]]()
    patterns = [re.compile(begin + _FILE + ending, re.ASCII), re.compile(rf"{begin}\.{ending}{_INDEX}", re.ASCII)]
    for name in sorted(names):
        for match in filter(None, (pattern.fullmatch(name) for pattern in patterns)):
            groups = match.groupdict()
            by_variant.setdefault(groups["variant"] or groups.get("early") or "", []).append(name)
            break
    return by_variant


def is_foreign(entry: Entry) -> bool:
    """Whether the class of a part is for weights of another kind than PyTorch's."""
    return _FOREIGN.fullmatch(entry.kind) is not None


def layout_of_variant(plain: Layout, files: WeightFiles, variant: str) -> Layout:
    """The layout of a part as a variant has it: its files carry that name."""
    listings = [name for name in files.safe.get(variant, ()) if name.endswith(".json")]
    listing = listings[0] if listings else plain.listing.replace(".json", f".{variant}.json")
    return plain._replace(single=plain.single.replace(".safetensors", f".{variant}.safetensors"), listing=listing)
