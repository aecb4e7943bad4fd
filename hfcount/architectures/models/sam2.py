"""SAM 2, also for videos, EdgeTAM and SAM 3's tracker: SAM over features of several resolutions (arXiv:2408.00714)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.memories import Memories, memory_layers
from hfcount.architectures.components.sam import frequencies
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_sam2.py, modeling_sam2_video.py, modeling_edgetam.py, modeling_edgetam_video.py,
# modeling_sam3_tracker.py, modeling_sam3_tracker_video.py
MODEL_TYPES = ("sam2", "sam2_video", "edgetam", "edgetam_video", "sam3_tracker", "sam3_tracker_video")
IGNORED = tuple(
    "image_size max_object_pointers_in_encoder max_cond_frame_num multimask_output_in_sam multimask_max_pt_num "
    "multimask_output_for_tracking memory_attention_rope_feat_sizes memory_attention_rope_k_sizes "
    "mask_downsampler_padding memory_fuser_padding".split()
)
CONVERTED = ("sam3_tracker", "sam3_tracker_video")
SPELLINGS = {
    r"^(?:tracker_model\.)?(?=.)": "tracker_model.",
    r"^tracker_model\.vision_encoder\.neck\.": "tracker_model.tracker_neck.",
    r"^tracker_model\.vision_encoder\.": "tracker_model.detector_model.vision_encoder.",
}

_IMAGE, _VIDEO = keys.named(("Model",)), keys.named(VideoModel="base", Model="encoder")


class Sam2(Record):
    """Sizes specific to SAM 2; `nested` if it is the tracker of SAM 3, which has the features of images itself."""

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
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, heads=heads, layer_count=None, parts=parts)
    alone = model.replace(causal=False, **({"head": "base"} if c.nested else {}))
    return alone.having(Sam2(nested=c.nested, memories=memories))


def blueprint(s: Spec[Sam2]) -> Block:
    tower, third = families.tower(s, "vision"), s.family in CONVERTED
    memories = s.own.memories if s.head == "base" else None
    body = block(
        shared_image_embedding=frequencies(s.part("prompt").hidden // 2),
        vision_encoder=None if third else tower,
        prompt_encoder=families.tree(s.part("prompt")),
        mask_decoder=families.tree(s.part("mask")),
        no_memory_embedding=Tensor((1, 1, s.hidden), component="embedding"),
    )
    tree = Block({**body.children, **(memories.tensors(s.hidden, s.layers).children if memories else {})})
    if not third:
        return tree
    # SAM 3's tracker is stored with the names that it has within the whole, whose detector gives it the features.
    neck = tower.children["neck"]
    assert isinstance(neck, Block), "the neck is a block"
    outside = {
        "detector_model": block(vision_encoder=tower.replace(children={"backbone": tower.children["backbone"]})),
        "tracker_neck": neck.replace(component="vision", repeats=0),
    }
    return Block({"tracker_model": Block({**tree.children, **({} if s.own.nested else outside)})})


_CHANNELS = {"sam2_vision_model": (768, 384, 192, 96), "edgetam_vision_model": (384, 192, 96, 48)}


class Sam2VisionModel(Sizes):
    """Sizes specific to SAM 2's image encoder; `channels` are those of the backbone's levels."""

    channels: tuple[int, ...]
    fpn_kernel_size: int = size("w_n")


def vision_spec(c: Config) -> Spec[Sam2VisionModel]:
    """SAM 2's image encoder, also SAM 3's tracker's: a backbone and a neck to one width (arXiv:2408.00714)."""
    widths = c.ints("backbone_channel_list", default=_CHANNELS[c.family], minimum=0)
    sizes = Sam2VisionModel.read(c, channels=tuple(keys.dim(f"C{n}", width) for n, width in enumerate(widths, 1)))
    parts = {"backbone": families.part(c, "backbone_config")}
    d = keys.dim("d_n", c.int("fpn_hidden_size"))
    return keys.encoding(c, (), hidden=d, parts=parts).having(sizes)


def vision_blueprint(s: Spec[Sam2VisionModel]) -> Block:
    kernel = s.own.fpn_kernel_size
    levels = {str(place): convolution(width, s.hidden, kernel) for place, width in enumerate(s.own.channels)}
    return block(backbone=families.tree(s.part("backbone")), neck=block("projector", convs=Block(levels)))


class Sam2HieraDetLayer(Record):
    """Sizes specific to a layer of this Hiera: the width of what it takes."""

    inputs: int


