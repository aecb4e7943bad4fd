"""The conventional key groups: nothing is guessed, contradictions are named, and the head is what the class says."""

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, get_type_hints

import pytest
from build import FAMILIES, TINY, Json, config
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ARCHITECTURES

import hfcount
from hfcount.architectures import families
from hfcount.architectures.layers.model import Fields
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.keys_without_shape import is_shapeless
from hfcount.spec import Spec

SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
MOE = {"mixtral": "num_local_experts", "qwen3_moe": "num_experts"}


def _code(values: Mapping[str, Any]) -> str:
    with pytest.raises(ConfigError) as raised:
        hfcount.blueprint(values)
    return raised.value.code


def _names(values: Mapping[str, Any]) -> set[str]:
    return {row.name for row in hfcount.blueprint(values).rows() if row.kind == "parameter"}


@pytest.mark.parametrize("key", SIZES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_size_that_is_absent_is_the_default_and_said_and_null_is_refused(family: str, key: str) -> None:
    default = declared(family).keys[key]
    lacking, whole = config(family, key, head_dim=6), config(family, **{"head_dim": 6, key: default})
    assert hfcount.blueprint(lacking).rows() == hfcount.blueprint(whole).rows()
    assert (hfcount.blueprint(lacking).assumed_defaults, hfcount.blueprint(whole).assumed_defaults) == (
        {key: default},
        {},
    )
    assert _code(config(family, **{key: None})) == "HF101"


@pytest.mark.parametrize(
    ("family", "key"),
    [
        *[(family, "num_key_value_heads") for family in FAMILIES if family != "llama"],
        ("mixtral", "num_local_experts"),
        ("mixtral", "num_experts_per_tok"),
        ("qwen3_moe", "num_experts"),
        ("qwen3_moe", "num_experts_per_tok"),
        ("qwen3_moe", "moe_intermediate_size"),
    ],
)
def test_other_keys_that_a_family_needs(family: str, key: str) -> None:
    taken = hfcount.blueprint(config(family, key, num_attention_heads=32, head_dim=6)).assumed_defaults
    assert taken == {key: declared(family).keys[key]}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_error_names_the_key_and_the_family(family: str) -> None:
    with pytest.raises(ConfigError, match=f"no vocab_size, and {family} needs it"):
        hfcount.blueprint(config(family, vocab_size=None))


@pytest.mark.parametrize(
    ("value", "code"),
    [("5120", "HF001"), (1.5, "HF001"), (True, "HF001"), (-1, "HF103"), (10**30, "HF103")],
    ids=repr,
)
@pytest.mark.parametrize("key", SIZES)
@pytest.mark.parametrize("family", ["llama", "qwen3_moe"])
def test_sizes_are_whole_positive_numbers(family: str, key: str, value: object, code: str) -> None:
    if (key, value) == ("num_hidden_layers", -1):  # counted up to it, there are none
        (problem,) = hfcount.blueprint(config(family, **{key: value})).problems
        assert (problem.code, problem.built) == (code, True)
    elif (family, key, code) == ("qwen3_moe", "intermediate_size", "HF001") and value is not True:
        (problem,) = hfcount.blueprint(
            config(family, **{key: value})
        ).problems  # no layer has it, and version 4 takes it
        assert problem.code == "HF110"
    else:
        assert _code(config(family, **{key: value})) == code


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("llama", {"hidden_size": 13}),
        ("llama", {"num_attention_heads": 5, "num_key_value_heads": 5}),
        ("qwen3_moe", {"decoder_sparse_step": 0}),
        ("qwen3_moe", {"decoder_sparse_step": -1}),
        ("llama", {"architectures": ["LlamaForSequenceClassification"], "num_labels": 3, "id2label": {"0": "a"}}),
        ("qwen3", {"layer_types": ["full_attention"] * 2}),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(f"{key}={value[key]}" for key in value),
)
def test_contradictions(family: str, changes: Json) -> None:
    assert _code(config(family, **changes)) == "HF103"


@pytest.mark.parametrize(
    ("family", "changes", "alike", "key"),
    [
        ("llama", {"num_key_value_heads": 3}, {}, "num_key_value_heads"),
        ("llama", {"num_key_value_heads": 8}, {}, "num_key_value_heads"),
        ("qwen3", {"num_key_value_heads": 3}, {}, "num_key_value_heads"),
        ("mixtral", {"num_experts_per_tok": 9}, {"num_experts_per_tok": 8}, "num_experts_per_tok"),
        ("qwen3_moe", {"num_experts_per_tok": 9}, {"num_experts_per_tok": 8}, "num_experts_per_tok"),
        ("qwen3_moe", {"num_experts_per_tok": 0}, {}, "num_experts_per_tok"),
        *(("llama", {key: 0}, {}, key) for key in ("hidden_size", "intermediate_size", "num_hidden_layers")),
    ],
    ids=str,
)
def test_what_is_built_and_cannot_run_is_counted(family: str, changes: Json, alike: Json, key: str) -> None:
    """More experts than there are count as all of them; heads keep the width that they have; 0 counts as nothing."""
    blueprint = hfcount.blueprint(config(family, **changes))
    assert [(problem.code, problem.key) for problem in blueprint.problems] == [("HF103", key)]
    assert blueprint.active == hfcount.blueprint(config(family, **{**changes, **alike})).active


def _recorded(name: str) -> Json:
    """The config of a recorded architecture."""
    found: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return found


def _untied(name: str) -> Json:
    """Its language model's, whose head is not tied."""
    return {**_recorded(name)["text_config"], "tie_word_embeddings": False}


