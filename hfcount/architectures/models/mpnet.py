"""MPNet: BERT's layers with relative positions, one table for all of them (arXiv:2004.09297)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_embeddings, bert_layer, pooler, roberta_heads
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("mpnet",)  # transformers 5.23: modeling_mpnet.py

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


class Mpnet(Sizes):
    relative_attention_num_buckets: int = size("b", absent=32)


def spec(c: Config) -> Spec[Mpnet]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    sizes = Mpnet.read(c)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, positions=rows)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[Mpnet]) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)

    def layer_block(layer: Layer) -> Block:
        attention = block(attn=block("attention", q=square, k=square, v=square, o=square), LayerNorm=layer_norm(d))
        children = bert_layer(d, layer.replace(cross_attention=False))
        return Block({**children.children, "attention": attention})

    table = (s.own.relative_attention_num_buckets, s.layers[0].layer.attention.heads)
    encoder = block(
        layer=stack(s.layers, layer_block), relative_attention_bias=block("attention", weight=Tensor(table))
    )
    pooled = pooler(s, heads=("base", "multiple_choice"))
    return roberta_heads(s, "mpnet", block(embeddings=bert_embeddings(s), encoder=encoder, pooler=pooled))
