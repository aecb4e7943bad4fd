"""What a model keeps of earlier tokens and multiplies for one, worked out by hand from the literature's formulas.

Keys and values: 2·h_kv·h_d a token and layer (arXiv:2305.13245), r_kv + h_r where they are latent (arXiv:2405.04434,
section 2.1.3), none beyond a window (arXiv:2310.06825). A state has one size for any context; a convolution of width w
keeps w - 1 inputs.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from build import TINY, Json, config
from paths import ARCHITECTURES, FIXTURES
from tables import over

import hfcount
from hfcount.errors import ConfigError
from hfcount.report.renderers.text import serving
from hfcount.serving.cost import Cost, MixerCost, cache_width, cost

LISTS = ("layer_types", "mlp_layer_types", "num_attention_heads_per_layer", "moe_layers", "num_layers")
"""Keys that give each layer something, and the other name of their number."""


def recorded(name: str, *without: str, **changes: Any) -> Json:
    """The config of a recorded architecture, less the keys `without` and with `changes`."""
    known: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text(encoding="utf-8"))["config"]
    return {key: value for key, value in known.items() if key not in without} | changes


def worked_out(expected: int | str, values: Json, **more: int) -> int:
    """A number, or what an expression of the config's keys gives."""
    return eval(expected, {**values, **more}) if isinstance(expected, str) else expected


def costs(values: Json) -> Cost:
    return cost(hfcount.blueprint(values))


def elements(values: Json, context: int) -> int:
    found = costs(values)
    assert not found.unknown
    return sum(part.elements(context) for part in found.kept)


def described(kind: str, hidden: int, width: int, layers: int, heads: int, kv_heads: int | None, **more: Any) -> Json:
    """A config of the usual keys."""
    sizes = {"hidden_size": hidden, "intermediate_size": width, "num_hidden_layers": layers, "vocab_size": 1000}
    shared = {} if kv_heads is None else {"num_key_value_heads": kv_heads}
    return {"model_type": kind, **sizes, "num_attention_heads": heads, **shared, **more}


LLAMA2 = described("llama", 4096, 11008, 32, 32, 32, vocab_size=32000)
QWEN3_32B = described("qwen3", 5120, 25600, 64, 64, 8, head_dim=128)
FALCON_7B = described("falcon", 4544, 18176, 32, 71, None)
QWEN3_30B = described(
    "qwen3_moe", 2048, 6144, 48, 32, 4, head_dim=128, moe_intermediate_size=768, num_experts=128, num_experts_per_tok=8
)
MISTRAL_V01 = described("mistral", 4096, 14336, 32, 32, 8, sliding_window=4096)
GEMMA3_27B = described("gemma3_text", 5376, 21504, 62, 32, 16, head_dim=128, sliding_window=1024)
GPT_OSS_20B = described(
    "gpt_oss", 2880, 2880, 24, 64, 8, head_dim=64, sliding_window=128, num_local_experts=32, num_experts_per_tok=4
)
LATENT = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
LLAMA4_SCOUT = described(
    "llama4_text", 5120, 8192, 48, 40, 8, head_dim=128, num_local_experts=16, num_experts_per_tok=1,
    intermediate_size_mlp=16384,
)  # fmt: skip
JAMBA = described(
    "jamba", 4096, 14336, 32, 32, 8, attn_layer_period=8, attn_layer_offset=4, expert_layer_period=2,
    expert_layer_offset=1, num_experts=16, num_experts_per_tok=2, mamba_d_state=16, mamba_d_conv=4, mamba_expand=2,
)  # fmt: skip
FALCON_H1 = described(
    "falcon_h1", 1024, 2048, 36, 8, 2, head_dim=64, mamba_d_ssm=1536, mamba_n_heads=24, mamba_d_head=64,
    mamba_d_state=128, mamba_n_groups=1, mamba_d_conv=4,
)  # fmt: skip
MINIMAX_01 = described(
    "minimax", 6144, 9216, 80, 64, 8, head_dim=128, num_local_experts=32, num_experts_per_tok=2,
    layer_types=(["linear_attention"] * 7 + ["full_attention"]) * 10,
)  # fmt: skip
LFM2 = described("lfm2", 2048, 12288, 16, 32, 8, conv_L_cache=3, full_attn_idxs=[2, 5, 8, 10, 12, 14])
GRIFFIN_2B = described("recurrent_gemma", 2560, 15360, 26, 10, 1, conv1d_width=4, attention_window_size=2048)
KIMI_LINEAR = described(
    "kimi_linear", 2304, 9216, 27, 32, None, **LATENT, moe_intermediate_size=1024, num_experts=256,
    num_experts_per_token=8, num_shared_experts=1, first_k_dense_replace=1, q_lora_rank=None,
    linear_attn_config={
        "num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4, "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
        "kda_layers": [number for number in range(1, 27) if number % 4],
    },
)  # fmt: skip
DEEPSEEK_V3: Json = json.loads((FIXTURES / "configs" / "deepseek_v3.json").read_text(encoding="utf-8"))
LATENT_KEYS = "kv_lora_rank + qk_rope_head_dim"
MIMO_FLASH = recorded("mimo_v2_flash", sliding_window=128, sliding_window_size=128)


