"""SAM 2, also for videos, EdgeTAM and SAM 3's tracker: SAM over features of several resolutions (arXiv:2408.00714)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.components.memories import Memories, memory_layers
from hfcount.mapper import Config
from hfcount.parts.sam import frequencies
from hfcount.spec import Record, Spec
from hfcount.tree.nodes import Block, Tensor, block

# transformers 5.23: modeling_sam2.py, modeling_sam2_video.py, modeling_edgetam.py, modeling_edgetam_video.py,
# modeling_sam3_tracker.py, modeling_sam3_tracker_video.py
MODEL_TYPES = ("sam2", "sam2_video", "edgetam", "edgetam_video", "sam3_tracker", "sam3_tracker_video")
IGNORED = (
    "image_size",
    "max_object_pointers_in_encoder",
    "max_cond_frame_num",
    "multimask_output_in_sam",
    "multimask_max_pt_num",
    "multimask_output_for_tracking",
    "memory_attention_rope_feat_sizes",
    "memory_attention_rope_k_sizes",
    "mask_downsampler_padding",
    "memory_fuser_padding",
)
CONVERTED = ("sam3_tracker", "sam3_tracker_video")
SPELLINGS = {
    r"^(?:tracker_model\.)?(?=.)": "tracker_model.",
    r"^tracker_model\.vision_encoder\.neck\.": "tracker_model.tracker_neck.",
    r"^tracker_model\.vision_encoder\.": "tracker_model.detector_model.vision_encoder.",
}

_IMAGE, _VIDEO = keys.named(("Model",)), keys.named(VideoModel="base", Model="encoder")


class Sam2(Record):
    """What SAM 2 alone has; `nested` if it is the tracker of SAM 3, which has the features of images itself."""

    nested: bool
    memories: Memories | None


def spec(c: Config) -> Spec[Sam2]:
    vision, prompt = families.part(c, "vision_config"), families.part(c, "prompt_encoder_config")
    parts = {"vision": vision, "prompt": prompt, "mask": families.part(c, "mask_decoder_config")}
    video, latent = c.family.endswith("_video"), c.family == "edgetam_video"
    wide = "memory_attention_mlp_hidden_size" if latent else "memory_attention_feed_forward_hidden_size"
    layers, memories = (memory_layers(c, wide), Memories.read(c, latent)) if video else ((), None)
    heads = _VIDEO if video else _IMAGE
    d = keys.dim("d", vision.hidden)
    whole = keys.decoder_spec(c, layers, vocab=0, hidden=d, heads=heads, layer_count=None, parts=parts)
    alone = whole.replace(causal=False, **({"head": "base"} if c.nested else {}))
    return alone.having(Sam2(nested=c.nested, memories=memories))


def blueprint(s: Spec[Sam2]) -> Block:
    tower, third = families.tower(s, "vision"), s.family in CONVERTED
    memories = s.own.memories if s.head == "base" else None
    body = block(
        shared_image_embedding=frequencies(s.parts["prompt"].hidden // 2),
        vision_encoder=None if third else tower,
        prompt_encoder=families.tree(s.parts["prompt"]),
        mask_decoder=families.tree(s.parts["mask"]),
        no_memory_embedding=Tensor((1, 1, s.hidden), component="embedding"),
    )
    whole = Block({**body.children, **(memories.tensors(s.hidden, s.layers).children if memories else {})})
    if not third:
        return whole
    # SAM 3's tracker is stored with the names that it has within the whole, whose detector gives it the features.
    neck = tower.children["neck"]
    assert isinstance(neck, Block), "the neck is a block"
    outside = {
        "detector_model": block(vision_encoder=replace(tower, children={"backbone": tower.children["backbone"]})),
        "tracker_neck": replace(neck, component="vision", repeats=0),
    }
    return Block({"tracker_model": Block({**whole.children, **({} if s.own.nested else outside)})})