def _shapes(name: str, changes: Json) -> tuple[dict[str, tuple[int, ...]], list[str | None]]:
    """The shapes of a recorded architecture with these changes, and the keys with which it cannot run."""
    blueprint = hfcount.blueprint({**_recorded(name), **changes})
    return {one.name: one.shape for one in blueprint.tensors()}, [problem.key for problem in blueprint.problems]


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        (
            "gigachat3_5",
            {"layer_types": ["linear_attention"] * 7},
            "layer_types and full_attention_layers name different",
        ),
        (
            "NVLM_D",
            {"vision_config": {"norm_type": "batch"}},
            'norm_type is "batch", but must be layer_norm or rms_norm',
        ),
        (
            "nemotron_parse",
            {"encoder": {"args": {"model": "vit_huge_patch16_224", "cpe_max_size": None, "teachers": []}}},
            "cpe_max_size is null: a tower for images of one size is not described",
        ),
        (
            "deepseek_v41",
            {"text_config": {**_recorded("deepseek_v41")["text_config"], "engram_layer_ids": [1, 1]}},
            "engram_layer_ids names a layer twice",
        ),
        (
            "deepseek_v41",
            {"text_config": {**_recorded("deepseek_v41")["text_config"], "compress_ratios": [-1] * 7}},
            "compress_ratios must be 0 and more",
        ),
        (
            "baichuan_m1",
            {"num_swa_attention_heads": []},
            "num_swa_attention_heads is a list, but must be a whole number",
        ),
    ],
)
def test_what_no_implementation_reads_is_refused(name: str, changes: Json, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        hfcount.blueprint({**_recorded(name), **changes})


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("llama", {"num_key_value_heads": 3}, "num_attention_heads 4 is not a multiple of num_key_value_heads 3"),
        ("lille-130m", {"n_kv_heads": 4}, "n_head 10 is not a multiple of n_kv_heads 4"),
        (
            "baichuan_m1",
            {"num_swa_key_value_heads": 3},
            "num_swa_attention_heads 40 is not a multiple of num_swa_key_value_heads 3",
        ),
    ],
)
def test_heads_that_cannot_share_are_called_by_the_keys_that_they_were_read_from(
    name: str, changes: Json, said: str
) -> None:
    (problem,) = hfcount.blueprint({**_recorded(name), **changes}).problems
    assert said in str(problem)
    assert f"{problem.key} " in said


@pytest.mark.parametrize(
    ("key", "early", "least"),
    [
        ("loop_layer_index_start", "core_start", 1),
        ("loop_layer_index_end", "core_end", 1),
        ("loop_num_passes", "num_passes", 1),
        ("loop_gate_rank", "gate_rank", 0),
    ],
)
def test_both_spellings_of_a_key_have_the_same_bounds(key: str, early: str, least: int) -> None:
    """Transformers 5.24 builds no model with 0 of the first three, however they are written."""
    values = _recorded("inkling2_loop_text")
    zero = {"loop_config": {early: 0}}
    assert len(hfcount.blueprint({**values, key: 0}).problems) == least
    if least:
        with pytest.raises(ConfigError, match="but must be 1 to 4,611,686,018,427,387,904"):
            hfcount.blueprint({**values, **zero})
    else:
        assert hfcount.blueprint({**values, **zero}).problems == ()
    for value in (-1, 2**63):
        for changes in ({key: value}, {"loop_config": {early: value}}):
            with pytest.raises(ConfigError, match=r"but must be [01] to 4,611,686,018,427,387,904"):
                hfcount.blueprint({**values, **changes})


@pytest.mark.parametrize("early", ["core_start", "core_end"])
def test_looped_layers_begin_and_end_with_a_block(early: str) -> None:
    values = _recorded("inkling2_loop_text") | {"n_layers_per_attn_res_block": 2}
    hfcount.blueprint({**values, "loop_config": {early: 4}})
    with pytest.raises(ConfigError, match=f"loop_config.{early} is 3, which is not a multiple of"):
        hfcount.blueprint({**values, "loop_config": {early: 3}})


def test_a_swin_whose_heads_do_not_divide_its_width_is_built_by_some_types_alone() -> None:
    changes = {"embed_dim": 32, "num_heads": [3, 4, 8, 16]}
    (problem,) = hfcount.blueprint({**_recorded("swin"), **changes}).problems
    assert problem.built
    with pytest.raises(ConfigError, match="not a multiple of the 3 attention heads"):
        hfcount.blueprint({**_recorded("donut-swin"), **changes})


def test_the_dtype_of_a_language_model_within_another_is_checked_beside_that_of_the_whole() -> None:
    values = _recorded("qwen3_5_moe")
    text = {**values["text_config"], "dtype": "bf16"}
    (problem,) = hfcount.blueprint({**values, "dtype": "bfloat16", "text_config": text}).problems
    assert problem.key == "text_config.dtype"


def test_towers_of_radio_by_name_and_by_the_size_that_they_were_trained_with() -> None:
    """RADIO's own models: 4,304 wide networks of SO400M, and the channels of input_size where in_chans is null."""
    args = {"model": "vit_so400m_patch16_224", "in_chans": None, "input_size": [4, 224, 224], "teachers": []}
    shapes, _ = _shapes("NemotronH_Nano_VL_V2", {"vision_config": {"patch_size": 16, "args": args}})
    model = "vision_model.radio_model.model"
    assert shapes[f"{model}.blocks.26.mlp.fc1.weight"] == (4304, 1152)
    assert shapes[f"{model}.patch_generator.embedder.weight"] == (1152, 4 * 16 * 16)


