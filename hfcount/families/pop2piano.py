"""Pop2Piano: T5 over spectrograms and a composer's style, whose head is not tied (arXiv:2211.00895)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.seq2seq import t5_layer
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Tied, block

MODEL_TYPES = ("pop2piano",)  # transformers 5.23: modeling_pop2piano.py
IGNORED = ("relative_attention_max_distance", "scale_decoder_outputs")


def spec(c: Config) -> Spec:
    d, heads = c.int("d_model"), c.int("num_heads")
    mixer, ffn = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv")), Dense(width=c.int("d_ff"))
    buckets, count = keys.sized("b", c.int("relative_attention_num_buckets")), keys.layer_count(c, "num_layers")
    gated = c.bool("is_gated_act", default=c.str("feed_forward_proj").startswith("gated"))

    def layers(count: int) -> tuple[Layers, ...]:
        def kind(table: int) -> Layer:
            return Layer(mixer=mixer, ffn=ffn, traits={"relative_attention_num_buckets": table})

        first, later = Indices.below(min(1, count)), Indices.span(1, count)
        return tuple(keys.split(c, (first, lambda: kind(buckets)), (later, lambda: kind(0))))

    decoding = c.int("num_decoder_layers", default=count, maximum=MAX_LAYERS)
    whole = keys.decoder_spec(
        c,
        layers(decoding),
        layer_count=decoding,
        hidden=d,
        tied=True,
        heads=("ForConditionalGeneration",),
        parts={"encoder": Spec(family=c.family, hidden=d, layers=layers(count), causal=False)},
        traits={"gated": gated, "composer_vocab_size": keys.sized("|V_c|", c.int("composer_vocab_size"))},
        uncounted=keys.ACROSS,
    )
    return whole.but(tied=True)  # its class ties whatever the config says: a false is how outputs are scaled


def blueprint(s: Spec) -> Block:
    d, table = s.hidden, Tied("shared.weight", (s.vocab, s.hidden), "embedding")

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda one: t5_layer(d, one, s.traits["gated"], crossed))
        own = table if s.tied else embedding(s.vocab, d)
        return block(embed_tokens=own, block=blocks, final_layer_norm=layer_norm(d, bias=False))

    return block(
        shared=embedding(s.vocab, d),
        mel_conditioner=block(embedding=embedding(s.traits["composer_vocab_size"], d)),
        encoder=side(s.stack("encoder"), False),
        decoder=side(s.layers, True),
        lm_head=Linear(d, s.vocab, component="lm_head"),
    )
