"""Classes by which engines choose a model: another's under a name of their own, drafts, and prediction layers alone."""

from typing import Any

import pytest
from build import Json, recorded
from tables import over

import hfcount
from hfcount.architectures import families, registry
from hfcount.blueprints.build import build
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config

COUNT = "num_nextn_predict_layers"

PREDICTING: dict[str, tuple[str, Json]] = {
    "BailingMoeV25MTPModel": ("bailing_moe_linear", {COUNT: 1}),
    "BailingMoeV3MTPModel": ("bailing_moe_v3", {COUNT: 2}),
    "DeepSeekMTPModel": ("deepseek_v3", {COUNT: 1}),
    "DeepSeekV4MTPModel": ("deepseek_v4", {}),
    "DeepseekV32MTPModel": ("deepseek_v32", {COUNT: 1}),
    "ErnieMTPModel": ("ernie4_5_moe", {COUNT: 1}),
    "Exaone4_5_MTP": ("exaone4_5", {COUNT: 1}),
    "ExaoneMoeMTP": ("exaone_moe", {COUNT: 2}),
    "GigaChat35ForCausalLMNextN": ("gigachat3_5", {}),
    "Glm4MoeLiteMTPModel": ("glm4_moe_lite", {COUNT: 1}),
    "Glm4MoeMTPModel": ("glm4_moe", {COUNT: 1}),
    "Glm5NextMTPModel": ("glm5_next", {"text_config": {COUNT: 1}}),
    "GlmMoeDsaForCausalLMNextN": ("glm_moe_dsa", {COUNT: 1}),
    "HYV3MTPModel": ("hy_v3", {COUNT: 1}),
    "KimiK3MTPModel": ("kimi_k3", {"text_config": {COUNT: 1}}),
    "LongCatFlashMTPModel": ("longcat_flash", {}),
    "MiMoMTPModel": ("mimo", {}),
    "MiMoV2MTPModel": ("mimo_v2", {COUNT: 3}),
    "NemotronHMTPModel": ("nemotron_h", {COUNT: 1}),
    "OpenPanguMTPModel": ("pangu_ultra_moe", {}),
    "Qwen3NextMTP": ("qwen3_next", {}),
    "Qwen3_5MTP": ("qwen3_5", {"text_config": {"mtp_num_hidden_layers": 1}}),
    "Qwen4ExpMTP": ("qwen4_exp", {"text_config": {"mtp_num_hidden_layers": 2}}),
    "Step3p5MTP": ("step3p5", {COUNT: 2}),
}


def predicting(name: str, **more: Any) -> Json:
    """The recorded config of a class's type, with layers that predict further tokens."""
    model_type, changes = PREDICTING[name]
    values = recorded(model_type)
    for key, value in changes.items():
        values[key] = {**values[key], **value} if isinstance(value, dict) else value
    return {**values, **more}


@over("name", sorted(PREDICTING))
def test_prediction_layers_alone_are_those_of_the_whole_model(name: str) -> None:
    whole = build(Config(predicting(name, architectures=None)))
    alone = build(Config(predicting(name, architectures=[name])))
    wanted = {(leaf.name, leaf.shape, leaf.count) for leaf in whole.leaves if leaf.presence == "optional"}
    wanted = {row for row in wanted if any(leaf.part == "prediction" for leaf in whole.leaves if leaf.name == row[0])}
    required = {(leaf.name, leaf.shape, leaf.count) for leaf in alone.leaves if leaf.presence == "required"}
    assert wanted and required == wanted
    assert {leaf.presence for leaf in alone.leaves} <= {"required", "spare", "obsolete"}
    counted = [leaf for leaf in alone.leaves if leaf.presence == "required" and leaf.kind == "parameter"]
    assert alone.total == sum(int(leaf.count) * leaf.size for leaf in counted) > 0


def test_every_class_of_prediction_layers_is_tried_or_has_one_beside_it_that_is() -> None:
    tried = {registry.file(model_type).stem for model_type, _ in PREDICTING.values()}
    others = {file.types[0] for file in families.everyone() if file.predictors} - {"bailing_moe", "glm4v_moe"}
    assert {registry.file(kind).stem for kind in others} - tried == {"interns2", "step3p7"}


