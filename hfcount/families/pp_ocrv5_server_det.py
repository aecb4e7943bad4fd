"""PP-OCR's large detectors of text: a backbone, a neck of wide and oblong kernels, a head (arXiv:1911.08947)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.classic import headed
from hfcount.parts.convolution import batch_norm, conv
from hfcount.parts.ocr import scoring
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, block

# transformers 5.23: modeling_pp_ocrv5_server_det.py, modeling_pp_ocrv6_medium_det.py
MODEL_TYPES = ("pp_ocrv5_server_det", "pp_ocrv6_medium_det")
IGNORED = ("scale_factor", "scale_factor_list")

_HEADS = keys.named(("Model",), ForObjectDetection="image_to_image")
_WAYS = ("vertical_long_to_small_conv", "horizontal_small_to_long_conv", "symmetric_conv_long")
_ALONG = tuple(f"{way}_{ratio}ratio" for way in _WAYS for ratio in ("long", "mid", "short"))
_WIDE = 9  # the kernel that sees far


def spec(c: Config) -> Spec:
    seen, ways = keys.only(c, families.part(c, "backbone_config"), "hgnet_v2"), c.sub("intraclass_block_config")
    count = c.int("intraclass_block_number", minimum=0, maximum=MAX_LAYERS)
    traits = {
        "intraclass_block_number": keys.sized("N_i", count),
        "reduce_factor": keys.sized("r", c.int("reduce_factor")),
        **{f"kernel.{n}": side for n, side in enumerate(keys.each(c, "kernel_list", 3))},
    }
    for name in ("reduce_channel", *_ALONG, "return_channel") if count else ():
        given = ways.entries(name) if ways else []
        sides = given[0] if given and isinstance(given[0], list) else given[:1] * 2
        if len(sides) != 2 or any(type(side) is not int or side < 1 for side in sides):
            said = f"intraclass_block_config must name kernel, stride and padding of {name}."
            raise c.error(said, "intraclass_block_config", code="HF101" if ways is None else "HF001")
        traits |= {f"high.{name}": sides[0], f"wide.{name}": sides[1]}
    d, parts = c.int("neck_out_channels"), {"backbone": seen}
    return keys.imaging(c, (), _HEADS, hidden=d, parts=parts, traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    of, d, fifth = s.traits, s.hidden, s.family == "pp_ocrv5_server_det"
    seen, narrow, count = s.parts["backbone"], d // 4, of["intraclass_block_number"]
    small = narrow // of["reduce_factor"]

    def sides(name: str) -> tuple[int, int]:
        return of[f"high.{name}"], of[f"wide.{name}"]

    widths = [part.layer.width for part in seen.layers]
    levels = Indices.below(len(widths))
    wide = conv(narrow, narrow, _WIDE, bias=not fifth)
    neck: dict[str, Node] = {
        "input_channel_adjustment_convolution": Block({str(n): conv(width, d, 1) for n, width in enumerate(widths)}),
        "input_feature_projection_convolution": Repeat(levels, conv(d, narrow, _WIDE, bias=not fifth)),
        "path_aggregation_head_convolution": Repeat(Indices.below(len(widths) - 1), conv(narrow, narrow, 3)),
        "path_aggregation_lateral_convolution": Repeat(levels, wide),
    }
    if count:
        back = conv(small, narrow, *sides("return_channel"), bias=True)
        inner = block(
            conv_reduce_channel=conv(narrow, small, *sides("reduce_channel"), bias=True),
            **{name: conv(small, small, *sides(name), bias=True) for name in _ALONG},
            conv_final=block(convolution=back, norm=batch_norm(narrow)),
        )
        neck["intraclass_blocks"] = Repeat(Indices.below(count), inner)
    scores = scoring(d, of["kernel.0"], of["kernel.1"], of["kernel.2"])
    local = block(
        convolution_backbone=block(convolution=conv(narrow + 1, narrow, 3), norm=batch_norm(narrow)),
        convolution_final=conv(narrow, 1, 1, bias=True),
    )
    head = block(binarize_head=scores, local_refinement_module=local) if fifth else scores
    body = block(backbone=families.tree(seen), neck=Block(neck))
    return headed(s, "model", body, image_to_image=block(head=head))