def test_a_predictor_of_no_codes_has_no_books() -> None:
    with_one, _ = _shapes("qwen3_tts_talker_code_predictor", {"num_code_groups": 1})
    assert _shapes("qwen3_tts_talker_code_predictor", {"num_code_groups": 0}) == (with_one, ["num_code_groups"])
    none, one = (
        hfcount.blueprint({**_recorded("qwen3_tts_talker_code_predictor"), "num_code_groups": n}).total for n in (0, 1)
    )
    assert none == one


def test_without_a_number_of_experts_sarvam_has_none() -> None:
    whole, _ = _shapes("sarvam_mla", {"num_experts": None})
    config = {key: value for key, value in _recorded("sarvam_mla").items() if key != "num_experts"}
    assert {one.name: one.shape for one in hfcount.blueprint(config).tensors()} == whole
    assert not any("experts" in name for name in whole)


@pytest.mark.parametrize(
    ("name", "task", "tensor", "rows"),
    [
        ("deit", "DeiTForImageClassificationWithTeacher", "distillation_classifier.weight", 3),
        ("levit", "LevitForImageClassificationWithTeacher", "classifier_distill.linear.weight", 3),
        ("mra", "MraForQuestionAnswering", "qa_outputs.weight", 2),
        ("nystromformer", "NystromformerForQuestionAnswering", "qa_outputs.weight", 2),
        ("yoso", "YosoForQuestionAnswering", "qa_outputs.weight", 2),
    ],
)
def test_every_head_over_labels_has_a_row_for_each_and_those_over_ends_of_answers_two(
    name: str, task: str, tensor: str, rows: int
) -> None:
    shapes, _ = _shapes(name, {"architectures": [task], "id2label": {"0": "a", "1": "b", "2": "c"}})
    assert shapes[tensor][0] == rows


@pytest.mark.parametrize(
    ("name", "key", "value", "tensor", "shape", "runs"),
    [
        ("aria", "max_value_projector_patch_to_query_dict", 93, "multi_modal_projector.query", (93, 116), True),
        ("bros", "dim_bbox_projection", 27, "bbox_embeddings.bbox_projection.weight", (27, 13), False),
        ("bros", "dim_bbox_sinusoid_emb_2d", 14, "bbox_embeddings.bbox_projection.weight", (26, 14), False),
        (
            "dots3_note_audio_encoder",
            "conv_output_size",
            85,
            "dots_encoder.speech_encoder.conv_out.weight",
            None,
            False,
        ),
        ("phi4_multimodal_audio", "nemo_final_size", 8, "embed.out.weight", (116, 992), False),
    ],
)
def test_a_size_that_a_class_makes_of_others_is_what_its_own_key_says(
    name: str, key: str, value: int, tensor: str, shape: tuple[int, ...] | None, runs: bool
) -> None:
    shapes, keys = _shapes(name, {key: value})
    assert shapes[tensor] == (shape or (shapes[tensor][0], value))
    assert keys == ([] if runs else [key])


@pytest.mark.parametrize(
    ("name", "changes", "tensor", "rows"),
    [
        ("deit", {"head_dim": 24}, "encoder.layer.0.attention.attention.key.weight", 48),
        ("deit", {"num_attention_heads": 5}, "encoder.layer.0.attention.attention.key.weight", 40),
        ("hunyuan_vl_vision", {"num_attention_heads": 5}, "layers.0.self_attn.k_proj.weight", 40),
        ("glmasr_encoder", {"head_dim": 24}, "layers.0.self_attn.k_proj.weight", 48),
        ("phi4_multimodal_audio", {"head_dim": 24}, "encoders.0.self_attn.k_proj.weight", 48),
        ("ouro", {"head_dim": 6}, "model.layers.0.self_attn.q_proj.weight", 48),
        ("internlm2", {"head_dim": 6}, "model.layers.0.attention.wqkv.weight", 6144),
        ("arctic", {"head_dim": 6}, "model.layers.0.self_attn.q_proj.weight", 7168),
        ("Yi", {"head_dim": 6}, "model.layers.0.self_attn.q_proj.weight", 96),
        ("sam_vision_model", {"image_size": 277}, "vision_encoder.pos_embed", 1),
    ],
)
def test_the_width_of_a_head_is_read_where_the_class_reads_it_and_else_rounded_down(
    name: str, changes: Json, tensor: str, rows: int
) -> None:
    shapes, keys = _shapes(name, changes)
    assert shapes[tensor][0] == rows
    assert keys == []


def test_what_is_absent_is_what_readers_make_of_it() -> None:
    shapes, _ = _shapes("eagle", {"num_key_value_heads": None})
    assert shapes["layers.0.self_attn.k_proj.weight"] == shapes["layers.0.self_attn.q_proj.weight"]
    shapes, _ = _shapes("mimo_v2", {"v_head_dim": 6, "swa_head_dim": 10, "swa_v_head_dim": None})
    heads = _recorded("mimo_v2")["swa_num_attention_heads"]
    assert shapes["model.layers.1.self_attn.o_proj.weight"][1] == 10 * heads
    apart = "prompt_encoder.shared_embedding.positional_embedding"
    assert [apart in _shapes("sam", {"tie_word_embeddings": tied})[0] for tied in (True, False)] == [False, True]
    unmasked = {"mask_time_prob": 0.0, "mask_feature_prob": 0.0}
    assert [
        any(one.endswith("masked_spec_embed") for one in _shapes(name, unmasked)[0])
        for name in ("hubert", "unispeech-sat")
    ] == [False, True]
    shapes, _ = _shapes("locateanything", {"tie_word_embeddings": True, "text_config": _untied("locateanything")})
    assert "language_model.lm_head.weight" in shapes
    assert hfcount.blueprint({**_recorded("plamo2"), "num_hidden_layers": 0}).total > 0


