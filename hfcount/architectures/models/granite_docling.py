"""Granite-Docling: a vision tower that merges its own patches, and a router of images, before Granite."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack, with_head
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.vision import clip_layer, patch_convolution
from hfcount.mapper import Config, Sizes, flag, optional
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("granite_docling",)  # transformers 5.23: modeling_granite_docling.py


class GraniteDocling(Sizes):
    """Sizes specific to Granite-Docling: the width of its router of images, if there is one."""

    density_router_hidden_size: int | None = optional("d_r")


def spec(c: Config) -> Spec[GraniteDocling]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = GraniteDocling.read(c)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[GraniteDocling]) -> Block:
    vision_width, width = s.part("vision").hidden, s.own.density_router_hidden_size
    router = None
    if width is not None:
        two = {"fc1": Linear(vision_width, width, True), "fc2": Linear(width, 1, True)}
        router = Block({"att": Linear(vision_width, 1, True), "norm": layer_norm(vision_width), **two}, "projector", 0)
    body = block(vision_model=families.tower(s, "vision"), text_model=families.base(s), density_router=router)
    return with_head(s, body, table="text_model.embed_tokens")


class GraniteDoclingVision(Sizes):
    deepstack_visual_indexes: int
    use_fine_route: bool = flag(absent=True)


def vision_spec(c: Config) -> Spec[GraniteDoclingVision]:
    """Granite-Docling's vision tower: SigLIP's layers, patches merged by two ways, coarse and fine (transformers)."""
    merge = c.int("scale_factor")
    sizes = GraniteDoclingVision.read(
        c, deepstack_visual_indexes=len(c.ints("deepstack_visual_indexes", default=(3, 7, 10)))
    )
    patches, out = keys.patches(c, merge=merge), c.int("out_hidden_size")
    return keys.tower(c, patches=patches, positions=keys.squares(c), out=out).having(sizes)


def vision_blueprint(s: Spec[GraniteDoclingVision]) -> Block:
    d, out, deep = s.hidden, s.output, Indices.below(s.own.deepstack_visual_indexes)

    def way(merge: int) -> Block:
        wide = merge * merge * d
        two = {"linear_1": Linear(wide, out, True), "linear_2": Linear(out, out, True)}
        mergers = Repeat(deep, block(layer_norm=layer_norm(wide), **two))
        return block(projection=Linear(wide, out), deepstack_mergers=mergers if deep.count else None)

    connector = block(
        "projector",
        ln_in=layer_norm(d),
        coarse=way(s.seen.merge),
        fine=way(s.seen.merge // 2) if s.own.use_fine_route else None,
        ln_mid=layer_norm(out),
        mlp_fc2=Linear(out, out),
        ln_out=layer_norm(out),
    )
    return block(
        embeddings=block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
        encoder=block(layers=stack(s.layers, lambda layer: clip_layer(d, layer))),
        post_layernorm=layer_norm(d),
        connector=connector,
    )


PARTS = (families.Family(("granite_docling_vision",), vision_spec, vision_blueprint),)
