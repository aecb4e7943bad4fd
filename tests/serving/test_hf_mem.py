"""Cache sizes against hf-mem's: equal where all layers attend to all tokens with heads; elsewhere, why not."""

import json
from typing import Any

import pytest
from literature import model
from paths import ARCHITECTURES, FIXTURES

from hfcount.blueprints.build import blueprint
from hfcount.serving.cost import cost

kv_cache = pytest.importorskip("hf_mem.safetensors.kv_cache", reason="hf-mem is not installed: pip install '.[oracle]'")


def _theirs(config: dict[str, Any], context: int, batch: int = 1) -> int:
    size = kv_cache.compute_safetensors_kv_cache_size(config, "BF16", context, batch)
    assert isinstance(size, int)
    return size


def _ours(config: dict[str, Any], context: int) -> int:
    return sum(2 * part.elements(context) for part in cost(blueprint(config)).kept)


def _recorded(name: str) -> dict[str, Any]:
    """A recorded checkpoint's config, or the one that an architecture is recorded by."""
    path = FIXTURES / name / "config.json"
    found = path if path.exists() else ARCHITECTURES / f"{name}.json"
    values: dict[str, Any] = json.loads(found.read_text())
    return values if found == path else dict(values["config"])


@pytest.mark.parametrize("context", [1, 4096, 131_072])
@pytest.mark.parametrize(
    "name",
    [
        "Qwen/Qwen2.5-7B",
        "Qwen/Qwen3-8B",
        "Qwen/Qwen3-32B",
        "Qwen/Qwen3-235B-A22B",
        "meta-llama/Llama-2-7b-hf",
        "meta-llama/Llama-3.1-8B",
        "mistralai/Mixtral-8x7B-v0.1",
        "mistralai/Mistral-7B-v0.1",
    ],
)
def test_dense_models_and_experts(name: str, context: int) -> None:
    config = _recorded(name)
    window = config.get("sliding_window")
    if window and config.get("use_sliding_window", True):
        context = min(context, window)  # it takes a window of all layers for one of none
    assert _ours(config, context) == _theirs(config, context) == _theirs(config, context, 7) // 7
    assert cost(model(name)).kept


def test_latent_attention_which_it_takes_for_heads() -> None:
    config = _recorded("deepseek_v3")
    layers, heads = config["num_hidden_layers"], config["num_key_value_heads"]
    assert _ours(config, 10) == 2 * 10 * layers * (config["kv_lora_rank"] + config["qk_rope_head_dim"])
    assert _theirs(config, 10) == 2 * 2 * 10 * layers * heads * (config["hidden_size"] // config["num_attention_heads"])


def test_linear_layers_which_it_charges_for_every_token() -> None:
    config = _recorded("qwen3_next")
    full, heads, width = 1, config["num_key_value_heads"], config["head_dim"]  # one of four layers
    growth = _ours(config, 1001) - _ours(config, 1000)
    assert growth == 2 * full * 2 * heads * width
    assert _theirs(config, 1001) - _theirs(config, 1000) == 4 * growth