def test_a_residual_network_that_readers_see_differently_is_not_guessed() -> None:
    assert _shapes("arctic", {"use_residual": True})[0]
    with pytest.raises(UnknownArchitecture, match="differ"):
        _shapes("arctic", {"parallel_attn_mlp_res": None, "use_residual": True})


def test_heads_that_do_not_divide_the_width_are_rounded_down() -> None:
    indivisible = {"hidden_size": 13, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": None}
    blueprint = hfcount.blueprint(config("mixtral", **indivisible))
    assert blueprint.problems == ()
    shapes = {tensor.name: tensor.shape for tensor in blueprint.tensors()}
    assert shapes["model.layers.0.self_attn.q_proj.weight"] == (12, 13)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("llama", {"attention_bias": 2}),
        ("llama", {"tie_word_embeddings": "true"}),
        ("llama", {"model_type": 3}),
        ("llama", {"head_dim": "3"}),
        ("llama", {"dtype": ["bfloat16"]}),
        ("qwen3_moe", {"mlp_only_layers": 1}),
        ("qwen3_moe", {"mlp_only_layers": ["1"]}),
        ("qwen3_moe", {"mlp_only_layers": [True]}),
        ("qwen3_moe", {"decoder_sparse_step": "every"}),
        ("mixtral", {"num_local_experts": "8"}),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(f"{key}={value[key]!r}" for key in value),
)
def test_wrong_types(family: str, changes: Json) -> None:
    assert _code(config(family, **changes)) == "HF001"


@pytest.mark.parametrize(
    ("family", "key", "value", "same"),
    [
        ("llama", "mlp_bias", "false", True),  # which is no empty text
        ("qwen3_moe", "decoder_sparse_step", 1.0, 1),
    ],
)
def test_a_value_that_only_version_4_takes_is_counted_as_it_takes_it(
    family: str, key: str, value: object, same: object
) -> None:
    blueprint = hfcount.blueprint(config(family, **{key: value}))
    assert [(problem.code, problem.key) for problem in blueprint.problems] == [("HF110", key)]
    assert blueprint.total == hfcount.blueprint(config(family, **{key: same})).total


@pytest.mark.parametrize("number", [0, 1])
def test_a_flag_that_is_0_or_1_is_refused_and_counted_all_the_same(number: int) -> None:
    values = config("llama", attention_bias=number)
    blueprint = hfcount.blueprint(values)
    assert [(problem.code, problem.key) for problem in blueprint.problems] == [("HF110", "attention_bias")]
    assert blueprint.total == hfcount.blueprint({**values, "attention_bias": bool(number)}).total


@pytest.mark.parametrize(
    ("family", "values", "heads"),
    [
        ("llama", config("llama"), (4, 2, 3)),
        ("llama", config("llama", "num_key_value_heads"), (4, 4, 3)),
        ("llama", config("llama", num_key_value_heads=1), (4, 1, 3)),
        ("llama", config("llama", head_dim=7), (4, 2, 7)),
        ("llama", config("llama", head_dim=None), (4, 2, 3)),
        ("llama", config("llama", hidden_size=13, head_dim=7), (4, 2, 7)),
        ("mistral", config("mistral", num_key_value_heads=None), (4, 4, 3)),
        ("qwen2", config("qwen2", head_dim=7), (4, 2, 7)),
        ("qwen3", config("qwen3", "head_dim"), (4, 2, 128)),
        ("qwen3", config("qwen3"), (4, 2, 6)),
        ("qwen3_moe", config("qwen3_moe", "head_dim"), (4, 2, 3)),
    ],
    ids=(
        "grouped llama-omits-kv-heads multi-query own-width null-width own-width-needs-no-division null-kv-heads"
        " qwen2-own-width qwen3-default-128 qwen3-own-width qwen3_moe-derives"
    ).split(),
)
def test_heads(family: str, values: Json, heads: tuple[int, int, int]) -> None:
    mixer = hfcount.blueprint(values).spec.layers[0].layer.mixer
    assert (mixer.heads, mixer.kv_heads, mixer.head_dim) == heads


@pytest.mark.parametrize("name", ["num_experts", "num_local_experts"])
@pytest.mark.parametrize("family", MOE)
def test_the_number_of_experts_goes_by_either_name(family: str, name: str) -> None:
    values = config(family, MOE[family], **{name: 8})
    assert hfcount.blueprint(values).total == hfcount.blueprint(TINY[family]).total


@pytest.mark.parametrize(
    ("changes", "routed", "dense"),
    [
        ({}, [0, 1, 2, 3, 4, 5], []),
        ({"decoder_sparse_step": 2}, [1, 3, 5], [0, 2, 4]),
        ({"decoder_sparse_step": 6}, [5], [0, 1, 2, 3, 4]),
        ({"decoder_sparse_step": 7}, [], [0, 1, 2, 3, 4, 5]),
        ({"decoder_sparse_step": 10**18}, [], [0, 1, 2, 3, 4, 5]),
        ({"decoder_sparse_step": None, "mlp_only_layers": None}, [0, 1, 2, 3, 4, 5], []),
        ({"mlp_only_layers": [0]}, [1, 2, 3, 4, 5], [0]),
        ({"mlp_only_layers": [5, 0, 0]}, [1, 2, 3, 4], [0, 5]),
        ({"mlp_only_layers": [99, -1]}, [0, 1, 2, 3, 4, 5], []),
        ({"mlp_only_layers": [0, 1, 2, 3, 4, 5]}, [], [0, 1, 2, 3, 4, 5]),
        ({"mlp_only_layers": [0, 1], "decoder_sparse_step": 2}, [3, 5], [0, 1, 2, 4]),
        ({"num_experts": 0}, [], [0, 1, 2, 3, 4, 5]),
    ],
    ids=lambda value: ",".join(f"{key}={value[key]}" for key in value) if isinstance(value, dict) else str(value),
)
def test_which_layers_have_experts(changes: Json, routed: list[int], dense: list[int]) -> None:
    blueprint = hfcount.blueprint(config("qwen3_moe", **{"num_hidden_layers": 6, **changes}))
    found = {tensor.name for tensor in blueprint.tensors()}
    assert [layer for layer in range(9) if f"model.layers.{layer}.mlp.gate.weight" in found] == routed
    assert [layer for layer in range(9) if f"model.layers.{layer}.mlp.up_proj.weight" in found] == dense
    assert blueprint.spec.depth == 6


