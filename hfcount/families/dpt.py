"""DPT: depth and segments from features of several layers of a transformer (arXiv:2103.13413)."""

from hfcount import families, keys
from hfcount.keys.depth import reassembled
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.conversions import VIT
from hfcount.parts.convolution import batch_norm, conv
from hfcount.parts.depth import fusion, neck, reassembling
from hfcount.parts.vision import patch_convolution, vit_layer
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dpt",)  # transformers 5.23: modeling_dpt.py
IGNORED = ("backbone_out_indices", "neck_ignore_stages", "semantic_loss_ignore_index")
SPELLINGS = VIT

_HEADS = keys.named(("Model",), ForDepthEstimation="depth_estimation", ForSemanticSegmentation="semantic_segmentation")
_DEEP, _FINE = 256, 32  # widths of the head for depth that no key gives


def spec(c: Config) -> Spec:
    d, hybrid, heads = c.int("hidden_size"), c.bool("is_hybrid", default=False), c.int("num_attention_heads")
    layer = Layer(
        mixer=keys.multi_head(c, d, heads, qkv_bias=c.bool("qkv_bias", default=True)), ffn=keys.dense(c, bias=True)
    )
    if c.given("backbone"):
        raise c.error("backbone is the name of a model elsewhere, whose config this one does not hold.", "backbone")
    given = hybrid or c.given("backbone_config")
    parts = {"backbone": families.backbone(c)} if given else {}
    shape = c.ints("backbone_featmap_shape", default=(1, 1024, 24, 24)) if hybrid else []
    traits = {
        **reassembled(c),
        "hybrid": hybrid,
        "read": c.str("readout_type", default="project") == "project",
        "features": keys.sized("C_b", shape[1] if len(shape) > 1 else 0),
        "add_projection": c.bool("add_projection", default=False),
        "use_auxiliary_head": c.bool("use_auxiliary_head", default=True),
        "pooler_output_size": keys.sized("d_p", c.int("pooler_output_size", default=d)),
    }
    rows = keys.squares(c) + 1
    whole = keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, positions=rows, parts=parts, traits=traits)
    return whole.but(causal=False, patches=keys.patches(c))


def blueprint(s: Spec) -> Block:
    d, of, fused, inner = s.hidden, s.traits, s.traits["fusion_hidden_size"], s.parts.get("backbone")
    alone = inner is not None and not of["hybrid"]
    embeddings = block(
        "embedding",
        backbone=families.tree(inner) if inner and of["hybrid"] else None,
        cls_token=Tensor((1, 1, d)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
        patch_embeddings=None if of["hybrid"] else block(projection=patch_convolution(s)),
        projection=conv(of["features"], d, 1, bias=True) if of["hybrid"] else None,
    )
    body = block(
        embeddings=embeddings,
        encoder=block(layer=stack(s.layers, lambda one: vit_layer(d, one))),
        layernorm=layer_norm(d),
        pooler=block("other", dense=Linear(d, of["pooler_output_size"], True)) if s.head == "base" else None,
    )
    if s.head == "base":
        return body
    # A backbone that is coarser from stage to stage needs no sizes made.
    width = inner.hidden if inner and alone else d
    reassemble = (
        None if inner and inner.family == "swinv2" else reassembling(s, width, bool(of["read"]), 2 * of["hybrid"])
    )
    joined = neck(s, reassemble, fusion(s))
    if s.head == "depth_estimation":
        steps = {"0": conv(fused, fused // 2, 3, bias=True), "2": conv(fused // 2, _FINE, 3, bias=True)}
        head = {
            "projection": conv(_DEEP, _DEEP, 3, bias=True) if of["add_projection"] else None,
            "head": Block({**steps, "4": conv(_FINE, 1, 1, bias=True)}),
        }
        model = {"backbone": families.tree(inner)} if inner and alone else {"dpt": body}
        return Block({**model, "neck": joined, "head": block("other", **head)})
    labels = Block(
        {"head": Block({"0": conv(fused, fused, 3), "1": batch_norm(fused), "4": conv(fused, s.labels, 1, bias=True)})},
        "other",
    )
    return block(dpt=body, neck=joined, head=labels, auxiliary_head=labels if of["use_auxiliary_head"] else None)