@pytest.mark.parametrize(
    ("values", "context", "kept"),
    [
        (LLAMA2, 4096, 4096 * 32 * 2 * 32 * 128),
        (QWEN3_32B, 1, 2 * 8 * 128 * 64),
        (QWEN3_32B, 40_960, 40_960 * 2 * 8 * 128 * 64),
        (FALCON_7B, 2048, 2048 * 32 * 2 * 1 * 64),
        (QWEN3_30B, 1000, 1000 * 48 * 2 * 4 * 128),
        (DEEPSEEK_V3, 1, 61 * (512 + 64)),
        (DEEPSEEK_V3, 163_840, 163_840 * 61 * (512 + 64)),
        (recorded("deepseek_v3"), 10, f"context * num_hidden_layers * ({LATENT_KEYS})"),
        # The indexer has one key for each token.
        (recorded("deepseek_v32"), 1000, f"context * num_hidden_layers * ({LATENT_KEYS} + index_head_dim)"),
        (
            recorded(
                "glm_moe_dsa", "indexer_types", *LISTS, index_topk_freq=4, num_hidden_layers=78, first_k_dense_replace=3
            ),
            10,
            f"context * (78 * ({LATENT_KEYS}) + 21 * index_head_dim)",
        ),
        # Keys and values of different widths, and more of them in the two layers whose window is 129.
        (MIMO_FLASH, 129, "context * (num_key_value_heads + 2 * 2 * num_key_value_heads) * (head_dim + v_head_dim)"),
        (
            MIMO_FLASH,
            130,
            "(context * num_key_value_heads + 129 * 2 * 2 * num_key_value_heads) * (head_dim + v_head_dim)",
        ),
        (MISTRAL_V01, 4095, 4095 * 32 * 2 * 8 * 128),
        (MISTRAL_V01, 4096, 4096 * 32 * 2 * 8 * 128),
        (MISTRAL_V01, 4097, 4096 * 32 * 2 * 8 * 128),
        (MISTRAL_V01, 32_768, 4096 * 32 * 2 * 8 * 128),
        # Five layers with a window, then one without, and two with at the end.
        (GEMMA3_27B, 1023, 1023 * 62 * 2 * 16 * 128),
        (GEMMA3_27B, 1024, 1024 * 62 * 2 * 16 * 128),
        (GEMMA3_27B, 1025, (1024 * 52 + 1025 * 10) * 2 * 16 * 128),
        (GEMMA3_27B, 131_072, (1024 * 52 + 131_072 * 10) * 2 * 16 * 128),
        (GPT_OSS_20B, 127, 127 * 24 * 2 * 8 * 64),
        (GPT_OSS_20B, 131_072, (128 * 12 + 131_072 * 12) * 2 * 8 * 64),
        (LLAMA4_SCOUT, 8192, 8192 * 48 * 2 * 8 * 128),
        (LLAMA4_SCOUT, 8193, (8192 * 36 + 8193 * 12) * 2 * 8 * 128),
        # The last 3 layers borrow; of the 5 others the last has no window.
        (recorded("gemma3n_text"), 1000, "(4 * 512 + context) * 2 * num_key_value_heads * head_dim"),
        (
            recorded("qwen3_next"),
            5000,
            "context * 2 * num_key_value_heads * head_dim"
            " + 3 * linear_num_value_heads * linear_key_head_dim * linear_value_head_dim"
            " + 3 * (linear_conv_kernel_dim - 1) * 2 * linear_num_key_heads * linear_key_head_dim"
            " + 3 * (linear_conv_kernel_dim - 1) * linear_num_value_heads * linear_value_head_dim",
        ),
        (JAMBA, 0, 28 * (8192 * 16 + 3 * 8192)),
        (JAMBA, 256_000, 4 * 256_000 * 2 * 8 * 128 + 28 * (8192 * 16 + 3 * 8192)),
        (FALCON_H1, 100, 36 * (100 * 2 * 2 * 64 + 1536 * 128 + 3 * (1536 + 2 * 1 * 128))),
        (MINIMAX_01, 9, 10 * 9 * 2 * 8 * 128 + 70 * 64 * 128 * 128),
        (LFM2, 7, 6 * 7 * 2 * 8 * 64 + 10 * 2 * 2048),
        # Two recurrences to one attention; to each element of state, three inputs of the convolution.
        (GRIFFIN_2B, 2047, 8 * 2047 * 2 * 1 * 256 + 18 * (2560 + 3 * 2560)),
        (GRIFFIN_2B, 9999, 8 * 2048 * 2 * 1 * 256 + 18 * (2560 + 3 * 2560)),
        (KIMI_LINEAR, 64, 7 * 64 * (512 + 64) + 20 * (32 * 128 * 128 + 3 * 3 * 32 * 128)),
        (recorded("mamba"), 10**6, "num_hidden_layers * intermediate_size * (state_size + conv_kernel - 1)"),
        (
            recorded("mamba2"),
            10**6,
            "num_hidden_layers * expand * hidden_size * (state_size + conv_kernel - 1)"
            " + num_hidden_layers * (conv_kernel - 1) * 2 * n_groups * state_size",
        ),
        # Mamba in heads, which convolves nothing but its inner width; 2 layers with attention beside it.
        (
            recorded("zamba"),
            10,
            "num_hidden_layers * mamba_expand * hidden_size * (mamba_d_state + mamba_d_conv - 1)"
            " + 2 * context * 2 * num_key_value_heads * attention_head_dim",
        ),
        # Numerator, denominator and exponent; the inputs before, of time mix and channel mix.
        (recorded("rwkv"), 10**6, "num_hidden_layers * (3 * attention_hidden_size + 2 * hidden_size)"),
        # For each head a matrix, its normaliser and its largest exponent.
        (recorded("xlstm"), 10**6, "num_hidden_layers * num_heads * (1024 * 2048 + 1024 + 1)"),
        # Convolutions over keys, over values, behind attention and behind the network; one layer of six is wide.
        (
            recorded("inkling_text"),
            0,
            "(conv_kernel_size - 1) * (5 * 2 * swa_num_key_value_heads * swa_head_dim"
            " + 2 * num_key_value_heads * head_dim + num_hidden_layers * 2 * hidden_size)",
        ),
        # Two convolutions over queries and keys, and half of the values of the token before.
        (
            recorded("zaya"),
            3,
            "num_hidden_layers * head_dim * (context * 2 * num_key_value_heads + num_key_value_heads // 2"
            " + (cca_time0 - 1 + cca_time1 - 1) * (num_attention_heads + num_key_value_heads))",
        ),
        # Slow cycles, each of several fast ones and itself.
        (
            recorded("hrm_text"),
            5,
            "num_layers_per_stack * H_cycles * (L_cycles + 1) * context * 2 * num_attention_heads * head_dim",
        ),
        (recorded("gpt_neo"), 1000, "12 * (window_size + context) * 2 * hidden_size"),
        (recorded("moshi"), 3001, "num_hidden_layers * sliding_window * 2 * num_key_value_heads * head_dim"),
        # The window reaches to both sides, and a decoder sees one of them.
        (recorded("modernbert-decoder"), 100, "(context + 2 * (local_attention // 2)) * 2 * hidden_size"),
        # A key is its value. Four tokens become one and overlap: 3 (in two halves) and 4 wait, each with a gate; where
        # 128 become one, 127 wait.
        (
            recorded("deepseek_v4"),
            1000,
            "4 * 128 * head_dim + (context // 4 + 2 * (2 * 3 + 4)) * (head_dim + index_head_dim)"
            " + (context // 128 + 2 * 127) * head_dim",
        ),
        # Two of seven layers compress, 2 tokens into one and each alone; the others read what these keep.
        (
            recorded("deepseek_v41"),
            1000,
            "7 * 128 * 20 + (context // 2 + context) * (20 + 14) + 2 * 20",
        ),
        # Of the five layers three have an indexer.
        (recorded("minimax_m3"), 1000, "context * (5 * 2 * num_key_value_heads * head_dim + 3 * 14)"),
        # The first of two passes keeps all, the second what is in its window.
        (recorded("iquestloopcoder"), 1000, "num_hidden_layers * 2 * num_key_value_heads * head_dim * (context + 64)"),
        (
            recorded("iquestloopcoder", loop_num=4, loop_window_size=7),
            9,
            "num_hidden_layers * 2 * num_key_value_heads * head_dim * (context + 3 * loop_window_size)",
        ),
        (recorded("albert", num_hidden_groups=1), 512, 0),
        (recorded("xlnet", mem_len=None), 512, 0),
        *((recorded(name), 512, 0) for name in ("bert", "roberta", "vit", "big_bird")),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else str(value),
)
def test_what_is_kept(values: Json, context: int, kept: int | str) -> None:
    assert elements(values, context) == worked_out(kept, values, context=context)


MHA_BERT = "num_hidden_layers * 2 * hidden_size"


@pytest.mark.parametrize(
    ("values", "a_token"),
    [
        (recorded("bert", is_decoder=True), MHA_BERT),
        (recorded("bert", architectures=["BertLMHeadModel"]), 0),
        (recorded("bert", architectures=["BertLMHeadModel"], is_decoder=True), MHA_BERT),
        (recorded("albert", is_decoder=True, num_hidden_groups=1), 0),  # which has no such mode
        (recorded("gemma3_text", use_bidirectional_attention=True), 0),
        (recorded("gemma4_text", use_bidirectional_attention="all"), 0),
        (
            recorded("gemma4_text", use_bidirectional_attention="vision"),
            "2 * num_key_value_heads * (2 * head_dim + 512)",
        ),
        (recorded("t5", architectures=["T5EncoderModel"]), 0),
    ],
)
def test_who_keeps(values: Json, a_token: int | str) -> None:
    assert elements(values, 1) == worked_out(a_token, values)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (recorded("t5"), "encoder's output"),
        (recorded("whisper"), "encoder's output"),
        (recorded("bart", architectures=["BartForCausalLM"]), "encoder's output"),
        (recorded("trocr"), "encoder's output"),
        (recorded("bert", is_decoder=True, add_cross_attention=True), "encoder's output"),
        (recorded("gpt2", add_cross_attention=True), "encoder's output"),
        (recorded("mllama"), "images"),
        (recorded("xlnet", mem_len=512), "segments"),
        (recorded("albert", num_hidden_groups=5), "equally often"),
    ],
)
def test_what_cannot_be_told(values: Json, why: str) -> None:
    found = costs(values)
    assert why in found.unknown
    assert (found.kept, found.matrices) == ((), 0)


