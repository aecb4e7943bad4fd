"""SeamlessM4T, versions 1 and 2: text and speech in, text and speech out (arXiv:2308.11596, arXiv:2312.05187)."""

from hfcount.architectures import keys
from hfcount.architectures.components.vocoders import HiFiGAN
from hfcount.architectures.layers import altered, embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.conformer import (
    conformer_attention,
    conformer_layer,
    feed_forward,
    shortening,
)
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, part, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, Tied, block, buffer

# transformers 5.23: modeling_seamless_m4t.py, modeling_seamless_m4t_v2.py
MODEL_TYPES = ("seamless_m4t", "seamless_m4t_v2")
IGNORED = tuple(
    "adaptor_stride max_source_positions max_new_tokens t2u_max_new_tokens num_adapter_layers"
    " t2u_max_position_embeddings rotary_embedding_base sampling_rate scale_embedding upsample_rates vocoder_offset"
    " num_conv_pos_embedding_groups num_conv_pos_embeddings speech_encoder_chunk_size speech_encoder_left_chunk_num"
    " left_max_position_embeddings right_max_position_embeddings".split()
)

_HEADS = keys.named(
    ("Model",),
    ForTextToText="conditional_generation",
    ForSpeechToText="speech_to_text",
    ForTextToSpeech="text_to_speech",
    ForSpeechToSpeech="speech_to_speech",
)


class SecondUnits(Sizes):
    """How version 2 makes units of speech: all at once, with a length for each character."""

    char_vocab_size: int = size("|V_c|")
    embed_dim: int = size("d_v", "t2u_variance_predictor_embed_dim")
    hidden_dim: int = size("d_vh", "t2u_variance_predictor_hidden_dim")
    kernel_size: int = size("w_uv", "t2u_variance_predictor_kernel_size")


class SeamlessM4T(Sizes):
    """Sizes specific to SeamlessM4T; `distances` are those that have an embedding of their own in version 2."""

    vocoder: HiFiGAN = part(HiFiGAN)
    t2u_vocab_size: int = size("|V_u|")
    feature_projection_input_dim: int = size("d_i")
    conv_depthwise_kernel_size: int = size("w")
    adaptor_kernel_size: int = size("w_a")
    unit_embed_dim: int = size("d_u")
    unit_hifi_gan_vocab_size: int = size("|V_h|")
    variance_predictor_kernel_size: int = size("w_v")
    spkr_embed_dim: int = size("d_s")
    lang_embed_dim: int = size("d_l")
    vocoder_num_spkrs: int = size("n_s")
    vocoder_num_langs: int = size("n_l")
    second: SecondUnits | None = derived(lambda c: SecondUnits.read(c) if c.family == "seamless_m4t_v2" else None)
    adapters: int
    relative: bool
    rotary: bool
    distances: int | None


def spec(c: Config) -> Spec[SeamlessM4T]:
    d, second = c.int("hidden_size"), c.family == "seamless_m4t_v2"
    kind = "" if c.is_null("position_embeddings_type") else c.str("position_embeddings_type")
    adapting, distances = c.bool("add_adapter"), None
    if kind == "relative_key" and second:
        left, right = "left_max_position_embeddings", "right_max_position_embeddings"
        distances = c.int(left, minimum=0) + c.int(right, minimum=0) + 1
    sizes = SeamlessM4T.read(
        c,
        adapters=keys.dim("N_a", c.int("num_adapter_layers", maximum=MAX_LAYERS)) if adapting else 0,
        relative=kind == "relative",
        rotary=kind == "rotary",
        distances=distances,
    )
    if sizes.conv_depthwise_kernel_size % 2 == 0:
        raise c.error("out-of-range", "conv_depthwise_kernel_size must be odd.", "conv_depthwise_kernel_size")

    def side(name: str, width: str = "ffn_dim") -> Spec:
        indivisible: keys.Indivisible = "built" if name == "speech_encoder" else "refused"
        mixer = keys.multi_head(c, d, c.int(f"{name}_attention_heads"), indivisible=indivisible)
        layer = Layer(mixer=mixer, ffn=Dense(width=c.int(f"{name}_{width}"), bias=True))
        layers = tuple(keys.uniform(layer, keys.layer_count(c, f"{name}_layers")))
        return Spec(family=c.family, hidden=d, layers=layers, causal=False)

    parts = {
        "encoder": side("encoder"),
        "hearing": side("speech_encoder", "intermediate_size"),
        "units": side("t2u_encoder"),
        "made": side("t2u_decoder"),
    }
    layers = side("decoder").layers
    return keys.decoder_spec(c, layers, tied=True, hidden=d, heads=_HEADS, parts=parts, uncounted=keys.ACROSS).having(
        sizes
    )


