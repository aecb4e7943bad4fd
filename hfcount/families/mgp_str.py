"""MGP-STR: ViT that names the characters, and pieces of words, in a picture of text (arXiv:2209.03592)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import headed
from hfcount.parts.convolution import conv
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("mgp-str",)  # transformers 5.23: modeling_mgp_str.py
IGNORED = ("output_a3_attentions",)

_HEADS = keys.named(ForSceneTextRecognition="recognition", Model="base")
_VOCABULARIES = {"char": "num_character_labels", "bpe": "num_bpe_labels", "wp": "num_wordpiece_labels"}
_GROUPS = 8  # of the channels in convolutions


def spec(c: Config) -> Spec:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, uneven="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    tokens = 2 if c.bool("distilled", default=False) else 1
    traits = {key: keys.sized(f"|V_{name[0]}|", c.int(key)) for name, key in _VOCABULARIES.items()}
    traits["max_token_length"] = keys.sized("n_t", c.int("max_token_length"))
    layers, rows = keys.alike(layer, keys.layer_count(c)), keys.rectangle(c) + tokens
    patches = keys.patches(c)
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=patches, traits=traits)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits

    def layer(one: Layer) -> Block:
        attention = fused_square_attention(d, one.attention.qkv_bias)
        return block(norm1=layer_norm(d), attn=attention, norm2=layer_norm(d), mlp=mlp(d, one.dense.width))

    table = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        pos_embed=Tensor((1, s.positions or 0, d)),
        proj=patch_convolution(s),
    )
    body = block(embeddings=table, encoder=block(blocks=stack(s.layers, layer)))
    grouped = conv(d, d, 1, groups=_GROUPS)
    picking = block(
        "other",
        token_norm=layer_norm(d),
        tokenLearner=Block({"0": grouped, "1": conv(d, of["max_token_length"], 1)}),
        feat=grouped,
        norm=layer_norm(d),
    )
    heads = {f"{name}_a3_module": picking for name in _VOCABULARIES}
    names = {f"{name}_head": Linear(d, of[key], True, "other") for name, key in _VOCABULARIES.items()}
    return headed(s, "mgp_str", body, recognition=Block({**heads, **names}))
