"""Layers whose branches are normalised before and after (sandwich norm)."""

from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec.tree.nodes import Block, Node, block


def sandwich_norm(d: int, /, self_attn: Node, mlp: Node) -> Block:
    """A layer of attention and a network, both with RMSNorm on either side, in the order of Gemma 4's tensors.

    Tensors: self_attn, mlp, and four norms (d): input_layernorm, post_attention_layernorm, pre_feedforward_layernorm,
    post_feedforward_layernorm.
    """
    norm = rms_norm(d)
    return block(
        self_attn=self_attn,
        mlp=mlp,
        input_layernorm=norm,
        post_attention_layernorm=norm,
        pre_feedforward_layernorm=norm,
        post_feedforward_layernorm=norm,
    )
