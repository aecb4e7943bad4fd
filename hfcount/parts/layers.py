"""What layers of many architectures have in common."""

from collections.abc import Callable

from hfcount.parts.ffn import mlp, swiglu
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, Linear, Node, block


def pre_norm(d: int, norm: Callable[[int], Block] = rms_norm, /, **branches: Node) -> Block:
    """A layer of two branches, a mixer and a network, each of which reads normalised inputs (arXiv:2002.04745).

    Tensors: input_layernorm (d), the first of `branches`, post_attention_layernorm (d), the second.
    """
    (mixer, attention), (network, ffn) = branches.items()
    return Block({"input_layernorm": norm(d), mixer: attention, "post_attention_layernorm": norm(d), network: ffn})


def network(d: int, one: Layer, experts: Callable[[MoE], Block]) -> Block:
    """The feed-forward network of a layer: what `experts` makes of an MoE, SwiGLU otherwise."""
    return experts(one.moe) if isinstance(one.ffn, MoE) else swiglu(d, one.dense.width, one.dense.bias)


def altered(common: Block, /, **children: Node | None) -> Block:
    """A part with further children; a child of the same name is replaced, and None removes it."""
    merged = {**common.children, **children}
    return Block({name: child for name, child in merged.items() if child is not None}, common.component)


def persimmon(s: Spec) -> Block:
    """A decoder whose queries, keys and values come interleaved by head (https://www.adept.ai/blog/persimmon-8b).

    Tensors of a layer: self_attn.query_key_value (3·d, d), self_attn.dense (d, d), mlp.dense_h_to_4h (d_ff, d),
    mlp.dense_4h_to_h (d, d_ff), all with biases; input_layernorm and post_attention_layernorm (d), with `qk_norm`
    self_attn.q_layernorm and k_layernorm (h_d).
    """
    d = s.hidden

    def layer(one: Layer) -> Block:
        a = one.attention
        norm = layer_norm(a.head_dim) if a.qk_norm else None
        return block(
            input_layernorm=layer_norm(d),
            self_attn=block(
                "attention",
                query_key_value=Linear(d, 3 * d, a.qkv_bias),
                dense=Linear(d, d, a.out_bias),
                q_layernorm=norm,
                k_layernorm=norm,
            ),
            post_attention_layernorm=layer_norm(d),
            mlp=mlp(d, one.dense.width, one.dense.bias, "dense_h_to_4h", "dense_4h_to_h"),
        )

    return block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer), final_layernorm=layer_norm(d))
