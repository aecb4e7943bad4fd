"""Blocks of attention that several layers share, as Zamba has them."""

from hfcount.parts.attention import gqa
from hfcount.parts.layers import altered
from hfcount.parts.norms import rms_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, block


def hybrid(s: Spec, one: Layer, ssm: Block, name: str, network: Block, **adapters: Node) -> Block:
    """A layer of a state space, in some layers with attention before it, whose block only the first of them store.

    Source: arXiv:2405.16712. Tensors: those of mamba and input_layernorm (d), where there is attention under
    mamba_decoder and with linear (d, d); in the layers that `owns` marks, under `name`, self_attn over states and
    embeddings at once, `network`, and a norm before each.

    Args:
        adapters: further children of the attention.
    """
    d, wide = s.hidden, s.traits["attention_hidden_size"]
    alone = block(mamba=ssm, input_layernorm=rms_norm(d))
    if one.parallel_mixer is None:
        return alone
    layer = block(linear=Linear(d, d, component="attention"), mamba_decoder=alone)
    if not one.traits.get("owns"):
        return layer
    a = one.parallel_attention
    attention = altered(gqa(wide, a), o_proj=Linear(a.heads * a.head_dim, d), **adapters)
    shared = block(
        self_attn=attention,
        feed_forward=network,
        input_layernorm=rms_norm(wide),
        pre_ff_layernorm=rms_norm(d),
    )
    return Block({**layer.children, name: Block(shared.children, repeats=one.traits["repeats"])})
