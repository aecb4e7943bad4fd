"""CLIP's vision tower: a class token, and norms before and behind the layers (arXiv:2103.00020)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.conversions import CLIP
from hfcount.architectures.layers.vision import clip_layer, patch_convolution
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete

# transformers 5.23: modeling_clip.py, modeling_altclip.py, modeling_chinese_clip.py, modeling_clipseg.py,
# modeling_metaclip_2.py, modeling_mlcd.py, modeling_git.py, modeling_owlvit.py, modeling_owlv2.py,
# modeling_kosmos2.py, modeling_idefics.py
MODEL_TYPES = (
    "clip_vision_model",
    "altclip_vision_model",
    "chinese_clip_vision_model",
    "clipseg_vision_model",
    "metaclip_2_vision_model",
    "mlcd_vision_model",
    "mlcd",
    "git_vision_model",
    "owlvit_vision_model",
    "owlv2_vision_model",
    "kosmos_2_vision_model",
    "idefics_vision",
)
CONVERTED = MODEL_TYPES[:7]
IGNORED = ("projection_dim", "num_key_value_groups")
SPELLINGS = {r"^vision_model\.": "", **CLIP}

_WITHIN = {"git_vision_model": "vision_model", "kosmos_2_vision_model": "model"}
_ROTARY, _OWL = ("mlcd_vision_model", "mlcd"), ("owlvit_vision_model", "owlv2_vision_model")


def spec(c: Config) -> Spec:
    further, rotary = keys.named(ModelWithProjection="projection"), c.family in _ROTARY
    rows = keys.squares(c) + 1
    given = keys.patches(c)
    indivisible: keys.Indivisible = "built" if rotary else "refused"
    model = keys.tower(c, patches=given, positions=None if rotary else rows, further=further, indivisible=indivisible)
    return model.replace(out=c.int("projection_dim")) if model.head == "projection" else model


def blueprint(s: Spec) -> Block:
    d, before = s.hidden, "pre_layernorm" if s.family in _OWL else "pre_layrnorm"
    table = block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        position_embedding=None if s.positions is None else positions(s),
        position_ids=None if s.positions is None else obsolete(1, s.positions, whole=True),
    )
    parts = {"embeddings": table, before: layer_norm(d)}
    encoder = block(layers=stack(s.layers, lambda layer: clip_layer(d, layer)))
    body = Block({**parts, "encoder": encoder, "post_layernorm": layer_norm(d)})
    if s.family in _ROTARY:  # the class token has no place in the image, but a learned one
        place = Tensor((1, s.layers[0].layer.attention.head_dim // 2), component="embedding")
        return Block({**body.children, "class_pos_emb": place})
    if s.head == "projection":
        return block(vision_model=body, visual_projection=Linear(d, s.out or d, component="projector"))
    if s.family in _OWL and not s.place:
        return block(vision_model=body)
    return Block({_WITHIN[s.family]: body}) if s.family in _WITHIN else body
