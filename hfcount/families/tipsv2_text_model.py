"""TIPS v2's text tower: CLIP's layers without a table of positions (arXiv:2410.16512)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.conversions import qkv
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("tipsv2_text_model",)  # transformers 5.23: modeling_tipsv2.py
IGNORED = ("scale_sqrt_depth",)
SPELLINGS = {
    r"^text_encoder\.": "",
    r"ln_final\.": "final_layer_norm.",
    r"(?<!embeddings\.)token_embedding\.": "embeddings.token_embedding.",
    r"transformer\.resblocks\.": "encoder.layers.",
    r"\.ln_([12])\.": r".layer_norm\1.",
    r"(?<=\d)\.attn\.": ".self_attn.",
    r"(?<=\d)\.mlp\.c_fc\.": ".mlp.fc1.",
    r"(?<=\d)\.mlp\.c_proj\.": ".mlp.fc2.",
}
MERGED = {f"attn.in_proj_{end}": qkv("self_attn", end) for end in ("weight", "bias")}


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, heads=("Model",), hidden=d).replace(tied=False, causal=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        weight, bias = Tensor((3 * d, d)), Tensor((3 * d,))
        attention = block("attention", in_proj_weight=weight, in_proj_bias=bias, out_proj=Linear(d, d, True))
        network = mlp(d, one.dense.width, up="c_fc", down="c_proj")
        return block(ln_1=layer_norm(d), ln_2=layer_norm(d), mlp=network, attn=attention)

    return block(
        token_embedding=embedding(s.vocab, d),
        transformer=block(resblocks=stack(s.layers, layer)),
        ln_final=layer_norm(d),
    )
