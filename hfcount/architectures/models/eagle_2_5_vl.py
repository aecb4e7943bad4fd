"""Eagle 2.5: SigLIP's tower, whose patches are merged and projected, before a language model (arXiv:2504.15271)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones, layer_norm
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

# modeling_eagle2_5_vl.py of NVlabs/Eagle, eagle2_5_vl.py of vllm-project/vllm 0.33.0
MODEL_TYPES = ("eagle_2_5_vl",)
CLASSES = ("Eagle2_5_VLForConditionalGeneration",)
IGNORED = tuple(
    """
    dynamic_image_size force_image_size loss_version max_dynamic_tiles min_dynamic_tiles mlp_checkpoint
    pad2square select_layer template use_thumbnail
    """.split()
)
# From version 5 of transformers on the tower's names have one level less.
SPELLINGS = {r"^vision_model\.vision_model\.": "vision_model."}


class Eagle25Vl(Sizes):
    """Sizes specific to Eagle 2.5; patches are joined `merge` times along each side, and projected once or `twice`."""

    merge: int
    twice: bool


def spec(c: Config) -> Spec[Eagle25Vl]:
    for key in ("use_backbone_lora", "use_llm_lora"):
        if c.int(key, default=0, minimum=0):
            raise c.error("not-described", f"{key} asks for adapters within the model, which are not described.", key)
    key = "llm_config" if c.given("llm_config") else "text_config"
    text = families.part(c, key).replace(head="causal_lm")
    vision = backbones.only(c, families.part(c, "vision_config"), "siglip_vision_model")
    layers = c.int("mlp_connector_layers", default=2)
    if layers > 2:
        raise c.error(
            "out-of-range", f"mlp_connector_layers is {layers:,}, but must be 1 or 2.", "mlp_connector_layers"
        )
    merged = c.bool("use_pixel_shuffle", default=True) or layers == 2  # one layer alone may take single patches
    merge = keys.inverse(c, "m", "downsample_ratio", default=0.5)
    if not merge:
        raise c.error("out-of-range", "downsample_ratio must be at most 1.", "downsample_ratio")
    sizes = Eagle25Vl.read(c, merge=merge if merged else 1, twice=layers == 2)
    heads = keys.named(("ForConditionalGeneration",))
    return keys.composite(c, text, {"vision": vision}, key=key, heads=heads).replace(tied=text.tied).having(sizes)


def blueprint(s: Spec[Eagle25Vl]) -> Block:
    d, vision_width = s.hidden, s.own.merge * s.own.merge * s.part("vision").hidden
    first = Linear(vision_width, d, True)
    layers: dict[str, Node] = {"0": first}
    if s.own.twice:
        layers = {"0": layer_norm(vision_width), "1": first, "3": Linear(d, d, True)}
    return block(
        vision_model=Block({"vision_model": families.tower(s, "vision")}, repeats=0),
        mlp1=Block(layers, "projector", 0),
        language_model=rebased(families.tree(s.part("text")), "language_model"),
    )
