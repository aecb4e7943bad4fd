"""PP-OCR's large detectors of text: a backbone, a neck of wide and oblong kernels, a head (arXiv:1911.08947)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.architectures.layers.ocr import scoring
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

# transformers 5.23: modeling_pp_ocrv5_server_det.py, modeling_pp_ocrv6_medium_det.py
MODEL_TYPES = ("pp_ocrv5_server_det", "pp_ocrv6_medium_det")
IGNORED = ("scale_factor", "scale_factor_list")

_HEADS = keys.named(("Model",), ForObjectDetection="image_to_image")
_WAYS = ("vertical_long_to_small_conv", "horizontal_small_to_long_conv", "symmetric_conv_long")
_ALONG = tuple(f"{way}_{ratio}ratio" for way in _WAYS for ratio in ("long", "mid", "short"))
_WIDE = 9  # the kernel that sees far


class Intraclass(Record):
    """The kernels of a block of the neck: before its ways, along each of them, and behind them."""

    reduce: tuple[int, int]
    along: tuple[tuple[int, int], ...]
    back: tuple[int, int]


class PpOcrServerDet(Record):
    """Sizes specific to PP-OCR's large detectors; `kernels` are those of the head."""

    intraclass_block_number: int
    reduce_factor: int
    kernels: tuple[int, ...]
    intraclass: Intraclass | None


def spec(c: Config) -> Spec[PpOcrServerDet]:
    vision, ways = (
        backbones.only(c, families.part(c, "backbone_config"), "hgnet_v2"),
        c.sub("intraclass_block_config"),
    )
    count = c.int("intraclass_block_number", minimum=0, maximum=MAX_LAYERS)
    sizes = PpOcrServerDet(
        intraclass_block_number=keys.dim("N_i", count),
        reduce_factor=keys.dim("r", c.int("reduce_factor")),
        kernels=tuple(keys.each(c, "kernel_list", 3)),
        intraclass=_intraclass(c, ways) if count else None,
    )
    d, parts = c.int("neck_out_channels"), {"backbone": vision}
    return keys.imaging(c, (), _HEADS, hidden=d, parts=parts, uncounted=keys.COARSER).having(sizes)


def _intraclass(c: Config, ways: Config | None) -> Intraclass:
    def sides(name: str) -> tuple[int, int]:
        given = ways.entries(name) if ways else []
        pair = given[0] if given and isinstance(given[0], list) else given[:1] * 2
        if len(pair) != 2 or any(type(side) is not int or side < 1 for side in pair):
            text = f"intraclass_block_config must name kernel, stride and padding of {name}."
            raise c.malformed(text, "intraclass_block_config", code="HF101" if ways is None else "HF001")
        return pair[0], pair[1]

    before = sides("reduce_channel")
    return Intraclass(reduce=before, along=tuple(map(sides, _ALONG)), back=sides("return_channel"))


def blueprint(s: Spec[PpOcrServerDet]) -> Block:
    of, d, fifth = s.own, s.hidden, s.family == "pp_ocrv5_server_det"
    backbone, narrow = s.part("backbone"), d // 4
    widths = [part.layer.width for part in backbone.layers]
    levels = Indices.below(len(widths))
    wide = conv(narrow, narrow, _WIDE, bias=not fifth)
    neck: dict[str, Node] = {
        "input_channel_adjustment_convolution": Block({str(n): conv(width, d, 1) for n, width in enumerate(widths)}),
        "input_feature_projection_convolution": Repeat(levels, conv(d, narrow, _WIDE, bias=not fifth)),
        "path_aggregation_head_convolution": Repeat(Indices.below(len(widths) - 1), conv(narrow, narrow, 3)),
        "path_aggregation_lateral_convolution": Repeat(levels, wide),
    }
    if of.intraclass:
        inner = _joining(narrow, narrow // of.reduce_factor, of.intraclass)
        neck["intraclass_blocks"] = Repeat(Indices.below(of.intraclass_block_number), inner)
    scores = scoring(d, *of.kernels)
    local = block(
        convolution_backbone=block(convolution=conv(narrow + 1, narrow, 3), norm=batch_norm(narrow)),
        convolution_final=conv(narrow, 1, 1, bias=True),
    )
    head = block(binarize_head=scores, local_refinement_module=local) if fifth else scores
    body = block(backbone=families.tree(backbone), neck=Block(neck))
    return headed(s, "model", body, image_to_image=block(head=head))


def _joining(narrow: int, small: int, sides: Intraclass) -> Block:
    back = conv(small, narrow, *sides.back, bias=True)
    return block(
        conv_reduce_channel=conv(narrow, small, *sides.reduce, bias=True),
        **{name: conv(small, small, *kernel, bias=True) for name, kernel in zip(_ALONG, sides.along, strict=True)},
        conv_final=block(convolution=back, norm=batch_norm(narrow)),
    )
