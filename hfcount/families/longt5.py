"""LongT5: T5 whose encoder attends to what is near, and perhaps to means of the rest (arXiv:2112.07916)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, lm_head, rms_norm, stack
from hfcount.parts.seq2seq import t5_layer
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Tensor, Tied, block

MODEL_TYPES = ("longt5",)  # transformers 5.23: modeling_longt5.py
IGNORED = ("local_radius", "global_block_size", "relative_attention_max_distance", "scale_decoder_outputs")

SPELLINGS = {r"^transformer\.": ""}  # the base model's name, which none of its classes has

_HEADS = keys.named(("ForConditionalGeneration", "Model"), EncoderModel="encoder")
_KINDS = {"local": "LocalSelfAttention", "transient-global": "TransientGlobalSelfAttention"}


def spec(c: Config) -> Spec:
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv", "head_dim"))
    buckets, ffn = keys.sized("b", c.int("relative_attention_num_buckets")), Dense(width=c.int("d_ff"))
    kind = c.str("encoder_attention_type", default="local")
    if kind not in _KINDS:
        raise c.error(f"encoder_attention_type must be one of {', '.join(_KINDS)}.", "encoder_attention_type")
    count = keys.layer_count(c, "num_layers", "num_hidden_layers")
    decoding = c.int("num_decoder_layers", default=count, maximum=MAX_LAYERS)

    def layers(count: int) -> tuple[Layers, ...]:
        def one(table: int) -> Layer:
            return Layer(mixer=mixer, ffn=ffn, traits={"relative_attention_num_buckets": table})

        first, later = Indices.below(min(1, count)), Indices.span(1, count)
        return tuple(keys.split(c, (first, lambda: one(buckets)), (later, lambda: one(0))))

    parts = {"encoder": Spec(family=c.family, hidden=d, layers=layers(count), causal=False)}
    whole = keys.decoder_spec(c, layers(decoding), heads=_HEADS, layer_count=decoding, hidden=d, parts=parts)
    alone = whole.head == "encoder"
    activation = c.str("feed_forward_proj", default="relu")
    traits = {
        "gated": c.bool("is_gated_act", default=activation.split("-")[0] == "gated"),
        "far": kind == "transient-global",
        "crossed": alone and c.bool("is_decoder", default=False),
    }
    # The reference ties embedding and head whatever the config says.
    return whole.but(tied=True, causal=not alone, uncounted="" if alone else keys.ACROSS, traits=traits)


def blueprint(s: Spec) -> Block:
    d, gated, norm = s.hidden, s.traits["gated"], rms_norm(s.hidden)
    table = Tied("shared.weight", (s.vocab, d))

    def near(one: Layer) -> Block:
        buckets = one.traits["relative_attention_num_buckets"]
        rows = block(weight=Tensor((buckets, one.attention.heads))) if buckets else None
        more = block(global_relative_attention_bias=rows, global_input_layer_norm=norm) if s.traits["far"] else None
        return t5_layer(d, one, gated, False, _KINDS["transient-global" if s.traits["far"] else "local"], more)

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda one: t5_layer(d, one, gated, True) if crossed else near(one))
        return block(embed_tokens=table, block=blocks, final_layer_norm=norm)

    return block(
        shared=embedding(s.vocab, d),
        encoder=side(s.stack("encoder"), bool(s.traits["crossed"])),
        decoder=None if s.head == "encoder" else side(s.layers, True),
        lm_head=lm_head(s, "shared.weight", anyway=True) if s.head == "conditional_generation" else None,
    )
