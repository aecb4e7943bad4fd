"""What mergekit refuses to merge, by its own checks, and what it would merge wrongly."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from build import TINY
from conftest import Command
from pipeline_repos import pipeline
from tables import over
from test_diff_values import saved, weights

import hfcount
from hfcount.diffing.names_in_memory import names_in_memory

Json = dict[str, Any]
LLAMA, BIASED = TINY["llama"], TINY["llama"] | {"attention_bias": True}
OLMO = TINY["llama"] | {"model_type": "olmo", "architectures": ["OlmoForCausalLM"]}

# Configs of A and B, whether mergekit merges them, and words of the reason
ROWS: dict[str, tuple[Json, Json, bool, str]] = {
    "the same": (LLAMA, LLAMA, True, "no check of mergekit 0.1.5 refuses it"),
    "another base of rotary angles": (LLAMA, LLAMA | {"rope_theta": 7e5}, True, "configs differ in rope_"),
    "one ties its head": (LLAMA, LLAMA | {"tie_word_embeddings": True}, True, "no check of mergekit"),
    "another class": (LLAMA, TINY["mistral"], False, "--allow-crimes"),
    "classes without a definition": (OLMO, OLMO, True, "no check of mergekit"),
    "one class without a definition": (LLAMA, OLMO, False, "would merge the names that both have"),
    "no class": (LLAMA, LLAMA | {"architectures": None}, False, "the config of B names no class, and mergekit"),
    "two classes": (
        LLAMA,
        LLAMA | {"architectures": ["LlamaForCausalLM", "LlamaModel"]},
        False,
        "names 2 classes, and mergekit 0.1.5 (architecture/__init__.py:35) takes one",
    ),
    "layers": (
        LLAMA,
        LLAMA | {"num_hidden_layers": 4},
        False,
        "A has 3 layers and B 4 (num_hidden_layers): mergekit 0.1.5 (plan.py:286) refuses",
    ),
    "width of the feed-forward": (
        LLAMA,
        LLAMA | {"intermediate_size": 24},
        False,
        "[20, 12] in A, [24, 12] in B, which mergekit 0.1.5 (merge_methods/base.py:301) refuses",
    ),
    "vocabulary": (LLAMA, LLAMA | {"vocab_size": 52}, False, "refuses unless `tokenizer: {source: base}` or"),
    "biases that the definition lacks": (BIASED, BIASED, False, "leaves out 12 tensors of A"),
    "biases that it has": (TINY["qwen2"], TINY["qwen2"], True, "no check of mergekit"),
    "experts one by one": (TINY["mixtral"], TINY["mixtral"], True, "no check of mergekit"),
    "experts of another class": (TINY["qwen3_moe"], TINY["qwen3_moe"], True, "no check of mergekit"),
    "fewer experts": (
        TINY["mixtral"],
        TINY["mixtral"] | {"num_local_experts": 6},
        False,
        "gate.weight: [8, 12] in A, [6, 12] in B, which mergekit 0.1.5 (merge_methods/base.py:301) refuses",
    ),
}


@over("name", ROWS)
def test_each_refusal_is_named(name: str, tmp_path: Path) -> None:
    a, b, met, words = ROWS[name]
    folder = tmp_path / f"m{[*ROWS].index(name)}"
    sides = [saved(folder / side, values, weights(values)) for side, values in (("a", a), ("b", b))]
    found = hfcount.diff(*sides, expect="mergeable")
    assert found.expectation is not None
    assert (found.expectation.met, words in found.expectation.reason) == (met, True), found.expectation.reason


def test_an_expert_that_is_missing_is_needed(tmp_path: Path) -> None:
    values = TINY["mixtral"]
    arrays = weights(values)
    lost = next(name for name in arrays if ".experts.3." in name and ".layers.1." in name)
    a = saved(tmp_path / "a", values, arrays)
    b = saved(tmp_path / "b", values, {name: array for name, array in arrays.items() if name != lost})
    found = hfcount.diff(a, b, expect="mergeable").expectation
    assert found is not None and found.met is False
    assert "B has no model.layers.1.mlp.experts." in found.reason and "mergekit 0.1.5 (io/tasks.py:120)" in found.reason


def _tokenizer(folder: Path, words: list[str]) -> None:
    vocabulary = {word: number for number, word in enumerate(words)}
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": [], "model": {"vocab": vocabulary}}))


@pytest.mark.parametrize(
    ("words", "met", "said"),
    [
        (["a", "b", "c"], True, "no check of mergekit"),
        (["b", "a", "c"], False, '2 ids of the tokenizer are other words, such as 0, which is "a" in A and "b" in B'),
        (["a", "b", "<|reserved_special_token_1|>"], True, "no check of mergekit"),
        (["a", "b", "c", "d"], True, "no check of mergekit"),
    ],
)
def test_rows_are_merged_by_their_number(words: list[str], met: bool, said: str, tmp_path: Path) -> None:
    a, b = (saved(tmp_path / name, LLAMA, weights(LLAMA)) for name in "ab")
    _tokenizer(a, ["a", "b", "c"])
    _tokenizer(b, words)
    found = hfcount.diff(a, b, expect="mergeable").expectation
    assert found is not None and (found.met, said in found.reason) == (met, True), found.reason


def test_nan_is_not_merged(tmp_path: Path) -> None:
    values = weights(LLAMA)
    values["model.norm.weight"][3] = float("nan")
    a, b = saved(tmp_path / "a", LLAMA, weights(LLAMA)), saved(tmp_path / "b", LLAMA, values)
    found = hfcount.diff(a, b, expect="mergeable", depth="data").expectation
    assert found is not None and found.met is False and "NaN" in found.reason


def test_weights_of_another_name_are_none(tmp_path: Path) -> None:
    a, b = (saved(tmp_path / name, LLAMA, weights(LLAMA)) for name in "ab")
    (b / "model.safetensors").rename(b / "consolidated.safetensors")
    found = hfcount.diff(a, b, expect="mergeable").expectation
    assert found is not None and (found.met, found.reason) == (None, "B has no weights")


@pytest.mark.parametrize("broken", [None, "{"])
def test_a_pipeline_beside_what_cannot_be_read_is_unknown(broken: str | None, tmp_path: Path) -> None:
    a, b = pipeline(tmp_path / "a"), tmp_path / "b"
    if broken:
        b.mkdir()
        (b / "config.json").write_text(broken)
    for sides in ((a, b), (b, a)):
        assert hfcount.diff(*sides).exit_code == 3
        result = hfcount.diff(*sides, expect="mergeable")
        assert result.expectation is not None and (result.expectation.met, result.exit_code) == (None, 3)
    mergeable = hfcount.diff(a, a, expect="mergeable").expectation
    assert mergeable is not None and mergeable.met is False


def test_nothing_is_known_of_configs_alone(tmp_path: Path) -> None:
    a, b = (saved(tmp_path / name, LLAMA, weights(LLAMA)) for name in "ab")
    (b / "model.safetensors").unlink()
    assert hfcount.diff(a, b, expect="mergeable").exit_code == 3


def test_several_models_are_held_against_the_first(command: Command, tmp_path: Path) -> None:
    other = LLAMA | {"num_hidden_layers": 4}
    a, b, c = (saved(tmp_path / name, v, weights(v)) for name, v in (("a", LLAMA), ("b", LLAMA), ("c", other)))
    code, out, _ = command("diff", "-q", a, b, c, "--expect", "mergeable")
    assert code == 1
    assert [line.count("Expected mergeable: yes, ") for line in out.splitlines()] == [1, 0]
    shutil.rmtree(c)
    code, out, _ = command("diff", "--json", a, b, b, "--expect", "mergeable")
    assert code == 0
    assert [json.loads(line)["expectation"]["met"] for line in out.splitlines()] == [True, True]
    assert command("diff", a, b, b)[0] == 2


def test_names_in_memory_are_found_of_what_is_stored_whatever_the_config_says() -> None:
    """Anything that went through the layers one by one would never come to an end."""
    values = TINY["mixtral"]
    names = {one.name for one in hfcount.blueprint(values).tensors(stored=True)}
    left = names - {next(name for name in sorted(names) if ".experts.1.w1" in name)}
    known, some = (names_in_memory(hfcount.blueprint(values), given) for given in (names, left))
    joined, apart = ({name for name in there if ".experts." in name} for there in (known, some))
    layers, experts = values["num_hidden_layers"], values["num_local_experts"]
    assert (len(joined), len({known[name] for name in joined})) == (3 * experts * layers, 2 * layers)
    # The halves of one layer are left as they are, since one of them is missing.
    assert len({some[name] for name in apart}) == 2 * layers - 1 + 2 * experts - 1
    assert names_in_memory(hfcount.blueprint({**values, "num_hidden_layers": 2**40}), left) == some
