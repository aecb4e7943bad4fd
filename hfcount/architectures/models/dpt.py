"""DPT: depth and segments from features of several layers of a transformer (arXiv:2103.13413)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.depth import Neck
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes, derived, flag, part
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dpt",)  # transformers 5.23: modeling_dpt.py
IGNORED = ("backbone_out_indices", "neck_ignore_stages", "semantic_loss_ignore_index")
SPELLINGS = VIT

_HEADS = keys.named(("Model",), ForDepthEstimation="depth_estimation", ForSemanticSegmentation="semantic_segmentation")
_DEEP, _FINE = 256, 32  # widths of the head for depth that no key gives


class Dpt(Sizes):
    """Sizes specific to DPT; `features` are those of the backbone that a `hybrid` has below its own layers."""

    hybrid: bool
    features: int
    neck: Neck = part(Neck)
    readout: bool = derived(lambda c: c.str("readout_type", default="project") == "project")
    add_projection: bool = flag(absent=False)
    use_auxiliary_head: bool = flag(absent=True)
    pooler_output_size: int = derived(
        lambda c: keys.dim("d_p", c.int("pooler_output_size", default=c.int("hidden_size")))
    )


def spec(c: Config) -> Spec[Dpt]:
    d, hybrid, heads = c.int("hidden_size"), c.bool("is_hybrid", default=False), c.int("num_attention_heads")
    layer = Layer(
        mixer=keys.multi_head(c, d, heads, qkv_bias=c.bool("qkv_bias", default=True)), ffn=keys.dense(c, bias=True)
    )
    if c.given("backbone"):
        raise c.error(
            "not-described",
            "backbone is the name of a model elsewhere, whose config this one does not hold.",
            "backbone",
        )
    given = hybrid or c.given("backbone_config")
    parts = {"backbone": families.backbone(c)} if given else {}
    shape = c.ints("backbone_featmap_shape", default=(1, 1024, 24, 24)) if hybrid else []
    sizes = Dpt.read(c, hybrid=hybrid, features=keys.dim("C_b", shape[1] if len(shape) > 1 else 0))
    rows = keys.squares(c) + 1
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, positions=rows, parts=parts)
    return model.replace(causal=False, patches=keys.patches(c)).having(sizes)


def blueprint(s: Spec[Dpt]) -> Block:
    d, sizes, levels, inner = s.hidden, s.own, s.own.neck.levels, s.parts.get("backbone")
    alone, fused = inner is not None and not sizes.hybrid, levels.fusion_hidden_size
    embeddings = block(
        "embedding",
        backbone=families.tree(inner) if inner and sizes.hybrid else None,
        cls_token=Tensor((1, 1, d)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
        patch_embeddings=None if sizes.hybrid else block(projection=patch_convolution(s)),
        projection=conv(sizes.features, d, 1, bias=True) if sizes.hybrid else None,
    )
    body = block(
        embeddings=embeddings,
        encoder=block(layer=stack(s.layers, lambda layer: vit_layer(d, layer))),
        layernorm=layer_norm(d),
        pooler=block("other", dense=Linear(d, sizes.pooler_output_size, True)) if s.head == "base" else None,
    )
    if s.head == "base":
        return body
    # A backbone that is coarser from stage to stage needs no sizes made.
    width = inner.hidden if inner and alone else d
    spared = 2 if sizes.hybrid else 0
    coarser = inner is not None and inner.family == "swinv2"
    joined = sizes.neck.tensors(None if coarser else levels.reassembling(width, sizes.readout, spared))
    if s.head == "depth_estimation":
        steps = {"0": conv(fused, fused // 2, 3, bias=True), "2": conv(fused // 2, _FINE, 3, bias=True)}
        head = {
            "projection": conv(_DEEP, _DEEP, 3, bias=True) if sizes.add_projection else None,
            "head": Block({**steps, "4": conv(_FINE, 1, 1, bias=True)}),
        }
        model = {"backbone": families.tree(inner)} if inner and alone else {"dpt": body}
        return Block({**model, "neck": joined, "head": block("other", **head)})
    labels = Block(
        {"head": Block({"0": conv(fused, fused, 3), "1": batch_norm(fused), "4": conv(fused, s.labels, 1, bias=True)})},
        "other",
    )
    return block(dpt=body, neck=joined, head=labels, auxiliary_head=labels if sizes.use_auxiliary_head else None)