@pytest.mark.parametrize(
    ("task", "base", "head"),
    [
        ("ForCausalLM", "model.", {"lm_head.weight"}),
        ("Model", "", set()),
        ("ForSequenceClassification", "model.", {"score.weight"}),
        ("ForTokenClassification", "model.", {"score.weight", "score.bias"}),
        ("ForQuestionAnswering", "transformer.", {"qa_outputs.weight", "qa_outputs.bias"}),
    ],
)
def test_architectures_decide_the_head(task: str, base: str, head: set[str]) -> None:
    names = _names(config("llama", architectures=["Llama" + task, "LlamaForCausalLM"]))
    assert {name for name in names if not name.startswith(f"{base}layers.")} == {
        f"{base}embed_tokens.weight",
        f"{base}norm.weight",
        *head,
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("absent", [None, []], ids=["null", "empty"])
def test_without_architectures_it_is_the_causal_class(family: str, absent: object) -> None:
    assert _names(config(family, architectures=absent)) == _names(TINY[family])


@pytest.mark.parametrize("name", ["LlamaForMaskedLM", "Llama", "", "ModelLlama", "LlamaForCausalLM2", "\x1b[31m\ud800"])
def test_an_unknown_head_is_an_unknown_architecture(name: str) -> None:
    with pytest.raises(UnknownArchitecture) as raised:
        hfcount.blueprint(config("llama", architectures=[name]))
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ({}, 2),
        ({"num_labels": 5}, 5),
        ({"id2label": {"0": "a", "1": "b", "2": "c"}}, 3),
        ({"id2label": {"0": "a"}, "num_labels": 1}, 1),
        ({"id2label": {}}, 2),
        ({"id2label": None, "num_labels": None}, 2),
    ],
    ids=["two-when-unsaid", "num_labels", "id2label", "both-agree", "empty", "null"],
)
def test_labels_give_the_width_of_a_classification_head(changes: Json, labels: int) -> None:
    blueprint = hfcount.blueprint(config("llama", architectures=["LlamaForSequenceClassification"], **changes))
    assert next(tensor.shape for tensor in blueprint.tensors() if tensor.name == "score.weight") == (labels, 12)


@pytest.mark.parametrize(
    ("family", "changes", "names"),
    [
        ("llama", {"attention_bias": True}, {"q_proj", "k_proj", "v_proj", "o_proj"}),
        ("llama", {"mlp_bias": True}, {"gate_proj", "up_proj", "down_proj"}),
        ("mistral", {}, set()),
        ("mixtral", {}, set()),
        ("qwen2", {}, {"q_proj", "k_proj", "v_proj"}),
        ("qwen3", {}, set()),
        ("qwen3", {"attention_bias": True}, {"q_proj", "k_proj", "v_proj", "o_proj"}),
        ("qwen3_moe", {"attention_bias": True}, {"q_proj", "k_proj", "v_proj", "o_proj"}),
    ],
)
def test_biases(family: str, changes: Json, names: set[str]) -> None:
    assert {name.split(".")[-2] for name in _names(config(family, **changes)) if name.endswith(".bias")} == names


@pytest.mark.parametrize(("tied", "kind"), [(True, "tied"), (False, "parameter"), (None, "parameter")])
@pytest.mark.parametrize("family", FAMILIES)
def test_ties(family: str, tied: bool | None, kind: str) -> None:
    rows = hfcount.blueprint(config(family, tie_word_embeddings=tied)).rows()
    assert next(row.kind for row in rows if row.name == "lm_head.weight") == kind


@pytest.mark.parametrize(
    ("family", "changes", "unread"),
    [
        *[(family, {}, ()) for family in FAMILIES],
        ("mistral", {"attention_bias": True}, ("attention_bias",)),
        ("qwen2", {"head_count": 3, "hidden_act": "silu", "rope_scaling": {"factor": 2}}, ("head_count",)),
        ("llama", {"num_experts": 8, "layer_widths": [1]}, ("num_experts", "layer_widths")),
        ("llama", {"max_sequence_length": 2048}, ()),
        ("qwen3", {"max_sequence_length": 2048}, ("max_sequence_length",)),
    ],
)
def test_unread_keys(family: str, changes: Json, unread: tuple[str, ...]) -> None:
    assert hfcount.blueprint(config(family, **changes)).unread == unread