class Sam2HieraDetModel(Sizes):
    """Sizes specific to this Hiera: sides of its table of positions, of a patch, and of the first windows."""

    background: tuple[int, ...] = derived(
        lambda c: _sides(c, "window_positional_embedding_background_size", ("h_b", "w_b"))
    )
    patch: tuple[int, ...] = derived(lambda c: _sides(c, "patch_kernel_size", ("P_h", "P_w")))
    num_channels: int = size("C")
    window: int


def hiera_spec(c: Config) -> Spec[Sam2HieraDetModel]:
    """Hiera, as in SAM 2: stages of attention within windows, each wider than the one before (arXiv:2306.00989)."""
    widths = c.ints("embed_dim_per_stage", default=(96, 192, 384, 768))
    heads = c.ints("num_attention_heads_per_stage", default=(1, 2, 4, 8))
    depths, sides = (
        c.ints("blocks_per_stage", default=(1, 2, 7, 2)),
        c.ints("window_size_per_stage", default=(8, 4, 14, 7)),
    )
    if not 0 < len(depths) <= min(len(widths), len(heads)) or not sides:
        text = (
            f"blocks_per_stage has {len(depths):,} entries for {len(widths):,} widths, {len(heads):,} numbers of heads."
        )
        raise c.error("list-length", text, "blocks_per_stage", "Correct one of them.")
    layers, start, before = [], 0, 0
    for number, (depth, width, many) in enumerate(zip(depths, widths, heads, strict=False)):
        d = keys.dim(f"d{number + 1}", width)
        ffn = Dense(width=c.times("mlp_ratio", d, default=4), bias=True)
        mixer = keys.multi_head(c, d, many, indivisible="built")
        second = start + (1 if depth else 0)
        for inputs, places in ((before or d, Indices.span(start, second)), (d, Indices.span(second, start + depth))):
            layer = Layer(mixer=mixer, ffn=ffn, stage_width=d, own=Sam2HieraDetLayer(inputs=inputs))
            layers += [Layers(indices=places, layer=layer)] if places.count else []
        start, before = start + int(depth), d
    sizes = Sam2HieraDetModel.read(c, window=keys.dim("w", sides[0]))
    return keys.encoding(c, layers, hidden=c.int("hidden_size")).having(sizes)


def _sides(c: Config, key: str, symbols: tuple[str, str]) -> tuple[int, ...]:
    """Height and width, usually 7; what has other dimensions is built, and sees no image."""
    sides = [c.int(key)] * 2 if c.is_int(key) else c.ints(key, default=(7, 7))
    if len(sides) != 2:
        c.cannot_run(
            "list-length",
            f"{key} has {len(sides):,} entries, and images have height and width.",
            key,
            observed=len(sides),
        )
    named = [*symbols, *(f"{symbols[1]}{place}" for place in range(2, len(sides)))]
    return tuple(keys.dim(named[place], side) for place, side in enumerate(sides))


def hiera_blueprint(s: Spec[Sam2HieraDetModel]) -> Block:
    of, first = s.own, s.hidden

    def layer_block(layer: Layer) -> Block:
        inputs, d = layer.sizes(Sam2HieraDetLayer).inputs, layer.width
        return block(
            layer_norm1=layer_norm(inputs),
            attn=block("attention", qkv=Linear(inputs, 3 * d, True), proj=Linear(d, d, True)),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width, up="proj_in", down="proj_out"),
            proj=Linear(inputs, d, True, "other") if inputs != d else None,
        )

    kernel = Tensor((first, of.num_channels, *of.patch))
    places = Tensor((1, first, *of.background), component="embedding")
    return block(
        pos_embed=places,
        pos_embed_window=Tensor((1, first, of.window, of.window), component="embedding"),
        patch_embed=block("embedding", projection=block(weight=kernel, bias=Tensor((first,)))),
        blocks=stack(s.layers, layer_block),
    )


PARTS = (
    families.Family(
        ("sam2_vision_model", "edgetam_vision_model"),
        vision_spec,
        vision_blueprint,
        ignored=("backbone_feature_sizes", "fpn_stride", "fpn_padding", "fpn_top_down_levels", "num_feature_levels"),
    ),
    families.Family(
        ("sam2_hiera_det_model",),
        hiera_spec,
        hiera_blueprint,
        ignored=tuple(
            "image_size patch_stride patch_padding query_stride num_query_pool_stages global_attention_blocks "
            "num_attention_heads".split()
        ),
    ),
)
