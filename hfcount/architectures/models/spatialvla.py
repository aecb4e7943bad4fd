"""SpatialVLA: PaliGemma's parts, a model of depth, and places in space for what is seen (arXiv:2501.15830)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm
from hfcount.architectures.layers.composite import as_tower, rebased
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# model/modeling_spatialvla.py and model/configuration_spatialvla.py of SpatialVLA/SpatialVLA
MODEL_TYPES = ("spatialvla",)
CLASSES = ("SpatialVLAForConditionalGeneration",)
IGNORED = ("hidden_size", "vocab_size", "action_token_begin_idx", "num_image_tokens")

_SPACE = 3  # coordinates of a point


class SpatialVla(Sizes):
    """Sizes specific to SpatialVLA; `points` is how many numbers stand for the points of a patch."""

    projection_dim: int = size("d_o", absent=2048)
    spatial: int | None = derived(
        lambda c: (
            keys.dim("n_s", c.int("spatial_token_num", default=259))
            if c.bool("use_spatial_token", default=False)
            else None
        )
    )
    side: int = size("g", "ego3d_patch_reso", absent=4)
    freqs: int = size("n_f", "n_freqs", absent=8)
    deep: bool = flag("use_vision_zoe", absent=True)


def spec(c: Config) -> Spec[SpatialVla]:
    text = families.part(c, "text_config", always="gemma2").replace(head="causal_lm")
    parts = {"vision": families.part(c, "vision_config", always="siglip_vision_model")}
    sizes = SpatialVla.read(c)
    if sizes.deep:
        parts["depth"] = families.part(c, "vision_zoe_config", always="zoedepth")
    model = keys.composite(c, text, parts, heads=keys.named(("ForConditionalGeneration",)))
    return model.replace(tied=text.tied).having(sizes)


def blueprint(s: Spec[SpatialVla]) -> Block:
    d, of, seen = s.hidden, s.own, s.part("vision").hidden
    places = None
    if of.deep:
        points = _SPACE * of.side * of.side
        into = Linear(points * (2 * of.freqs + 1), seen, True)
        head = Block({"0": into, "1": layer_norm(seen), "3": Linear(seen, seen, True)})
        places = as_tower(block(position_embedding_head=head), "embedding")
    return block(
        vision_tower=block(vision_model=families.tower(s, "vision")),
        multi_modal_projector=as_tower(block(linear=Linear(seen, of.projection_dim, True)), "projector"),
        language_model=rebased(families.tree(s.part("text")), "language_model"),
        vision_zoe_model=as_tower(families.tree(s.part("depth")), "vision") if of.deep else None,
        position_embedding_3d=places,
        spatial_embed_tokens=None if of.spatial is None else embedding(of.spatial, d),
    )
