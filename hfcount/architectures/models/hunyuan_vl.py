"""HunYuan-VL and HunyuanOCR: a vision transformer before Hunyuan (arXiv:2511.19575)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.hunyuan_vision import RELEASED, HunyuanVision, tower, with_tower
from hfcount.architectures.layers import base, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor

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
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = gqa(d, layer.attention, norms=("query_layernorm", "key_layernorm"))
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width))

    return with_tower(s, base(s, layer_block))


_MARKS = ("newline", "begin", "end", "sep")


def vision_spec(c: Config) -> Spec[HunyuanVision]:
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
            out=None if c.nested else c.int("text_hidden_size"),  # a whole model overrules it
            further={"Transformer": "base"},
        )
        .replace(adapted=c.nested)
        .having(HunyuanVision.read(c, within=c.nested))
    )


def vision_blueprint(s: Spec[HunyuanVision]) -> Block:
    wide, out = 4 * s.hidden, s.output
    marks = {f"image_{name}": Tensor((wide if name == "newline" else out,)) for name in _MARKS}
    norms = {"before_rms": rms_norm(s.hidden), "after_rms": rms_norm(out)}
    return tower(s, 2 * s.hidden, wide, {**marks, "mlp": Linear(wide, out, True), **norms})


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
