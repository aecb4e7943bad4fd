"""Adapters against the config of their base: targets, methods, names of both eras, and what is said without a base."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from build import Json, config, save_tiny
from click.testing import CliRunner
from conftest import Run
from defects import ADAPTED, ADAPTER, adapter, raw, renaming
from loopback import Hub
from paths import ARCHITECTURES
from tables import over

import hfcount
from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.check import Result, compare, refused_settings
from hfcount.checkpoints.adapter.methods import factors
from hfcount.checkpoints.adapter.settings import read_settings
from hfcount.cli.commands import find
from hfcount.cli.main import main
from hfcount.formats.json import Document
from hfcount.quantization.automaton import Automaton, Unreadable
from hfcount.quantization.expressions import Expression, TooLong

LLAMA = config("llama", head_dim=6)
MOE = config("qwen3_moe")
START = "base_model.model.model.layers."

Shapes = Mapping[str, tuple[int, ...]]


def held(settings: Json, stored: Shapes, base: Json) -> Result:
    known = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "target_modules": ["q_proj"]} | settings
    blueprint = hfcount.blueprint(base)
    assert isinstance(blueprint, Blueprint)
    return compare(read_settings(Document(ADAPTER, json.dumps(known).encode())), stored, blueprint)


def codes(result: Result) -> list[str]:
    return [finding.code for finding in result.findings]


def layered(ends: Shapes, layers: int = 3) -> Shapes:
    """Tensors in every layer; `#` after the layer's path."""
    return {f"{START}{layer}.{end}": shape for layer in range(layers) for end, shape in ends.items()}


Q, DOWN = "self_attn.q_proj", "mlp.down_proj"
PAIR: Shapes = {f"{Q}.lora_A.weight": (2, 12), f"{Q}.lora_B.weight": (24, 2)}