@pytest.mark.parametrize(
    ("family", "changes", "unread"),
    [
        ("qwen3", {"use_qk_norm": True}, ()),
        ("qwen3", {"use_qk_norm": 1}, ("use_qk_norm",)),
        ("qwen3_moe", {"use_qk_norm": True}, ()),
        ("minimax_m2", {"use_qk_norm": True, "use_routing_bias": True, "rotary_dim": 8}, ()),
        ("minimax_m2", {"attn_type_list": [1, 0]}, ("attn_type_list",)),
        ("minimax_m2", {"num_mtp_modules": 3}, ("num_mtp_modules",)),
        ("falcon", {"intermediate_size": 11}, ("intermediate_size",)),
        ("nemotron_h", {"attention_head_dim": 1, "time_step_rank": 3}, ("attention_head_dim",)),
        ("gpt_bigcode", {"pad_key_length": True, "summary_use_proj": True, "validate_runner_input": True}, ()),
        (
            "llama_eagle3",
            {"dense_list": [1, 0], "org_vocab_size": 9, "use_qk_norm": True, "head_count": 2},
            ("head_count",),
        ),
        ("llama", {"attention_chunk_size": 8192}, ()),
        ("nemotron_h", {"num_local_expert_groups": 4}, ("num_local_expert_groups",)),
        ("t5", {"n_positions": 512}, ()),
        ("llama", {"image_start_id": 4, "image_newline_id": 5, "layer_id": 6}, ("layer_id",)),
        ("detr", {"use_pretrained_backbone": True}, ()),
        ("glm_moe_dsa", {"indexer_rope_interleave": True, "index_share_for_mtp_iteration": True}, ()),
    ],
)
def test_keys_that_repeat_what_is_built_are_no_news_and_those_that_contradict_it_are(
    family: str, changes: Json, unread: tuple[str, ...]
) -> None:
    recorded = json.loads((ARCHITECTURES / f"{family}.json").read_text())["config"]
    blueprint = hfcount.blueprint(recorded | changes)
    assert (blueprint.unread, blueprint.total) == (unread, hfcount.blueprint(recorded).total)


@pytest.mark.parametrize(("shared", "unread"), [(1, ()), (2, ("n_shared_experts",))])
def test_more_shared_experts_than_are_built_are_news(shared: int, unread: tuple[str, ...]) -> None:
    recorded = json.loads((ARCHITECTURES / "deepseek_v4.json").read_text())["config"]
    values = recorded | {"model_type": "deepseek_ref", "n_shared_experts": shared, "num_key_value_heads": 1}
    assert hfcount.blueprint(values).unread == unread


@pytest.mark.parametrize(
    ("step", "offset", "unread"),
    [
        (2, 1, ()),
        (2, 2, ("index_topk_freq", "index_skip_topk_offset")),
        (4, 1, ("index_topk_freq", "index_skip_topk_offset")),
        (2, -1, ("index_topk_freq", "index_skip_topk_offset")),
        ("2", 1, ("index_skip_topk_offset",)),
    ],
)
def test_a_schedule_beside_the_list_that_overrides_it_is_news_if_it_names_other_layers(
    step: object, offset: int, unread: tuple[str, ...]
) -> None:
    recorded = json.loads((ARCHITECTURES / "glm_moe_dsa.json").read_text())["config"]
    count = recorded["num_hidden_layers"]
    listed = ["full" if place % 2 == 0 else "shared" for place in range(count)]
    values = recorded | {"indexer_types": listed, "index_topk_freq": step, "index_skip_topk_offset": offset}
    assert hfcount.blueprint(values).unread == unread


@pytest.mark.parametrize(("own", "unread"), [({}, []), ({"vocab_size": 9}, ["part.tie_word_embeddings"])])
def test_a_part_without_a_vocabulary_ties_nothing(own: Json, unread: list[str]) -> None:
    read = Config({"part": {"tie_word_embeddings": True, **own}})
    read.part("part").int("vocab_size", default=0)
    assert read.unread() == unread


@pytest.mark.parametrize(
    ("family", "name", "part", "unread"),
    [
        ("moshi", "audio_encoder_config", {"model_type": "mimi", "num_hidden_layers": 3}, False),
        ("moshi", "audio_encoder_config", {"model_type": "mimi", "num_towers": 3}, True),
        ("moshi", "audio_encoder_config", {"model_type": "nothing known", "num_hidden_layers": 3}, True),
        ("mpt", "attn_config", {"qk_ln": True, "clip_qkv": 8}, False),
        ("mpt", "attn_config", {"qk_ln": True, "kv_n_heads": 2}, True),
        ("mpt", "ffn_config", {"num_experts": 2}, True),
    ],
)
def test_of_an_unread_part_only_what_its_class_does_not_declare_is_news(
    family: str, name: str, part: Json, unread: bool
) -> None:
    recorded = json.loads((ARCHITECTURES / f"{family}.json").read_text())["config"]
    assert hfcount.blueprint(recorded | {name: part}).unread == (name,) * unread


def test_keys_that_a_family_ignores_are_ignored_in_the_parts_of_its_config_too() -> None:
    one = Config({"scale": 1, "depth": 2, "part": {"scale": 3, "width": 4, "part": {"scale": 5}}})
    one.ignored = ("scale",)
    one.part("part").part("part")
    assert one.unread() == ["depth", "part.width"]


def test_a_key_is_ignored_either_everywhere_or_by_families() -> None:
    own = {name for family in families.everyone() for name in family.ignored}
    assert own
    assert {name for name in own if is_shapeless(name)} == set()


def test_what_a_family_may_add_to_a_spec_is_of_the_type_that_the_spec_has() -> None:
    fields = get_type_hints(Fields)
    known = get_type_hints(Spec)
    assert {name: kind for name, kind in fields.items() if known[name] != kind} == {}


_VALUES = st.sampled_from(
    [
        *[None, 0, -1, 1, 2, 3, 2**31, 2**32 + 1, 2**62, 10**30, 1.5, float("inf"), True, False],
        *["", "5120", "\ud800", "\0", [], [1], ["x"], [None], [[]], {}, {"a": 1}],
    ]
)
_MISSING = object()