def test_a_composite_model_keeps_what_its_language_model_keeps() -> None:
    for outer in ("gemma3", "gemma4", "llama4", "mistral3"):
        values = recorded(outer)
        inner = hfcount.blueprint(values).spec.parts["text"]
        assert inner is not None
        assert inner.windows
        assert hfcount.blueprint(values).spec.windows == inner.windows
        assert costs(values).kept == cost(hfcount.blueprint(values["text_config"])).kept


ALL = range(12)


@over(
    ("kind", "changes", "extent", "layers"),
    [
        ("mistral", {}, "sliding_window", ALL),
        ("mistral", {"sliding_window": 7}, 7, ALL),
        ("mistral", {"sliding_window": 7, "layer_types": ["full_attention"] * 12}, 7, ALL),
        ("mixtral", {}, None, ()),
        ("mixtral", {"sliding_window": 7}, 7, ALL),
        ("qwen2", {"sliding_window": 7, "max_window_layers": 3}, None, ()),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 3}, 7, range(3, 12)),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 7}, None, ()),  # from layer 28 on
        ("qwen2", {"use_sliding_window": True, "max_window_layers": 0}, 4096, ALL),
        ("qwen3", {"use_sliding_window": True, "max_window_layers": 11}, 4096, (11,)),
        ("qwen3_moe", {"use_sliding_window": True, "max_window_layers": 11}, 4096, ALL),
        (
            "qwen3",
            {"use_sliding_window": True, "layer_types": ["full_attention", "sliding_attention"] * 6},
            4096,
            ALL[1::2],
        ),
        ("qwen2_moe", {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 5}, 7, (0, 2, 4)),
        ("qwen2_vl", {}, None, ()),
        ("olmo2", {}, None, ()),
        ("olmo3", {}, "sliding_window", (0, 1, 2, 4, 5, 6, 8, 9, 10)),
        ("gemma3_text", {"sliding_window_pattern": 4, "sliding_window": 9}, 9, (0, 1, 2, 4, 5, 6, 8, 9, 10)),
        ("gemma3_text", {"sliding_window_pattern": 1}, None, ()),
        ("gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 512}, 513, (*ALL[:5], *ALL[6:11])),
        ("gemma4_text", {"num_hidden_layers": 8}, "sliding_window", (0, 1, 2, 3, 4, 6)),
        ("beam", {"num_hidden_layers": 8}, "sliding_window", (0, 1, 2, 3, 4, 6)),
        ("exaone4", {}, "sliding_window", (0, 1, 2, 4, 5, 6, 8, 9, 10)),
        ("exaone4", {"sliding_window_pattern": "LLG"}, "sliding_window", (0, 1, 3, 4, 6, 7, 9, 10)),
        ("exaone4", {"sliding_window_pattern": "LL"}, "sliding_window", ALL[:11]),
        ("exaone4", {"sliding_window": None}, None, ()),
        ("exaone4", {"sliding_window_pattern": None}, None, ()),
        ("mistral", {"sliding_window": None}, None, ()),
        ("flint", {}, "sliding_window", (2, 3, 4, 6, 7, 8, 10)),
        ("cwm", {}, "sliding_window", (1, 2, 3, 5, 6, 7, 9, 10, 11)),
        ("cohere2_moe", {"first_k_dense_replace": 3}, "sliding_window", (3, 4, 5, 7, 8, 9, 11)),
        (
            "cohere2_moe",
            {"first_k_dense_replace": 3, "prefix_dense_sliding_window_pattern": 2},
            "sliding_window",
            (0, 2, 3, 4, 5, 7, 8, 9, 11),
        ),
        (
            "llama4_text",
            {"no_rope_layers": [1, 0] * 6, "interleave_moe_layer_step": 1},
            "attention_chunk_size",
            ALL[::2],
        ),
        (
            "llama4_text",
            {"no_rope_layers": [], "interleave_moe_layer_step": 1},
            "attention_chunk_size",
            (0, 1, 2, 4, 5, 6, 8, 9, 10),
        ),
        ("smollm3", {"sliding_window": 5}, None, ()),
        ("smollm3", {"sliding_window": 5, "use_sliding_window": True}, 5, (3, 7, 11)),
        ("smollm3", {"sliding_window": 5, "use_sliding_window": True, "no_rope_layers": [0] * 3 + [1] * 9}, 5, ALL[:3]),
        ("laguna", {}, None, ()),
        ("laguna", {"layer_types": ["sliding_attention", "full_attention"] * 6}, 512, ALL[::2]),
        ("zaya", {"layer_types": ["hybrid_sliding", "hybrid"] * 6, "sliding_window": 5}, 5, ALL[::2]),
        (
            "gpt_neo",
            {"attention_types": [[["global"], 2], [["local", "global"], 4], [["local"], 2]]},
            "window_size",
            None,
        ),
    ],
)
def test_where_there_are_windows(kind: str, changes: Json, extent: int | str | None, layers: Any) -> None:
    values = recorded(kind, *LISTS, **{"num_hidden_layers": 12, **changes})
    windows = hfcount.blueprint(values).spec.windows
    found = sorted(number for window in windows for number in window.indices)
    assert found == list((2, 4, 6, 8, 10, 11) if layers is None else layers)
    assert {int(window.extent) for window in windows} == ({worked_out(extent, values)} if extent else set())


