"""Names the loaders of whose doings sentences tell, with the versions that were run or read.

It asks which versions are recorded, so that only the files of findings and what reports them import it.
"""

from typing import TYPE_CHECKING

from hfcount.fetcher.layout import MISTRAL_LAYOUT
from hfcount.mapper.class_defaults import diffusers_version, is_of_diffusers
from hfcount.verifier.loaders import loader, recorded
from hfcount.verifier.loaders.facts import LIBRARY, facts, versions
from hfcount.verifier.loaders.loader import Loader

if TYPE_CHECKING:
    from hfcount.verifier.comparison import Comparison

NEWEST = str(Loader(LIBRARY, versions()[-1]))
"""The newest version of transformers that is recorded."""

DIFFUSERS = str(Loader("diffusers", diffusers_version()))
VERSIONED = {"transformers": NEWEST, "diffusers": DIFFUSERS}
"""Those of the libraries that files are laid out for."""

CONVERTER = "llama.cpp's converter (llama-cpp-python 0.3.36)"
LLAMA_CPP, MLX = (str(Loader(name, recorded.versions(name)[-1])) for name in ("llama.cpp", "mlx-lm"))
PEFT = str(Loader("peft", loader.PEFT))
SENTENCE_TRANSFORMERS = str(Loader("sentence-transformers", loader.SENTENCE_TRANSFORMERS))
TORCH = "torch 2.13"


def reader_of(c: "Comparison") -> str:
    """The library whose classes read a checkpoint, with its version; empty where it is neither of the two above."""
    family = c.blueprint.spec.family
    if is_of_diffusers(family):
        return DIFFUSERS
    layout = c.weights.layout
    foreign = layout.reader != LIBRARY or layout == MISTRAL_LAYOUT or (c.packed and c.packed.scheme.foreign)
    return "" if foreign or facts(versions()[-1], family) is None else NEWEST
