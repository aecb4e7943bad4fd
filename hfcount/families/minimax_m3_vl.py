"""MiniMax-M3: routed experts with sparse attention, a vision tower, and two projectors, one for merged patches."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered
from hfcount.parts.composite import llava, towers_beside_model
from hfcount.parts.conversions import LLAVA, W_EXPERTS
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear

MODEL_TYPES = ("minimax_m3_vl",)  # transformers 5.23: modeling_minimax_m3_vl.py
IGNORED = ("image_grid_pinpoints", "merged_hidden_size", "num_reward_heads", "vision_feature_layer")
SPELLINGS = {
    **LLAVA,
    r"\.embeddings\.patch_embedding\.": ".embeddings.proj.",
    r"(?<=vision_tower\.)encoder\.layers\.": "layers.",
    r"^patch_merge_mlp\.": "model.multi_modal_projector.merge_",
    r"\.block_sparse_moe\.e_score_correction_bias$": ".mlp.gate.e_score_correction_bias",
    r"\.block_sparse_moe\.(experts|gate|shared_experts)\.": r".mlp.\1.",
    r"\.index_([qk])_(proj|norm)\.": r".indexer.\1_\2.",
}
MERGED = {**W_EXPERTS, "gate_up_proj.weight": ("gate_proj.weight", "up_proj.weight")}


class MinimaxM3Vl(Sizes):
    """What this architecture alone has."""

    projector_hidden_size: int = size("d_p")


def spec(c: Config) -> Spec[MinimaxM3Vl]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = MinimaxM3Vl.read(c)
    tied = keys.tied_anywhere(c, c.part("text_config"))
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=tied).having(own)


def blueprint(s: Spec[MinimaxM3Vl]) -> Block:
    d, width, vision = s.hidden, s.own.projector_hidden_size, s.parts["vision"]

    def projector(seen: int, prefix: str = "") -> Block:
        wide, narrow = Linear(seen, width, bias=True), Linear(width, d, bias=True)
        return Block({f"{prefix}linear_1": wide, f"{prefix}linear_2": narrow}, "projector")

    merged = vision.seen.merged(d)
    if s.head == "base":  # this has the names of transformers
        both = altered(projector(vision.hidden), **projector(merged, "merge_").children)
        tower = replace(families.tree(vision.replace(place="")), component="vision")
        return towers_beside_model(s, families.base(s), vision_tower=tower, multi_modal_projector=both)
    tower = Block({"vision_model": families.tower(s, "vision")})
    senses = {"multi_modal_projector": projector(vision.hidden), "patch_merge_mlp": projector(merged)}
    return llava(s, families.base(s), vision_tower=tower, **senses)