def test_only_the_layers_and_what_they_share_are_named() -> None:
    names = [
        tensor.name for tensor in hfcount.blueprint(predicting("MiMoMTPModel", architectures=["MiMoMTP"])).tensors()
    ]
    assert names[:1] == ["model.mtp_layers.0.self_attn.q_proj.weight"]
    assert {name.split(".")[1] for name in names} == {"mtp_layers"}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (recorded("exaone_moe", architectures=["ExaoneMoeMTP"]), ConfigError),
        (recorded("llama", architectures=["Qwen3NextMTP"]), UnknownArchitecture),
    ],
    ids=["no such layers", "another type"],
)
def test_a_class_of_prediction_layers_is_refused_where_the_config_has_none(
    values: Json, error: type[Exception]
) -> None:
    with pytest.raises(error):
        hfcount.blueprint(values)


ALIASES = [
    ("bert", "BertSpladeSparseEmbeddingModel", "BertForMaskedLM"),
    ("chatglm", "GLM4VForCausalLM", "ChatGLMForConditionalGeneration"),
    ("deepseek_v3", "DeepseekV3BidirectionalModel", "DeepseekV3Model"),
    ("gemma4_assistant", "Gemma4MTPModel", "Gemma4AssistantForCausalLM"),
    ("hyperclovax_vision_v2", "HCXVisionV2ForCausalLM", "HyperCLOVAXVisionV2ForConditionalGeneration"),
    ("gemma3_text", "EmbeddingGemmaModel", "Gemma3TextModel"),
    ("llama", "LlamaEmbeddingModel", "LlamaModel"),
    ("llama", "TorchNativeLlamaForCausalLM", "LlamaForCausalLM"),
    ("llama_bidirec", "LlamaBidirectionalForSequenceClassification", "LlamaBidirecForSequenceClassification"),
    ("mixtral", "QuantMixtralForCausalLM", "MixtralForCausalLM"),
    ("muse_glimmer", "MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration"),
    ("muse_glimmer_assistant", "DFlashMuseGlimmerAssistantModel", "MuseGlimmerAssistantModel"),
    ("nemotron_h_omni", "NemotronH_Super_Omni_Reasoning_V3", "NemotronH_Omni_Reasoning_V3"),
    ("new", "GteNewModel", "NewModel"),
    ("new", "GteNewForSequenceClassification", "NewForSequenceClassification"),
    ("phi3", "TorchNativePhi3ForCausalLM", "Phi3ForCausalLM"),
    ("qwen3_5", "ClefFlashForJointSchema", "Qwen3_5ForConditionalGeneration"),
    ("qwen3_5", "D3ForSequenceClassification", "Qwen3_5Model"),
    ("qwen3_asr", "Qwen3ASRRealtimeGeneration", "Qwen3ASRForConditionalGeneration"),
    ("xlm-roberta", "BgeM3EmbeddingModel", "XLMRobertaModel"),
]


@over(("model_type", "name", "other"), ALIASES)
def test_a_class_of_an_engine_has_the_tensors_of_the_class_that_it_is(model_type: str, name: str, other: str) -> None:
    first, second = (hfcount.blueprint(recorded(model_type, architectures=[one])).rows() for one in (name, other))
    assert first == second


