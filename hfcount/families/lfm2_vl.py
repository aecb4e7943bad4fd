"""LFM2-VL: LFM2 with SigLIP 2's tower, whose patches are merged and projected (arXiv:2511.23404)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import joined
from hfcount.parts.vision import siglip
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lfm2_vl",)


def spec(c: Config) -> Spec:
    part, eyes = c.part("text_config", defaults={"model_type": "lfm2"}), c.part("vision_config")
    text, _ = families.read(part)
    # SigLIP 2 counts its patches where SigLIP gives the image's size.
    vision = keys.siglip(eyes).but(
        positions=eyes.int("num_patches", default=256), merge=c.int("downsample_factor", default=2)
    )
    traits = {
        "projector_hidden_size": c.int("projector_hidden_size", default=2560),
        "projector_bias": int(c.bool("projector_bias", default=True)),
        "projector_use_layernorm": int(c.bool("projector_use_layernorm", default=True)),
    }
    tied = c.bool("tie_embedding", "tie_word_embeddings", default=True)
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, part, text, heads=heads, vision=vision, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    eyes, wide, bias = s.eyes, s.traits["projector_hidden_size"], bool(s.traits["projector_bias"])
    merged = eyes.merge * eyes.merge * eyes.hidden
    projector = block(
        "vision",
        layer_norm=layer_norm(merged) if s.traits["projector_use_layernorm"] else None,
        linear_1=Linear(merged, wide, bias),
        linear_2=Linear(wide, s.hidden, bias),
    )
    tower = siglip(eyes, head=bool(eyes.traits["vision_use_head"]), flat=True)
    return joined(s, families.base(s.text), vision_tower=tower, multi_modal_projector=projector)
