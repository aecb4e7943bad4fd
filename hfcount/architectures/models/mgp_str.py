"""MGP-STR: ViT that names the characters, and pieces of words, in a picture of text (arXiv:2209.03592)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("mgp-str",)  # transformers 5.23: modeling_mgp_str.py
IGNORED = ("output_a3_attentions",)

_HEADS = keys.named(ForSceneTextRecognition="recognition", Model="base")
_GROUPS = 8  # of the channels in convolutions


class MgpStr(Sizes):
    num_character_labels: int = size("|V_c|")
    num_bpe_labels: int = size("|V_b|")
    num_wordpiece_labels: int = size("|V_w|")
    max_token_length: int = size("n_t")


def spec(c: Config) -> Spec[MgpStr]:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    tokens = 2 if c.bool("distilled", default=False) else 1
    sizes = MgpStr.read(c)
    layers, rows = keys.uniform(layer, keys.layer_count(c)), keys.rectangle(c) + tokens
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=keys.patches(c)).having(sizes)


def blueprint(s: Spec[MgpStr]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        attention = fused_square_attention(d, layer.attention.qkv_bias)
        return block(norm1=layer_norm(d), attn=attention, norm2=layer_norm(d), mlp=mlp(d, layer.dense.width))

    table = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        pos_embed=Tensor((1, s.positions or 0, d)),
        proj=patch_convolution(s),
    )
    body = block(embeddings=table, encoder=block(blocks=stack(s.layers, layer_block)))
    grouped = conv(d, d, 1, groups=_GROUPS)
    picking = block(
        "other",
        token_norm=layer_norm(d),
        tokenLearner=Block({"0": grouped, "1": conv(d, of.max_token_length, 1)}),
        feat=grouped,
        norm=layer_norm(d),
    )
    recognition = block(
        char_a3_module=picking,
        bpe_a3_module=picking,
        wp_a3_module=picking,
        char_head=Linear(d, of.num_character_labels, True, "other"),
        bpe_head=Linear(d, of.num_bpe_labels, True, "other"),
        wp_head=Linear(d, of.num_wordpiece_labels, True, "other"),
    )
    return headed(s, "mgp_str", body, recognition=recognition)
