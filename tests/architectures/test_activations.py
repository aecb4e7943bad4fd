"""Activations with weights, in the place of a type's own: where models hold them, and what is not known."""

import json
from copy import deepcopy
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount
from hfcount.mapper.activations import activation_places, tensors
from hfcount.mapper.trained_keys import TRAINED


def recorded(kind: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    return config


def added(kind: str, key: str, word: str = "prelu") -> list[tuple[str, tuple[int, ...]]]:
    """The tensors that a type has with this activation, and without it has not; rows, with their shapes."""
    config = recorded(kind)
    trained = place = deepcopy(config)
    *outer, last = key.split(".")
    for name in outer:
        place = place[name]
    place[last] = word
    usual = {row.name for row in hfcount.blueprint(config).rows()}
    return [(row.name, row.shape) for row in hfcount.blueprint(trained).rows() if row.name not in usual]


# As transformers 5.23 saves models of these configs.
PLACES: list[tuple[str, str, list[str]]] = [
    ("llama", "hidden_act", ["model.layers.{0-2}.mlp.act_fn.weight"]),
    ("gpt2", "activation_function", ["transformer.h.{0-2}.mlp.act.weight"]),
    ("qwen3_moe", "hidden_act", ["model.layers.{0-2}.mlp.experts.act_fn.weight"]),
    (
        "bert",
        "hidden_act",
        [
            "bert.encoder.layer.{0-2}.intermediate.intermediate_act_fn.weight",
            "cls.predictions.transform.transform_act_fn.weight",
        ],
    ),
    ("apertus", "hidden_act", ["model.layers.{0-2}.mlp.act_fn.weight"]),
    ("vit", "hidden_act", ["vit.encoder.layer.{0-2}.mlp.activation_fn.weight"]),
]


@pytest.mark.parametrize(("kind", "key", "names"), PLACES, ids=[kind for kind, *_ in PLACES])
def test_modules_of_a_type(kind: str, key: str, names: list[str]) -> None:
    assert added(kind, key) == [(name, (1,)) for name in names]


@pytest.mark.parametrize("experts", [1, 3, 200])
def test_experts_that_are_counted_in_their_names(experts: int) -> None:
    config = recorded("nllb-moe") | {"activation_function": "prelu", "num_experts": experts}
    names = {one.name for one in hfcount.blueprint(config).tensors()}
    held = {name for name in names if name.endswith(".act.weight") and ".experts." in name}
    assert held
    assert len(held) % experts == 0
    assert {name.split(".experts.")[1] for name in held} == {f"expert_{at}.act.weight" for at in range(experts)}


def test_tensors_of_each_activation() -> None:
    at = "model.layers.{0-2}.mlp.act_fn."
    assert added("llama", "hidden_act", "xielu") == [
        (f"{at}alpha_p", (1,)), (f"{at}alpha_n", (1,)), (f"{at}beta", ()), (f"{at}eps", ())
    ]  # fmt: skip
    assert {word: set(tensors(word)) for word in TRAINED} == {
        "prelu": {"weight"},
        "xielu": {"alpha_p", "alpha_n", "beta", "eps"},
    }


def test_the_count_and_the_formula_have_them() -> None:
    config = recorded("llama")
    with_them = hfcount.blueprint(config | {"hidden_act": "xielu"})
    assert with_them.total - hfcount.blueprint(config).total == 2 * config["num_hidden_layers"]
    assert "+ 2" in str(with_them.formula())


def test_a_key_of_a_nested_config() -> None:
    (name, _), *more = added("llava", "text_config.hidden_act")
    assert (name, more) == ("language_model.model.layers.{0-3}.mlp.act_fn.weight", [])
    (name, _), *more = added("llava", "vision_config.hidden_act")
    assert (name, more) == ("vision_tower.encoder.layers.{0-2}.mlp.activation_fn.weight", [])


def test_a_type_that_transformers_does_not_have() -> None:
    assert activation_places("baichuan") is None
    with pytest.raises(hfcount.UnknownArchitecture, match="has weights"):
        hfcount.blueprint(recorded("llama") | {"model_type": "baichuan", "hidden_act": "prelu"})


def test_a_key_that_the_class_does_not_read() -> None:
    assert added("gpt2", "hidden_act") == []


@pytest.mark.parametrize("stored", [True, False])
def test_a_checkpoint_with_them_and_without(stored: bool) -> None:
    config = recorded("llama") | {"hidden_act": "prelu", "dtype": "bfloat16"}
    held = {
        one.name: (one.shape, "BF16")
        for one in hfcount.blueprint(config).tensors()
        if stored or "act_fn" not in one.name
    }
    report = hfcount.verify_tensors(config, held)
    assert [finding.code for finding in report.findings] == ([] if stored else ["HF201"])
