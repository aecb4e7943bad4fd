"""DeepSeek-V4's layers that predict further tokens: how many tensors and elements its checkpoints list of them.

Names, shapes and counts: the headers of DeepSeek-V4-Flash, whose 1,575 tensors of mtp.0 are 797 beside their scales.
"""

import re
from typing import Any

import hfcount

FLASH: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "hc_mult": 4,
    "head_dim": 512,
    "hidden_size": 4096,
    "index_head_dim": 128,
    "index_n_heads": 64,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_attention_heads": 64,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 43,
    "num_hash_layers": 3,
    "num_nextn_predict_layers": 1,
    "o_groups": 8,
    "o_lora_rank": 1024,
    "q_lora_rank": 1024,
    "tie_word_embeddings": False,
    "vocab_size": 129280,
    "compress_ratios": [0, 0, *[4, 128] * 20, 4, 0],
}
DRAFTING = {"dspark_block_size": 5, "dspark_target_layer_ids": [40, 41, 42], "dspark_markov_rank": 256}


def stored(values: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The names and shapes of what predicts further tokens, without copies that some writers leave out."""
    leaves = [leaf for leaf in hfcount.blueprint(values).leaves if leaf.presence != "spare"]
    named = {name: tuple(map(int, leaf.shape)) for leaf in leaves for name in leaf.names()}
    return {name: shape for name, shape in named.items() if name.startswith("mtp.")}


def test_the_layer_has_what_the_first_checkpoint_lists() -> None:
    found = stored(FLASH)
    assert len(found) == 797
    assert {name for name in found if not re.match(r"mtp\.0\.(attn|ffn|hc_attn|hc_ffn)[._]", name)} == {
        f"mtp.0.{name}"
        for name in (
            *("e_proj.weight", "h_proj.weight", "enorm.weight", "hnorm.weight", "norm.weight"),
            *("hc_head_base", "hc_head_fn", "hc_head_scale"),
        )
    }
    assert found["mtp.0.attn.wo_a.weight"] == (8192, 4096)
    assert found["mtp.0.ffn.gate.bias"] == (256,)  # a token's id chooses its experts in the first layers alone
    assert found["mtp.0.hc_head_fn"] == (4, 4 * 4096)


def test_stages_of_dspark_take_its_place() -> None:
    found = stored({**FLASH, **DRAFTING})
    assert {name.split(".")[1] for name in found} == {"0", "1", "2"}
    assert not any("e_proj" in name for name in found)
    assert found["mtp.0.main_proj.weight"] == (4096, 12288)
    assert found["mtp.2.markov_head.markov_w1.weight"] == found["mtp.2.markov_head.markov_w2.weight"] == (129280, 256)
    assert found["mtp.2.confidence_head.proj.weight"] == (1, 4352)
    assert found["mtp.2.hc_head_fn"] == (4, 16384)
    assert {name.split(".")[1] for name in stored({**FLASH, **DRAFTING, "n_mtp_layers": 2})} == {"0", "1"}


def test_what_the_model_is_alone_does_not_change() -> None:
    plain, *others = (hfcount.blueprint({**FLASH, **more}) for more in ({"num_nextn_predict_layers": 0}, {}, DRAFTING))
    assert not stored({**FLASH, "num_nextn_predict_layers": 0})
    assert {(one.total, one.active) for one in others} == {(plain.total, plain.active)}
