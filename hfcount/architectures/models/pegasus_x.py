"""PEGASUS-X: PEGASUS whose encoder attends within blocks, and to global tokens (arXiv:2208.04347)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm
from hfcount.architectures.layers.seq2seq import bart, bart_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("pegasus_x",)  # transformers 5.23: modeling_pegasus_x.py
IGNORED = ("block_size", "stagger_local_blocks", "scale_embedding")

_HEADS = ("ForConditionalGeneration", "Model")


class PegasusX(Sizes):
    num_global_tokens: int = size("n_g", absent=32)


def spec(c: Config) -> Spec[PegasusX]:
    sizes = PegasusX.read(c)
    return keys.sequence_to_sequence(c, heads=_HEADS, bias=False, positions=None).having(sizes)


def blueprint(s: Spec[PegasusX]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer, crossed: bool) -> Block:
        usual = bart_layer(d, layer, crossed)
        return usual if crossed else altered(usual, global_self_attn_layer_norm=layer_norm(d))

    tokens = block(embed_global=embedding(s.own.num_global_tokens, d))
    # Positions are computed.
    body = bart(s, first_norm=False, last_norm=True, layer=layer_block, tables=block(), encoder=tokens)
    return altered(body, final_logits_bias=None)
