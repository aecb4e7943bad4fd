"""SqueezeBERT: BERT's projections as grouped convolutions (arXiv:2006.11316)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.encoders import bert_embeddings, bert_heads, bert_predictions
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Component, Linear, Tensor, block

MODEL_TYPES = ("squeezebert",)  # transformers 5.23: modeling_squeezebert.py

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]
_GROUPS = {"q": 4, "k": 4, "v": 4, "post_attention": 1, "intermediate": 4, "output": 4}


def spec(c: Config) -> Spec:
    groups = {name: c.int(f"{name}_groups", default=usual) for name, usual in _GROUPS.items()}
    d, wide = c.int("hidden_size"), c.int("intermediate_size")
    for name, parts in groups.items():
        for key, width in (("hidden_size", d), ("intermediate_size", wide)):
            if key == "hidden_size" or name in ("intermediate", "output"):
                keys.divides(c, f"{name}_groups", parts, key, width)
    if c.int("embedding_size", default=d) != d:
        raise c.error("embedding_size must be hidden_size.", "embedding_size", "Correct one of them.", expected=int(d))
    return keys.encoder(c, heads=_HEADS, decoding=False, traits=groups)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits

    def grouped(inputs: int, outputs: int, groups: str, component: Component) -> Block:
        return block(component, weight=Tensor((outputs, inputs // of[groups], 1)), bias=Tensor((outputs,)))

    def layer(one: Layer) -> Block:
        width = one.dense.width
        own = {name: grouped(d, d, name[0], "attention") for name in ("query", "key", "value")}
        after = grouped(d, d, "post_attention", "attention")
        back = grouped(width, d, "output", "mlp")
        return block(
            attention=Block(own),
            post_attention=block(conv1d=after, layernorm=layer_norm(d)),
            intermediate=block(conv1d=grouped(d, width, "intermediate", "mlp")),
            output=block(conv1d=back, layernorm=layer_norm(d)),
        )

    pooled, layers = block("other", dense=Linear(d, d, True)), stack(s.layers, layer)
    body = block(embeddings=bert_embeddings(s), encoder=block(layers=layers), pooler=pooled)
    words = bert_predictions(s, "transformer.embeddings.word_embeddings.weight")
    return bert_heads(s, "transformer", body, words)
