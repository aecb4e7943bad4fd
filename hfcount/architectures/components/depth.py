"""Depth estimation necks and heads: fusion of features of several backbone layers (arXiv:2103.13413)."""

from typing import Self, TypeGuard, cast

from hfcount.architectures.keys import dim
from hfcount.architectures.layers.convolution import batch_norm, conv, transposed
from hfcount.mapper import MAX_SIZE, Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, Linear, Node, block


class Level(Record):
    """The features of a layer: their width, and how many times larger they are made.

    `factor` is 0 if they are made smaller, and None if they are not taken from the backbone.
    """

    width: int
    factor: int | None

    def resizing(self) -> Block | None:
        """The layer that resizes the features; None if their size stays."""
        d, factor = self.width, self.factor
        if factor is None or factor == 1:
            return None
        return transposed(d, d, factor) if factor else conv(d, d, 3, bias=True)


def _is_factor(value: object) -> TypeGuard[float]:
    number = cast(float, value) if type(value) in (int, float) else 0
    return 0 < number <= MAX_SIZE and (number <= 1 or not number % 1)


class Levels(Record):
    """Features of several layers, and the width that all get."""

    levels: tuple[Level, ...]
    fusion_hidden_size: int

    @classmethod
    def read(cls, c: Config) -> Self:
        """Those of neck_hidden_sizes, by reassemble_factors."""
        widths = c.ints("neck_hidden_sizes", default=(96, 192, 384, 768), minimum=0)
        factors = c.entries("reassemble_factors") if c.given("reassemble_factors") else [4, 2, 1, 0.5]
        known: list[int | None] = []
        for factor in factors:
            if not _is_factor(factor):
                raise c.error(
                    "out-of-range", "reassemble_factors must be whole numbers, or fractions of 1.", "reassemble_factors"
                )
            known.append(int(factor))
        known += [None] * len(widths)
        levels = (
            Level(width=dim(f"C{number}", width), factor=factor)
            for number, (width, factor) in enumerate(zip(widths, known, strict=False), 1)
        )
        return cls(levels=tuple(levels), fusion_hidden_size=dim("d_f", c.int("fusion_hidden_size")))

    def reassembling(self, width: int, readout: bool = False, spared: int = 0) -> Block:
        """Features of each level, `width` wide, as an image of its own width and size.

        Tensors: layers of projection and resize, and with `readout` readout_projects. The first `spared` levels have
        none.
        """
        layers, read = dict[str, Block](), dict[str, Block]()
        for place, level in list(enumerate(self.levels))[spared:]:
            if level.factor is not None:
                projection = conv(width, level.width, 1, bias=True)
                layers[str(place)] = block(projection=projection, resize=level.resizing())
            read[str(place)] = Block({"0": Linear(2 * width, width, True, "projector")})
        return block(layers=Block(layers), readout_projects=Block(read) if readout else None)

    def tensors(self, reassemble: Block | None, layer: Block) -> Block:
        """All levels brought to one width and joined. Tensors: reassemble_stage, convs, fusion_stage.layers."""
        convs = {str(place): conv(level.width, self.fusion_hidden_size, 3) for place, level in enumerate(self.levels)}
        joined = Block({str(place): layer for place in range(len(self.levels))})
        return block("projector", reassemble_stage=reassemble, convs=Block(convs), fusion_stage=block(layers=joined))


class Fusion(Record):
    """How a level is joined with the coarser ones: by convolutions with a norm or not, and with a bias or not."""

    normed: bool
    biased: bool

    @classmethod
    def read(cls, c: Config) -> Self:
        """That of the keys that end in in_fusion_residual; by default there is a bias where there is no norm."""
        normed = c.bool("use_batch_norm_in_fusion_residual", default=False)
        key = "use_bias_in_fusion_residual"
        return cls(normed=normed, biased=c.bool(key, default=None) if c.given(key) else not normed)

    def tensors(self, d: int, bias: bool | None = None, **more: Node) -> Block:
        """A level joined with the coarser ones, `d` wide; `bias` is whether it has one, if that is not told.

        Tensors: projection, residual_layer1 and residual_layer2 with convolution1, convolution2, batch_norm1 and
        batch_norm2, and `more`.
        """
        norm = batch_norm(d) if self.normed else None
        step = conv(d, d, 3, bias=self.biased if bias is None else bias)
        way = block(convolution1=step, convolution2=step, batch_norm1=norm, batch_norm2=norm)
        return block(projection=conv(d, d, 1, bias=True), residual_layer1=way, residual_layer2=way, **more)


class Neck(Record):
    """The neck between the backbone and the depth head: the levels and their fusion."""

    fusion: Fusion
    levels: Levels

    @classmethod
    def read(cls, c: Config) -> Self:
        """Its sizes."""
        return cls(fusion=Fusion.read(c), levels=Levels.read(c))

    def tensors(self, reassemble: Block | None, bias: bool | None = None, **more: Node) -> Block:
        """The levels over `reassemble`, joined; `bias` and `more` are as for `Fusion`."""
        return self.levels.tensors(reassemble, self.fusion.tensors(self.levels.fusion_hidden_size, bias, **more))


def shrinking(d: int, width: int) -> Block:
    """Three convolutions to a depth. Tensors: conv1 (d/2, d), conv2 (width, d/2), conv3 (1, width), with biases."""
    return block(
        "other",
        conv1=conv(d, d // 2, 3, bias=True),
        conv2=conv(d // 2, width, 3, bias=True),
        conv3=conv(width, 1, 1, bias=True),
    )
