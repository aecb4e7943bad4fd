"""SAM's vision tower (arXiv:2304.02643), named as transformers does or as its first release."""

from hfcount.parts.ffn import mlp
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.vision import convolution, fused_square_attention, patch_convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Node, Tensor, block


def sam(s: Spec, released: bool = False, **more: Node) -> Block:
    """The tower: pos_embed (1, H, W, d), patch_embed, layers with tables of relative positions, a neck, and `more`.

    With `released` the names are those of the first release: patch_embed.proj, blocks, neck.0 to neck.3.
    """
    d, of, out = s.hidden, s.traits, s.out or s.hidden
    norms = ("norm1", "norm2") if released else ("layer_norm1", "layer_norm2")

    def layer(one: Layer) -> Block:
        a, rows = one.attention, 2 * one.traits["across"] - 1
        table = Tensor((rows, a.head_dim)) if of["use_rel_pos"] else None
        own = block(rel_pos_h=table, rel_pos_w=table).children
        attention = Block({**fused_square_attention(d, a.qkv_bias).children, **own}, "attention")
        network = mlp(d, one.dense.width, up="lin1", down="lin2")
        return Block({norms[0]: layer_norm(d), "attn": attention, norms[1]: layer_norm(d), "mlp": network})

    places = Tensor((1, of["across"], of["across"], d), component="embedding")
    narrowed, mixed = convolution(d, out, 1, bias=False), convolution(out, out, 3, bias=False)
    necks = ("0", "1", "2", "3") if released else ("conv1", "layer_norm1", "conv2", "layer_norm2")
    neck = dict(zip(necks, (narrowed, layer_norm(out), mixed, layer_norm(out)), strict=True))
    return Block(
        {
            **({"pos_embed": places} if of["use_abs_pos"] else {}),
            "patch_embed": Block({"proj" if released else "projection": patch_convolution(s)}),
            "blocks" if released else "layers": stack(s.layers, layer),
            "neck": Block(neck, "projector"),
            **more,
        }
    )
