"""HunYuan-VL and HunyuanOCR: a vision transformer before Hunyuan (arXiv:2511.19575)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.hunyuan_vision import RELEASED
from hfcount.architectures.layers import base, gqa, mlp, pre_norm, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers import layer_norm as norm
from hfcount.architectures.layers.classic import mha, positions
from hfcount.architectures.layers.vision import convolution, patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("hunyuan_vl",)  # transformers 5.23: modeling_hunyuan_vl.py
SPELLINGS = RELEASED


def spec(c: Config) -> Spec:
    nested = c.sub("text_config")
    text = nested or c.as_part("text_config")  # early configs have its keys beside the others
    mixer = keys.attention(text, bias=text.bool("attention_bias", default=False), qk_norm=True)
    towers = {"vision": families.part(c, "vision_config").replace(out=text.int("hidden_size"))}
    heads, layer = ("ForConditionalGeneration", "Model"), Layer(mixer=mixer, ffn=keys.dense(text))
    model = keys.decoder_spec(text, layer, whole=c, heads=heads, parts=towers)
    tied = c.bool("tie_word_embeddings", default=True)
    return model.replace(tied=tied or nested is None or nested.bool("tie_word_embeddings", default=True))


def blueprint(s: Spec) -> Block:
    d, vision = s.hidden, s.part("vision")

    def layer_block(layer: Layer) -> Block:
        attention = gqa(d, layer.attention, norms=("query_layernorm", "key_layernorm"))
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width))

    text = base(s, layer_block)
    if s.head != "base":
        return Block({**with_head(s, text).children, "vit": families.tower(s, "vision")})
    # Norms get their early names back only beside a head.
    later = families.tree(vision.replace(adapted=False))
    return block(language_model=text, vision_tower=later.replace(component="vision", repeats=0))


_MARKS = ("newline", "begin", "end", "sep")


class HunyuanVlVision(Sizes):
    within: int


def vision_spec(c: Config) -> Spec[HunyuanVlVision]:
    """HunYuan-VL's vision tower: patches merged by convolutions, with tokens before and behind them."""
    patches = keys.patches(c, merge=c.int("spatial_merge_size"))
    side = c.int("max_image_size") // patches.side
    return (
        keys.tower(
            c,
            indivisible="run",
            own_width=True,
            patches=patches,
            positions=side * side + 1,
            out=c.int("text_hidden_size"),
            further={"Transformer": "base"},
        )
        .replace(adapted=c.nested)
        .having(HunyuanVlVision.read(c, within=c.nested))
    )


def vision_blueprint(s: Spec[HunyuanVlVision]) -> Block:
    d, out, within = s.hidden, s.output, s.own.within
    up, down = ("dense_h_to_4h", "dense_4h_to_h") if within else ("fc1", "fc2")

    def layer_block(layer: Layer) -> Block:
        attention, network = mha(d, layer.attention, "o_proj"), mlp(d, layer.dense.width, up=up, down=down)
        if s.adapted:
            return pre_norm(d, norm, self_attn=attention, mlp=network)
        return block(layer_norm1=norm(d), self_attn=attention, layer_norm2=norm(d), mlp=network)

    first, second = convolution(d, 2 * d, s.seen.merge), convolution(2 * d, 4 * d, 1)
    merging = {"proj": Block({"0": first, "2": second})} if within else {"proj_conv": first, "proj_out": second}
    marks = {f"image_{name}": Tensor((4 * d if name == "newline" else out,)) for name in _MARKS}
    norms = {"before_rms": rms_norm(d), "after_rms": rms_norm(out)}
    merger = Block({**merging, **marks, "mlp": Linear(4 * d, out, True), **norms}, "projector")
    return Block(
        {
            "embeddings": block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
            "layers": stack(s.layers, layer_block),
            "perceive" if within else "patch_merger": merger,
        }
    )


PARTS = (
    families.Family(
        ("hunyuan_vl_vision",),
        vision_spec,
        vision_blueprint,
        ignored=tuple(
            "img_max_token_num max_vit_seq_len min_image_size num_key_value_heads out_hidden_size "
            "temporal_patch_size".split()
        ),
    ),
)
