"""WavTokenizer: a waveform as codes of one codebook, and back through Vocos' layers (arXiv:2408.16532)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.codecs import Seanet, codebook, product, weight_normed
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.temporal import conv, grouped
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("wavtokenizer",)  # transformers 5.24: modeling_wavtokenizer.py
IGNORED = ("decoder_attention_num_groups", "dilation_growth_rate", "sampling_rate", "use_causal_conv")

_RECURRENT = 1000  # layers of a recurrent network, whose tensors are numbered within their names


class Coder(Sizes):
    """Sizes of the encoder and its codebook; `grouped` says whether norms stand behind its convolutions."""

    coder: Seanet
    codebook_size: int = size("|V|")
    num_lstm_layers: int = size(minimum=1, maximum=_RECURRENT)
    grouped: bool

    def tensors(self, d: int) -> Block:
        """encoder, and quantizer.codebook."""
        build = grouped if self.grouped else weight_normed
        return block(
            encoder=self.coder.encoder(d, build, self.num_lstm_layers),
            quantizer=block("embedding", codebook=codebook(self.codebook_size, d)),
        )


class WavTokenizer(Sizes):
    """Sizes of the decoder."""

    coder: Coder
    decoder_hidden_size: int = size("d")
    decoder_intermediate_size: int = size("d_ff")
    decoder_num_layers: int = count("N")
    adanorm_num_embeddings: int = size("n_b")


def encoder_spec(c: Config) -> Spec[Coder]:
    """WavTokenizer's encoder and codebook, alone or in a language model."""
    d = c.int("hidden_size")
    if (codes := c.int("codebook_dim")) != d:
        text = f"codebook_dim is {codes:,} and hidden_size {d:,}; nothing projects one to the other."
        raise c.error("contradiction", text, "codebook_dim", "Correct one of them.", observed=int(codes))
    norm = c.choice("norm_type", ("weight_norm", "time_group_norm"))
    sizes = Coder.read(c, coder=Seanet.by_rates(c), grouped=norm == "time_group_norm")
    return keys.encoding(c, [], {"EncoderModel": "base", "Model": "base"}, hidden=d).having(sizes)


def encoder_blueprint(s: Spec[Coder]) -> Block:
    return s.own.tensors(s.hidden)


def spec(c: Config) -> Spec[WavTokenizer]:
    encoder = encoder_spec(c)
    return encoder.having(WavTokenizer.read(c, coder=encoder.own))


def blueprint(s: Spec[WavTokenizer]) -> Block:
    of, d = s.own, s.own.decoder_hidden_size
    condition = block(weight=Tensor((of.adanorm_num_embeddings, d)))
    norm = block("norm", scale=condition, shift=condition)
    layer = block(
        gamma=Tensor((d,)),
        dwconv=conv(1, d, 7),
        norm=norm,
        pwconv1=Linear(d, of.decoder_intermediate_size, True),
        pwconv2=Linear(of.decoder_intermediate_size, d, True),
    )
    backbone = block(
        embed=conv(s.hidden, d, 7),
        pos_net=_positions(d),
        norm=norm,
        convnext=Repeat(Indices.below(of.decoder_num_layers), layer),
        final_layer_norm=layer_norm(d),
    )
    window = 4 * product(of.coder.coder.ratios)  # samples of a short-time Fourier transform
    head = block(linear=Linear(d, window + 2, True))
    return block("convolution", encoder_model=of.coder.tensors(s.hidden), backbone=backbone, head=head)


def _positions(d: int) -> Block:
    """Vocos' layers in place of positions: two that convolve, one that attends, two that convolve, and a norm."""
    norm, convolution, projection = layer_norm(d), conv(d, d, 3), conv(d, d, 1)
    residual = block(norm1=norm, conv1=convolution, norm2=norm, conv2=convolution)
    attention = block("attention", norm=norm, q=projection, k=projection, v=projection, proj_out=projection)
    layers = [residual, residual, attention, residual, residual, norm]
    return Block({str(place): layer for place, layer in enumerate(layers)})


PARTS = (families.Family(("wavtokenizer_encoder",), encoder_spec, encoder_blueprint, ignored=IGNORED),)
