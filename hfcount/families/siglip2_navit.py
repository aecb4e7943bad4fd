"""Ovis 2.5's vision tower: SigLIP 2's for images of any size, with rotary positions too (arXiv:2508.11737)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import clip_layer, patch_convolution, patch_projection
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("siglip2_navit",)  # modeling_siglip2_navit.py of AIDC-AI/Ovis
IGNORED = ("fullatt_block_indexes", "temporal_patch_size", "use_rope", "window_size")

# configuration_siglip2_navit.py of AIDC-AI/Ovis.
_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_channels": 3,
    "image_size": 512,
    "patch_size": 16,
    "hidden_stride": 2,
    "preserve_original_pe": True,
}


class Siglip2Navit(Sizes):
    """What this architecture alone has."""

    flat: bool
    hidden_stride: int = size("m")


def spec(c: Config) -> Spec[Siglip2Navit]:
    c = c.assuming(_ABSENT)
    count = c.int("num_patches", default=-1, minimum=-1)
    flat, seen = count > 0, keys.patches(c)
    if not count:
        raise c.error("num_patches is 0, and must be -1 or the number of places.", "num_patches", observed=0)
    rows = (count if flat else keys.squares(c)) if c.bool("preserve_original_pe") else None
    own = Siglip2Navit.read(c, flat=flat)
    return keys.tower(c, patches=seen, positions=rows).having(own)


def blueprint(s: Spec[Siglip2Navit]) -> Block:
    d = s.hidden
    table = block(
        patch_embedding=patch_projection(s, bias=True) if s.own.flat else patch_convolution(s),
        position_embedding=None if s.positions is None else positions(s),
    )
    encoder = block(layers=stack(s.layers, lambda one: clip_layer(d, one)))
    return block(vision_model=block(embeddings=table, encoder=encoder, post_layernorm=layer_norm(d)))
