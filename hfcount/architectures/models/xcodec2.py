"""X-codec 2 and NeuCodec: a recogniser beside an encoder, one code for both, a transformer back (arXiv:2502.04128)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.codecs import DacEncoder, product, ratios
from hfcount.architectures.layers import layer_norm, mlp, pre_norm, rms_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("xcodec2", "neucodec")  # transformers 5.23: modeling_xcodec2.py, modeling_neucodec.py
IGNORED = ("sampling_rate",)


class XCodec2(Record):
    """Sizes specific to X-codec 2; its head makes `transformed` elements of a frame."""

    encoder: DacEncoder
    transformed: int
    quantization_dim: int
    levels: int


def spec(c: Config) -> Spec[XCodec2]:
    d, heads, meant = c.int("hidden_size"), c.int("num_attention_heads"), families.part(c, "semantic_model_config")
    keys.divides(c, "num_attention_heads", heads, "hidden_size", d)
    down = ratios(c, "downsampling_ratios")
    hop = product(down)
    if c.family == "neucodec":  # it makes more samples than it reads
        hop = hop * c.int("output_sampling_rate") // c.int("input_sampling_rate")
    sizes = XCodec2(
        encoder=DacEncoder.of(c.int("encoder_hidden_size"), down),
        transformed=4 * hop + 2,
        quantization_dim=keys.dim("d_q", c.int("quantization_dim")),
        levels=keys.dim("n_l", c.length("quantization_levels") or 0),
    )
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c))
    layers = keys.uniform(layer, keys.layer_count(c))
    return keys.encoding(c, layers, hidden=d, parts={"meaning": meant}).having(sizes)


def _snake(width: int) -> Block:
    """An activation with a period and a strength for each channel. Tensors: act.alpha and act.beta (width)."""
    return block(act=block(alpha=Tensor((width,)), beta=Tensor((width,))))


def blueprint(s: Spec[XCodec2]) -> Block:
    d, of, meant = s.hidden, s.own, s.part("meaning")
    both, m = d + meant.hidden, meant.hidden

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, bias=False)
        return pre_norm(d, rms_norm, self_attn=mha(d, layer.attention, "o_proj"), mlp=network)

    wide, coded = of.quantization_dim, of.levels
    norm, three = layer_norm(d), conv(d, d, 3)
    residual = Repeat(Indices.below(2), block("convolution", norm1=norm, conv1=three, norm2=norm, conv2=three))
    decoder = block(
        fc=Linear(both, d, True, "projector"),
        embed=conv(d, d, 7, component="convolution"),
        prior_net=residual,
        layers=stack(s.layers, layer_block),
        post_net=residual,
        norm=norm,
        head=block("lm_head", linear=Linear(d, of.transformed, True)),
    )
    adapter = block(
        "projector",
        conv1=conv(m, m, 3, False),
        conv2=conv(m, m, 3),
        conv3=conv(m, m, 3),
        conv4=conv(m, m, 3, False),
    )
    return block(
        semantic_encoder=families.tree(meant),
        semantic_adapter=adapter,
        acoustic_encoder=of.encoder.tensors(d, _snake),
        fc_encoder=Linear(both, both, True, "projector"),
        quantizer=block("other", project_in=Linear(wide, coded, True), project_out=Linear(coded, wide, True)),
        acoustic_decoder=decoder,
    )