@pytest.mark.parametrize("size", [None, 0, -1])
def test_a_window_of_nothing_is_none(size: int | None) -> None:
    assert elements({**MISTRAL_V01, "sliding_window": size}, 10_000) == 10_000 * 32 * 2 * 8 * 128


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({**MISTRAL_V01, "sliding_window": "many"}, "HF001"),
        ({**MISTRAL_V01, "sliding_window": {"size": 1}}, "HF001"),
        ({**MISTRAL_V01, "sliding_window": True}, "HF001"),
        ({**MISTRAL_V01, "sliding_window": -2}, "HF103"),
        ({**MISTRAL_V01, "sliding_window": 10**30}, "HF103"),
        ({**GEMMA3_27B, "sliding_window_pattern": 0}, "HF103"),
        ({**GEMMA3_27B, "layer_types": ["sliding_attention"] * 61}, "HF103"),
        ({**GEMMA3_27B, "layer_types": [1] * 62}, "HF001"),
        ({**QWEN3_32B, "use_sliding_window": {"yes": 1}}, "HF001"),
        (recorded("exaone4", "layer_types", sliding_window_pattern="LLx"), "HF103"),
        (recorded("exaone4", "layer_types", sliding_window_pattern=""), "HF103"),
        (recorded("exaone4", "layer_types", sliding_window_pattern="LG" * 1000), "HF103"),
        (recorded("exaone4", "layer_types", sliding_window_pattern={"L": 1}), "HF001"),
        (recorded("llama4_text", "layer_types", no_rope_layers=[1]), "HF103"),
        (recorded("gpt_neo", attention_types=[[["global"], 23]]), "HF103"),
        (recorded("gpt_neo", attention_types=[["global", 24]]), "HF103"),
        (recorded("gpt_neo", attention_types=[[["global"], 25], [["local"], -1]]), "HF103"),
        (recorded("gpt_neo", attention_types="global"), "HF001"),
        (recorded("bert", is_decoder=2), "HF001"),
    ],
)
def test_what_makes_no_sense_is_an_error(values: Json, code: str) -> None:
    with pytest.raises(ConfigError) as raised:
        hfcount.blueprint(values)
    assert raised.value.code == code


