"""Florence-2: a vision tower before BART, for any task that a prompt names (arXiv:2311.06242)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head
from hfcount.parts.composite import rebased
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("florence2",)  # transformers 5.23: modeling_florence2.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    v, heads = c.part("vision_config"), ("ForConditionalGeneration", "Model")
    traits = {
        "projection_dim": keys.sized("d_p", v.int("projection_dim")),
        "max_position_embeddings": keys.sized("n_v", v.int("max_position_embeddings")),
        "max_temporal_embeddings": keys.sized("n_t", v.int("max_temporal_embeddings")),
    }
    return keys.around(c, text, towers, heads=heads, tied=True, traits=traits)


def blueprint(s: Spec) -> Block:
    of, seen = s.traits, s.parts["vision"].hidden
    half = seen // 2
    rows, columns = (embedding(of["max_position_embeddings"], width) for width in (half, seen - half))
    projector = block(
        "projector",
        image_projection=Linear(seen, of["projection_dim"]),
        image_proj_norm=layer_norm(of["projection_dim"]),
        image_position_embed=block(row_embeddings=rows, column_embeddings=columns),
        visual_temporal_embed=block(pos_idx_to_embed=buffer(of["max_temporal_embeddings"], seen)),
    )
    prefix = "language_model" if s.head == "base" else "model.language_model"
    body = block(
        vision_tower=families.tower(s, "vision"),
        multi_modal_projector=replace(projector, repeats=0),
        language_model=rebased(families.base(s), prefix),
    )
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, f"{prefix}.shared.weight"))
