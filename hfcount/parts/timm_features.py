"""Models of timm 1.0 that give the features of their stages to another, named as there."""

from hfcount.parts.convolution import batch_norm, conv, frozen, led
from hfcount.parts.ffn import mlp
from hfcount.parts.layers import altered
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block


def swin(s: Spec) -> Block:
    """Swin as it gives features (models/swin_transformer.py). Tensors: patch_embed, layers_0, layers_1 ..."""
    first, side = s.layers[0].layer.traits["width"], 2 * s.traits["window_size"] - 1
    found = {"patch_embed": block("embedding", proj=patch_convolution(s, width=first), norm=layer_norm(first))}

    def layer(one: Layer) -> Block:
        d, norm = one.traits["width"], layer_norm(one.traits["width"])
        table = Tensor((side * side, one.attention.heads))
        attention = altered(fused_square_attention(d), relative_position_bias_table=table)
        return block(norm1=norm, attn=attention, norm2=norm, mlp=mlp(d, one.dense.width))

    for number, part in enumerate(s.layers):
        d = part.layer.traits["width"]
        coarser = block("other", norm=layer_norm(2 * d), reduction=Linear(2 * d, d)) if number else None
        found[f"layers_{number}"] = block(downsample=coarser, blocks=stack((part,), layer))
    return Block(found)


def resnet(s: Spec) -> Block:
    """ResNet as it gives features (models/resnet.py). Tensors: conv1, bn1, layer1, layer2 ..."""
    of, before = s.traits, s.traits["embedding_size"]

    def layer(inputs: int, d: int, inner: int, first: bool) -> Block:
        widths = [(inputs, inner, 1), (inner, inner, 3), (inner, d, 1)] if of["deep"] else [(inputs, d, 3), (d, d, 3)]
        steps = dict[str, Block]()
        for number, (into, out, side) in enumerate(widths, 1):
            steps |= {f"conv{number}": conv(into, out, side), f"bn{number}": batch_norm(out)}
        way = {"downsample": Block({"0": conv(inputs, d, 1), "1": batch_norm(d)})} if first else {}
        return Block({**steps, **way})

    stem = {"conv1": conv(of["num_channels"], before, 7), "bn1": batch_norm(before)}
    stages = dict[str, Node]()
    for number, part in enumerate(s.layers):
        d, inner = part.layer.traits["width"], part.layer.traits["inner"]
        shortened = bool(number or of["deep"])  # only a first stage of plain layers keeps width and size
        stages[f"layer{number + 1}"] = led(
            part.indices.count, layer(before, d, inner, shortened), layer(d, d, inner, False)
        )
        before = d
    parts: dict[str, Node] = {**stem, **stages}
    if of["freeze_batch_norm_2d"]:
        parts = {name: frozen(one) for name, one in parts.items()}
    return Block(parts)
