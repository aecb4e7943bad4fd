"""Pop2Piano: T5 over spectrograms and a composer's style, whose head is not tied (arXiv:2211.00895)."""

from hfcount.architectures import keys
from hfcount.architectures.components.t5 import t5_layer, t5_layers
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Dense, Layers, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tied, block

MODEL_TYPES = ("pop2piano",)  # transformers 5.23: modeling_pop2piano.py
IGNORED = ("relative_attention_max_distance", "scale_decoder_outputs")


class Pop2piano(Sizes):
    composer_vocab_size: int = size("|V_c|")
    gated: bool


def spec(c: Config) -> Spec[Pop2piano]:
    d, heads = c.int("d_model"), c.int("num_heads")
    mixer, ffn = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv")), Dense(width=c.int("d_ff"))
    buckets, count = keys.dim("b", c.int("relative_attention_num_buckets")), keys.layer_count(c, "num_layers")
    gated = c.bool("is_gated_act", default=c.str("feed_forward_proj").startswith("gated"))

    decoding = c.int("num_decoder_layers", default=count, maximum=MAX_LAYERS)
    encoder = Spec(family=c.family, hidden=d, layers=t5_layers(count, mixer, ffn, buckets), causal=False)
    layers, sizes = t5_layers(decoding, mixer, ffn, buckets), Pop2piano.read(c, gated=gated)
    model = keys.decoder_spec(
        c,
        layers,
        layer_count=decoding,
        hidden=d,
        tied=True,
        heads=("ForConditionalGeneration",),
        parts={"encoder": encoder},
        uncounted=keys.ACROSS,
    )
    # Its class ties whatever the config says: a false is how outputs are scaled.
    return model.replace(tied=True).having(sizes)


def blueprint(s: Spec[Pop2piano]) -> Block:
    d, table = s.hidden, Tied("shared.weight", (s.vocab, s.hidden), "embedding")

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda layer: t5_layer(d, layer, s.own.gated, crossed))
        tokens = table if s.tied else embedding(s.vocab, d)
        return block(embed_tokens=tokens, block=blocks, final_layer_norm=layer_norm(d, bias=False))

    return block(
        shared=embedding(s.vocab, d),
        mel_conditioner=block(embedding=embedding(s.own.composer_vocab_size, d)),
        encoder=side(s.stack("encoder"), False),
        decoder=side(s.layers, True),
        lm_head=Linear(d, s.vocab, component="lm_head"),
    )
