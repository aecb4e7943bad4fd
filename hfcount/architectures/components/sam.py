"""SAM and its successors (arXiv:2304.02643, arXiv:2408.00714): prompts, masks, and the vision tower."""

from hfcount.architectures.keys import (
    dim,
    encoding,
    grid,
    layer_count,
    multi_head,
    numbered,
    patches,
    split,
)
from hfcount.architectures.layers.ffn import mlp
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.architectures.layers.vision import convolution, fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, block


def feed_forward(inputs: int, width: int, outputs: int, depth: int, component: Component = "other") -> Block:
    """A network of `depth` layers, of which all between the first and the last map `width` to itself.

    Tensors: proj_in (width, inputs), layers (width, width), proj_out (outputs, width), with biases.
    """
    between = Repeat(Indices.below(depth - 2), Linear(width, width, True)) if depth > 2 else None
    first, last = Linear(inputs, width, True), Linear(width, outputs, True)
    return block(component, proj_in=first, layers=between, proj_out=last)


def narrowed_attention(d: int, inner: int, out: str, memory: int | None = None) -> Block:
    """Attention of another width than its input. Tensors: q_proj, k_proj, v_proj (inner, d), `out` (d, inner).

    `memory` is the width of the input of keys and values, if it is not d.
    """
    query, source = Linear(d, inner, True), Linear(memory or d, inner, True)
    return Block({"q_proj": query, "k_proj": source, "v_proj": source, out: Linear(inner, d, True)}, "attention")


def frequencies(count: int, trained: bool = False) -> Block:
    """Random frequencies that encode a place, a buffer unless trained. Tensors: positional_embedding (2, count)."""
    return block("embedding", positional_embedding=Tensor((2, count), "parameter" if trained else "buffer"))


SAM_B = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "output_channels": 256,
    "num_channels": 3,
    "image_size": 1024,
    "patch_size": 16,
    "window_size": 14,
    "global_attn_indexes": [2, 5, 8, 11],
    "qkv_bias": True,
    "use_abs_pos": True,
    "use_rel_pos": True,
    "downsample_channels": [512, 1024],
}
"""The tower of SAM ViT-B with two convolutions behind it, which code for OCR builds whatever a config says."""


class SamLayer(Record):
    """A layer that sees a square so many patches `across`: a window, or the whole image."""

    across: int


class SamTower(Sizes):
    """The sides of an image in patches, and where its patches have places of their own."""

    across: int
    use_abs_pos: bool = flag()
    use_rel_pos: bool = flag()

    def tensors(self, s: Spec, released: bool = False, **more: Node) -> Block:
        """The tower: pos_embed (1, H, W, d), patch_embed, layers with tables of relative positions, a neck, and `more`.

        With `released` the names are those of the first release: patch_embed.proj, blocks, neck.0 to neck.3.
        """
        d, across = s.hidden, self.across
        norms = ("norm1", "norm2") if released else ("layer_norm1", "layer_norm2")

        def layer_block(layer: Layer) -> Block:
            a, rows = layer.attention, 2 * layer.sizes(SamLayer).across - 1
            table = Tensor((rows, a.head_dim)) if self.use_rel_pos else None
            tables = block(rel_pos_h=table, rel_pos_w=table).children
            attention = Block({**fused_square_attention(d, a.qkv_bias).children, **tables}, "attention")
            network = mlp(d, layer.dense.width, up="lin1", down="lin2")
            return Block({norms[0]: layer_norm(d), "attn": attention, norms[1]: layer_norm(d), "mlp": network})

        places = Tensor((1, across, across, d), component="embedding")
        return Block(
            {
                **({"pos_embed": places} if self.use_abs_pos else {}),
                "patch_embed": Block({"proj" if released else "projection": patch_convolution(s)}),
                "blocks" if released else "layers": stack(s.layers, layer_block),
                "neck": self.neck(s, released),
                **more,
            }
        )

    def neck(self, s: Spec, released: bool = False) -> Block:
        """Two convolutions to the width of the output, each with a norm: conv1, layer_norm1, conv2, layer_norm2."""
        d, out = s.hidden, s.out or s.hidden
        narrowed, mixed = convolution(d, out, 1, bias=False), convolution(out, out, 3, bias=False)
        names = ("0", "1", "2", "3") if released else ("conv1", "layer_norm1", "conv2", "layer_norm2")
        parts = narrowed, layer_norm(out), mixed, layer_norm(out)
        return Block(dict(zip(names, parts, strict=True)), "projector")


def sam_tower(c: Config) -> Spec[SamTower]:
    """A tower with attention within windows, and everywhere in the layers of global_attn_indexes."""
    d, bias = c.int("hidden_size"), c.bool("qkv_bias")
    width = c.int("mlp_dim", default=None) or c.times("mlp_ratio", d, default=4)
    across = dim("n_w", grid(c))
    mixer = multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=width, bias=True))
    near = layer.replace(own=SamLayer(across=dim("w", c.int("window_size"))))
    everywhere = numbered(c, "global_attn_indexes")
    rest = Indices.below(layer_count(c)).difference(everywhere)
    layers = split((rest, lambda: near), (everywhere, lambda: layer.replace(own=SamLayer(across=across))))
    sizes = SamTower.read(c, across=across)
    return encoding(c, layers, hidden=d, patches=patches(c), out=c.int("output_channels")).having(sizes)
