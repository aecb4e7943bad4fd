"""Llama Nemotron VL for retrieval: SigLIP's tower before a Llama whose tokens see all others (arXiv:2507.05513)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones, layer_norm
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# model.py of NVIDIA-NeMo/Automodel, nemotron_vl.py of vllm-project/vllm 0.33.0
MODEL_TYPES = ("llama_nemotron_vl", "llama_nemotron_vl_rerank")
CLASSES = ("LlamaNemotronVLModel", "LlamaNemotronVLForSequenceClassification")
IGNORED = tuple(
    """
    bidirectional_attention dynamic_image_size force_image_size keep_aspect_ratio max_dynamic_patch
    max_input_tiles min_dynamic_patch mlp_checkpoint p_max_length passage_prefix pooling pre_feature_reduction
    prompt_template q_max_length query_prefix select_layer template use_backbone_lora use_llm_lora use_thumbnail
    """.split()
)
# Before version 5 of transformers the tower's names are a level deeper.
SPELLINGS = {r"^(model\.)?vision_model\.vision_model\.": r"\1vision_model."}


class LlamaNemotronVl(Sizes):
    """Sizes specific to Llama Nemotron VL; patches are joined `merge` times along each side."""

    merge: int


def spec(c: Config) -> Spec[LlamaNemotronVl]:
    text = families.part(c, "llm_config", "llama_bidirec").replace(head="base")
    vision = backbones.only(c, families.part(c, "vision_config"), "siglip_vision_model")
    merge = keys.inverse(c, "m", "downsample_ratio", default=0.5)
    if not merge:
        raise c.error("out-of-range", "downsample_ratio must be at most 1.", "downsample_ratio")
    sizes = LlamaNemotronVl.read(c, merge=merge)
    first = "ForSequenceClassification" if c.family.endswith("rerank") else "Model"
    heads = tuple(dict.fromkeys((first, "Model", "ForSequenceClassification")))
    return keys.composite(c, text, {"vision": vision}, key="llm_config", heads=heads).having(sizes)


def blueprint(s: Spec[LlamaNemotronVl]) -> Block:
    d, vision_width = s.hidden, s.own.merge * s.own.merge * s.part("vision").hidden
    body = block(
        vision_model=families.tower(s, "vision"),
        language_model=families.base(s),
        mlp1=Block(
            {"0": layer_norm(vision_width), "1": Linear(vision_width, d, True), "3": Linear(d, d, True)}, "projector", 0
        ),
    )
    return body if s.head == "base" else block(model=body, score=Linear(d, s.labels, component="other"))
