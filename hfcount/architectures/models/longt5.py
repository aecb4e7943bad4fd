"""LongT5: T5 whose encoder attends to what is near, and perhaps to means of the rest (arXiv:2112.07916)."""

from hfcount.architectures import keys
from hfcount.architectures.components.t5 import T5Layer, t5_gated, t5_layer, t5_layers
from hfcount.architectures.layers import embedding, lm_head, rms_norm, stack
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.spec.tree.nodes import Block, Tensor, Tied, block

MODEL_TYPES = ("longt5",)  # transformers 5.23: modeling_longt5.py
IGNORED = ("local_radius", "global_block_size", "relative_attention_max_distance", "scale_decoder_outputs")


_HEADS = keys.named(("ForConditionalGeneration", "Model"), EncoderModel="encoder")
_KINDS = {"local": "LocalSelfAttention", "transient-global": "TransientGlobalSelfAttention"}


class LongT5(Sizes):
    """Sizes specific to LongT5; `far` is whether its encoder also attends to means of what is not near."""

    gated: bool
    far: bool
    crossed: bool


def spec(c: Config) -> Spec[LongT5]:
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv", "head_dim"))
    buckets, ffn = keys.dim("b", c.int("relative_attention_num_buckets")), Dense(width=c.int("d_ff"))
    kind = c.choice("encoder_attention_type", _KINDS, "local")
    count = keys.layer_count(c, "num_layers", "num_hidden_layers")
    decoding = c.int("num_decoder_layers", default=count, maximum=MAX_LAYERS)

    layers = t5_layers(count, mixer, ffn, buckets)
    parts = {"encoder": Spec(family=c.family, hidden=d, layers=layers, causal=False)}
    layers = t5_layers(decoding, mixer, ffn, buckets)
    model = keys.decoder_spec(c, layers, heads=_HEADS, layer_count=decoding, hidden=d, parts=parts)
    alone = model.head == "encoder"
    sizes = LongT5.read(
        c,
        gated=t5_gated(c, "relu"),
        far=kind == "transient-global",
        crossed=alone and c.bool("is_decoder", default=False),
    )
    # The reference ties embedding and head whatever the config says.
    return model.replace(tied=True, causal=not alone, uncounted="" if alone else keys.ACROSS).having(sizes)


def blueprint(s: Spec[LongT5]) -> Block:
    d, gated, far, norm = s.hidden, s.own.gated, s.own.far, rms_norm(s.hidden)
    table = Tied("shared.weight", (s.vocab, d))

    def near(layer: Layer) -> Block:
        buckets = layer.sizes(T5Layer).buckets
        rows = block(weight=Tensor((buckets, layer.attention.heads))) if buckets else None
        more = block(global_relative_attention_bias=rows, global_input_layer_norm=norm) if far else None
        return t5_layer(d, layer, gated, False, _KINDS["transient-global" if far else "local"], more)

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda layer: t5_layer(d, layer, gated, True) if crossed else near(layer))
        return block(embed_tokens=table, block=blocks, final_layer_norm=norm)

    return block(
        shared=embedding(s.vocab, d),
        encoder=side(s.stack("encoder"), s.own.crossed),
        decoder=None if s.head == "encoder" else side(s.layers, True),
        lm_head=lm_head(s, "shared.weight", anyway=True) if s.head == "conditional_generation" else None,
    )
