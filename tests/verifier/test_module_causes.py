"""The search for a cause ends: types whose names can fit are tried, within bounds, and what was left is said."""

import json
from typing import Any

import modules
import pytest
from build import Json

import hfcount
from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats.index import read_index
from hfcount.formats.json import Document
from hfcount.verifier import explain, verify
from hfcount.verifier.causes.modules import FILE, is_like, may_have, module_of
from hfcount.verifier.causes.stored_rows import MOST_ROWS
from hfcount.verifier.findings import Outcome

LLAMA: Json = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 50,
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}


def found(config: Json, names: Any, until: float | None = None) -> Outcome:
    """What is found where an index lists these names, after the search for causes."""
    text = json.dumps({"weight_map": dict.fromkeys(names, "model.safetensors")})
    index, blueprint = read_index(Document("index.json", text.encode())), hfcount.blueprint(config)
    assert isinstance(blueprint, Blueprint)
    outcome = verify(blueprint, index)
    explain(outcome, config, blueprint, index, until=until)
    return outcome


def names(config: Json) -> list[str]:
    return [one.name for one in hfcount.blueprint(config).tensors()]


@pytest.mark.long
def test_the_record_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == modules.text(modules.recorded()), (
        "python tests/tools/modules.py writes it"
    )


def test_a_name_is_that_of_the_module_around_a_tensor() -> None:
    assert module_of((".model.layers", ".mlp.experts", ".gate_proj.weight")) == "gate_proj"
    assert module_of((".model.norm.weight",)) == "norm"
    assert module_of((".mlp", ".weight")) == "mlp"
    assert module_of((".scale",)) == "scale"


def test_a_type_may_have_names_of_which_it_has_half() -> None:
    assert may_have("llama", {"q_proj", "k_proj", "fc1", "fc2"})
    assert not may_have("llama", {"q_proj", "fc1", "fc2"})
    assert may_have("llama", ())
    assert may_have("a type that is not recorded", {"fc1"})


def test_a_type_is_like_names_that_are_half_of_its_own() -> None:
    decoder = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "norm", "embed_tokens"}
    assert is_like("llama", decoder) and is_like("qwen3", decoder)
    assert not is_like("llama", {"q_proj", "k_proj"})  # which has much besides
    assert may_have("llava", decoder) and not is_like("llava", decoder)
    assert is_like("a type that is not recorded", decoder)


def test_the_type_of_other_names_is_found() -> None:
    (finding, *_) = found({**LLAMA, "num_key_value_heads": 2}, names({**LLAMA, "model_type": "gpt_neox"})).findings
    assert finding.cause and "model_type gpt_neox" in finding.cause


def test_what_was_not_tried_for_want_of_time_is_said() -> None:
    (finding, *_) = found(LLAMA, names({**LLAMA, "model_type": "gpt_neox"}), until=0.0).findings
    assert finding.cause == "hfcount stopped looking for the cause: the time limit (--timeout) is reached."


@pytest.mark.long
def test_what_was_not_tried_for_too_many_rows_is_said() -> None:
    listed = [*names(LLAMA)[1:], *(f"odd_{number}.weight" for number in range(MOST_ROWS))]
    (finding, *_) = found(LLAMA, listed).findings
    assert finding.code == "HF201"
    assert finding.cause == (
        "hfcount stopped looking for the cause: 20,001 rows of names differ, more than the 20,000 for which it tries"
        " other configs."
    )


@pytest.mark.long
def test_whose_names_they_are_is_said_of_however_many() -> None:
    listed = [f"blk.0.attn_q{number}.weight" for number in range(MOST_ROWS + 1)]
    (finding, *_) = found(LLAMA, listed).findings
    assert finding.cause == "These are names of llama.cpp (GGUF)."
