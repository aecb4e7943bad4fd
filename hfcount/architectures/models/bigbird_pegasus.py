"""BigBird-Pegasus: PEGASUS whose encoder reads long texts by sparse attention (arXiv:2007.14062)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.classic import fc, mha
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("bigbird_pegasus",)  # transformers 5.23: modeling_bigbird_pegasus.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


class BigbirdPegasus(Sizes):
    use_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[BigbirdPegasus]:
    known = keys.sequence_to_sequence(c, heads=_HEADS)
    if known.head != "causal_lm":
        c.choice("attention_type", ("block_sparse", "original_full"), "block_sparse")  # of the encoder
    return known.replace(tied=known.tied and known.head != "causal_lm").having(BigbirdPegasus.read(c))


def blueprint(s: Spec[BigbirdPegasus]) -> Block:
    d, bias = s.hidden, s.own.use_bias
    square = Linear(d, d, bias)

    def layer_block(layer: Layer, crossed: bool) -> Block:
        across = mha(d, layer.attention.replace(qkv_bias=bias, out_bias=bias))
        sparse = block("attention", self=block(query=square, key=square, value=square), output=square)
        return block(
            self_attn=across if crossed else sparse,
            self_attn_layer_norm=layer_norm(d),
            encoder_attn=across if crossed else None,
            encoder_attn_layer_norm=layer_norm(d) if crossed else None,
            **fc(d, layer.dense.width),
            final_layer_norm=layer_norm(d),
        )

    return bart(s, first_norm=True, last_norm=False, layer=layer_block)
