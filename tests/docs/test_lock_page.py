"""The page about locks: every command prints what it shows, and every field is described.

`PYTHONPATH=tests:tests/support python tests/docs/test_lock_page.py` writes that anew.
"""

import json
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import yaml
from damaged import FIRST, says, sound
from forking import Forks
from paths import ROOT

from hfcount.diffing.locks.model import FileChange, LockCheck, LockedTensor
from hfcount.diffing.locks.statement import PREDICATE, SCHEMA
from hfcount.report.part import as_json

PAGE = ROOT / "hfcount" / "docs" / "lock.md"
BLOCK = re.compile(r"```console\n\$ (.+)\n((?:.*\n)*?)```")


def generated(text: str, folder: Path, forks: Forks) -> str:
    """The page with the output of each command, run one after the other."""
    sound(folder / "my-checkpoint")
    (folder / "my-checkpoint" / "README.md").write_text("# My checkpoint\n")
    tampered = shutil.copytree(folder / "my-checkpoint", folder / "tampered")
    says(rope_theta=500000.0)(tampered)
    raw = (tampered / FIRST).read_bytes()
    (tampered / FIRST).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    (tampered / "modeling_mine.py").write_text("import os\n")
    (tampered / "README.md").write_text("# Yours\n")
    return BLOCK.sub(
        lambda block: f"```console\n$ {block[1]}\n{output(block[1], folder, forks, int('./tampered' in block[1]))}```",
        text,
    )


def output(command: str, folder: Path, forks: Forks, code: int) -> str:
    """What a command prints that ends with this exit code."""
    name, *given = shlex.split(command)
    assert name == "hfcount"
    ended, out, err = forks.run(given, folder, os.environ, 600)
    assert (ended, err) == (code, "")
    return out


def test_every_command_prints_what_is_shown(tmp_path: Path, _forks: Forks) -> None:
    text = PAGE.read_text()
    assert generated(text, tmp_path, _forks) == text
    lock = json.loads((tmp_path / "hfcount.lock").read_text())
    shown = set(re.findall(r"`(?:predicate\.)?(\w+)`", text))
    assert set(lock) - {"_type", "predicate"} | set(lock["predicate"]) <= shown
    assert {key for row in lock["predicate"]["tensors"] for key in row} <= shown


def test_every_field_of_json_is_described() -> None:
    shown = set(re.findall(r"`(\w+)`", PAGE.read_text().partition("## JSON")[2]))
    fields = {*as_json(LockCheck(model="", lock="", agrees=None, depth=""))}
    assert fields | {*FileChange._fields} | {*LockedTensor._fields} <= shown
    assert f"`{PREDICATE}{SCHEMA}`" in PAGE.read_text()


def test_the_workflows_hold_the_folder_against_the_lock() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    command = "hfcount verify --locked hfcount.lock ./my-checkpoint"
    workflow, hooks = map(yaml.safe_load, blocks)
    assert workflow["jobs"]["locked"]["steps"][-1]["run"] == command
    assert hooks["repos"][0]["hooks"][0]["entry"] == command


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(generated(PAGE.read_text(), Path(folder), Forks()))
