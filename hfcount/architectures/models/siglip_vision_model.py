"""SigLIP's vision tower, and SigLIP 2's, whose patches come flattened (arXiv:2303.15343, arXiv:2502.14786)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.conversions import CLIP
from hfcount.architectures.layers.vision import clip_layer, patch_convolution, patch_projection
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_siglip.py, modeling_siglip2.py, modeling_idefics2.py, modeling_idefics3.py,
# modeling_smolvlm.py
_HEADLESS = ("idefics2_vision", "idefics3_vision", "smolvlm_vision", "paddleocr_vl_vision", "cosmos3_edge_vision")
# transformers 5.23: modeling_paddleocr_vl.py, modeling_cosmos3_edge.py, modeling_phi4_multimodal.py
MODEL_TYPES = (
    "siglip_vision_model",
    "siglip2_vision_model",
    "idefics2_vision",
    "idefics3_vision",
    "smolvlm_vision",
    "paddleocr_vl_vision",
    "cosmos3_edge_vision",
    "phi4_multimodal_vision",
)
IGNORED = ("max_image_size", "size")  # of Idefics 3's image processor
CONVERTED = ("siglip_vision_model", "siglip2_vision_model")
SPELLINGS = {r"^vision_model\.": "", **CLIP}


class SiglipVisionModel(Sizes):
    vision_use_head: bool
    flat: bool


def spec(c: Config) -> Spec[SiglipVisionModel]:
    second = c.family in ("siglip2_vision_model", "cosmos3_edge_vision")
    # SigLIP 2 counts its patches where SigLIP gives the image's size.
    rows = c.int("num_patches") if second else keys.squares(c)
    pooled = c.family not in _HEADLESS and c.bool("vision_use_head", default=True)
    further = keys.named(VisionTransformer="base")
    sizes = SiglipVisionModel.read(c, vision_use_head=pooled, flat=second)
    return keys.tower(c, patches=keys.patches(c), positions=rows, further=further).having(sizes)


def blueprint(s: Spec[SiglipVisionModel]) -> Block:
    d, width = s.hidden, s.layers[0].layer.dense.width

    # A probe attends to all tokens, which gives one for the whole image.
    weight, bias, out = Tensor((3 * d, d)), Tensor((3 * d,)), Linear(d, d, True)
    attention = block("attention", in_proj_weight=weight, in_proj_bias=bias, out_proj=out)
    pooling = block(probe=Tensor((1, 1, d)), attention=attention, layernorm=layer_norm(d), mlp=mlp(d, width))
    table = patch_projection(s, bias=True) if s.own.flat else patch_convolution(s)
    body = block(
        embeddings=block(patch_embedding=table, position_embedding=positions(s)),
        encoder=block(layers=stack(s.layers, lambda layer: clip_layer(d, layer))),
        post_layernorm=layer_norm(d),
        head=pooling if s.own.vision_use_head else None,
    )
    return block(vision_model=body) if s.family == "paddleocr_vl_vision" else body
