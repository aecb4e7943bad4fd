"""TinyLLaVA: a tower of CLIP or SigLIP and a small language model, joined by linear layers (arXiv:2402.14289)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import as_tower, rebased
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

# modeling_tinyllava.py, configuration_tinyllava.py, vision_tower/ and connector/ of TinyLLaVA/TinyLLaVA_Factory
MODEL_TYPES = ("tinyllava",)
CLASSES = ("TinyLlavaForConditionalGeneration",)
IGNORED = tuple(
    "cache_dir hidden_size image_aspect_ratio llm_model_name_or_path num_queries num_resampler_layers"
    " pad_token resampler_hidden_size tokenizer_model_max_length tokenizer_name_or_path tokenizer_padding_side"
    " tokenizer_use_fast tune_type_connector tune_type_llm tune_type_vision_tower tune_vision_tower_from_layer"
    " vision_feature_layer vision_feature_select_strategy vision_hidden_size vision_model_name_or_path"
    " vision_model_name_or_path2 vocab_size".split()
)

_TOWERS = ("siglip_vision_model", "clip_vision_model")


class TinyLlava(Sizes):
    """How many linear layers the connector has; a `single` one is not in a list."""

    depth: int
    single: bool


def spec(c: Config) -> Spec[TinyLlava]:
    known = keys.named(("ForConditionalGeneration",))
    text = families.part(c, "text_config").replace(head="causal_lm")
    kind = c.part("vision_config").str("model_type", default="clip_vision_model")
    deep = re.fullmatch(r"mlp(\d+)x_gelu", joined := c.str("connector_type"))
    if kind not in _TOWERS or not (deep or joined == "linear"):
        message = f"TinyLLaVA is described with {' or '.join(_TOWERS)} and linear layers behind it, alone."
        raise UnknownArchitecture(f"{c.where}: {message}")
    vision = families.part(c, "vision_config", always=kind)
    depth = max(int(deep[1]), 1) if deep else 1
    model = keys.composite(c, text, {"vision": vision}, heads=known)
    return model.replace(tied=text.tied).having(TinyLlava(depth=depth, single=not deep))


def blueprint(s: Spec[TinyLlava]) -> Block:
    d, seen, of = s.hidden, s.part("vision").hidden, s.own
    # An activation follows each linear layer but the last.
    first, later = Linear(seen, d, True), Indices.of(range(2, 2 * int(of.depth), 2))
    chain: Node = first if of.single else (Repeat(Indices.below(1), first), Repeat(later, Linear(d, d, True)))
    tower = block(vision_model=families.tower(s, "vision"))
    return block(
        language_model=rebased(families.tree(s.part("text")), "language_model"),
        vision_tower=block(_vision_tower=tower),
        connector=as_tower(block(_connector=chain), "projector"),
    )
