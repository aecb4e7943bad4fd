"""per_layer_config: what single layers have of their own."""

import json

import pytest
from build import Json, config
from paths import ARCHITECTURES

import hfcount
from hfcount.errors import ConfigError

# three layers, the last one global
GEMMA: Json = json.loads((ARCHITECTURES / "gemma4_text.json").read_text())["config"]


def test_it_says_what_the_keys_of_global_layers_said() -> None:
    before = hfcount.blueprint({**GEMMA, "global_head_dim": 36})
    after = hfcount.blueprint({**GEMMA, "per_layer_config": {"02": {"head_dim": 36}}})
    assert list(after.tensors()) == list(before.tensors())
    assert (after.unread, after.problems) == ((), ())


def test_any_layer_may_have_its_own() -> None:
    own = {"0": {"head_dim": 36}, "1": {"num_key_value_heads": 1}}
    shapes = {one.name: one.shape for one in hfcount.blueprint({**GEMMA, "per_layer_config": own}).tensors()}
    norms = [shapes[f"model.layers.{layer}.self_attn.q_norm.weight"] for layer in range(3)]
    assert norms == [(36,), (20,), (20,)]
    assert shapes["model.layers.1.self_attn.k_proj.weight"][0] == 20


@pytest.mark.parametrize(
    ("values", "own", "code"),
    [
        (GEMMA, {"3": {"head_dim": 36}}, "HF103"),
        (GEMMA, {"last": {"head_dim": 36}}, "HF103"),
        (GEMMA, {"1": 36}, "HF001"),
        (GEMMA, {"1": {"intermediate_size": 36}}, "HF103"),
        (config("llama"), {"1": {"intermediate_size": 36}}, "HF103"),
    ],
    ids=str,
)
def test_what_is_refused(values: Json, own: Json, code: str) -> None:
    with pytest.raises(ConfigError) as raised:
        hfcount.blueprint({**values, "per_layer_config": own})
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("own", "unread"),
    [
        ({}, ()),
        ({"1": {"intermediate_size": 20}}, ()),  # as all layers have it
        ({"1": {"sliding_window": 8}}, ()),
        ({"1": {"widening": 8}}, ("per_layer_config",)),
    ],
    ids=str,
)
def test_what_changes_nothing(own: Json, unread: tuple[str, ...]) -> None:
    blueprint = hfcount.blueprint(config("llama", per_layer_config=own))
    assert (blueprint.total, blueprint.unread) == (hfcount.blueprint(config("llama")).total, unread)
