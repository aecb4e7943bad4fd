"""The page about what a save loses: its command prints what it shows, its example runs, every field is described.

`PYTHONPATH=tests:tests/support python tests/docs/test_saves_page.py` writes the output anew.
"""

import os
import re
import tempfile
from pathlib import Path

import pytest
from build import config, shard
from forking import Forks
from paths import ROOT
from test_lock_page import BLOCK, output

import hfcount
from hfcount.diffing.saves.model import SavedGroup, SavedRow, Saves, WrittenConfigKey
from hfcount.report.part import as_json

PAGE = ROOT / "hfcount" / "docs" / "saves.md"


def checkpoint(folder: Path) -> Path:
    """One with prediction layers and buffers that its class does not have, and without a norm that it has."""
    from build import save

    values = config("llama")
    shapes = {one.name: one.shape for one in hfcount.blueprint(values).tensors() if one.name != "model.norm.weight"}
    size = values["hidden_size"]
    shapes |= {f"mtp.layers.{layer}.proj.weight": (size, size) for layer in (0, 1)}
    shapes |= {f"model.layers.{layer}.self_attn.rotary_emb.inv_freq": (4,) for layer in (0, 1)}
    save(folder, values)
    (folder / "model.safetensors").write_bytes(shard(shapes))
    return folder


def generated(text: str, folder: Path, forks: Forks) -> str:
    """The page with the output of its command."""
    checkpoint(folder / "my-checkpoint")
    return BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{output(block[1], folder, forks, 1)}```", text)


def test_the_command_prints_what_is_shown(tmp_path: Path, _forks: Forks) -> None:
    text = PAGE.read_text()
    assert generated(text, tmp_path, _forks) == text


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint(tmp_path / "my-checkpoint")
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out.startswith("./my-checkpoint: transformers 5.24 loses 4 of")


def test_every_field_of_json_is_described() -> None:
    shown = set(re.findall(r"`(\w+)`", PAGE.read_text().partition("## JSON")[2]))
    fields = {*as_json(Saves(model="", loader="", version=""))}
    assert fields | {*SavedGroup._fields} | {*SavedRow._fields} | {*WrittenConfigKey._fields} <= shown


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        PAGE.write_text(generated(PAGE.read_text(), Path(place), Forks()))
