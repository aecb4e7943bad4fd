"""Granite Speech 5 as a recogniser: its head is the one that its encoder guesses with midway (model card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import stack
from hfcount.architectures.layers.conformer import nemo_layer
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, Tied, block, obsolete

MODEL_TYPES = ("granite_speech5_ctc",)  # transformers 5.23: modeling_granite_speech5.py
IGNORED = ("ctc_zero_infinity",)


def spec(c: Config) -> Spec:
    encoder, words = families.part(c, "encoder_config"), c.int("vocab_size")
    guessed = encoder.own.vocab_size if isinstance(encoder.own, GraniteSpeech5Encoder) else words
    if guessed != words:
        text = f"vocab_size is {words:,} and that of encoder_config {guessed:,}."
        raise c.error("contradiction", text, "vocab_size", "Correct one of them.", observed=int(words))
    heads, parts = keys.named(ForCTC="ctc"), {"encoder": encoder}
    return keys.decoder_spec(c, [], tied=True, hidden=encoder.hidden, heads=heads, parts=parts).replace(causal=False)


def blueprint(s: Spec) -> Block:
    tied = (Tied("encoder.out.weight", (s.vocab, s.hidden), "lm_head"), block("lm_head", bias=obsolete(s.vocab)))
    head = tied if s.tied else Linear(s.hidden, s.vocab, True, "lm_head")
    return block(encoder=families.tree(s.part("encoder")), ctc_head=head)


class GraniteSpeech5Encoder(Sizes):
    num_mel_bins: int = size("b")
    max_position_embeddings: int
    conv_kernel_size: int = size("w")
    inner: int
    vocab_size: int = size("|V|")


def encoder_spec(c: Config) -> Spec[GraniteSpeech5Encoder]:
    """Granite Speech 5: a conformer whose layers shorten what they hear, alone or as a recogniser (model card)."""
    d, heads, bias = c.int("hidden_size"), c.int("num_attention_heads"), c.bool("attention_bias")
    farthest, context, width = c.int("max_position_embeddings"), c.int("context_size"), c.int("head_dim", default=None)
    if context > farthest:
        raise c.error(
            "out-of-range", f"context_size {context:,} exceeds max_position_embeddings {farthest:,}.", "context_size"
        )
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=d // heads if width is None else width, out_bias=True)
    sizes = GraniteSpeech5Encoder.read(
        c, max_position_embeddings=keys.dim("n_r", farthest), inner=d * c.int("conv_expansion_factor")
    )
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=bias))
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d).having(sizes)


def encoder_blueprint(s: Spec[GraniteSpeech5Encoder]) -> Block:
    d, of, inner, words = s.hidden, s.own, s.own.inner, s.own.vocab_size
    convolution = block(
        "convolution",
        pointwise_lin1=Linear(d, 2 * inner, True),
        depthwise_conv=conv(1, inner, of.conv_kernel_size, False),
        norm=batch_norm(inner),
        pointwise_lin2=Linear(inner, d, True),
    )

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        into = Linear(d, a.heads * a.head_dim)
        attention = block(
            "attention",
            **dict.fromkeys(("q_proj", "k_proj", "v_proj"), into),
            o_proj=Linear(a.heads * a.head_dim, d, True),
            rel_pos_emb=block(weight=Tensor((2 * of.max_position_embeddings + 1, a.head_dim))),
        )
        return nemo_layer(d, layer, attention, convolution)

    # A frame has two differences beside it, and two frames are one.
    return block(
        input_linear=Linear(4 * of.num_mel_bins, d, True, "embedding"),
        layers=stack(s.layers, layer_block),
        out=Linear(d, words, True, "lm_head"),
        out_mid=Linear(words, d, True, "other"),
    )


PARTS = (
    families.Family(
        ("granite_speech5_encoder",),
        encoder_spec,
        encoder_blueprint,
        ignored=("num_key_value_heads", "subsample_layers"),
    ),
)