@pytest.mark.parametrize("kind", ["gemma2", "gemma3_text", "gpt_oss", "olmo3", "cohere2", "qwen2", "granite_swa"])
def test_layers_without_end_cost_no_more(kind: str) -> None:
    changes = {"num_hidden_layers": 2**62, "use_sliding_window": True, "max_window_layers": 2**61}
    found = costs(recorded(kind, "layer_types", **changes)).kept
    assert sum(part.layers for part in found) == 2**62
    assert all(part.layers > 2**58 for part in found)
    assert any(part.window for part in found)


# Of one layer, in multiply-adds: what its matrices have, and for each token looked at h·(h_d + h_v).
def test_multiply_adds_of_llama_2() -> None:
    found = costs(LLAMA2)
    assert found.matrices == 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008) + 32000 * 4096
    assert [part.multiply_adds(4096) for part in found.kept] == [32 * 4096 * 32 * (128 + 128)]


def test_multiply_adds_of_a_tied_head_and_of_experts() -> None:
    tied = {**LLAMA2, "tie_word_embeddings": True}
    assert costs(tied).matrices == costs(LLAMA2).matrices
    attention, experts = 2 * 2048 * 32 * 128 + 2 * 2048 * 4 * 128, 8 * 3 * 2048 * 768
    assert costs(QWEN3_30B).matrices == 48 * (attention + 2048 * 128 + experts) + 1000 * 2048