@settings(deadline=None, max_examples=150)
@given(
    family=st.sampled_from(FAMILIES),
    task=st.sampled_from(["ForCausalLM", "Model", "ForTokenClassification", "ForQuestionAnswering"]),
    data=st.data(),
)
def test_any_damage_is_a_blueprint_or_an_error_on_purpose(family: str, task: str, data: st.DataObject) -> None:
    values = {**deepcopy(dict(TINY[family])), "architectures": [family + task], "id2label": {"0": "a"}}
    keys = st.lists(st.sampled_from([*values, "num_labels", "head_dim", "attention_bias"]), min_size=1, max_size=3)
    for key in data.draw(keys):
        values[key] = data.draw(st.one_of(st.just(_MISSING), _VALUES))
    damaged = {key: value for key, value in values.items() if value is not _MISSING}
    try:
        blueprint = hfcount.blueprint(damaged)
    except (ConfigError, UnknownArchitecture) as error:
        assert str(error).isprintable()
    else:
        assert (
            (0 if blueprint.problems else 1)
            <= blueprint.active
            <= blueprint.total
            == sum(row.elements for row in blueprint.rows() if row.kind == "parameter")
        )
        assert str(blueprint.formula())


@pytest.mark.parametrize(
    ("down", "shape"),
    [
        ([["Subsample", 16, 8, 4, 2, 2], ["Subsample", 16, 16, 4, 2, 2]], (256, 512)),
        ([["Subsample", 16, 8, 3, 2, 2], ["Subsample", 16, 16, 4, 2, 2], [""]], (256, 384)),
        ([["plain"], ["Subsample", 16, 16, 4, 2, 2]], None),
    ],
)
def test_levit_has_the_attention_between_stages_that_down_ops_says(
    down: list[list[Any]], shape: tuple[int, ...] | None
) -> None:
    shapes, _ = _shapes("levit", {"down_ops": down})
    assert shapes.get("encoder.stages.0.layers.8.projection.linear.weight") == shape


@pytest.mark.parametrize("down", ["Subsample", [["Subsample", 16]], [[], [""]], [4, 4], [["Subsample"] * 6] * 2])
def test_levit_needs_all_of_what_leads_to_the_next_stage(down: Any) -> None:
    with pytest.raises(ConfigError, match="down_ops"):
        _shapes("levit", {"down_ops": down})


@pytest.mark.parametrize("name", ["bert", "bert-generation", "convbert", "dpr", "roberta"])
def test_only_a_decoder_attends_to_an_encoder(name: str) -> None:
    assert any("cross" in one for one in _shapes(name, {"add_cross_attention": True, "is_decoder": True})[0])
    with pytest.raises(ConfigError, match="is_decoder"):
        _shapes(name, {"add_cross_attention": True, "is_decoder": False})


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("align", "text_config"),
        ("altclip", "text_config"),
        ("chinese_clip", "text_config"),
        ("clap", "text_config"),
        ("layoutlm", ""),
        ("layoutlmv3", ""),
        ("longformer", ""),
        ("markuplm", ""),
        ("visual_bert", ""),
    ],
)
def test_encoders_that_attend_to_nothing_else(name: str, key: str) -> None:
    recorded = _recorded(name)
    asked = {"add_cross_attention": True, "is_decoder": False}
    assert _shapes(name, {key: {**recorded[key], **asked}} if key else asked) == _shapes(name, {})


def test_a_decoder_of_proteins_attends_to_an_encoder() -> None:
    encoder = {**_recorded("evolla")["protein_encoder_config"], "add_cross_attention": True}
    shapes, _ = _shapes("evolla", {"protein_encoder_config": {**encoder, "is_decoder": True}})
    assert "protein_encoder.model.encoder.layer.0.crossattention.LayerNorm.bias" in shapes
    with pytest.raises(ConfigError, match="is_decoder"):
        _shapes("evolla", {"protein_encoder_config": encoder})


def test_an_encoder_within_a_model_may_attend_to_another() -> None:
    encoder = {**_recorded("musicgen")["text_encoder"], "is_decoder": True}
    assert any("EncDecAttention" in name for name in _shapes("musicgen", {"text_encoder": encoder})[0])


@pytest.mark.parametrize("name", ["deberta", "deberta-v2"])
@pytest.mark.parametrize(
    ("ways", "built"), [("P2C | c2p", 2), (["p2c", "c2p"], 2), (["P2C", "c2p"], 1), (["P2C"], 0), ([], 0)]
)
def test_a_text_of_ways_to_compare_is_in_any_case_and_entries_of_a_list_are_not(
    name: str, ways: str | list[str], built: int
) -> None:
    shapes, _ = _shapes(name, {"pos_att_type": ways, "relative_attention": True, "share_att_key": False})
    found = [one for one in shapes if "layer.0.attention.self.pos_" in one and one.endswith("weight")]
    assert len(found) == built


def test_parts_that_the_named_class_has_not_are_only_parsed() -> None:
    whole = {**_recorded("moshi"), "architectures": ["MoshiForCausalLM"]}
    odd = {"depth_decoder_config": {"model_type": "moshi_depth", "hidden_act": "none such"}}
    assert not hfcount.blueprint({**whole, **odd}).problems
    wrong = {"depth_decoder_config": {"model_type": "moshi_depth", "hidden_size": "many"}}
    assert [problem.key for problem in hfcount.blueprint({**whole, **wrong}).problems] == [
        "depth_decoder_config.hidden_size"
    ]


