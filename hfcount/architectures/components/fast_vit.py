"""FastViTs as timm builds and names them (arXiv:2303.14189).

Source: timm 1.0, models/fastvit.py.
"""

from collections.abc import Mapping

from hfcount.architectures.components.timm.names import COLOURS, DROPPED, arguments, switch
from hfcount.architectures.keys import COARSER, dim, imaging
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise, normed
from hfcount.architectures.layers.model import Heads
from hfcount.architectures.layers.vision import fused_square_attention
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

FAST_VITS: Mapping[str, tuple[tuple[int, ...], int, int, int]] = {
    "fastvit_t8": ((2, 2, 4, 2), 48, 3, 0),
    "fastvit_t12": ((2, 2, 6, 2), 64, 3, 0),
    "fastvit_s12": ((2, 2, 6, 2), 64, 4, 0),
    "fastvit_sa12": ((2, 2, 6, 2), 64, 4, 1),
    "fastvit_sa24": ((4, 4, 12, 4), 64, 4, 1),
    "fastvit_sa36": ((6, 6, 18, 6), 64, 4, 1),
    "fastvit_ma36": ((6, 6, 18, 6), 76, 4, 1),
    "fastvit_mci0": ((2, 6, 10, 2), 64, 3, 1),
    "fastvit_mci1": ((4, 12, 20, 4), 64, 3, 1),
    "fastvit_mci2": ((4, 12, 24, 4), 80, 3, 1),
    "fastvit_mci3": ((2, 12, 24, 4, 2), 96, 4, 2),
    "fastvit_mci4": ((2, 12, 24, 4, 4), 128, 4, 2),
}
"""The layers of each stage of a FastViT, the width of the first, which doubles from stage to stage, how much wider the
networks are, and in how many of the last stages layers attend."""

_HEAD_DIM, _FINAL = 32, 2
_WIDE, _SMALL = 7, 3  # kernels


class FastViT(Record):
    """Stages of convolutions, the last of attention; in `inference_mode` the branches of a convolution are one."""

    inference_mode: bool
    in_chans: int
    batch_normed: bool
    squeezing: bool

    def tensors(self, s: Spec, head: Linear | None) -> Block:
        """Its tensors, for the stages of `s`: stem, stages, final_conv, whose channels are the width of `s`, head."""
        fused, d = self.inference_mode, s.layers[0].layer.width
        branched, stages = self.batch_normed, dict[str, Node]()
        stem = {
            "0": _merged(self.in_chans, d, 3, fused, branched=branched),
            "1": _merged(d, d, 3, fused, groups=d, branched=branched),
            "2": _merged(d, d, 1, fused, kept=True),
        }
        before = d
        for number, part in enumerate(s.layers):
            d = part.layer.width
            squeezed = d // 4 if self.squeezing and number > 1 else 0
            places = {"reparam_conv" if fused else "pos_enc": depthwise(d, _WIDE, bias=True)}
            stages[str(number)] = block(
                downsample=block(proj=_halving(before, d, fused, squeezed)) if number else None,
                pos_emb=Block(places) if part.layer.mixer else None,
                blocks=stack((part,), lambda layer: _layer(layer, fused, branched)),
            )
            before = d
        out = s.hidden
        final = _merged(before, out, 3, fused, groups=before)
        squeeze = _squeeze(out, out // 16)
        return block(
            stem=Block(stem),
            stages=Block(stages),
            final_conv=block(se=squeeze, **final.children),
            head=block(fc=head) if head else None,
        )


def fast_vit(c: Config, name: str, known: Heads) -> Spec[FastViT]:
    """A FastViT by its name; `known` are the heads that its classes have.

    Raises:
        UnknownArchitecture: model_args name what is not described.
    """
    depths, width, ratio, attending = FAST_VITS[name]
    args = arguments(c, name, frozenset({"inference_mode", "in_chans"}), DROPPED | {"global_pool"})
    layers = []
    for number, depth in enumerate(depths):
        d = dim(f"d{number + 1}", width * 2**number)
        heads = int(d) // _HEAD_DIM
        mixer = GQA(heads=heads, kv_heads=heads, head_dim=_HEAD_DIM, out_bias=True)
        attends = number >= len(depths) - attending
        ffn = Dense(width=ratio * d, bias=True)
        layer = Layer(mixer=mixer if attends else None, ffn=ffn, stage_width=d)
        layers.append(Layers(indices=Indices.below(depth), layer=layer))
    early, squeezing = name not in ("fastvit_mci3", "fastvit_mci4"), ("fastvit_mci0", "fastvit_mci1", "fastvit_mci2")
    sizes = FastViT(
        inference_mode=switch(args, "inference_mode", False),
        in_chans=dim("C", args.int("in_chans", default=COLOURS)),
        batch_normed=early,  # and what follows from that is true of the stem, too
        squeezing=name in squeezing,
    )
    return imaging(c, layers, known, hidden=_FINAL * layers[-1].layer.width, uncounted=COARSER).having(sizes)


def _layer(layer: Layer, fused: bool, batch_normed: bool) -> Block:
    d, wide = layer.width, layer.dense.width
    scale = block("other", gamma=Tensor((d, 1, 1)))
    local = normed(d, d, _WIDE, groups=d, names=("conv", "bn"))
    network = block("mlp", conv=local, fc1=conv(d, wide, 1, bias=True), fc2=conv(wide, d, 1, bias=True))
    if layer.mixer:
        attention = fused_square_attention(d, bias=False)
        norm = batch_norm(d) if batch_normed else layer_norm(d)
        return block(norm=norm, token_mixer=attention, layer_scale_1=scale, mlp=network, layer_scale_2=scale)
    way = _merged(d, d, _SMALL, False, groups=d, kept=True)
    apart = block(norm=block(identity=batch_norm(d)), mixer=way, layer_scale=scale)
    mixer = block(reparam_conv=depthwise(d, _SMALL, bias=True)) if fused else apart
    return block(token_mixer=mixer, mlp=network, layer_scale=scale)


def _merged(
    inputs: int, outputs: int, side: int, fused: bool, *, groups: int = 1, branched: bool = True, kept: bool = False
) -> Block:
    """A convolution; unless `fused`, with branches: of one pixel if it is `branched`, and the input if it is `kept`."""
    if fused:
        return block(reparam_conv=conv(inputs, outputs, side, groups=groups, bias=True))
    point = normed(inputs, outputs, 1, groups=groups, names=("conv", "bn"))
    return block(
        identity=batch_norm(inputs) if kept else None,
        conv_kxk=Block({"0": normed(inputs, outputs, side, groups=groups, names=("conv", "bn"))}),
        conv_scale=point if branched and side > 1 else None,
    )


def _halving(inputs: int, d: int, fused: bool, squeezed: int) -> Block:
    """The downsampling: a wide depthwise convolution, optionally with squeeze-and-excitation, and a pointwise one."""
    large, small = (normed(inputs, d, side, groups=inputs, names=("conv", "bn")) for side in (_WIDE, _SMALL))
    body = block(reparam_conv=conv(inputs, d, _WIDE, groups=inputs, bias=True))
    first = body if fused else block(large_conv=large, small_conv=small)
    squeeze = block(se=_squeeze(d, squeezed)).children if squeezed else {}
    return Block({"0": Block({**first.children, **squeeze}), "1": _merged(d, d, 1, fused, kept=True)})


def _squeeze(d: int, narrow: int) -> Block:
    """Squeeze-and-excitation (arXiv:1709.01507)."""
    return block(fc1=conv(d, narrow, 1, bias=True), fc2=conv(narrow, d, 1, bias=True))
