"""Weights that a config names itself, by transformers_weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from defects import Checkpoint, sharded, single

OTHER, INDEX, SINGLE = "other.safetensors", "model.safetensors.index.json", "model.safetensors"


def named(name: Any, folder: Path, checkpoint: Checkpoint) -> Path:
    replace(checkpoint, config=checkpoint.config | {"transformers_weights": name}).write(folder)
    return folder


def codes(command: Command, folder: Path) -> tuple[str, list[str]]:
    report = command("--json", "--depth", "headers", folder).report
    return report["verdict"], [finding["code"] for finding in report["findings"]]


def test_the_only_file(tmp_path: Path, command: Command) -> None:
    folder = named(OTHER, tmp_path / "m", single())
    (folder / SINGLE).rename(folder / OTHER)
    assert codes(command, folder) == ("verified", [])


def test_a_file_in_a_folder_below(tmp_path: Path, command: Command) -> None:
    folder = named(f"below/{OTHER}", tmp_path / "m", single())
    (folder / "below").mkdir()
    (folder / SINGLE).rename(folder / "below" / OTHER)
    assert codes(command, folder) == ("verified", [])


def test_a_broken_file_is_seen_beside_a_sound_one(tmp_path: Path, command: Command) -> None:
    whole, fewer = single(), single(num_hidden_layers=1)
    folder = named(OTHER, tmp_path / "m", whole)
    Checkpoint(whole.config, fewer.shards, {}).write(tmp_path / "fewer")
    (tmp_path / "fewer" / SINGLE).rename(folder / OTHER)
    assert codes(command, folder) == ("mismatch", ["HF201"])


def test_a_sound_file_beside_a_broken_one(tmp_path: Path, command: Command) -> None:
    folder = named(OTHER, tmp_path / "m", single())
    (folder / SINGLE).rename(folder / OTHER)
    (folder / SINGLE).write_bytes(b"no header")
    assert codes(command, folder) == ("verified", [])


def test_another_index(tmp_path: Path, command: Command) -> None:
    folder = named(f"{OTHER}.index.json", tmp_path / "m", sharded())
    (folder / INDEX).rename(folder / f"{OTHER}.index.json")
    assert codes(command, folder) == ("verified", [])


def test_the_usual_index_where_a_single_file_would_go_first(tmp_path: Path, command: Command) -> None:
    folder = named(INDEX, tmp_path / "m", sharded())
    (folder / SINGLE).write_bytes(b"no header")
    assert codes(command, folder) == ("verified", [])


@pytest.mark.parametrize("name", ["absent.safetensors", "absent.safetensors.index.json", "x.bin", 5, f"../{OTHER}"])
def test_what_no_version_takes(name: Any, tmp_path: Path, command: Command) -> None:
    folder = named(name, tmp_path / "m", single())
    verdict, (first, *_) = codes(command, folder)
    assert (verdict, first) == ("mismatch", "HF114")
    loaders = command("--json", folder).report["loaders"]
    assert {one["outcome"] for one in loaders if one["loader"] == "transformers"} == {"refuses"}


def test_null_names_nothing(tmp_path: Path, command: Command) -> None:
    assert codes(command, named(None, tmp_path / "m", single())) == ("verified", [])
