"""Generation settings that versions of transformers refuse, in generation_config.json and in config.json."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from defects import FIRST, Checkpoint, single, stored

from hfcount.verifier.loaders import generation
from hfcount.verifier.loaders.differences import GENERATION_KEYS
from hfcount.verifier.loaders.facts import versions
from hfcount.verifier.loaders.loader import Checkpoint as Read

NEWEST, OLDEST = "5.24.0", "4.57.1"
GENERATION = "generation_config.json"


def outcomes(folder: Path, command: Command) -> dict[str, str]:
    report = command("--json", "--depth", "headers", folder).report
    return {one["version"]: one["outcome"] for one in report["loaders"] if one["loader"] == "transformers"}


def written(folder: Path, settings: Any, **keys: Any) -> Path:
    """A sound model with these settings, and these keys in its config; None stands for no settings."""
    made = single(**keys)
    others = {} if settings is None else {GENERATION: json.dumps(settings).encode()}
    Checkpoint(made.config, made.shards, {}, others=others).write(folder)
    return folder


# The settings, and whether 5.24 and 4.57 take them, as each did when it loaded such a model.
SETTINGS: list[tuple[Any, bool, bool]] = [
    ({"max_new_tokens": 0}, False, False),
    ({"max_new_tokens": 8}, True, True),
    ({"max_new_tokens": "8"}, False, False),
    ({"num_return_sequences": 3}, False, False),
    ({"num_return_sequences": 3, "do_sample": True}, True, True),
    ({"num_return_sequences": 3, "num_beams": 2}, False, False),
    ({"num_return_sequences": 3, "num_beams": 4}, True, True),
    ({"num_return_sequences": 0}, True, False),
    ({"num_return_sequences": None}, True, False),
    ({"early_stopping": "x"}, False, False),
    ({"early_stopping": "never"}, True, True),
    ({"early_stopping": None}, True, False),
    ({"early_stopping": []}, False, False),
    ({"cache_implementation": "from_a_later_version"}, False, False),
    ({"cache_implementation": "paged"}, True, False),
    ({"cache_implementation": "dynamic_full"}, False, True),
    ({"compile_config": {"fullgraph": True}}, False, False),
    ({"compile_config": None}, True, True),
    ({"watermarking_config": {"bias": 2.0}}, True, True),
    ({"watermarking_config": {"greenlist_ratio": 2}}, False, False),
    ({"watermarking_config": {"context_width": 0}}, False, False),
    ({"watermarking_config": {"seeding_scheme": "x"}}, False, False),
    ({"watermarking_config": {"keys": [1]}}, False, False),
    ({"watermarking_config": True}, False, False),
    ({"pad_token_id": [1]}, False, False),
    ({"suppress_tokens": [1, 2], "forced_eos_token_id": 2}, False, True),
    ({"suppress_tokens": [1, 2], "forced_eos_token_id": [2, 3]}, True, True),
    ({"suppress_tokens": 5}, False, True),
    ({"suppress_tokens": [1], "forced_bos_token_id": 1.5}, False, True),
    ({"assistant_ensemble_weight": 1.0}, False, True),
    ({"assistant_model": None}, False, False),
    ({"use_model_defaults": True}, True, False),
    ({"streamer": 1, "_from_model_config": True}, True, True),
    ({"to_dict": 1}, False, False),
    ({"extra_output_flags": 1}, False, False),
    ({"x": {"dtype": 7}}, False, False),
    ({"a_key_of_its_own": [1]}, True, True),
    ([], False, False),
]


@pytest.mark.parametrize(("settings", "newest", "oldest"), SETTINGS, ids=lambda value: json.dumps(value))
def test_settings_of_a_file(settings: Any, newest: bool, oldest: bool, tmp_path: Path, command: Command) -> None:
    found = outcomes(written(tmp_path / "m", settings), command)
    assert (found[NEWEST] == "whole", found[OLDEST] == "whole") == (newest, oldest)


@pytest.mark.parametrize(
    ("keys", "settings", "newest", "oldest"),
    [
        ({"num_return_sequences": 3}, None, False, False),
        ({"num_return_sequences": 3}, {}, True, False),
        ({"early_stopping": "x"}, {}, True, False),
        ({"max_new_tokens": 0}, {}, False, False),
        ({"max_new_tokens": None}, None, True, True),
        ({"streamer": 1}, None, True, True),
    ],
)
def test_settings_in_a_config(
    keys: dict[str, Any], settings: Any, newest: bool, oldest: bool, tmp_path: Path, command: Command
) -> None:
    found = outcomes(written(tmp_path / "m", settings, **keys), command)
    assert (found[NEWEST] == "whole", found[OLDEST] == "whole") == (newest, oldest)


def test_a_file_that_is_not_json_leaves_the_config_to_say_it(tmp_path: Path, command: Command) -> None:
    folder = written(tmp_path / "m", {}, num_return_sequences=3)
    assert outcomes(folder, command)[NEWEST] == "whole"
    (folder / GENERATION).write_text("{")
    assert outcomes(folder, command)[NEWEST] == "refuses"


def test_a_class_that_does_not_generate_reads_no_settings(tmp_path: Path, command: Command) -> None:
    config = single().config | {"architectures": ["LlamaModel"]}
    others = {GENERATION: b'{"max_new_tokens": 0}'}
    Checkpoint(config, {FIRST: stored(config)}, others=others).write(tmp_path / "m")
    assert outcomes(tmp_path / "m", command)[NEWEST] == "whole"


def test_the_finding_names_file_key_value_and_what_is_needed(tmp_path: Path, command: Command) -> None:
    report = command("--json", written(tmp_path / "m", {"max_new_tokens": 0})).report
    (finding,) = report["findings"]
    assert (finding["code"], report["verdict"]) == ("HF114", "mismatch")
    assert "transformers 5.24 refuses max_new_tokens in generation_config.json" in finding["message"]
    assert "is 0 and must be a number above 0" in finding["message"]


def test_every_version_is_recorded() -> None:
    values = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_new_tokens": 0}
    for version in versions():
        assert next(generation.refusals(version, Read(form="model", values=values))).key == "max_new_tokens"


def test_every_setting_that_is_checked_is_looked_for() -> None:
    sequences = {"num_return_sequences", "num_beams", "do_sample", "suppress_tokens"}
    assert GENERATION_KEYS | {"pad_token_id"} == generation._CHECKS.keys() | sequences
