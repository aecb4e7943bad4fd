"""CHMv2: heights of trees from DINOv3's features at four scales (arXiv:2508.10104, arXiv:2103.13413)."""

from hfcount import families, keys
from hfcount.mapper import MAX_SIZE, Config
from hfcount.parts.convolution import conv, transposed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("chmv2",)  # transformers 5.23: modeling_chmv2.py
IGNORED = ("patch_size",)
SPELLINGS = {r"^backbone\.layer\.": "backbone.model.layer."}

_HEADS = keys.named(ForDepthEstimation="base")


def spec(c: Config) -> Spec:
    seen = families.part(c, "backbone_config").but(head="backbone")
    widths, factors = c.ints("post_process_channels", default=(128, 256, 512, 1024)), c.entries("reassemble_factors")
    factors = factors if c.given("reassemble_factors") else [4, 2, 1, 0.5]
    if any(type(factor) not in (int, float) or not 0 < factor <= MAX_SIZE for factor in factors):
        raise c.error("reassemble_factors must name numbers above 0.", "reassemble_factors", code="HF001")
    traits = {
        "levels": len(widths),
        "read": min(len(widths), len(factors)),
        "projected": c.str("readout_type", default="project") == "project",
    }
    for number, (width, factor) in enumerate(zip(widths, [*factors, *[1] * len(widths)], strict=False)):
        # Coarser features are made finer; those that are to be coarser still go through a plain convolution.
        traits |= {f"width.{number}": keys.sized(f"C{number + 1}", width), f"finer.{number}": int(factor)}
        traits[f"coarser.{number}"] = factor < 1
    traits |= {
        "head_hidden_size": keys.sized("d_h", c.int("head_hidden_size")),
        "number_output_channels": keys.sized("C_o", c.int("number_output_channels")),
    }
    d, parts, why = c.int("fusion_hidden_size"), {"backbone": seen}, keys.COARSER
    return keys.imaging(c, (), _HEADS, hidden=d, parts=parts, traits=traits, uncounted=why)


def blueprint(s: Spec) -> Block:
    of, d, seen = s.traits, s.hidden, s.parts["backbone"]
    inner, levels = seen.hidden, range(s.traits["levels"])
    same = conv(d, d, 3, bias=True)
    residual = block(convolution1=same, convolution2=same)
    layers, convs, fusions = dict[str, Block](), dict[str, Block](), dict[str, Block]()
    for number in levels:
        width, factor = of[f"width.{number}"], of[f"finer.{number}"]
        resize = transposed(width, width, factor) if factor > 1 else None
        if of[f"coarser.{number}"]:
            resize = conv(width, width, 3, bias=True)
        if number < of["read"]:
            layers[str(number)] = block(projection=conv(inner, width, 1, bias=True), resize=resize)
        convs[str(number)] = conv(width, d, 3)
        first = residual if number else None
        fusions[str(number)] = block(
            projection=conv(d, d, 1, bias=True), residual_layer1=first, residual_layer2=residual
        )
    read = {str(number): Block({"0": Linear(2 * inner, inner, True, "projector")}) for number in range(of["read"])}
    half, narrow = d // 2, of["head_hidden_size"]
    last = conv(narrow, of["number_output_channels"], 1, bias=True)
    depth = Block({"0": conv(d, half, 3, bias=True), "2": conv(half, narrow, 3, bias=True), "4": last})
    head = block(
        reassemble_stage=block(layers=Block(layers), readout_projects=Block(read) if of["projected"] else None),
        convs=Block(convs),
        fusion_layers=Block(fusions),
        conv_depth=block(head=depth),
    )
    return block(backbone=families.tree(seen), head=head)
