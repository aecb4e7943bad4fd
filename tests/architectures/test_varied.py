"""What transformers builds of any config, sensible or not, has the names and shapes that hfcount says.

A few configs of each type, always the same; `python tests/support/varied.py` tries as many others as one likes.
"""

import json
from collections import Counter
from random import Random

import pytest
from varied import judged, variants, varied

pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings torch and transformers")
from transformers_oracle import RECORDED, model_of, torch

import hfcount

EACH = 2


@pytest.mark.parametrize("name", RECORDED)
def test_varied_configs_agree(name: str) -> None:
    told = [(judged(values), values) for values in variants(RECORDED[name], EACH, "always")]
    assert [(how, values) for (verdict, how), values in told if verdict == "differs"] == []


def test_configs_are_varied_in_all_ways() -> None:
    config, chance = RECORDED["qwen3_moe"], Random(0)
    seen = Counter[str]()
    for _ in range(300):
        values = varied(config, chance, ["Qwen3MoeModel"])
        seen += Counter(key for key in values if key not in config)
        seen += Counter(f"no {key}" for key in config if key not in values)
        seen += Counter(f"other {key}" for key in config if key in values and values[key] != config[key])
        assert json.loads(json.dumps(values)) == values
    ways = {"no hidden_size", "other hidden_size", "other architectures", "head_dim", "multi_query"}
    assert ways <= seen.keys()


# A key that contradicts others, and what it says: a model is built, and fails when it is run.
CANNOT: list[tuple[str, str, object]] = [
    ("llama", "num_key_value_heads", 3),
    ("mistral", "num_key_value_heads", 3),
    ("mixtral", "num_experts_per_tok", 999),
    ("qwen3_moe", "num_experts_per_tok", 999),
    ("qwen3_next", "linear_num_value_heads", 3),
    ("electra", "num_attention_heads", 3),
    ("mpt", "n_heads", 3),
    ("bitnet", "num_attention_heads", 6),
    ("recurrent_gemma", "lru_width", 6),
]


@pytest.mark.parametrize(("name", "key", "value"), CANNOT)
def test_what_is_said_not_to_run_does_not(name: str, key: str, value: object) -> None:
    def run(values: dict[str, object]) -> None:
        model = model_of(json.loads(json.dumps(values))).eval()
        model.config._experts_implementation = "eager"
        with torch.no_grad():
            model(input_ids=torch.ones(1, 5, dtype=torch.long))

    config = RECORDED[name]
    run(config)
    (problem,) = hfcount.blueprint({**config, key: value}).problems
    assert "cannot run" in str(problem)
    with pytest.raises((RuntimeError, ValueError)):
        run({**config, key: value})
