"""Step 3.7: Step 3.5's language model with a vision tower and one projection."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.step import layers_and_downsamplers
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.architectures.layers.conversions import qkv
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

_STEP_VISION = {
    r"\bconv1\.weight$": "embeddings.patch_embedding.weight",
    r"\bpositional_embedding$": "embeddings.position_embedding.weight",
    r"\btransformer\.resblocks\.": "layers.",
    r"\bln_pre\.": "pre_layernorm.",
    r"\bvit_downsampler": "downsampler",
    r"\bls_([12])\.gamma$": r"lambda_\1",
    r"\bmlp\.c_fc\.": "mlp.fc1.",
    r"\bmlp\.c_proj\.": "mlp.fc2.",
    r"\battn\.": "self_attn.",
    r"\bln_1\.": "layernorm_before.",
    r"\bln_2\.": "layernorm_after.",
}
"""Names of Step's vision tower in its release."""

MODEL_TYPES = ("step3p7",)  # transformers 5.23: modeling_step3p7.py
PREDICTORS = ("Step3p5MTP",)
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
    projector_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[Step3p7]:
    # The class overrules the model_types that are written in its parts.
    text, vision = (families.part(c, "text_config", "step3p5"), families.part(c, "vision_config", "step3p5_vision"))
    heads = ("ForConditionalGeneration", "Model")
    sizes = Step3p7.read(c)
    return keys.composite(c, text, {"vision": vision}, heads=heads).having(sizes)


def blueprint(s: Spec[Step3p7]) -> Block:
    vision_width = 4 * s.part("vision").hidden
    projector = Linear(vision_width, s.hidden, s.own.projector_bias, "projector")
    name = "multi_modal_projector" if s.head == "base" else "vit_large_projector"
    return towers_beside_model(s, families.base(s), vision_model=families.tower(s, "vision"), **{name: projector})


def vision_spec(c: Config) -> Spec:
    """Step's vision tower: CLIP's layers with a scale on each branch, then two convolutions that halve the grid."""
    d = c.int("width", default=None) or c.int("hidden_size")
    c.int("intermediate_size", default=None)  # in configs, without effect
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        heads=("heads", "num_attention_heads"),
        depth=("layers", "num_hidden_layers"),
        indivisible="built",
        patches=keys.patches(c),
        positions=keys.squares(c),
    )


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden
    return block(
        conv1=patch_convolution(s, bias=False),
        positional_embedding=Tensor((s.positions or 0, d), component="embedding"),
        ln_pre=layer_norm(d),
        **layers_and_downsamplers(s),
    )


PARTS = (
    families.Family(
        ("step3p5_vision",),
        vision_spec,
        vision_blueprint,
        spellings=_STEP_VISION,
        merged={f"attn.in_proj_{end}": qkv("self_attn", end) for end in ("weight", "bias")},
    ),
)
