"""Step 3.7: Step 3.5's language model with a vision tower and one projection."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_beside_model
from hfcount.spec import Sizes, Spec, flag
from hfcount.tree.nodes import Block, Linear

MODEL_TYPES = ("step3p7",)  # transformers 5.23: modeling_step3p7.py
IGNORED = ("understand_projector_stride",)
SPELLINGS = {
    r"^(vision_model)\.": r"model.\1.",
    r"^vit_large_projector\.": "model.multi_modal_projector.",
    r"^model\.(embed_tokens|layers|norm)\.": r"model.language_model.\1.",
    r"\.moe\.gate\.weight$": ".mlp.gate.weight",
    r"\.moe\.router_bias$": ".mlp.gate.e_score_correction_bias",
    r"\.moe\.down_proj\.weight$": ".mlp.experts.down_proj",
    r"\.share_expert\.": ".mlp.shared_experts.",
}
MERGED = {"mlp.experts.gate_up_proj": ("moe.gate_proj.weight", "moe.up_proj.weight")}


class Step3p7(Sizes):
    """What this architecture alone has."""

    projector_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[Step3p7]:
    # The class overrules the model_types that are written in its parts.
    text, vision = families.part(c, "text_config", "step3p5"), families.part(c, "vision_config", "step3p5_vision")
    heads = ("ForConditionalGeneration", "Model")
    own = Step3p7.read(c)
    return keys.composite(c, text, {"vision": vision}, heads=heads).having(own)


def blueprint(s: Spec[Step3p7]) -> Block:
    seen = 4 * s.parts["vision"].hidden
    projector = Linear(seen, s.hidden, s.own.projector_bias, "projector")
    name = "multi_modal_projector" if s.head == "base" else "vit_large_projector"
    return towers_beside_model(s, families.base(s), vision_model=families.tower(s, "vision"), **{name: projector})
