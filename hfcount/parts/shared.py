"""Attention blocks that several layers share, as in Zamba."""

from hfcount.parts.attention import gqa
from hfcount.parts.layers import altered
from hfcount.parts.norms import rms_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, block


def hybrid(s: Spec, one: Layer, ssm: Block, name: str, network: Block, **adapters: Node) -> Block:
    """A state space layer, some of which have attention before it, in a block that several layers share.

    Source: arXiv:2405.16712. Tensors: those of `ssm` under mamba, and input_layernorm (d); with attention both under
    mamba_decoder, and linear (d, d). Layers with trait `owns` store a block under `name`: self_attn over states and
    embeddings, with `adapters` as further children, `network` as feed_forward, and a norm before each.
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
