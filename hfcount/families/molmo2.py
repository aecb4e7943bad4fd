"""Molmo 2: SigLIP-like patches, several layers of which an adapter pools, before a Qwen- or OLMo-like model."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.release_names import MOLMO2
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear

MODEL_TYPES = ("molmo2",)  # transformers 5.23: modeling_molmo2.py
IGNORED = ("image_high_res_id", "image_low_res_id", "image_patch_id", "use_frame_special_tokens")
SPELLINGS = MOLMO2
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text, adapter = families.part(c, "text_config"), families.part(c, "adapter_config", "molmo2_adapter")
    older = not c.sub("vision_config") and c.sub("vit_config")
    vision = families.part(c, "vit_config" if older else "vision_config", "molmo2_vision")
    if older:  # whose layers after the last that is read are not stored
        ids = c.part("adapter_config").ints("vit_layers", "vision_feature_layer", default=(24, 18))
        vision = vision.replace(layers=keys.uniform(vision.layers[0].layer, max(one % vision.depth for one in ids) + 1))
    towers = {"vision": vision, "adapter": adapter}
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    adapter = families.tree(s.parts["adapter"])
    backbone = Block({"image_vit": families.tower(s, "vision"), **adapter.children})
    inner = Block({"transformer": families.base(s), "vision_backbone": Block(backbone.children, repeats=0)})
    if s.head == "base":
        return inner
    return Block({"model": inner, "lm_head": Linear(s.hidden, s.vocab, component="lm_head")})
