"""CLIP's vision tower: a class token, and norms before and behind the layers (arXiv:2103.00020)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import clip_layer, patch_convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_clip.py, modeling_altclip.py, modeling_chinese_clip.py, modeling_clipseg.py,
# modeling_metaclip_2.py
MODEL_TYPES = (
    "clip_vision_model",
    "altclip_vision_model",
    "chinese_clip_vision_model",
    "clipseg_vision_model",
    "metaclip_2_vision_model",
)
IGNORED = ("projection_dim",)
SPELLINGS = {r"^vision_model\.": ""}


def spec(c: Config) -> Spec:
    further, rows = keys.named(ModelWithProjection="projection"), keys.squares(c) + 1
    whole = keys.tower(c, patches=keys.patches(c), positions=rows, further=further)
    return whole.but(out=c.int("projection_dim")) if whole.head == "projection" else whole


def blueprint(s: Spec) -> Block:
    d = s.hidden

    table = block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        position_embedding=positions(s),
    )
    body = block(
        embeddings=table,
        pre_layrnorm=layer_norm(d),
        encoder=block(layers=stack(s.layers, lambda one: clip_layer(d, one))),
        post_layernorm=layer_norm(d),
    )
    if s.head == "base":
        return body
    return block(vision_model=body, visual_projection=Linear(d, s.out or d, component="projector"))
