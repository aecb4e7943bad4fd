"""Adapters, GGUF files and pickles together: in one folder, one tree and one repo."""

from pathlib import Path
from typing import Any

import pytest
from build import unread
from conftest import Run
from defects import ADAPTED, ADAPTER, Checkpoint, adapter, stored
from gguf_files import model, whole
from loopback import Hub

GGUF = {"m.gguf": whole(*model())}


def alone(**settings: Any) -> Checkpoint:
    """An adapter without the config of its base."""
    made = adapter(**settings)
    made.damage["config.json"] = None
    return made


def kinds(report: Any) -> list[str]:
    return [one["kind"] for one in unread(report["not_looked_at"])]


def test_what_is_beside_gguf_files_is_told(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "m"
    path.mkdir()
    for name, raw in GGUF.items():
        (path / name).write_bytes(raw)
    assert kinds(run(path).report) == []
    (path / "pytorch_model.bin").write_bytes(b"PK")
    report = run(path).report
    assert (report["container"], report["verdict"], kinds(report)) == ("gguf", "verified", ["pickled weights"])
    assert kinds(run(path / "m.gguf").report) == []


def test_what_is_beside_an_adapter_is_told(tmp_path: Path, run: Run) -> None:
    made = alone()
    made.others |= GGUF
    report = run(made.write(tmp_path / "m")).report
    assert (report["container"], kinds(report)) == ("adapter", ["GGUF"])


def test_an_adapter_that_was_compared_with_the_model_beside_it_is_not_left_out(tmp_path: Path, run: Run) -> None:
    made = adapter()
    made.shards |= {"model.safetensors": stored(made.config)}
    report = run(made.write(tmp_path / "m")).report
    assert ([one["code"] for one in report["findings"]], kinds(report)) == (["HF010"], [])


def test_a_tree_has_adapters(tmp_path: Path, run: Run) -> None:
    alone().write(tmp_path / "tree" / "a")
    alone().write(tmp_path / "tree" / "b" / "c")
    (tmp_path / "tree" / "d").mkdir()
    (tmp_path / "tree" / "d" / ADAPTER).write_text("{}")
    reports = run("-r", tmp_path / "tree").reports
    assert [one["container"] for one in reports] == ["adapter", "adapter"]


def asked(hub: Hub, name: str) -> int:
    return sum(path.endswith(name) for path in hub.paths())


def test_an_adapter_costs_four_requests_and_that_for_a_config(hub: Hub, run: Run, tmp_path: Path) -> None:
    base = adapter()
    made = alone(base_model_name_or_path="org/base")
    made.others["README.md"] = b"---\nbase_model: org/other\n---\n"
    hub.publish("org/base", base.write(tmp_path / "base"))
    hub.publish("org/m", made.write(tmp_path / "m"))
    assert run("org/m").report["verdict"] == "verified"
    wanted = (ADAPTER, ADAPTED, "base/resolve/main/config.json", "README.md")
    assert [asked(hub, name) for name in wanted] == [1, 1, 1, 0]


@pytest.mark.parametrize("option", [["--set", "vocab_size=5"], ["--quantize", "awq"]])
def test_a_what_if_of_a_gguf_file_does_not_say_that_it_is_not_read(tmp_path: Path, run: Run, option: list[str]) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "m.gguf").write_bytes(GGUF["m.gguf"])
    message = run(tmp_path / "m", *option).report["error"]["message"]
    assert "do not take" in message
    assert "not read" not in message


def test_what_was_never_downloaded_whole_says_what_to_download(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish("org/m", alone().write(tmp_path / "m"))
    run("org/m")
    assert "hf download org/m" in run("org/m", "--offline").report["error"]["message"]