def blueprint(s: Spec[SeamlessM4T]) -> Block:
    d, tied = s.hidden, Tied("shared.weight", (s.vocab, s.hidden), "embedding")
    table = tied if s.tied else embedding(s.vocab, d)
    reads = s.head in ("base", "conditional_generation", "text_to_speech")
    hears = s.head in ("base", "speech_to_text", "speech_to_speech")
    speaks = s.head in ("base", "text_to_speech", "speech_to_speech")
    return block(
        shared=embedding(s.vocab, d),
        text_encoder=_stack(s, "encoder", embed_tokens=table) if reads else None,
        speech_encoder=_hearing(s) if hears else None,
        text_decoder=_stack(s, "", embed_tokens=table),
        lm_head=lm_head(s, "shared.weight"),
        t2u_model=_units(s) if speaks else None,
        vocoder=_vocoder(s) if speaks else None,
    )


def _stack(s: Spec[SeamlessM4T], part: str, **more: Block | Tied) -> Block:
    d, crossed = s.hidden, part in ("", "made")

    def layer_block(layer: Layer) -> Block:
        attention = mha(d, layer.attention)
        return block(
            self_attn=attention,
            self_attn_layer_norm=layer_norm(d),
            cross_attention=attention if crossed else None,
            cross_attention_layer_norm=layer_norm(d) if crossed else None,
            ffn=mlp(d, layer.dense.width),
            ffn_layer_norm=layer_norm(d),
        )

    return block(**more, layers=stack(s.stack(part) if part else s.layers, layer_block), layer_norm=layer_norm(d))


def _hearing(s: Spec[SeamlessM4T]) -> Block:
    d, of, inputs = s.hidden, s.own, s.own.feature_projection_input_dim
    layers, second = s.stack("hearing"), of.second is not None

    def layer_block(layer: Layer) -> Block:
        attention = conformer_attention(d, layer.attention, of.relative, of.distances or 0)
        return conformer_layer(d, layer, attention, of.conv_depthwise_kernel_size, batch=not second)

    first = layers[0].layer
    width, norm = first.dense.width, layer_norm(d)
    adapter = Repeat(Indices.below(of.adapters), shortening(d, width, of.adaptor_kernel_size, first.attention))
    turned = block("embedding", inv_freq=buffer((first.attention.head_dim + 1) // 2))
    return block(
        feature_projection=block("embedding", layer_norm=layer_norm(inputs), projection=Linear(inputs, d, True)),
        encoder=block(
            layers=stack(layers, layer_block), layer_norm=norm, embed_positions=turned if of.rotary else None
        ),
        intermediate_ffn=feed_forward(d, width),
        adapter=block("other", layers=adapter) if of.adapters else None,
        inner_layer_norm=norm,
    )


def _units(s: Spec[SeamlessM4T]) -> Block:
    d, of, words = s.hidden, s.own, s.own.t2u_vocab_size
    decoder = _stack(s, "made", embed_tokens=embedding(words, d))
    if second := of.second:
        once, seven = Tensor((1,), component="embedding"), conv(d, d, 7)

        def layer_block(layer: Layer) -> Block:
            return block(
                self_attn=mha(d, layer.attention),
                self_attn_layer_norm=layer_norm(d),
                conv1=seven,
                conv2=seven,
                conv_layer_norm=layer_norm(d),
            )

        decoder = altered(
            decoder,
            pos_emb_alpha_char=once,
            pos_emb_alpha=once,
            embed_char=embedding(second.char_vocab_size, d),
            duration_predictor=_durations(second.embed_dim, second.hidden_dim, second.kernel_size),
            layers=stack(s.stack("made"), layer_block),
        )
    table = "t2u_model.model.decoder.embed_tokens.weight"
    head = Tied(table, (words, d), "lm_head") if s.tied else Linear(d, words, component="lm_head")
    return block(model=block(encoder=_stack(s, "units"), decoder=decoder), lm_head=head)


def _vocoder(s: Spec[SeamlessM4T]) -> Block:
    of, unit = s.own, s.own.unit_embed_dim
    speaker, language = of.spkr_embed_dim, of.lang_embed_dim
    return block(
        dur_predictor=_durations(unit, unit, of.variance_predictor_kernel_size),
        unit_embedding=embedding(of.unit_hifi_gan_vocab_size, unit),
        speaker_embedding=embedding(of.vocoder_num_spkrs, speaker),
        language_embedding=embedding(of.vocoder_num_langs, language),
        hifi_gan=of.vocoder.tensors(unit + language + speaker),
    )


def _durations(inputs: int, d: int, kernel: int) -> Block:
    first, second = conv(inputs, d, kernel), conv(d, d, kernel)
    return block("other", conv1=first, ln1=layer_norm(d), conv2=second, ln2=layer_norm(d), proj=Linear(d, 1, True))