def test_a_bare_recogniser_has_no_codec_that_could_be_wrong() -> None:
    odd = {**_recorded("kyutai_speech_to_text"), "codec_config": {"model_type": "mimi", "hidden_size": 32}}
    assert not hfcount.blueprint({**odd, "architectures": ["KyutaiSpeechToTextModel"]}).problems
    with pytest.raises(ConfigError, match="upsample_groups"):
        hfcount.blueprint({**odd, "architectures": ["KyutaiSpeechToTextForConditionalGeneration"]})


def test_a_tied_table_of_blt_has_its_own_rows() -> None:
    model = hfcount.blueprint({**_recorded("blt"), "architectures": ["BltForCausalLM"], "tie_word_embeddings": True})
    tied = {leaf.name: leaf.shape for leaf in model.leaves if leaf.tied_to}
    rows = _recorded("blt")["encoder_config"]["vocab_size"]
    assert tied["model.local_encoder.embed_tokens.weight"][0] == rows


@pytest.mark.parametrize(
    ("name", "class_name", "key", "refused"),
    [
        ("wav2vec2", "Wav2Vec2Model", "feat_extract_norm", True),
        ("sew", "SEWModel", "feat_extract_norm", True),
        ("data2vec-audio", "Data2VecAudioModel", "feat_extract_norm", False),
        ("big_bird", "BigBirdForCausalLM", "attention_type", True),
        ("bigbird_pegasus", "BigBirdPegasusModel", "attention_type", True),
        ("bigbird_pegasus", "BigBirdPegasusForCausalLM", "attention_type", False),
        ("detr", "DetrModel", "position_embedding_type", True),
        ("grounding-dino", "GroundingDinoModel", "position_embedding_type", True),
        ("efficientnet", "EfficientNetModel", "pooling_type", True),
        ("internvl_vision", "InternVLVisionModel", "norm_type", True),
        ("informer", "InformerForPrediction", "loss", True),
        ("informer", "InformerModel", "loss", False),
        ("informer", "InformerModel", "distribution_output", False),
        ("longt5", "LongT5Model", "feed_forward_proj", True),
        ("mt5", "MT5Model", "dense_act_fn", True),
        ("mobilebert", "MobileBertModel", "normalization_type", True),
        ("perceiver", "PerceiverModel", "cross_attention_shape_for_attention", True),
        ("patchtst", "PatchTSTModel", "positional_encoding_type", True),
        ("llava_next_video", "LlavaNextVideoModel", "spatial_pool_mode", True),
        ("tvp", "TvpModel", "visual_prompter_apply", True),
        ("uvdoc", "UVDocModel", "padding_mode", True),
        ("zoedepth", "ZoeDepthForDepthEstimation", "bin_centers_type", True),
    ],
)
def test_words_with_which_a_class_builds_no_model(name: str, class_name: str, key: str, refused: bool) -> None:
    values = _recorded(name) | {"architectures": [class_name], key: "none such"}
    if refused:
        assert _code(values | ({"dense_act_fn": None} if key == "feed_forward_proj" else {})) == "HF103"
    else:
        assert hfcount.blueprint(values).problems == ()


@pytest.mark.parametrize(("name", "key"), [("deit", "pooler_act"), ("clap", "projection_hidden_act")])
def test_activations_of_some_classes_of_a_type_are_doubted(name: str, key: str) -> None:
    (problem,) = hfcount.blueprint(_recorded(name) | {key: "none such"}).problems
    assert (problem.code, problem.key, problem.built) == ("HF103", key, True)
    assert hfcount.blueprint(_recorded(name) | {key: "relu"}).problems == ()


def test_sizes_of_parts_that_a_class_does_not_build_are_free() -> None:
    odd = {"num_conv_pos_embedding_groups": 3}
    spoken = _recorded("speecht5") | {"architectures": ["SpeechT5ForTextToSpeech"], **odd}
    assert hfcount.blueprint(spoken).problems == ()
    assert _code(spoken | {"architectures": ["SpeechT5ForSpeechToText"]}) == "HF103"
    assert (
        hfcount.blueprint(_recorded("hiera") | {"architectures": ["HieraModel"], "num_query_pool": -1}).problems == ()
    )


def test_a_share_below_0_masks_nothing() -> None:
    masked = [{"mask_time_prob": -1.0, "mask_feature_prob": other} for other in (-0.5, 0.1)]
    found = [_shapes("hubert", changes)[0] for changes in masked]
    assert [any(one.endswith("masked_spec_embed") for one in shapes) for shapes in found] == [False, True]


def test_a_bias_that_is_null_is_there_without_a_norm() -> None:
    key, head = "use_bias_in_fusion_residual", {"architectures": ["DepthProForDepthEstimation"]}
    found = [
        _shapes("depth_pro", {**head, key: None, "use_batch_norm_in_fusion_residual": normed})[0]
        for normed in (False, True)
    ]
    assert [any(one.endswith("convolution1.bias") for one in shapes) for shapes in found] == [True, False]


def test_an_activation_of_its_own_goes_before_the_word_for_the_networks() -> None:
    assert hfcount.blueprint(_recorded("longt5") | {"feed_forward_proj": "none", "dense_act_fn": "relu"}).problems == ()


def test_frames_of_a_video_may_be_joined_by_a_convolution() -> None:
    changes = {"spatial_pool_mode": "conv", "spatial_pool_stride": 3, "spatial_pool_out_channels": 7}
    shapes, _ = _shapes("llava_next_video", changes)
    width = _recorded("llava_next_video")["vision_config"]["hidden_size"]
    (pool,) = (shape for name, shape in shapes.items() if name.endswith("vision_resampler.pool.weight"))
    assert pool == (7, width, 3, 3)
