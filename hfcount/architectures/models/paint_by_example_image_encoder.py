"""The image encoder of Paint by Example: CLIP's vision tower, and layers behind its class token (arXiv:2211.13227)."""

from hfcount.architectures import families
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# Around what transformers 5.23 has in modeling_clip.py.
# diffusers 0.42.1: image_encoder.py, attention.py
MODEL_TYPES = ("PaintByExampleImageEncoder",)
CLASSES = ("PaintByExampleImageEncoder",)
SPELLINGS = {r"^model\.vision_model\.": "model."}


class PaintByExample(Sizes):
    projection_dim: int = size("d_o")


def spec(c: Config) -> Spec[PaintByExample]:
    c.kind = "clip_vision_model"  # whose configuration it has
    tower = families.read(c.as_part().varied("", {"architectures": None}), "clip_vision_model")
    return diffusion.beside(c, PaintByExample.read(c), tower)


def blueprint(s: Spec[PaintByExample]) -> Block:
    d, out, count = s.hidden, s.own.projection_dim, (s.part("vision").depth + 1) // 5
    layer = block(norm1=layer_norm(d), attn1=attention(d, d), norm3=layer_norm(d), ff=feed_forward(d, 4 * d))
    return block(
        model=families.tower(s, "vision"),
        mapper=block(blocks=Repeat(Indices.below(count), layer)),
        final_layer_norm=layer_norm(d),
        proj_out=Linear(d, out, True, "projector"),
        uncond_vector=Tensor((1, 1, out)),
    )
