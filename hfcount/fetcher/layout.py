"""The file names of a checkpoint, by the library that reads it."""

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hfcount.formats.json import Document

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
HEADERS = "headers.json"
ADAPTER = "adapter_config.json"
MODULES = "modules.json"
BIN_SINGLE = "pytorch_model.bin"
BIN_INDEX = "pytorch_model.bin.index.json"

GENERATION = "generation_config.json"
CHAT_TEMPLATE = "chat_template.jinja"
PARAMS = "params.json"
MODEL_INDEX = "model_index.json"
DIFFUSION = "diffusion_pytorch_model"
OPEN_CLIP = "open_clip_config.json"
DIFFUSION_LORA = "pytorch_lora_weights.safetensors"

WEIGHTS_KEY = "transformers_weights"
"""The key by which a config names its weights, or the index of them, itself."""
WEIGHTS_END, LISTING_END = ".safetensors", ".safetensors.index.json"


_OF_MODELS = r"(model|adapter_model|consolidated|open_clip_\w+|diffusion_pytorch_model)\b|\w+-\d+-of-\d+\."


BESIDE_CONFIG = frozenset(
    f"{MODEL_INDEX} {ADAPTER} {MODULES} {PARAMS} {OPEN_CLIP} {INDEX} {BIN_INDEX} trainer_state.json tokenizer.json"
    " tokenizer_config.json tokenizer.model special_tokens_map.json added_tokens.json vocab.json vocab.txt merges.txt"
    " chat_template.jinja generation_config.json preprocessor_config.json processor_config.json quantize_config.json"
    " hf_quant_config.json README.md config_sentence_transformers.json sentence_bert_config.json".split()
)
"""Files of a checkpoint that stand for the folder that they are in."""


class Layout(NamedTuple):
    """The files of a checkpoint: its config, its weights if they are one file, and the index if they are several.

    `reader` is the library that looks for them, and `pickled` the weights of earlier versions. `named` says that the
    config itself names the weights or the index, so that nothing else is looked for.
    """

    config: str
    single: str
    listing: str
    reader: str = "transformers"
    pickled: str = BIN_SINGLE
    named: bool = False


HF_LAYOUT = Layout(CONFIG, SINGLE, INDEX)
MISTRAL_LAYOUT = Layout(PARAMS, "consolidated.safetensors", "consolidated.safetensors.index.json")
MODULES_LAYOUT = Layout(MODULES, SINGLE, INDEX)
"""A model of sentence-transformers at whose root there is no model of transformers."""

DIFFUSERS_LAYOUT = Layout(
    CONFIG, f"{DIFFUSION}.safetensors", f"{DIFFUSION}.safetensors.index.json", "diffusers", f"{DIFFUSION}.bin"
)
PIPELINE_LAYOUT = DIFFUSERS_LAYOUT._replace(config=MODEL_INDEX)
"""A pipeline of diffusers: its index of parts. What lies beside that belongs to no part."""
OPEN_CLIP_LAYOUT = Layout(
    OPEN_CLIP,
    "open_clip_model.safetensors",
    "open_clip_model.safetensors.index.json",
    "open_clip",
    "open_clip_pytorch_model.bin",
)
OPEN_CLIP_OLD = "open_clip_pytorch_model.safetensors"
"""What open_clip also takes for its one file, from a folder."""

LEROBOT_LAYOUT = Layout(CONFIG, SINGLE, INDEX, "lerobot")


def layout_of(names: Collection[str]) -> Layout:
    """The layout of a checkpoint with these files."""
    if MODEL_INDEX in names:
        return PIPELINE_LAYOUT
    if CONFIG in names and INDEX not in names and any(name.startswith(f"{DIFFUSION}.") for name in names):
        return DIFFUSERS_LAYOUT
    if CONFIG not in names and OPEN_CLIP in names:
        return OPEN_CLIP_LAYOUT
    if MODULES in names and CONFIG not in names and ADAPTER not in names:
        return MODULES_LAYOUT
    stored = HEADERS in names or any(map(is_consolidated, names))  # a recording has no weights
    native = CONFIG not in names and PARAMS in names and stored
    return MISTRAL_LAYOUT if native else HF_LAYOUT


def names_weights(name: Any) -> bool:
    """Whether a value of WEIGHTS_KEY names weights or an index inside the folder; transformers refuses others."""
    return isinstance(name, str) and name.endswith((WEIGHTS_END, LISTING_END)) and ".." not in name.split("/")


def is_loose(name: str) -> bool:
    """Whether a file of safetensors has no name that a library gives to the weights of a model with a config."""
    return name.endswith(".safetensors") and "/" not in name and not re.match(_OF_MODELS, name)


def others_of(documents: Mapping[str, Document], layout: Layout) -> dict[str, Document]:
    """The documents besides the config and the index; modules.json stays among them where it stands for the config."""
    first = {layout.config, layout.listing} - {MODULES}
    return {name: document for name, document in documents.items() if name not in first}


def is_consolidated(name: str) -> bool:
    """Whether a file holds weights in Mistral's own layout."""
    return name.startswith("consolidated") and name.endswith(".safetensors")
