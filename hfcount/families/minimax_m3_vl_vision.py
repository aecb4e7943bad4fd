"""MiniMax-M3's vision tower: CLIP's layers without a class token, and patches that span frames."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.vision import clip_layer, patch_convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("minimax_m3_vl_vision",)  # transformers 5.23: modeling_minimax_m3_vl.py
IGNORED = ("image_size",)


def spec(c: Config) -> Spec:
    return keys.tower(
        c, patches=keys.patches(c, frames=c.int("temporal_patch_size"), merge=c.int("spatial_merge_size"))
    )


def blueprint(s: Spec) -> Block:
    d, table, layers = (
        s.hidden,
        patch_convolution(s, bias=False),
        stack(s.layers, lambda one: clip_layer(s.hidden, one)),
    )
    if not s.place:
        return block(embeddings=block(proj=table), pre_layrnorm=layer_norm(d), layers=layers)
    # Within the whole model the names are those of the first release.
    return block(embeddings=block(patch_embedding=table), pre_layrnorm=layer_norm(d), encoder=block(layers=layers))
