"""Q-Former: queries that attend to an image, and in InstructBLIP to a text (arXiv:2301.12597, arXiv:2305.06500)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.encoders import bert_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, block

# transformers 5.23: modeling_blip_2.py, modeling_instructblip.py, modeling_instructblipvideo.py
MODEL_TYPES = ("blip_2_qformer", "instructblip_qformer", "instructblipvideo_qformer")


class Blip2Qformer(Sizes):
    use_qformer_text_input: int
    vocab_size: int = size("|V_q|")


def spec(c: Config) -> Spec[Blip2Qformer]:
    d, count = c.int("hidden_size"), keys.layer_count(c)
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads")), keys.dense(c, bias=True)
    vision_width = keys.dim("d_e", c.int("encoder_hidden_size"))
    step = c.int("cross_attention_frequency", default=2, minimum=1, maximum=MAX_LAYERS)
    at = Indices.span(0, count, step)

    def layer(crossed: bool) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, cross_attention=crossed, memory=vision_width)

    layers = keys.split((at, lambda: layer(True)), (Indices.below(count).difference(at), lambda: layer(False)))
    alone = c.family == "blip_2_qformer"
    sizes = Blip2Qformer.read(
        c, use_qformer_text_input=c.bool("use_qformer_text_input", default=False) if alone else True
    )
    rows = c.int("max_position_embeddings")
    return keys.encoding(c, layers, hidden=d, layer_count=count, positions=rows).having(sizes)


def blueprint(s: Spec[Blip2Qformer]) -> Block:
    d = s.hidden

    def network(wide: int) -> tuple[Block, Block]:
        back = block(dense=Linear(wide, d, True, "mlp"), LayerNorm=layer_norm(d))
        return block("mlp", dense=Linear(d, wide, True)), back

    def attention(layer: Layer, memory: int | None = None) -> Block:
        parts = bert_attention(d, layer.attention, memory=memory).children
        return Block({"attention" if name == "self" else name: part for name, part in parts.items()})

    def layer_block(layer: Layer) -> Block:
        into, back = network(layer.dense.width)
        words = s.own.use_qformer_text_input
        return block(
            attention=attention(layer),
            crossattention=attention(layer, layer.memory) if layer.cross_attention else None,
            intermediate=into if words else None,
            output=back if words else None,
            intermediate_query=into,
            output_query=back,
        )

    encoder: Node = block(layer=stack(s.layers, layer_block))
    if s.family == "blip_2_qformer":
        return block(layernorm=layer_norm(d), encoder=encoder)
    words = embedding(s.own.vocab_size, d)
    tables = block(word_embeddings=words, position_embeddings=positions(s), layernorm=layer_norm(d))
    return block(embeddings=tables, encoder=encoder)
