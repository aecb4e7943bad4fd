"""PP-OCR's recognisers of text: a backbone, and attention along the line it sees (arXiv:2205.00159)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import normed
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_pp_ocrv5_mobile_rec.py, modeling_pp_ocrv5_server_rec.py, modeling_pp_ocrv6_small_rec.py
MODEL_TYPES = ("pp_ocrv5_mobile_rec", "pp_ocrv5_server_rec", "pp_ocrv6_small_rec")

_HEADS = keys.named(("Model",), ForTextRecognition="ctc")
_BACKBONES = {
    "pp_ocrv5_mobile_rec": "pp_lcnet_v3",
    "pp_ocrv5_server_rec": "hgnet_v2",
    "pp_ocrv6_small_rec": "pp_lcnet_v4",
}


class PpOcrRec(Record):
    """Sizes of PP-OCR's recognisers: what they take of the backbone, a kernel, whether they are of version 6."""

    inputs: int
    kernel: tuple[int, int]
    sixth: bool


def spec(c: Config) -> Spec[PpOcrRec]:
    vision, d = backbones.only(c, families.part(c, "backbone_config"), _BACKBONES[c.family]), c.int("hidden_size")
    indivisible: keys.Indivisible = (
        "refused" if keys.head_of(c, _HEADS)[1] == "ctc" else "run"
    )  # the base model has no layers
    heads, bias = c.int("num_attention_heads"), c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible=indivisible)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    sixth = c.family == "pp_ocrv6_small_rec"
    sides = c.ints("conv_kernel_size", default=(1, 7) if sixth else (1, 3))
    if len(sides) != 2:
        raise c.error(
            "list-length", "conv_kernel_size must name a height and a width.", "conv_kernel_size", observed=len(sides)
        )
    inputs = vision.layers[-1].layer.width if vision.layers else vision.hidden
    sizes = PpOcrRec(inputs=inputs, kernel=(sides[0], sides[1]), sixth=sixth)
    layers = keys.uniform(layer, keys.layer_count(c, "depth", "num_hidden_layers"))
    parts, out = {"backbone": vision}, keys.dim("|V|", c.int("head_out_channels"))
    model = keys.imaging(c, layers, _HEADS, hidden=d, vocab=out, parts=parts, uncounted=keys.COARSER)
    return model.having(sizes)


def blueprint(s: Spec[PpOcrRec]) -> Block:
    d, inputs, kernel, norm = s.hidden, s.own.inputs, s.own.kernel, layer_norm(s.hidden)
    narrow = inputs // 8

    def layer_block(layer: Layer) -> Block:
        attention = block("attention", qkv=Linear(d, 3 * d, layer.attention.qkv_bias), projection=Linear(d, d, True))
        return block(self_attn=attention, layer_norm1=norm, mlp=mlp(d, layer.dense.width), layer_norm2=norm)

    if s.own.sixth:
        convs = [normed(inputs, d, 1), normed(inputs, d, 1), normed(d, d, *kernel, groups=d)]
    else:
        convs = [normed(inputs, narrow, *kernel), normed(narrow, d, 1), normed(d, inputs, 1)]
        convs += [normed(2 * inputs, narrow, *kernel), normed(narrow, d, 1)]
    numbered = {str(number): node for number, node in enumerate(convs)}
    encoder = block(conv_block=Block(numbered), svtr_block=stack(s.layers, layer_block), norm=norm)
    letters = block(encoder=encoder, head=Linear(d, s.vocab, True, "lm_head"))
    return headed(s, "model", block(backbone=families.tree(s.part("backbone"))), ctc=block(head=letters))
