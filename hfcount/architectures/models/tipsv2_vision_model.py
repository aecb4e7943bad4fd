"""TIPS v2's vision tower: DINOv2 with registers, named as it was published (arXiv:2410.16512)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention
from hfcount.architectures.layers.conversions import qkv
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("tipsv2_vision_model",)  # transformers 5.23: modeling_tipsv2.py
IGNORED = ("out_indices", "out_features", "stage_names", "apply_layernorm", "reshape_hidden_states")
SPELLINGS = {
    r"^vision_encoder\.": "",
    r"patch_embed\.proj\.": "embeddings.patch_embeddings.projection.",
    r"(?<!embeddings\.)(cls_token|mask_token|register_tokens)$": r"embeddings.\1",
    r"pos_embed$": "embeddings.position_embeddings",
    r"(?<!layer)norm\.": "layernorm.",
    r"(?<!res)blocks\.": "encoder.layer.",
    r"\.attn\.proj\.": ".attention.o_proj.",
    r"\.ls([12])\.gamma": r".layer_scale\1.lambda1",
    r"\.mlp\.c_fc\.": ".mlp.fc1.",
    r"\.mlp\.c_proj\.": ".mlp.fc2.",
    r"\.mlp\.w3\.": ".mlp.down_proj.",
}
_ENDS = ("weight", "bias")
MERGED = {
    **{f"attn.qkv.{end}": qkv("attention", end) for end in _ENDS},
    **{f"mlp.w12.{end}": (f"mlp.gate_proj.{end}", f"mlp.up_proj.{end}") for end in _ENDS},
}


class Tipsv2VisionModel(Sizes):
    gated: bool
    registers: int


def spec(c: Config) -> Spec[Tipsv2VisionModel]:
    d, gated = c.int("hidden_size"), c.bool("use_swiglu_ffn", default=False)
    wide, heads = c.times("mlp_ratio", d), c.int("num_attention_heads")
    ffn = Dense(width=round_up(2 * wide // 3, 8) if gated else wide, bias=True)
    bias = c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True, indivisible="run", own_width=True)
    registers = keys.dim("n_r", c.int("num_register_tokens", minimum=0))
    sizes = Tipsv2VisionModel.read(c, gated=gated, registers=registers)
    layers, rows = keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(c)), keys.rectangle(c) + 1
    patches = keys.patches(c)
    return keys.encoding(c, layers, {"Backbone": "base"}, hidden=d, positions=rows, patches=patches).having(sizes)


def blueprint(s: Spec[Tipsv2VisionModel]) -> Block:
    d, of, scale = s.hidden, s.own, block("other", gamma=Tensor((s.hidden,)))

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        gated = block("mlp", w12=Linear(d, 2 * wide, True), w3=Linear(wide, d, True))
        return block(
            norm1=layer_norm(d),
            attn=fused_attention(d, layer.attention, "qkv", "proj"),
            ls1=scale,
            norm2=layer_norm(d),
            mlp=gated if of.gated else mlp(d, wide, up="c_fc", down="c_proj"),
            ls2=scale,
        )

    table = {
        "cls_token": Tensor((1, 1, d), component="embedding"),
        "mask_token": Tensor((1, d), component="embedding"),
        "register_tokens": Tensor((1, of.registers, d), component="embedding"),
        "pos_embed": Tensor((1, s.positions or 0, d), component="embedding"),
    }
    patch = block("embedding", proj=patch_convolution(s))
    return Block({**table, "patch_embed": patch, "blocks": stack(s.layers, layer_block), "norm": layer_norm(d)})
