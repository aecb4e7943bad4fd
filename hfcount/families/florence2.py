"""Florence-2: a vision tower before BART, for any task that a prompt names (arXiv:2311.06242)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head
from hfcount.parts.composite import rebased
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer

# transformers 5.23: modeling_florence2.py
MODEL_TYPES = ("florence2",)
IGNORED = ("normalize_embedding", "num_hidden_layers", "projection_dim", "vocab_size")


class Florence2(Sizes):
    """What this architecture alone has."""

    projection_dim: int
    max_position_embeddings: int
    max_temporal_embeddings: int
    released: int


def spec(c: Config) -> Spec[Florence2]:
    v, heads = c.part("vision_config"), ("ForConditionalGeneration", "Model")
    released = v.has("dim_embed")  # names of keys and tensors are those of microsoft/Florence-2-large
    text = families.part(c, "text_config", "bart" if released else "")
    towers = {"vision": families.part(c, "vision_config", "davit" if released else "")}
    places, times = (v.part("image_pos_embed"), v.part("visual_temporal_embedding")) if released else (v, v)
    own = Florence2.read(
        c,
        projection_dim=keys.dim("d_p", v.int("projection_dim")),
        max_position_embeddings=keys.dim(
            "n_v", places.int("max_pos_embeddings" if released else "max_position_embeddings")
        ),
        max_temporal_embeddings=keys.dim("n_t", times.int("max_temporal_embeddings")),
        released=released,
    )
    return keys.composite(c, text, towers, heads=heads[:1] if released else heads, tied=True).having(own)


def blueprint(s: Spec[Florence2]) -> Block:
    of, seen = s.own, s.parts["vision"].hidden
    half = seen // 2
    rows, columns = (embedding(of.max_position_embeddings, width) for width in (half, seen - half))
    norm, places = layer_norm(of.projection_dim), block(row_embeddings=rows, column_embeddings=columns)
    times = block(pos_idx_to_embed=buffer(of.max_temporal_embeddings, seen))
    if of.released:
        text = families.tree(s.parts["text"].replace(head="conditional_generation", tied=s.tied))
        return block(
            vision_tower=families.tower(s, "vision"),
            image_projection=Tensor((seen, of.projection_dim), component="projector"),
            image_proj_norm=Block(norm.children, "projector", 0),
            image_pos_embed=Block(places.children, "projector", 0),
            visual_temporal_embed=Block(times.children, "projector", 0),
            language_model=rebased(text, "language_model"),
        )
    projector = block(
        "projector",
        image_projection=Linear(seen, of.projection_dim),
        image_proj_norm=norm,
        image_position_embed=places,
        visual_temporal_embed=times,
    )
    prefix = "language_model" if s.head == "base" else "model.language_model"
    body = block(
        vision_tower=families.tower(s, "vision"),
        multi_modal_projector=replace(projector, repeats=0),
        language_model=rebased(families.base(s), prefix),
    )
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, f"{prefix}.shared.weight"))