SOUND: dict[str, tuple[Json, Shapes]] = {
    "list": ({}, layered(PAIR)),
    "regular expression": ({"target_modules": r".*\.self_attn\.(q)_proj"}, layered(PAIR)),
    "word ends and counts": ({"target_modules": r"\bmodel\.layers\.[\d]{1,}\.self_attn\.(?:q_proj)"}, layered(PAIR)),
    "look-ahead": ({"target_modules": r"^(?!.*(visual|lm_head))(?=.*self_attn).*\.(?P<name>q)_proj$"}, layered(PAIR)),
    "look-behind": (
        {"target_modules": r"(?i:MODEL\.LAYERS)\.\d+\.self_attn(?<!mlp)\.(?>q|qq)_proj(?<=q_proj)"},
        layered(PAIR),
    ),
    "excluded": (
        {"exclude_modules": r"model\.layers\.2\..*"},
        {name: shape for name, shape in layered(PAIR).items() if ".2." not in name},
    ),
    "layers": ({"layers_to_transform": [0, 1]}, layered(PAIR, 2)),
    "layers by pattern": ({"layers_to_transform": 0, "layers_pattern": "layers"}, layered(PAIR, 1)),
    "whole paths": ({"target_modules": ["model.layers.0.self_attn.q_proj"]}, layered(PAIR, 1)),
    "rank by pattern": (
        {"rank_pattern": {r"layers\.1\..*q_proj": 5, "q_proj": 2}, "r": 9},
        {
            name: tuple(5 if extent == 2 and ".1." in name else extent for extent in shape)
            for name, shape in layered(PAIR).items()
        },
    ),
    "DoRA with biases": (
        {"use_dora": True, "lora_bias": True},
        layered({**PAIR, f"{Q}.lora_B.bias": (24,), f"{Q}.lora_magnitude_vector": (24,)}),
    ),
    "embedding": (
        {"target_modules": ["embed_tokens"]},
        {
            "base_model.model.model.embed_tokens.lora_embedding_A": (2, 50),
            "base_model.model.model.embed_tokens.lora_embedding_B": (12, 2),
            "base_model.model.model.embed_tokens.base_layer.weight": (50, 12),
        },
    ),
    "modules that are saved": (
        {"modules_to_save": ["model.norm"]},
        {
            **layered(PAIR),
            "base_model.model.model.norm.weight": (12,),
        },
    ),
    "trained tokens": (
        {"trainable_token_indices": [1, 5]},
        {**layered(PAIR), "base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta": (2, 12)},
    ),
    "AdaLoRA, pruned": (
        {
            "peft_type": "ADALORA",
            "init_r": 4,
            "rank_pattern": {f"{START}1.{Q}.lora_E": [True, False, False, True]},
        },
        {
            f"{START}{layer}.{Q}.{end}": shape
            for layer, rank in ((0, 4), (1, 2), (2, 4))
            for end, shape in {"lora_A": (rank, 12), "lora_B": (24, rank), "lora_E": (rank, 1)}.items()
        },
    ),
    "IA3": (
        {"peft_type": "IA3", "target_modules": ["q_proj", "down_proj"], "feedforward_modules": ["down_proj"]},
        layered({f"{Q}.ia3_l": (24, 1), f"{DOWN}.ia3_l": (1, 20)}),
    ),
    "LoHa": (
        {"peft_type": "LOHA"},
        layered({f"{Q}.hada_w{n}_{x}": s for n in (1, 2) for x, s in (("a", (24, 2)), ("b", (2, 12)))}),
    ),
    "LoKr": (
        {"peft_type": "LOKR"},
        layered({f"{Q}.lokr_w1": (4, 3), f"{Q}.lokr_w2_a": (6, 2), f"{Q}.lokr_w2_b": (2, 4)}),
    ),
    "VeRA": (
        {"peft_type": "VERA", "target_modules": ["q_proj", "down_proj"]},
        {
            **layered({f"{Q}.vera_lambda_b": (24,), f"{Q}.vera_lambda_d": (2,)}),
            **layered({f"{DOWN}.vera_lambda_b": (12,), f"{DOWN}.vera_lambda_d": (2,)}),
            "base_model.vera_A": (2, 20),
            "base_model.vera_B": (24, 2),
        },
    ),
    "OFT": ({"peft_type": "OFT", "r": 0, "oft_block_size": 4}, layered({f"{Q}.oft_R.weight": (3, 6)})),
    "HRA": ({"peft_type": "HRA"}, layered({f"{Q}.hra_u": (12, 2)})),
    "BOFT": (
        {"peft_type": "BOFT", "boft_block_size": 4, "rank_pattern": {"q_proj": 3}},
        layered({f"{Q}.boft_R": (1, 3, 4, 4), f"{Q}.boft_s": (24, 1)}),
    ),
    "BOFT by blocks": (
        {"peft_type": "BOFT", "boft_block_size": 0, "boft_block_num": 2},
        layered({f"{Q}.boft_R": (1, 2, 6, 6), f"{Q}.boft_s": (24, 1)}),
    ),
    "FourierFT": ({"peft_type": "FOURIERFT", "n_frequency": 7}, layered({f"{Q}.fourierft_spectrum": (7,)})),
    "C3A": ({"peft_type": "C3A", "block_size": 6}, layered({f"{Q}.c3a_kernel": (4, 2, 6)})),
    "MiSS": ({"peft_type": "MISS", "r": 3}, layered({f"{Q}.miss_block": (3, 24)})),
    "RoAd": (
        {"peft_type": "ROAD", "group_size": 4, "layers_to_transform": [0]},
        layered({f"{Q}.road_theta": (12,), f"{Q}.road_alpha": (12,)}),
    ),
    "RoAd, twice": (
        {"peft_type": "ROAD", "group_size": 4, "variant": "road_4"},
        layered({f"{Q}.road_theta": (48,), f"{Q}.road_alpha": (48,)}),
    ),
    "HiRA, whose pattern of ranks is not used": (
        {"peft_type": "HIRA", "rank_pattern": {"q_proj": 5}},
        layered({f"{Q}.hira_A": (2, 12), f"{Q}.hira_B": (24, 2)}),
    ),
    "DeLoRA": (
        {"peft_type": "DELORA", "rank_pattern": {"q_proj": 3}},
        layered(
            {f"{Q}.delora_{x}": s for x, s in {"A": (3, 12), "B": (24, 3), "lambda": (1,), "w_norm": (12,)}.items()}
        ),
    ),
    "IA3 with settings of LoRA": (
        {"peft_type": "IA3", "feedforward_modules": [], "layers_to_transform": [1], "bias": "all"},
        layered({f"{Q}.ia3_l": (24, 1)}),
    ),
    "VeRA with settings of LoRA": (
        {"peft_type": "VERA", "exclude_modules": ["q_proj"], "save_projection": False},
        layered({f"{Q}.vera_lambda_b": (24,), f"{Q}.vera_lambda_d": (2,)}),
    ),
    "VB-LoRA": (
        {"peft_type": "VBLORA", "num_vectors": 5, "vector_length": 4},
        {
            **layered({f"{Q}.vblora_logits_A": (2, 3, 5), f"{Q}.vblora_logits_B": (6, 2, 5)}),
            "base_model.vblora_vector_bank": (5, 4),
        },
    ),
    "norms": (
        {"peft_type": "LN_TUNING", "target_modules": ["input_layernorm"]},
        layered({"input_layernorm.ln_tuning_layers.weight": (12,)}),
    ),
    "prompt": (
        {"peft_type": "PROMPT_TUNING", "num_virtual_tokens": 7, "token_dim": 12, "num_transformer_submodules": 1},
        {"prompt_embeddings": (7, 12)},
    ),
    "prefix": (
        {"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 7, "token_dim": 12, "num_layers": 3},
        {"prompt_embeddings": (7, 72)},
    ),
}


@over("name", SOUND)
def test_what_peft_saves_is_what_is_expected(name: str) -> None:
    settings, stored = SOUND[name]
    result = held(settings, stored, LLAMA)
    assert (codes(result), result.unread) == ([], "")


ODDLY_WRITTEN: list[tuple[Json, Shapes]] = [
    ({"exclude_modules": [1]}, layered(PAIR)),
    ({"exclude_modules": {"o_proj": 0}}, layered(PAIR)),
    ({"modules_to_save": {"nothing": 0}}, layered(PAIR)),
    ({"target_parameters": {"nothing": 0}}, layered(PAIR)),
    (SOUND["AdaLoRA, pruned"][0] | {"use_qalora": True, "arrow_config": {}}, SOUND["AdaLoRA, pruned"][1]),
    (SOUND["BOFT"][0] | {"boft_block_num": False}, SOUND["BOFT"][1]),
    (
        {"peft_type": "PROMPT_TUNING", "num_virtual_tokens": 7, "num_transformer_submodules": True},
        {"prompt_embeddings": (7, 12)},
    ),
    ({"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 7}, {"prompt_embeddings": (7, 72)}),
]


@over("row", ODDLY_WRITTEN)
def test_settings_are_read_as_peft_reads_them(row: tuple[Json, Shapes]) -> None:
    settings, stored = row
    result = held(settings, stored, LLAMA)
    assert ({*codes(result)} - {"HF726"}, result.unread) == (set(), "")


def test_a_prefix_of_grouped_heads_is_as_wide_as_they_are() -> None:
    grouped = LLAMA | {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 5}
    for width in (12, 10, "x", None):
        settings = {"peft_type": "PREFIX_TUNING", "num_virtual_tokens": 7, "token_dim": width, "num_layers": 3}
        assert codes(held(settings, {"prompt_embeddings": (7, 60)}, grouped)) == []
        assert codes(held(settings, {"prompt_embeddings": (7, 72)}, grouped)) == ["HF725"]


def test_settings_of_another_library_are_not_read() -> None:
    assert "megatron_config" in held({"megatron_config": {"a": 1}}, layered(PAIR), LLAMA).unread


@over("name", SOUND)
def test_each_lost_or_longer_tensor_is_seen(name: str) -> None:
    settings, stored = SOUND[name]
    for lost in [one for one in stored if "base_layer" not in one]:
        rest = {one: shape for one, shape in stored.items() if one != lost}
        assert codes(held(settings, rest, LLAMA))[:1] in (["HF724"], ["HF720"], ["HF721"]), lost
        longer = stored | {lost: (*stored[lost][:-1], stored[lost][-1] + 7)}
        assert codes(held(settings, longer, LLAMA)), lost


def experts(fused: bool, rank: int = 2) -> Shapes:
    """LoRA of all projections of experts, as transformers 5 has them in memory, or as versions before it had."""
    d, width, count = MOE["hidden_size"], MOE["moe_intermediate_size"], MOE["num_experts"]
    if fused:
        inner = {"lora_A.weight": (2 * rank * count, d), "lora_B.weight": (2 * width, 2 * rank * count)}
        outer = {"lora_A.weight": (rank * count, width), "lora_B.weight": (d, rank * count)}
        names = {f"mlp.experts.base_layer.{end}": shape for end, shape in inner.items()}
        return layered({**names, **{f"mlp.experts.{end}": shape for end, shape in outer.items()}})
    sizes = {"gate_proj": (width, d), "up_proj": (width, d), "down_proj": (d, width)}
    return layered(
        {
            f"mlp.experts.{number}.{name}.{end}": shape
            for number in range(count)
            for name, (out, into) in sizes.items()
            for end, shape in {"lora_A.weight": (rank, into), "lora_B.weight": (out, rank)}.items()
        }
    )


def test_experts_by_both_eras_of_names() -> None:
    targets = {"target_modules": ["gate_proj", "up_proj", "down_proj"]}
    rewritten = {
        "target_modules": [],
        "target_parameters": ["gate_up_proj", "down_proj"],
        "rank_pattern": {r".*\.gate_up_proj": 4},
    }
    for settings, fused in ((targets, True), (targets, False), (rewritten, True)):
        assert codes(held(settings, experts(fused), MOE)) == []
    assert "HF721" in codes(held({"target_modules": ["gate_proj", "down_proj"]}, experts(True), MOE))


def test_a_head_of_its_own_and_one_that_its_base_has() -> None:
    settings = {"task_type": "SEQ_CLS", "modules_to_save": ["classifier", "score"]}
    stored = {**layered(PAIR), "base_model.model.score.weight": (2, 12)}
    classifier = LLAMA | {"architectures": ["LlamaForSequenceClassification"]}
    assert codes(held(settings, stored, classifier)) == []
    assert codes(held(settings, stored, LLAMA)) == ["HF730"]
    assert codes(held(settings, stored | {"base_model.model.score.weight": (7, 12)}, classifier)) == ["HF730"]


def test_a_head_of_two_parts_has_one_number_of_labels() -> None:
    classifier, head = LLAMA | {"architectures": ["LlamaForTokenClassification"]}, "base_model.model.score"
    for rows, bias, found in ((2, 2, []), (7, 7, ["HF730"]), (2, 3, ["HF725"])):
        whole = {**layered(PAIR), f"{head}.weight": (rows, 12), f"{head}.bias": (bias,)}
        assert codes(held({"task_type": "TOKEN_CLS"}, whole, classifier)) == found
    whole |= {f"{head}.bias": (2,), f"{head}.modules_to_save.bias": (2,), f"{head}.original_module.bias": (2,)}
    assert codes(held({"task_type": "TOKEN_CLS", "bias": "all"}, whole, classifier)) == []


def test_a_prompt_with_a_head() -> None:
    classifier = LLAMA | {"architectures": ["LlamaForSequenceClassification"]}
    settings = {"peft_type": "PROMPT_TUNING", "task_type": "SEQ_CLS", "num_virtual_tokens": 7, "token_dim": 12}
    stored = {"prompt_embeddings": (7, 12), "base_model.score.weight": (2, 12)}
    assert codes(held(settings, stored, classifier)) == []
    assert codes(held(settings, stored | {"base_model.score.weight": (2, 13)}, classifier)) == ["HF725"]
    assert codes(held(settings, {"prompt_embeddings": (7, 12)}, classifier)) == ["HF724"]


def test_rows_of_a_tied_table_may_be_stored_twice() -> None:
    tied = LLAMA | {"tie_word_embeddings": True}
    settings = {"peft_type": "TRAINABLE_TOKENS", "token_indices": [1, 5], "target_modules": ["embed_tokens"]}
    start, end = "base_model.model", "trainable_tokens_delta"
    stored = {f"{start}.model.embed_tokens.{end}": (2, 12), f"{start}.lm_head.{end}": (2, 12)}
    assert codes(held(settings, stored, tied)) == []
    assert codes(held(settings, stored, LLAMA)) == ["HF721"]


HEAD, TABLE, TOKENS = "lm_head.", "model.embed_tokens.", "token_adapter.trainable_tokens_delta"
TIED: dict[str, tuple[Json, Shapes]] = {
    "tokens of the head alone": ({"trainable_token_indices": {"lm_head": [1, 2]}}, {f"{HEAD}{TOKENS}": (2, 12)}),
    "tokens of both": (
        {"trainable_token_indices": {"embed_tokens": [1, 2], "lm_head": [1, 2]}},
        {f"{TABLE}{TOKENS}": (2, 12)},
    ),
    "other tokens of the head": (
        {"trainable_token_indices": {"embed_tokens": [1, 2], "lm_head": [3]}},
        {f"{TABLE}{TOKENS}": (2, 12), f"{HEAD}{TOKENS}": (1, 12)},
    ),
    "tokens and the head whole": (
        {"trainable_token_indices": [1], "modules_to_save": ["lm_head"]},
        {f"{TABLE}{TOKENS}": (1, 12), f"{HEAD}token_adapter.base_layer.weight": (50, 12)},
    ),
    "an adapter that is kept tied": (
        {"target_modules": ["q_proj", "model.embed_tokens"], "ensure_weight_tying": True},
        {
            f"{TABLE}lora_embedding_A": (2, 50),
            f"{TABLE}lora_embedding_B": (12, 2),
            f"{HEAD}lora_A.weight": (2, 12),
            f"{HEAD}lora_B.weight": (50, 2),
        },
    ),
    "a table that is kept tied": (
        {"modules_to_save": ["model.embed_tokens"], "ensure_weight_tying": True},
        {f"{TABLE}weight": (50, 12), f"{HEAD}weight": (50, 12)},
    ),
}


@over("name", TIED)
def test_adapters_of_a_tied_head(name: str) -> None:
    settings, shapes = TIED[name]
    stored = {**layered(PAIR), **{f"base_model.model.{end}": shape for end, shape in shapes.items()}}
    assert codes(held(settings, stored, LLAMA | {"tie_word_embeddings": True})) == []


def test_old_names_are_read_where_peft_converts_them() -> None:
    sizes = {
        "hidden_size": 12,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 6,
    }
    for kind, old, expected in (
        ("qwen2_5_vl", "model.layers", ["HF724", "HF721"]),
        ("qwen2_5_vl", "model.language_model.layers", []),
        ("internvl", "language_model.model.layers", []),
    ):
        recorded = json.loads((ARCHITECTURES / f"{kind}.json").read_text("utf-8"))["config"]
        base = recorded | {"architectures": None, "text_config": recorded["text_config"] | sizes}
        base["text_config"] |= {"head_dim": 3}
        layers = range(base["text_config"]["num_hidden_layers"])
        ends = {f"{Q}.lora_A.weight": (2, 12), f"{Q}.lora_B.weight": (12, 2)}
        stored = {f"base_model.model.{old}.{layer}.{end}": shape for layer in layers for end, shape in ends.items()}
        assert codes(held({"target_modules": r".*layers.*self_attn\.q_proj"}, stored, base)) == expected, (kind, old)


def test_what_is_shared_is_put_right_too() -> None:
    settings = {"peft_type": "VERA", "r": 2}
    lambdas = {f"{Q}.vera_lambda_b": (24,), f"{Q}.vera_lambda_d": (2,)}
    stored = {**layered(lambdas), "base_model.vera_A": (2, 12), "base_model.vera_B": (24, 2)}
    assert codes(held(settings, stored, LLAMA)) == []
    twice = {f"base_model.model.{name}": shape for name, shape in stored.items()}
    assert codes(held(settings, twice, LLAMA)) == ["HF722"]
    bare = {name.removeprefix("base_model.model."): shape for name, shape in stored.items()}
    assert codes(held(settings, bare, LLAMA)) == ["HF722"]


def test_a_base_layer_of_another_shape_is_no_vocabulary() -> None:
    base = config("llama", head_dim=6, vocab_size=24)
    stored = {**layered(PAIR), f"{START}0.{Q}.base_layer.weight": (12, 12)}
    assert codes(held({}, stored, base)) == ["HF725"]


def test_names_without_the_prefix_are_taken_where_peft_converts() -> None:
    for base, severity in ((LLAMA, "error"), (MOE, "note")):
        pair = {f"{Q}.lora_A.weight": (2, 12), f"{Q}.lora_B.weight": (24, 2)}
        bare = {name.removeprefix("base_model.model."): shape for name, shape in layered(pair).items()}
        found = held({}, bare, base).findings
        assert [(one.code, one.severity) for one in found if one.code == "HF722"] == [("HF722", severity)]


UNREAD = {
    "back-reference": {"target_modules": r"(.)\1"},
    "no targets": {"target_modules": None},
    "a variant": {"use_qalora": True},
    "a variant by an empty object": {"kasa_config": {}},
    "a method": {"peft_type": "LILY"},
    "more patterns than are tried": {"rank_pattern": {f"x{number}.*(a|b)": 3 for number in range(400)}},
}


@over("name", UNREAD)
def test_what_is_beyond_what_is_read_is_no_error(name: str) -> None:
    result = held(UNREAD[name], layered(PAIR), LLAMA)
    assert (codes(result), bool(result.unread)) == ([], True)


REFUSED = {
    "a container": {"target_modules": ["self_attn"]},
    "a norm": {"target_modules": ["input_layernorm"]},
    "everything excluded": {"exclude_modules": ["q_proj"]},
    "an empty name": {"target_modules": [""]},
    "norms, by repeats of repeats": {"target_modules": "(((.{1,99}){1,99}){1,99}){1,99}"},
    "look-ahead that leaves nothing": {"target_modules": "(?!model|lm_head).*"},
    "no regular expression": {"target_modules": r".*(q_proj"},
    "no regular expression for ranks": {"rank_pattern": {"(": 3}},
    "what LoRA puts in, to be saved": {"modules_to_save": ["A"]},
    "what LoRA has and does not use, to be saved": {"modules_to_save": ["lora_embedding_B"]},
    "what LoRA wraps, to be saved": {"modules_to_save": ["layer"]},
}


@over("name", REFUSED, every=4)
def test_what_peft_refuses_is_an_error(name: str) -> None:
    assert codes(held(REFUSED[name], layered(PAIR), LLAMA)) == ["HF721"]


WRONG: list[Json] = [
    {"r": -1},
    {"r": "8"},
    {"target_modules": {}},
    {"target_modules": [1]},
    {"layers_to_transform": ["a"]},
    {"target_modules": 0},
    {"bias": 5},
    {"rank_pattern": [1]},
    {"peft_type": 3},
    {"peft_type": "VBLORA", "vector_length": 0},
]


@over("settings", WRONG)
def test_malformed_settings_are_a_finding(tmp_path: Path, settings: Json) -> None:
    made = adapter()
    made.others[ADAPTER] = json.dumps(json.loads(made.others[ADAPTER]) | settings).encode()
    report = hfcount.verify(made.write(tmp_path / "a"))
    assert [finding.code for finding in report.findings] == ["HF001"]


SETTINGS: list[tuple[Json, list[str]]] = [
    ({"lora_alpha": None}, ["lora_alpha"]),
    ({"lora_alpha": "16"}, ["lora_alpha"]),
    ({"lora_alpha": 0.5, "lora_dropout": -1, "bias": "lora_only", "init_lora_weights": "pissa_niter_4"}, []),
    ({"lora_dropout": 2}, ["lora_dropout"]),
    ({"bias": "some"}, ["bias"]),
    ({"task_type": "CAUSAL"}, ["task_type"]),
    ({"init_lora_weights": "xavier"}, ["init_lora_weights"]),
    ({"rank_pattern": None, "alpha_pattern": "x"}, ["alpha_pattern", "rank_pattern"]),
    ({"trainable_token_indices": []}, ["trainable_token_indices"]),
    ({"peft_type": "lora"}, ["peft_type"]),
    ({"layers_pattern": "layers"}, ["layers_to_transform"]),
    ({"target_modules": ".*q_proj", "layers_to_transform": [0]}, ["layers_to_transform"]),
    ({"use_dora": True, "lora_bias": True}, ["lora_bias"]),
    ({"peft_type": "ADALORA"}, ["total_step"]),
    ({"peft_type": "ADALORA", "total_step": 9, "tinit": 5, "tfinal": 4}, ["total_step"]),
    ({"peft_type": "IA3", "feedforward_modules": ["w1"]}, ["feedforward_modules"]),
    ({"peft_type": "OFT", "r": 0, "oft_block_size": 4, "init_weights": None}, ["init_weights"]),
    ({"peft_type": "VERA", "projection_prng_key": 1.5}, ["projection_prng_key"]),
    ({"arrow_config": []}, ["arrow_config"]),
    ({"use_bdlora": False}, ["use_bdlora"]),
    ({"monteclora_config": True, "target_parameters": "x"}, ["target_parameters", "monteclora_config"]),
    ({"monteclora_config": [], "kasa_config": {}, "target_parameters": []}, []),
    ({"target_parameters": {}, "modules_to_save": 0, "exclude_modules": "", "layers_pattern": {}}, []),
    ({"use_dora": 0, "lora_bias": []}, []),
    ({"megatron_config": True, "trainable_token_indices": {"a": 1}}, ["trainable_token_indices", "megatron_config"]),
    ({"peft_type": "ADALORA", "total_step": 9, "monteclora_config": "x"}, []),
    ({"peft_type": "ADALORA", "total_step": 9, "alpha_pattern": 3.5}, ["alpha_pattern"]),
    ({"peft_type": "ADALORA", "total_step": 9, "megatron_config": "x"}, []),
    ({"peft_type": "ADALORA", "total_step": 9, "monteclora_config": {"a": 1}}, ["monteclora_config"]),
    ({"peft_type": "IA3", "feedforward_modules": {"w1": 1}}, []),
    ({"peft_type": "LOKR", "decompose_factor": None}, ["decompose_factor"]),
    ({"peft_type": "BOFT", "boft_block_size": None, "bias": "x"}, ["bias", "boft_block_size"]),
    ({"peft_type": "BOFT", "layers_pattern": "x"}, ["layers_to_transform"]),
    ({"peft_type": "FOURIERFT", "random_loc_seed": None}, ["random_loc_seed"]),
    ({"peft_type": "MISS", "miss_dropout": None, "layers_pattern": -1}, ["miss_dropout"]),
    ({"peft_type": "C3A", "init_weights": "x"}, ["init_weights"]),
    ({"peft_type": "C3A", "init_weights": "gaussian"}, []),
    ({"peft_type": "ROAD", "variant": None}, ["variant"]),
    ({"peft_type": "DELORA", "lambda_pattern": []}, ["lambda_pattern"]),
    ({"peft_type": "HIRA", "rank_pattern": None, "init_weights": {}}, ["rank_pattern"]),
    ({"peft_type": "VERA", "save_projection": []}, ["save_projection"]),
    ({"peft_type": "PROMPT_TUNING", "tokenizer_kwargs": {"a": 1}}, ["tokenizer_kwargs"]),
    ({"peft_type": "PROMPT_TUNING", "tokenizer_kwargs": {"a": 1}, "prompt_tuning_init": "TEXT"}, []),
]


@over("row", SETTINGS)
def test_settings_that_peft_refuses(row: tuple[Json, list[str]]) -> None:
    settings, keys = row
    known = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"]} | settings
    found = refused_settings(read_settings(Document(ADAPTER, json.dumps(known).encode())))
    assert [finding.key for finding in found] == keys


def test_an_adapter_of_a_billion_layers_is_not_enumerated() -> None:
    for targets in (["q_proj"], ".*q_proj", "all-linear", ["model.layers.5.self_attn.q_proj"]):
        result = held({"target_modules": targets}, layered(PAIR), LLAMA | {"num_hidden_layers": 10**9})
        assert "more than 150,000 modules" in result.unread
    assert codes(held({"r": 2**62}, layered(PAIR), LLAMA)) == ["HF723"]


# A of another rank, B of another rank, inputs of another width, outputs of another width, both at once
OTHER_EXTENTS: list[tuple[tuple[int, int], tuple[int, int], list[str]]] = [
    ((4, 12), (24, 4), ["HF723"]),
    ((2, 24), (24, 2), ["HF725"]),
    ((2, 12), (48, 2), ["HF725"]),
    ((2, 6), (12, 2), ["HF725"]),
    ((4, 24), (48, 4), ["HF725"]),
    ((4, 12), (48, 2), ["HF723", "HF725"]),
]


@over("row", OTHER_EXTENTS)
def test_a_width_that_is_a_multiple_of_the_rank_is_no_rank(
    row: tuple[tuple[int, int], tuple[int, int], list[str]],
) -> None:
    first, second, expected = row
    stored = layered({f"{Q}.lora_A.weight": first, f"{Q}.lora_B.weight": second})
    assert codes(held({}, stored, LLAMA)) == expected


def test_experts_of_another_rank_and_of_another_width() -> None:
    settings = {"target_modules": [], "target_parameters": ["mlp.experts.down_proj"]}
    experts, inner, hidden, rank = 8, 10, 12, 2

    def stored(rank: int, inner: int) -> Shapes:
        end = "mlp.experts"
        halves = {
            f"{end}.lora_A.weight": (rank * experts, inner),
            f"{end}.lora_B.weight": (hidden, rank * experts),
        }
        return layered(halves)

    assert codes(held(settings, stored(rank, inner), MOE)) == []
    assert codes(held(settings, stored(2 * rank, inner), MOE)) == ["HF723"]
    assert codes(held(settings, stored(rank, 2 * inner), MOE)) == ["HF725"]


def without_base(folder: Path, **settings: Any) -> Any:
    """The report of an adapter alone in a folder."""
    made = adapter(**settings)
    folder = made.write(folder)
    (folder / "config.json").unlink()
    return hfcount.verify(folder)


BASES = {
    None: ("BaseUnknown", "names its base: not checked. Run: `hfcount {} --base MODEL`"),
    "/models/llama": ("BaseUnknown", "is outside this folder: not checked. Run: `hfcount {} --base MODEL`"),
    "../../../etc": ("BaseUnknown", "is outside this folder: not checked. Run: `hfcount {} --base MODEL`"),
    "org/base": ("NotAsked", "local folders are checked without network. Run: `hfcount {} --base org/base`"),
}


@over("name", BASES, ids=map(str, BASES))
def test_a_base_that_is_out_of_reach(tmp_path: Path, name: str | None) -> None:
    report = without_base(tmp_path / "a", base_model_name_or_path=name)
    assert (report.verdict, report.exit_code, report.error.kind) == ("unverified", 3, BASES[name][0])
    assert BASES[name][1].format(tmp_path / "a") in report.error.message
    assert (report.container, report.adapter.parameters) == ("adapter", 3 * 2 * (12 + 24 + 12 + 20))


@over("name", ["../base", "base", "./models/base", "{}/base"])
def test_a_base_in_the_tree_is_followed(tmp_path: Path, name: str) -> None:
    name = name.format(tmp_path)
    made = adapter(base_model_name_or_path=name)
    folder = made.write(tmp_path / "out" / "lora")
    base = tmp_path / ("models/base" if "models" in name else "base")
    base.mkdir(parents=True)
    (folder / "config.json").rename(base / "config.json")
    args = ["-rq", str(tmp_path)]
    result = CliRunner().invoke(main, args, standalone_mode=False)
    assert (result.return_value, "and the config of" in result.output) == (0, True)


def test_a_path_is_followed_from_the_folder_of_each_adapter_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = adapter(base_model_name_or_path="../../base")
    for number in range(2):
        made.write(tmp_path / "runs" / f"step-{number}")
        (tmp_path / "runs" / f"step-{number}" / "config.json").unlink()
    made.write(tmp_path / "base")
    monkeypatch.chdir(tmp_path)
    report = hfcount.verify("./runs")
    assert (report.model, report.verdict) == ("./runs", "verified")


def test_the_folder_above_is_read_where_the_adapter_is_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = adapter(base_model_name_or_path="../base").write(tmp_path / "lora")
    (tmp_path / "base").mkdir()
    (folder / "config.json").rename(tmp_path / "base" / "config.json")
    monkeypatch.chdir(folder)
    for name in (".", "../lora", str(folder)):
        assert hfcount.verify(name).verdict == "verified", name


def test_a_path_outside_of_the_tree_is_not_read(tmp_path: Path) -> None:
    made = adapter(base_model_name_or_path="../../base")
    folder = made.write(tmp_path / "tree" / "lora")
    (tmp_path / "base").mkdir()
    (folder / "config.json").rename(tmp_path / "base" / "config.json")
    assert hfcount.verify(folder).verdict == "unverified"
    result = CliRunner().invoke(main, ["-rq", str(tmp_path / "tree")], standalone_mode=False)
    assert (result.return_value, "../../base, is outside this folder: not checked." in result.output) == (3, True)


def test_base_is_for_the_adapters_of_a_tree(tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "tree" / "lora")
    config = folder / "config.json"
    save_tiny(tmp_path / "tree" / "model")
    args = ["-rq", str(tmp_path / "tree"), "--base", str(config.rename(tmp_path / "base.json"))]
    lines = CliRunner().invoke(main, args, standalone_mode=False).output.splitlines()
    assert ["verified: " in line for line in lines[:2]] == [True, True]


def test_what_it_adds_to_its_base(tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "a")
    report = hfcount.verify(folder)
    assert report.verdict == "verified"
    assert json.loads(report.to_json())["adapter"] == {
        "method": "LORA",
        "base": "config.json",
        "modules": 6,
        "parameters": 408,
        "base_parameters": hfcount.blueprint(LLAMA).total,
        "bytes": 4 * 408,
    }


def test_an_adapter_without_its_file(tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "a")
    (folder / ADAPTED).unlink()
    report = hfcount.verify(folder)
    assert (report.verdict, report.error.kind) == ("unverified", "NoHeaders")


def test_a_file_that_is_no_pickle(tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "a")
    (folder / ADAPTED).rename(folder / "adapter_model.bin")
    report = hfcount.verify(folder)
    assert [(finding.code, finding.file) for finding in report.findings] == [("HF003", "adapter_model.bin")]


FIXED = {
    "twice": renaming("base_model.", "base_model.model.base_model."),
    "thrice": renaming("base_model.", "base_model.model.base_model.model.base_model."),
    "bare": renaming("base_model.model.", ""),
    "left": renaming("lora_A", "lora_A.default"),
}


@over("name", FIXED)
def test_names_are_put_right_to_the_byte_of_the_data(tmp_path: Path, name: str) -> None:
    made, right = adapter(), adapter()
    FIXED[name](made)
    folder = made.write(tmp_path / "a")
    find("fix").main([str(folder), "--write"], standalone_mode=False)
    assert hfcount.verify(folder).verdict == "verified"
    stored, wanted = (folder / ADAPTED).read_bytes(), raw(right.shards[ADAPTED])
    assert sorted(re.findall(rb'"(base_model[^"]*)"', stored)) == sorted(re.findall(rb'"(base_model[^"]*)"', wanted))
    assert stored[8 + int.from_bytes(stored[:8], "little") :] == wanted[8 + int.from_bytes(wanted[:8], "little") :]
    find("fix").main([str(folder), "--undo"], standalone_mode=False)
    assert (folder / ADAPTED).read_bytes() == raw(made.shards[ADAPTED])


def test_nothing_is_renamed_where_the_base_does_not_take_it(tmp_path: Path) -> None:
    made = adapter()
    FIXED["twice"](made)
    made.config["intermediate_size"] = 24
    folder = made.write(tmp_path / "a")
    before = (folder / ADAPTED).read_bytes()
    find("fix").main([str(folder), "--write"], standalone_mode=False)
    assert (folder / ADAPTED).read_bytes() == before


def test_adapters_in_folders_below(tmp_path: Path, hub: Hub, run: Run) -> None:
    base, rows = adapter().write(tmp_path / "base"), {"a/last": "verified", "step-1": "mismatch"}
    (base / "adapter_config.json").unlink()
    for folder in rows:
        adapter().write(tmp_path / "m" / folder)
        (tmp_path / "m" / folder / "config.json").unlink()
    cut = tmp_path / "m" / "step-1" / ADAPTED
    cut.write_bytes(cut.read_bytes()[:-40])
    hub.publish("org/steps", tmp_path / "m")
    for name in (tmp_path / "m", "org/steps"):
        report = run(name, "--base", base / "config.json").report
        assert {row["file"]: row["verdict"] for row in report["variants"]} == rows
        assert [(one["code"], report["container"]) for one in report["findings"]] == [("HF004", "adapter")]
    assert hfcount.verify(tmp_path / "m" / "a", base=base / "config.json").verdict == "verified"


def test_what_serving_asks_is_asked_of_the_base(tmp_path: Path, run: Run) -> None:
    done = run(adapter().write(tmp_path / "a"), "--memory", "1GiB", "--tp", "2")
    answers = [(one["question"], one["answer"]) for one in done.report["serving"]["answers"]]
    assert (answers, done.code) == ([("tp", "unknown"), ("memory", "unknown")], 3)
    rows = run(adapter().write(tmp_path / "b"), "--tensors").report["tensors"]
    assert sum(row["count"] for row in rows) == 12
    assert sum(row["elements"] for row in rows) == 408


def test_a_base_is_for_adapters_alone(tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "a")
    (folder / ADAPTER).unlink()
    with pytest.raises(hfcount.FetchError, match=r"; \S+/(a|m) is none of these"):
        hfcount.verify(folder, base="org/base")


def test_factors() -> None:
    found = [
        factors(number, factor)
        for number, factor in ((127, -1), (128, -1), (128, 4), (250, 3), (12, 5), (12, 0), (12, -2))
    ]
    assert found == [(1, 127), (8, 16), (4, 32), (2, 125), (3, 4), (1, 12), (1, 12)]


ATOMS = ["a", "b", ".", r"\.", r"\d", r"\w", "[ab]", "[^a]", "(?:a|b)", "(ab|c)", r"\b", "^", "$", "1", r"\D", r"[\d_]"]
REPEATS = ["", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}", "*?", "+?"]


def test_patterns_match_as_those_of_python() -> None:
    random = Random(5)
    for _ in range(1_500):
        chosen = [random.choice(ATOMS) for _ in range(random.randint(1, 5))]
        pattern = "".join(one + (random.choice(REPEATS) if one not in (r"\b", "^", "$") else "") for one in chosen)
        if random.random() < 0.3:
            pattern = f"({pattern}){random.choice(REPEATS)}{random.choice(['', 'b', '|a'])}"
        theirs = re.compile(pattern)
        whole, begun = Automaton(pattern, full=True), Automaton(pattern)
        for _ in range(4):
            text = "".join(random.choice("ab1.c_") for _ in range(random.randint(1, 7)))
            ours = whole.matches(text), begun.matches(text)
            assert ours == (bool(theirs.fullmatch(text)), bool(theirs.match(text))), (pattern, text)


GROUPS = [
    "(?=a)",
    "(?!b)",
    "(?<=a)",
    "(?<!b1)",
    "(?<=ab|1c)",
    "(?i:B)",
    "(?>a|ab)",
    "(?>a*)",
    "a*+",
    "(?!.*c)",
    "[]a]",
    "(?#x)",
]


def test_look_around_matches_as_that_of_python() -> None:
    random = Random(6)
    for _ in range(1_500):
        chosen = [random.choice([*ATOMS, *GROUPS]) for _ in range(random.randint(1, 5))]
        pattern = "".join(part + (random.choice(REPEATS[:9]) if part in ATOMS[:10] else "") for part in chosen)
        pattern = random.choice(["", "", "(?i)"]) + random.choice(["{}", "(?P<x>{})*", "({})?b"]).format(pattern)
        theirs, ours = re.compile(pattern), Expression(pattern, 100_000)
        for _ in range(4):
            text = "".join(random.choice("abAB1.c_") for _ in range(random.randint(1, 7)))
            assert ours.matches(text) == bool(theirs.fullmatch(text)), (pattern, text)


@over("pattern", [r"(a)\1", "(?P=x)", "(?(1)a|b)", "(?x)a b", "a*?(?>b)", "a" * 3_000])
def test_expressions_beyond_the_grammar(pattern: str) -> None:
    with pytest.raises(Unreadable):
        Expression(pattern, 1_000)


def test_an_expression_has_a_limit() -> None:
    with pytest.raises(TooLong):
        Expression("(?=x)" + "(.*)" * 40 + "y", 10_000).matches("x" * 200)


@over("pattern", ["(?=a)", "(?i)a", r"(a)\1", "a{2", "*", "(", "[a", "a" * 3_000, "(" * 200 + ")" * 200, r"\p{L}"])
def test_patterns_beyond_the_grammar(pattern: str) -> None:
    with pytest.raises(Unreadable):
        Automaton(pattern)
