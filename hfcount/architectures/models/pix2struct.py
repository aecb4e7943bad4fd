"""Pix2Struct: an encoder of pictures of text, and a decoder of text (arXiv:2210.03347)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, lm_head, rms_norm, stack
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("pix2struct",)  # transformers 5.23: modeling_pix2struct.py
IGNORED = ("is_vqa",)


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    # The whole model's says whether the decoder's embedding is also its head.
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration",))


def blueprint(s: Spec) -> Block:
    decoder = families.tree(s.part("text").replace(tied=s.tied))
    return block(encoder=families.tower(s, "vision"), decoder=rebased(decoder, "decoder"))


class Pix2structTextModelLayer(Record):
    buckets: int


def text_spec(c: Config) -> Spec:
    """Pix2Struct's decoder: T5's, with attention as wide as the model (arXiv:2210.03347)."""
    d, count = c.int("hidden_size"), keys.layer_count(c, "num_layers", "num_hidden_layers")
    # Whatever d_kv says, a projection is as wide as the model.
    mixer = keys.multi_head(c, d, c.int("num_heads", "num_attention_heads"), bias=False, indivisible="built")
    ffn, buckets = Dense(width=c.int("d_ff")), keys.dim("b", c.int("relative_attention_num_buckets"))

    def layer(rows: int) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, own=Pix2structTextModelLayer(buckets=rows))

    first = Indices.below(min(1, count))
    layers = keys.split((first, lambda: layer(buckets)), (Indices.below(count).difference(first), lambda: layer(0)))
    heads, why = ("Model",), keys.ACROSS
    return keys.decoder_spec(c, layers, hidden=d, layer_count=count, heads=heads, uncounted=why)


def text_blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)
    square = Linear(d, d)
    parts = block(query=square, key=square, value=square, output=square).children

    def layer_block(layer: Layer) -> Block:
        buckets, wide = layer.sizes(Pix2structTextModelLayer).buckets, Linear(d, layer.dense.width)
        table = block(weight=Tensor((buckets, layer.attention.heads)))
        sizes = Block({**parts, **({"relative_attention_bias": table} if buckets else {})}, "attention")
        network = block("mlp", wi_0=wide, wi_1=wide, wo=Linear(layer.dense.width, d))
        return block(
            self_attention=block(attention=sizes, layer_norm=norm),
            encoder_decoder_attention=block(attention=Block(parts, "attention"), layer_norm=norm),
            mlp=block(DenseReluDense=network, layer_norm=norm),
        )

    return block(
        embed_tokens=embedding(s.vocab, d),
        layer=stack(s.layers, layer_block),
        final_layer_norm=norm,
        lm_head=lm_head(s, "embed_tokens.weight"),
    )


PARTS = (
    families.Family(
        ("pix2struct_text_model",), text_spec, text_blueprint, ignored=("relative_attention_max_distance", "d_kv")
    ),
)
