"""X-MOD: RoBERTa with an adapter for each language in every layer (arXiv:2205.06266)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_embeddings, bert_layer, pooler, roberta_heads
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("xmod",)  # transformers 5.23: modeling_xmod.py


class Xmod(Sizes):
    adapter_reduction_factor: int
    adapter_layer_norm: bool = flag(absent=False)
    pre_norm: bool = flag(absent=False)


def spec(c: Config) -> Spec[Xmod]:
    factor = c.int("adapter_reduction_factor")
    if factor > c.int("hidden_size"):
        text = f"adapter_reduction_factor {factor:,} exceeds hidden_size."
        raise c.error("out-of-range", text, "adapter_reduction_factor", "Correct one of them.")
    sizes = Xmod.read(c, adapter_reduction_factor=factor)
    return keys.encoder(c).replace(languages=tuple(c.strs("languages"))).having(sizes)


def blueprint(s: Spec[Xmod]) -> Block:
    d, narrow = s.hidden, s.hidden // s.own.adapter_reduction_factor
    adapter = block("other", dense1=Linear(d, narrow, True), dense2=Linear(narrow, d, True))
    adapters = Block(dict.fromkeys(s.languages, adapter))
    norm = layer_norm(d) if s.own.adapter_layer_norm else None

    def layer_block(layer: Layer) -> Block:
        output = block(
            dense=Linear(layer.dense.width, d, True, "mlp"),
            LayerNorm=layer_norm(d),
            adapter_layer_norm=norm,
            adapter_modules=adapters,
        )
        return Block({**bert_layer(d, layer).children, "output": output})

    last = layer_norm(d) if s.own.pre_norm else None
    encoder = block(layer=stack(s.layers, layer_block), LayerNorm=last)
    body = block(embeddings=bert_embeddings(s), encoder=encoder, pooler=pooler(s, heads=("base", "multiple_choice")))
    return roberta_heads(s, "roberta", body)
