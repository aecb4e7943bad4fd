"""LFM3-VL: a vision tower of convolutions and attention, whose patches are merged, before LFM3 (transformers)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import gqa, layer_norm, numbered_swiglu, rms_norm, stack
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import Layer, ShortConv, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("lfm3_vl",)  # transformers 5.23: modeling_lfm3_vl.py


class Lfm3Vl(Sizes):
    projector_hidden_size: int = size("d_p", absent=4096)
    projector_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[Lfm3Vl]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = Lfm3Vl.read(c)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[Lfm3Vl]) -> Block:
    vision, wide, bias = s.part("vision"), s.own.projector_hidden_size, s.own.projector_bias
    projector = block(
        "projector",
        layer_norm=layer_norm(vision.hidden),
        linear_1=Linear(vision.seen.merged(vision.hidden), wide, bias),
        linear_2=Linear(wide, s.hidden, bias),
    )
    tower = families.tower(s, "vision")
    return towers_in_model(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)


def vision_spec(c: Config) -> Spec:
    """LFM3-VL's vision tower: convolutions over the image between layers of attention (transformers)."""
    d, count = c.int("hidden_size"), keys.layer_count(c)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads", maximum=MAX_LAYERS), bias=False, indivisible="built")
    full = Layer(mixer=mixer.replace(kv_heads=c.int("num_key_value_heads"), qk_norm=True), ffn=keys.dense(c))
    near = full.replace(mixer=ShortConv(kernel=c.int("conv_kernel_size")))
    if given := c.strs("layer_types"):
        layers = keys.by_kind(c, {"full_attention": full, "conv": near}, given, otherwise="full_attention")
    else:
        attending = Indices.span(2, max(2, count), 2)
        rest = Indices.below(count).difference(attending)
        layers = keys.split((attending, lambda: full), (rest, lambda: near))
    frames, merge = c.int("temporal_patch_size"), c.int("spatial_merge_size")
    patches = keys.patches(c, "in_channels", frames=frames, merge=merge)
    return keys.encoding(c, layers, hidden=d, patches=patches)


def vision_blueprint(s: Spec) -> Block:
    d, frames = s.hidden, s.seen.frames or 1

    def convolution(kernel: int) -> Block:
        over = block(weight=Tensor((d, 1, kernel, kernel)))
        return block("linear_attention", in_proj=Linear(d, 3 * d), spatial_conv=over, out_proj=Linear(d, d))

    def layer_block(layer: Layer) -> Block:
        near = convolution(layer.mixer.kernel) if isinstance(layer.mixer, ShortConv) else None
        return block(
            operator_norm=rms_norm(d),
            conv=near,
            self_attn=None if near else gqa(d, layer.attention, "out_proj", ("q_layernorm", "k_layernorm")),
            ffn_norm=rms_norm(d),
            feed_forward=numbered_swiglu(d, layer.dense.width),
        )

    patches = Linear(frames * s.seen.pixels, d, component="embedding")
    return block(patchifier=patches, embedding_norm=rms_norm(d), layers=stack(s.layers, layer_block))


PARTS = (
    families.Family(
        ("lfm3_vl_vision",),
        vision_spec,
        vision_blueprint,
        spellings={"patchifier": "patch_embed", "q_layernorm": "q_norm", "k_layernorm": "k_norm"},
    ),
)