CHOSEN = [
    ("llama", "Eagle3MiniMaxM2ForCausalLM", "llama_eagle3", "layers.0.hidden_norm.weight"),
    ("llama", "PeagleLlamaForCausalLM", "llama_eagle3", "mask_hidden"),
    ("qwen3", "Eagle3Qwen3ForCausalLM", "llama_eagle3", "layers.0.self_attn.q_norm.weight"),
    ("qwen3", "Qwen3DSparkModel", "dflash", "fc.weight"),
    ("qwen3", "Qwen3XPressModel", "dflash", "xpress_head.mix.L"),
    ("qwen3", "QwenDFlashDraftModel", "dflash", "fc.weight"),
    ("qwen3", "QwenDFlareDraftModel", "dflash", "layer_fusion_weights"),
    ("qwen3", "QwenDFlareDraftModel", "dflash", "layers.{0-2}.self_attn.k_proj_target.weight"),
    ("llama", "CosyVoice3Eagle3LlamaForCausalLM", "llama_eagle3", "midlayer.hidden_norm.weight"),
    ("qwen2", "Qwen2ForCausalLMEagle", "eagle", "layers.0.self_attn.q_proj.bias"),
    ("cohere2", "EagleCohereForCausalLM", "eagle_layers", "fc.bias"),
    ("deepseek_v3", "EagleMistralLarge3ForCausalLM", "eagle_layers", "norm.weight"),
    ("llama4_text", "EagleLlama4ForCausalLM", "eagle_layers", "layers.{0-3}.feed_forward.router.weight"),
    ("mistral", "MistralForCausalLMEagle", "eagle_layers", "layers.{0-2}.input_layernorm.weight"),
    ("modernbert", "ColBERTModernBertModel", "token_retriever", "final_norm.weight"),
    ("qwen3_vl", "OpsColQwen3Model", "colpali_engine", "custom_text_proj.weight"),
    ("gemma3_text", "Rnj1ForCausalLM", "rnj1", "model.layers.{0-5}.self_attn.k_norm.weight"),
    ("deepseek_v3", "MistralLarge3ForCausalLM", "mistral_large_3", "lm_head.weight"),
]


@over(("model_type", "name", "family", "tensor"), CHOSEN)
def test_a_class_of_an_engine_chooses_the_model_of_its_own(
    model_type: str, name: str, family: str, tensor: str
) -> None:
    values = recorded(model_type, architectures=[name], dims=24)
    model = hfcount.blueprint(values)
    assert (model.spec.family, tensor in [row.name for row in model.rows()]) == (family, True)


@pytest.mark.parametrize("name", ["RForConditionalGeneration", "BeeForConditionalGeneration"])
def test_an_unknown_type_is_read_by_a_class_that_engines_choose(name: str) -> None:
    values = recorded("bee", architectures=[name], model_type="no_such_type")
    width = hfcount.blueprint(values).spec.own.widened
    assert width == (4 if name == "BeeForConditionalGeneration" else 1)
    with pytest.raises(UnknownArchitecture):
        hfcount.blueprint({**values, "architectures": ["NoSuchForConditionalGeneration"]})


@pytest.mark.parametrize(
    ("name", "model_type"),
    [
        ("Qwen3NextMTP", "qwen3_next"),
        ("DFlashDraftModel", "dflash"),
        ("MiniMaxM3SparseForCausalLM", "minimax_m3"),
        ("NoSuchModel", ""),
    ],
)
def test_whose_a_class_is(name: str, model_type: str) -> None:
    assert registry.owner(name) == model_type


@pytest.mark.parametrize(
    ("more", "verdict", "reads"),
    [
        ([], "verified", ("vllm", "whole", "")),
        (["lm_head.weight"], "verified", ("vllm", "whole", "")),
        (
            ["model.layers.0.input_layernorm.weight"],
            "mismatch",
            ("vllm", "unknown", "picks the tensors of Qwen3NextMTP"),
        ),
    ],
    ids=["the layers", "and the head", "and more of the model"],
)
def test_prediction_layers_alone_are_for_the_engine_that_has_the_class(
    more: list[str], verdict: str, reads: tuple[str, str, str]
) -> None:
    values = recorded("qwen3_next", architectures=["Qwen3NextMTP"], dtype="bfloat16")
    whole = {one.name: one.shape for one in hfcount.blueprint({**values, "architectures": None}).tensors()}
    tensors = {one.name: (one.shape, "BF16") for one in hfcount.blueprint(values).tensors()}
    report = hfcount.verify_tensors(values, {**tensors, **{name: (whole[name], "BF16") for name in more}})
    engine, outcome, says = reads
    by_name = {f"{one.loader} {one.version}": one for one in report.loaders or ()}
    (home,) = [one for one in by_name.values() if one.home]
    assert (report.verdict, home.loader, home.outcome) == (verdict, engine, outcome)
    assert (home.says or "").startswith(says)
    assert {one.outcome for one in by_name.values() if one.loader == "transformers"} == {"unknown"}
