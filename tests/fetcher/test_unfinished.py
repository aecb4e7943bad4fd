"""Downloads of huggingface_hub that were not finished: what is said of them, and the command that goes on."""

from pathlib import Path

import pytest
from conftest import Command
from defects import THIRD, sharded

from hfcount.fetcher.unfinished import unfinished

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def snapshot(folder: Path) -> Path:
    made = folder / "models--org--name" / "snapshots" / COMMIT
    made.mkdir(parents=True)
    (folder / "models--org--name" / "blobs").mkdir()
    return made


def test_a_snapshot_whose_blob_is_half_there_names_the_command(tmp_path: Path) -> None:
    made = snapshot(tmp_path)
    assert unfinished(made) == ""
    (tmp_path / "models--org--name" / "blobs" / "aa.incomplete").touch()
    assert unfinished(made).endswith(f"`hf download org/name --revision {COMMIT}` goes on with it.")


def test_a_link_to_a_blob_that_is_not_there_is_named(tmp_path: Path) -> None:
    made = snapshot(tmp_path)
    (made / "model.safetensors").symlink_to("../../blobs/bb")
    assert "(model.safetensors is a link to a file that is not there)" in unfinished(made)


@pytest.mark.parametrize("begun", [True, False])
def test_a_folder_that_was_downloaded_into(begun: bool, tmp_path: Path) -> None:
    (tmp_path / ".cache" / "huggingface" / "download").mkdir(parents=True)
    (tmp_path / ".cache" / "huggingface" / "download" / ("x.incomplete" if begun else "x.metadata")).touch()
    assert bool(unfinished(tmp_path)) is begun


def test_a_missing_shard_is_told_to_be_downloaded_on(tmp_path: Path, command: Command) -> None:
    lost = sharded().write(tmp_path / "model") / THIRD
    lost.unlink()
    lost.symlink_to("gone")
    result = command(tmp_path / "model")
    assert result.code == 1
    assert f"{THIRD[1:]} is a link to a file that is not there." in " ".join(result.out.split())
