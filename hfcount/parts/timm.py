"""Models as timm builds and names them: plain ViTs, Swin, ResNets (arXiv:1512.03385), RepViTs (arXiv:2307.09283)."""

from hfcount.parts.convolution import batch_norm, conv, led, normed
from hfcount.parts.ffn import mlp
from hfcount.parts.layers import altered
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Layers, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block


def vit(s: Spec) -> dict[str, Node]:
    """A plain ViT. Tensors: cls_token, pos_embed, patch_embed.proj, blocks, norm."""
    d, norm = s.hidden, layer_norm(s.hidden)

    def layer(one: Layer) -> Block:
        return block(norm1=norm, attn=fused_square_attention(d), norm2=norm, mlp=mlp(d, one.dense.width))

    return {
        "cls_token": Tensor((1, 1, d), component="embedding"),
        "pos_embed": Tensor((1, s.positions or 0, d), component="embedding"),
        "patch_embed": block(proj=patch_convolution(s)),
        "blocks": stack(s.layers, layer),
        "norm": norm,
    }


def swin(s: Spec) -> Block:
    """Swin as it gives features (models/swin_transformer.py). Tensors: patch_embed, layers_0, layers_1 ..."""
    first, side = s.layers[0].layer.width, 2 * s.traits["window_size"] - 1
    found = {"patch_embed": block("embedding", proj=patch_convolution(s, width=first), norm=layer_norm(first))}

    def layer(one: Layer) -> Block:
        d, norm = one.width, layer_norm(one.width)
        table = Tensor((side * side, one.attention.heads))
        attention = altered(fused_square_attention(d), relative_position_bias_table=table)
        return block(norm1=norm, attn=attention, norm2=norm, mlp=mlp(d, one.dense.width))

    for number, part in enumerate(s.layers):
        d = part.layer.width
        coarser = block("other", norm=layer_norm(2 * d), reduction=Linear(2 * d, d)) if number else None
        found[f"layers_{number}"] = block(downsample=coarser, blocks=stack((part,), layer))
    return Block(found)


def resnet(stages: tuple[Layers, ...], channels: int, before: int, deep: bool) -> dict[str, Node]:
    """A ResNet after a stem `before` wide. Tensors: conv1, bn1, and layerN of convN, bnN and downsample."""

    def layer(inputs: int, d: int, inner: int, first: bool) -> Block:
        widths = [(inputs, inner, 1), (inner, inner, 3), (inner, d, 1)] if deep else [(inputs, d, 3), (d, d, 3)]
        steps = dict[str, Block]()
        for number, (into, out, side) in enumerate(widths, 1):
            steps |= {f"conv{number}": conv(into, out, side), f"bn{number}": batch_norm(out)}
        way = {"downsample": Block({"0": conv(inputs, d, 1), "1": batch_norm(d)})} if first else {}
        return Block({**steps, **way})

    found: dict[str, Node] = {"conv1": conv(channels, before, 7), "bn1": batch_norm(before)}
    for number, part in enumerate(stages):
        d, inner = part.layer.width, part.layer.traits["inner"]
        shortened = bool(number or deep)  # only a first stage of plain layers keeps width and size
        first, rest = layer(before, d, inner, shortened), layer(d, d, inner, False)
        found[f"layer{number + 1}"] = led(part.indices.count, first, rest)
        before = d
    return found


def _step(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    return normed(inputs, outputs, side, groups=groups, names=("c", "bn"))


def _across(d: int) -> Block:
    return block(conv1=_step(d, 2 * d, 1), conv2=_step(2 * d, d, 1))


def _mixed(d: int, first: bool, squeezed: int | None = None) -> Block:
    mixer = block(
        conv=_step(d, d, 3, d),
        conv1=_step(d, d, 1, d) if first else conv(d, d, 1, groups=d, bias=True),
        bn=None if first else batch_norm(d),
    )
    se = squeezed and block(fc1=conv(d, squeezed, 1, bias=True), fc2=conv(squeezed, d, 1, bias=True))
    return block(token_mixer=mixer, se=se or None, channel_mixer=_across(d))


def repvit(stages: tuple[Layers, ...], channels: int, first: bool, features: bool) -> dict[str, Node]:
    """A RepViT, of the `first` release or later. Tensors: stem, and stages of downsample and blocks.

    Every other block is squeezed. If only `features` are asked for, the stages are numbered in their names.
    """
    before = stages[0].layer.width
    found = dict[str, Node]()
    for number, part in enumerate(stages):
        d, count = part.layer.width, int(part.indices.count)
        smaller = block(
            pre_block=_mixed(before, first),
            spatial_downsample=_step(before, before, 3, before),
            channel_downsample=_step(before, d, 1),
            ffn=_across(d),
        )
        squeezed, plain = Indices.of(range(0, count, 2)), Indices.of(range(1, count, 2))
        blocks = Repeat(squeezed, _mixed(d, first, part.layer.traits["squeezed"])), Repeat(plain, _mixed(d, first))
        found[str(number)] = block(downsample=smaller if number else None, blocks=blocks)
        before = d
    d = stages[0].layer.width
    stem = block(conv1=_step(channels, d // 2, 3), conv2=_step(d // 2, d, 3))
    named: dict[str, Node] = {f"stages_{number}": one for number, one in found.items()}
    return {"stem": stem, **(named if features else {"stages": Block(found)})}
