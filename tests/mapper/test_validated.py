"""What validators of configuration classes need of several keys at once."""

from typing import Any

import pytest
from build import Json

from hfcount.mapper.refusals import refusals
from hfcount.mapper.validated import paths, unmet

LISTS = ("len(conv_stride) == len(conv_dim)",)
RANGES = ("initializer_range == audio_config.initializer_range",)
POWER = ("masked_unit_size[0] % query_stride[0] ** (len(depths) - 1) == 0",)


@pytest.mark.parametrize(
    ("kind", "needs", "values", "key"),
    [
        ("omniasr_audio", LISTS, {"conv_stride": [1, 2], "conv_dim": [3, 3]}, None),
        ("omniasr_audio", LISTS, {"conv_stride": [1, 2], "conv_dim": [3]}, "conv_stride"),
        ("omniasr_audio", LISTS, {"conv_stride": 7, "conv_dim": [3]}, None),  # which other checks see
        ("omniasr_audio", LISTS, {"conv_stride": None}, None),
        ("omniasr_audio", LISTS, {}, None),
        ("omniasr", RANGES, {"initializer_range": 0.1, "audio_config": {"initializer_range": 0.1}}, None),
        ("omniasr", RANGES, {"initializer_range": 0.1, "audio_config": {"initializer_range": 0.2}}, "audio_config"),
        ("omniasr", RANGES, {"initializer_range": 0.1, "audio_config": {}}, None),
        ("omniasr", RANGES, {"initializer_range": 0.1}, None),
        ("hiera", POWER, {"masked_unit_size": [8, 8], "query_stride": [2, 2], "depths": [1, 1, 1]}, None),
        ("hiera", POWER, {"masked_unit_size": [6, 8], "query_stride": [2, 2], "depths": [1, 1, 1]}, "masked_unit_size"),
        ("hiera", POWER, {"masked_unit_size": [8], "query_stride": [10**6], "depths": [1, 1]}, None),
        ("dbrx", ("not tie_word_embeddings",), {"tie_word_embeddings": True}, "tie_word_embeddings"),
        ("axk2", ("q_lora_rank is not None",), {"q_lora_rank": None}, "q_lora_rank"),
        ("axk2", ("1 <= q_lora_rank < 9 or q_lora_rank in [12, 13]",), {"q_lora_rank": 10}, "q_lora_rank"),
        ("axk2", ("min(q_lora_rank, 4) - -1 > 3 and not q_lora_rank & 1",), {"q_lora_rank": 8}, None),
    ],
)
def test_needs(kind: str, needs: tuple[str, ...], values: Json, key: str | None) -> None:
    found = [name for name, _, _ in unmet(needs, values, kind)]
    assert [name.partition(".")[0] for name in found] == ([key] if key else [])


def test_paths_of_nested_keys_come_first() -> None:
    assert paths("vocab_size == len(delay) + text_config.vocab_size") == [
        ("text_config", "vocab_size"),
        ("vocab_size",),
        ("delay",),
    ]


@pytest.mark.parametrize(
    ("kind", "values", "key"),
    [
        ("omniasr_audio", {"conv_stride": [5, 2, 2, 2, 2, 2, 2, 2]}, "conv_stride"),
        ("mimi", {"num_semantic_quantizers": 32}, "num_semantic_quantizers"),
        ("pp_lcnet", {"block_configs": [[[3, 16, 32, 1, False]]]}, "block_configs"),
        ("mamba2", {"hidden_size": 32, "expand": 2, "num_heads": 4, "head_dim": 16}, None),
        ("mamba2", {"hidden_size": 32, "expand": 2, "num_heads": 4, "head_dim": 8}, "hidden_size"),
    ],
)
def test_what_is_needed_is_told_once(kind: str, values: Json, key: str | None) -> None:
    found: list[Any] = [refusal.key for refusal in refusals(values, kind)]
    assert found.count(key) == (1 if key else 0)
    assert key or not found
