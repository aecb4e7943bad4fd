"""Mistral Large 4: Pixtral's tower, whose patches are merged, under the names of Mistral's own releases."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head, rms_norm
from hfcount.parts.composite import renamed, towers_in_model
from hfcount.spec import Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("mistral_large4",)  # transformers 5.23: modeling_mistral_large4.py
_TOWER = {
    "attention.q_proj": "wq",
    "attention.k_proj": "wk",
    "attention.v_proj": "wv",
    "attention.o_proj": "wo",
    "feed_forward.gate_proj": "w1",
    "feed_forward.down_proj": "w2",
    "feed_forward.up_proj": "w3",
}
SPELLINGS = {
    r"^vision_encoder\.": "model.vision_tower.",
    r"^tok_embeddings\.": "model.language_model.embed_tokens.",
    r"^lerope\.alpha$": "model.language_model.rotary_emb.alpha",
    r"^(layers|norm)\.": r"model.language_model.\1.",
    r"^output\.": "lm_head.",
    r"^pre_mm_projector_norm\.": "model.multi_modal_projector.norm.",
    r"^patch_merger\.": "model.multi_modal_projector.patch_merger.",
    r"^vision_language_adapter\.w_in\.": "model.multi_modal_projector.linear_1.",
    r"^vision_language_adapter\.w_out\.": "model.multi_modal_projector.linear_2.",
}


class MistralLarge4(Sizes):
    """What this architecture alone has."""

    spatial_merge_size: int = size("m", absent=2)
    multimodal_projector_bias: bool = flag(absent=False)
    vision_feature_layer: int


def spec(c: Config) -> Spec[MistralLarge4]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = MistralLarge4.read(c, vision_feature_layer=len(c.ints("vision_feature_layer", alone=True)) or 1)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(own)


def blueprint(s: Spec[MistralLarge4]) -> Block:
    d, of, seen = s.hidden, s.own, s.parts["vision"].hidden
    bias, merge, norm = of.multimodal_projector_bias, of.spatial_merge_size, rms_norm(seen)
    into, out = Linear(of.vision_feature_layer * seen, d, bias), Linear(d, d, bias)
    text, tower = families.base(s), renamed(families.tower(s, "vision"), _TOWER)
    merging = block(merging_layer=Linear(merge * merge * seen, seen))
    if s.head == "base":
        projector = block("projector", norm=norm, patch_merger=merging, linear_1=into, linear_2=out)
        return towers_in_model(s, text, vision_tower=tower, multi_modal_projector=projector)
    inner = text.children
    return block(
        tok_embeddings=inner["embed_tokens"],
        layers=inner["layers"],
        norm=inner["norm"],
        lerope=inner["rotary_emb"],
        output=lm_head(s, "tok_embeddings.weight"),
        vision_encoder=tower,
        pre_mm_projector_norm=Block(norm.children, "projector", 0),
        patch_merger=Block(merging.children, "projector", 0),
        vision_language_adapter=Block({"w_in": into, "w_out": out}, "projector", 0),
    )
