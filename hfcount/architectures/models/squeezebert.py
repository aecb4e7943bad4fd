"""SqueezeBERT: BERT's projections as grouped convolutions (arXiv:2006.11316)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_embeddings, bert_heads, bert_predictions
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Tensor, block

MODEL_TYPES = ("squeezebert",)  # transformers 5.23: modeling_squeezebert.py

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


class Squeezebert(Sizes):
    """Sizes specific to SqueezeBERT: the groups of each convolution."""

    q_groups: int = size(absent=4)
    k_groups: int = size(absent=4)
    v_groups: int = size(absent=4)
    post_attention_groups: int = size(absent=1)
    intermediate_groups: int = size(absent=4)
    output_groups: int = size(absent=4)


def spec(c: Config) -> Spec[Squeezebert]:
    sizes = Squeezebert.read(c)
    d, wide = c.int("hidden_size"), c.int("intermediate_size")
    for key, groups in (("q_groups", sizes.q_groups), ("k_groups", sizes.k_groups), ("v_groups", sizes.v_groups)):
        keys.divides(c, key, groups, "hidden_size", d)
    keys.divides(c, "post_attention_groups", sizes.post_attention_groups, "hidden_size", d)
    for key, groups in (("intermediate_groups", sizes.intermediate_groups), ("output_groups", sizes.output_groups)):
        keys.divides(c, key, groups, "hidden_size", d)
        keys.divides(c, key, groups, "intermediate_size", wide)
    if c.int("embedding_size", default=d) != d:
        raise c.error(
            "contradiction",
            "embedding_size must be hidden_size.",
            "embedding_size",
            "Correct one of them.",
            expected=int(d),
        )
    return keys.encoder(c, heads=_HEADS, decoding=False).having(sizes)


def blueprint(s: Spec[Squeezebert]) -> Block:
    d, of = s.hidden, s.own

    def grouped(inputs: int, outputs: int, groups: int, component: Component) -> Block:
        return block(component, weight=Tensor((outputs, inputs // groups, 1)), bias=Tensor((outputs,)))

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        projections = block(
            query=grouped(d, d, of.q_groups, "attention"),
            key=grouped(d, d, of.k_groups, "attention"),
            value=grouped(d, d, of.v_groups, "attention"),
        )
        after = grouped(d, d, of.post_attention_groups, "attention")
        back = grouped(width, d, of.output_groups, "mlp")
        return block(
            attention=projections,
            post_attention=block(conv1d=after, layernorm=layer_norm(d)),
            intermediate=block(conv1d=grouped(d, width, of.intermediate_groups, "mlp")),
            output=block(conv1d=back, layernorm=layer_norm(d)),
        )

    pooled, layers = block("other", dense=Linear(d, d, True)), stack(s.layers, layer_block)
    body = block(embeddings=bert_embeddings(s), encoder=block(layers=layers), pooler=pooled)
    words = bert_predictions(s, "transformer.embeddings.word_embeddings.weight")
    return bert_heads(s, "transformer", body, words)
