"""DeepSeek-V4.1's stages that draft further tokens: the names and shapes that its first checkpoint has of them.

The names and how many of each there are in three stages: the index of DeepSeek-V4.1-Flash.
"""

import collections
import json
import re
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount

ATTENTION = ("attn_sink", *(f"{one}.weight" for one in ("kv_norm", "q_norm", "wkv", "wo_a", "wo_b", "wq_a", "wq_b")))
MIXED = [f"hc_{where}_{part}" for where in ("attn", "ffn") for part in ("base", "fn", "scale")]
EACH = [
    *(f"attn.{one}" for one in ATTENTION),
    *("attn_norm.weight", "ffn_norm.weight", *MIXED),
    *("ffn.gate.bias", "ffn.gate.bias_vl", "ffn.gate.weight"),
    *(f"ffn.shared_experts.w{number}.weight" for number in (1, 2, 3)),
]
ONCE = [
    *("main_proj.weight", "main_norm.weight", "norm.weight", "confidence_head.proj.weight"),
    *("markov_head.embed.weight", "markov_head.head.weight"),
]
EXPERTS = [f"ffn.experts.N.w{number}.weight" for number in (1, 2, 3)]

DRAFTING = {
    "num_nextn_predict_layers": 3,
    "dspark_block_size": 5,
    "dspark_noise_token_id": 7,
    "dspark_target_layer_ids": [3, 4],
    "dspark_markov_rank": 16,
    "dspark_n_routed_experts": 8,
    "dspark_num_experts_per_tok": 2,
}


def config(*without: str, **changes: Any) -> dict[str, Any]:
    known = json.loads((ARCHITECTURES / "deepseek_v41.json").read_text(encoding="utf-8"))["config"]
    own = {key: value for key, value in DRAFTING.items() if key not in without}
    return {**known, "text_config": {**known["text_config"], **own, **changes}}


def stages(values: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    leaves = hfcount.blueprint(values).leaves
    named = {name: tuple(map(int, leaf.shape)) for leaf in leaves for name in leaf.names()}
    return {name: shape for name, shape in named.items() if name.startswith("mtp.")}


def test_names_are_those_of_the_first_checkpoint() -> None:
    blueprint = hfcount.blueprint(config())
    assert not blueprint.unread
    assert not blueprint.reasons
    counted = collections.Counter(re.sub(r"(?<=experts\.)\d+", "N", name[6:]) for name in stages(config()))
    assert counted == {**dict.fromkeys(EACH, 3), **dict.fromkeys(ONCE, 1), **dict.fromkeys(EXPERTS, 3 * 8)}


def test_shapes_follow_their_own_keys() -> None:
    found = stages(config())
    assert found["mtp.0.main_proj.weight"] == (96, 2 * 96)
    assert found["mtp.2.norm.weight"] == (96,)
    assert found["mtp.2.markov_head.head.weight"] == found["mtp.2.markov_head.embed.weight"] == (992, 16)
    assert found["mtp.2.confidence_head.proj.weight"] == (1, 96 + 16)
    assert found["mtp.1.ffn.gate.weight"] == (8, 96)
    assert found["mtp.1.ffn.experts.7.w2.weight"] == (96, 44)


@pytest.mark.parametrize(
    ("values", "last", "experts"),
    [
        (config(num_nextn_predict_layers=1), 0, 8),
        (config("num_nextn_predict_layers"), 1, 8),  # a stage for each layer that is read
        (config("dspark_n_routed_experts", num_nextn_predict_layers=2), 1, 12),
        (config(dspark_n_routed_experts=0), 2, 12),
    ],
)
def test_their_number_and_their_experts(values: dict[str, Any], last: int, experts: int) -> None:
    found = stages(values)
    assert {int(name.split(".")[1]) for name in found} == set(range(last + 1))
    assert found[f"mtp.{last}.norm.weight"] == (96,)
    assert found["mtp.0.ffn.gate.bias"] == (experts,)


def test_no_head_says_how_sure_they_are_where_the_config_says_so() -> None:
    assert not any("confidence" in name for name in stages(config(enable_confidence_head=False)))


def test_what_the_model_is_alone_does_not_change() -> None:
    plain, drafting = hfcount.blueprint(config(*DRAFTING)), hfcount.blueprint(config())
    assert (plain.total, plain.active) == (drafting.total, drafting.active)
    assert drafting.mtp > 0 == plain.mtp


def test_further_layers_of_another_kind_stay_undescribed() -> None:
    assert list(hfcount.blueprint(config("dspark_markov_rank", "dspark_target_layer_ids")).reasons) == ["mtp"]
    assert not hfcount.blueprint(config(*DRAFTING)).reasons


@pytest.mark.parametrize("key", ["num_nextn_predict_layers", "dspark_markov_rank", "dspark_n_routed_experts"])
@pytest.mark.parametrize("value", [-1, "many"])
def test_what_is_no_number_of_them_is_refused(key: str, value: int | str) -> None:
    with pytest.raises(hfcount.ConfigError, match=key):
        hfcount.blueprint(config(**{key: value}))