def test_multiply_adds_within_a_window_and_of_tokens_picked() -> None:
    (sliding,) = costs(MISTRAL_V01).kept
    assert sliding.multiply_adds(10_000) == 32 * 4096 * 32 * (128 + 128)
    sparse = recorded("deepseek_v32", index_topk=2048)
    attention, indexer = costs(sparse).kept
    heads = worked_out("num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim)", sparse)
    assert attention.multiply_adds(10_000) == 4 * 2048 * heads
    assert indexer.multiply_adds(10_000) == worked_out("4 * 10_000 * index_n_heads * (index_head_dim + 1)", sparse)
    assert attention.multiply_adds(1000) == 4 * 1000 * heads


def test_layers_that_are_limited_alike_are_said_once(tmp_path: Path) -> None:
    """Five of DeepSeek-V4.1's read compressed entries: of two rates, and their own or those of an earlier layer."""
    (tmp_path / "config.json").write_text(json.dumps(recorded("deepseek_v41")), encoding="utf-8")
    found = serving(hfcount.verify(tmp_path, depth="config"))
    (near,) = (text for name, _, text in found if name == "multiply-adds")
    assert near.endswith("(7 MQA layers: 128 tokens at most; 5 compressed layers: 512 entries at most)")


def test_what_an_indexer_and_tables_of_n_grams_keep() -> None:
    """As transformers 5.23 keeps it: raw keys of the indexer, and inputs of a convolution over n-grams of 3 tokens."""
    sizes = {"ngram_size": 3, "ple_conv_kernel_size": 3, "hc_count": 2, "ple_layer_ids": [2, 6], "hidden_size": 64}
    values = recorded("qwen4_exp_text", indexer_budget=16, indexer_compress_ratio=4, **sizes)
    found = {part.name: part for part in costs(values).kept}
    assert (found["convolution"].layers, found["convolution"].state) == (2, 2 * 64 * (3 - 1) * 3)
    assert found["indexer"].per_token == values["indexer_kv_heads"] * values["indexer_head_dim"]
    assert found["indexer"].layers == found["GQA"].layers == 1
    assert (found["GQA"].seen(10), found["GQA"].seen(1000)) == (10, 16 + 4 - 1)
    scored = -(-values["indexer_n_heads"] * values["indexer_head_dim"] // 4)
    assert found["indexer"].multiply_adds(1000) == 1000 * scored


def test_the_state_of_rwkv_7() -> None:
    values = recorded("rwkv7")
    (found,) = costs(values).kept
    each = values["hidden_size"] * values["head_dim"] + 2 * values["hidden_size"]
    assert (found.layers, found.per_token, found.state) == (values["num_hidden_layers"], 0, each)


def test_what_a_convolution_over_values_or_within_attention_keeps() -> None:
    """Jet-Nemotron convolves values alone; Baichuan M1 keeps the key and the value of the token before."""
    jet = costs(recorded("jet_nemotron")).kept[0]
    values = recorded("jet_nemotron")["efficient_attention_config"]["jet"]
    wide = values["num_heads"] * int(values["head_dim"] * values["expand_v"])
    assert jet.state == wide * (values["head_dim"] + values["conv_size"] - 1)
    config = recorded("baichuan_m1")
    for part, kind in zip(costs(config).kept, ("num_", "num_swa_"), strict=True):
        each = config["hidden_size"] // config[f"{kind}attention_heads"]
        assert part.state == part.per_token == 2 * config[f"{kind}key_value_heads"] * each


def test_multiply_adds_of_what_attention_does_besides() -> None:
    """Two products make a score, with keys and with relative positions; or a head weighs two heads' values."""
    xlnet, diffllama = recorded("xlnet", mem_len=None), recorded("diffllama")
    (relative,) = costs(xlnet).kept
    assert relative.multiply_adds(512) == worked_out("n_layer * 512 * n_head * (2 * d_head + d_head)", xlnet)
    (difference,) = costs(diffllama).kept
    per_head = "num_hidden_layers * 512 * num_attention_heads * (head_dim + 2 * head_dim)"
    assert difference.multiply_adds(512) == worked_out(per_head, diffllama)


def test_multiply_adds_of_states() -> None:
    """Delta rule: read, correct, read out; state spaces and Lightning: write and read."""
    values = recorded("qwen3_next")
    assert _steps(values) == worked_out(
        "3 * 3 * linear_num_value_heads * linear_key_head_dim * linear_value_head_dim", values
    )
    assert _steps(JAMBA) == 28 * 2 * 8192 * 16
    assert _steps(MINIMAX_01) == 70 * 2 * 64 * 128 * 128
    assert _steps(GRIFFIN_2B) == 18 * 2560
    values = recorded("rwkv")
    assert _steps(values) == worked_out("num_hidden_layers * 4 * attention_hidden_size", values)
    assert _steps(recorded("xlstm", num_heads=8)) == 32 * 2 * (8 * 256 * 512 + 8 * 256)


def _steps(values: Json) -> int:
    return sum(part.layers * part.per_step for part in costs(values).kept)


def test_matrices_that_are_passed_more_than_once() -> None:
    albert = recorded("albert", architectures=["AlbertModel"], num_hidden_groups=1, inner_group_num=1)
    once = "4 * hidden_size * hidden_size + 2 * hidden_size * intermediate_size"
    around = "embedding_size * hidden_size + hidden_size * hidden_size"  # the way in and the pooler
    assert costs(albert).matrices == worked_out(f"num_hidden_layers * ({once}) + {around}", albert)
    hrm = recorded("hrm_text")
    stack = "num_layers_per_stack * hidden_size * (5 * num_attention_heads * head_dim + 3 * intermediate_size)"
    assert costs(hrm).matrices == worked_out(f"H_cycles * (L_cycles + 1) * {stack} + vocab_size * hidden_size", hrm)
    zamba = recorded("zamba")
    shared = worked_out(
        "attention_hidden_size * (num_attention_heads + 2 * num_key_value_heads) * attention_head_dim"
        " + num_attention_heads * attention_head_dim * hidden_size + 3 * hidden_size * intermediate_size",
        zamba,
    )
    alone = costs(zamba).matrices - 2 * shared
    assert 0 < alone < hfcount.blueprint(zamba).total - shared


def test_no_token_of_a_text_passes_a_tower() -> None:
    for outer in ("llava", "voxtral", "qwen2_audio", "gemma4"):
        values = recorded(outer)
        inner = costs(values["text_config"]).matrices
        assert costs(values).matrices == inner


def test_tables_are_not_multiplied() -> None:
    values = recorded("opt", architectures=["OPTModel"])
    layers = "num_hidden_layers * (4 * hidden_size * hidden_size + 2 * hidden_size * ffn_dim)"
    assert costs(values).matrices == worked_out(f"{layers} + 2 * word_embed_proj_dim * hidden_size", values)


def test_zamba_has_mamba_in_heads() -> None:
    assert [part.name for part in costs(recorded("zamba")).kept] == ["Mamba", "GQA"]


def test_alike_mixers_are_one_part() -> None:
    first, second = costs(GEMMA3_27B).kept
    assert first == MixerCost("GQA", 52, per_token=2 * 16 * 128, window=1024, per_position=32 * 2 * 128)
    assert second == MixerCost("GQA", 10, per_token=2 * 16 * 128, per_position=32 * 2 * 128)


@pytest.mark.parametrize("family", TINY)
def test_a_tiny_model(family: str) -> None:
    width = 6 if family in ("qwen3", "qwen3_moe") else 3
    assert elements(config(family), 10) == 10 * 3 * 2 * 2 * width


@pytest.mark.parametrize(
    ("name", "width"),
    [("bfloat16", 2), ("float32", 4), ("float8_e4m3fn", 1), ("int8", 1), ("int3", None), (None, None)],
)
def test_the_width_of_a_cached_element(name: str | None, width: int | None) -> None:
    assert cache_width(name) == width
