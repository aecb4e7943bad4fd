"""The ResNets of CLIP: three convolutions before the stages, and attention as the last pooling (arXiv:2103.00020)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.convolution import batch_norm, conv, led
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

_STAGES, _WIDER, _COARSER = 4, 4, 32  # stages; how much wider a bottleneck gets; pixels a side of the last grid


class ResNetStage(Record):
    """What the layers of a stage have: `inner` channels inside."""

    inner: int


class ClipResNet(Record):
    """A stem `stem` channels wide, and pooling over a grid of `cells` by heads that share the last width."""

    stem: int
    cells: int

    @classmethod
    def read(cls, c: Config) -> "Spec[ClipResNet]":
        """By layers, width, head_width and image_size."""
        depths = c.ints("layers", minimum=0)
        if len(depths) < _STAGES:
            raise c.error("list-length", f"layers must have {_STAGES} entries, one a stage.", "layers")
        width, side = c.int("width"), c.int("image_size") // _COARSER
        _check_heads(c, width)
        stages = [cls._stage(width, number, depth) for number, depth in enumerate(depths[:_STAGES])]
        hidden = stages[-1].layer.width
        network = cls(stem=width, cells=side * side + 1)
        return Spec(family=c.family, hidden=hidden, layers=tuple(stages), causal=False, uncounted=keys.COARSER).having(
            network
        )

    @staticmethod
    def _stage(width: int, number: int, depth: int) -> Layers:
        inner = width * 2**number
        sizes = ResNetStage(inner=keys.dim(f"b{number + 1}", inner))
        wide = keys.dim(f"d{number + 1}", inner * _WIDER)
        # The first layer of a stage is there whatever its number.
        return Layers(indices=Indices.below(depth or 1), layer=Layer(stage_width=wide, own=sizes))

    def tensors(self, s: Spec, out: int) -> dict[str, Node]:
        """Its tensors: conv1 to conv3 with bn1 to bn3, layer1 to layer4, and attnpool, which gives `out`."""
        half, d = self.stem // 2, s.hidden
        children: dict[str, Node] = {}
        for number, (into, wide) in enumerate(((3, half), (half, half), (half, self.stem)), 1):
            children |= {f"conv{number}": conv(into, wide, 3), f"bn{number}": batch_norm(wide)}
        before = self.stem
        for number, part in enumerate(s.layers, 1):
            wide, inner = part.layer.width, part.layer.sizes(ResNetStage).inner
            first, rest = _bottleneck(before, inner, wide, True), _bottleneck(wide, inner, wide, False)
            children[f"layer{number}"] = led(part.indices.count, first, rest)
            before = wide
        square = Linear(d, d, True)
        children["attnpool"] = block(
            "attention",
            positional_embedding=Tensor((self.cells, d)),
            k_proj=square,
            q_proj=square,
            v_proj=square,
            c_proj=Linear(d, out, True),
        )
        return children


def _check_heads(c: Config, width: int) -> None:
    """Refuses pooling heads that do not divide 32 times the width."""
    head, widest = c.int("head_width"), width * _COARSER
    if head > widest or widest % (widest // head):
        text = f"head_width {head:,} leaves no whole number of heads in {widest:,}, 32 times the width."
        c.cannot_run("not-divisible", text, "head_width", "Correct one.")


def _bottleneck(inputs: int, inner: int, d: int, shortened: bool) -> Block:
    steps = dict[str, Block]()
    for number, (into, out, side) in enumerate(((inputs, inner, 1), (inner, inner, 3), (inner, d, 1)), 1):
        steps |= {f"conv{number}": conv(into, out, side), f"bn{number}": batch_norm(out)}
    way = {"downsample": Block({"0": conv(inputs, d, 1), "1": batch_norm(d)})} if shortened else {}
    return Block({**steps, **way})
