"""Pocket TTS's tokenizer: Mimi's network around a latent in place of codes; whole or half of it (arXiv:2509.06926)."""

from hfcount.architectures import keys
from hfcount.architectures.components.codecs import Seanet
from hfcount.architectures.layers import layer_norm, mlp, pre_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Head, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

# transformers 5.23: modeling_pocket_tts_audio_tokenizer.py
MODEL_TYPES = (
    "pocket_tts_audio_tokenizer",
    "pocket_tts_audio_tokenizer_encoder",
    "pocket_tts_audio_tokenizer_decoder",
)
IGNORED = ("dilation_growth_rate", "use_causal_conv", "use_streaming", "sampling_rate")


class PocketTTSAudioTokenizer(Sizes):
    coder: Seanet
    latent_dim: int = size("d_l")
    latent_stride: int = size("s")
    upsample_groups: int = size("g")


def spec(c: Config) -> Spec[PocketTTSAudioTokenizer]:
    d, coder = c.int("hidden_size"), Seanet.by_rates(c, default=(6, 5, 4))
    keys.divides(c, "num_attention_heads", c.int("num_attention_heads"), "hidden_size", d)
    sizes = PocketTTSAudioTokenizer.read(c, coder=coder)
    keys.divides(c, "upsample_groups", sizes.upsample_groups, "hidden_size", d)
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c))
    known: dict[str, Head] = {"EncoderModel": "base", "DecoderModel": "base"}
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), known, hidden=d).having(sizes)


def blueprint(s: Spec[PocketTTSAudioTokenizer]) -> Block:
    d, of, stride = s.hidden, s.own, s.own.latent_stride
    scale = block("other", scale=Tensor((d,)))

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, bias=False)
        usual = pre_norm(d, layer_norm, self_attn=mha(d, layer.attention, "o_proj"), mlp=network)
        return Block({**usual.children, "self_attn_layer_scale": scale, "mlp_layer_scale": scale})

    transformer = block(layers=stack(s.layers, layer_block))
    wider = upsampling(d, d // of.upsample_groups, 2 * stride, False)
    encoder = block(
        encoder_seanet=of.coder.encoder(d),
        encoder_transformer=transformer,
        downsample=block("convolution", conv=conv(d, of.latent_dim, 2 * stride, False)),
    )
    decoder = block(
        upsample=block("convolution", conv=wider),
        decoder_transformer=transformer,
        decoder_seanet=of.coder.decoder(d),
    )
    if s.family.endswith("encoder"):
        return encoder
    if s.family.endswith("decoder"):
        return decoder
    return block(encoder=encoder, decoder=decoder, latent_proj=conv(of.latent_dim, d, 1, False, "projector"))
