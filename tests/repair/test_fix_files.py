"""How repairs are written: whole files or none, whenever the run ends, and nothing where there is no room."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from damaged import INDEX, ONE, SECOND, each, files, fix, header, kept, prefixed, says, sound
from paths import SUPPORT

from hfcount.errors import HfcountError
from hfcount.repair import journal
from hfcount.repair.files import Unrepaired, backup, needed, stage, staged
from hfcount.repair.originals import new_run
from hfcount.repair.working_copy import NewHeader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = sound(tmp_path / "m")
    each(prefixed("module."), says(vocab_size=44))(made)
    return made


@pytest.mark.long
def test_whenever_it_is_killed_all_files_are_whole_and_the_next_run_finishes(folder: Path) -> None:
    script = SUPPORT / "killed.py"
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, timeout=1200, check=True)
    report = json.loads(done.stdout)
    assert report["wrong"] == []
    assert report["moments"] > 20


@pytest.mark.long
def test_it_is_killed_from_outside_at_random(folder: Path, tmp_path: Path) -> None:
    spoiled = files(folder)
    whole = shutil.copytree(folder, tmp_path / "whole")
    assert fix(whole, "--write") == 0
    repaired, rng = files(whole), Random(5)
    for number in range(4):
        work = shutil.copytree(folder, tmp_path / f"work-{number}")
        command = [sys.executable, "-m", "hfcount", "fix", str(work), "--write"]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.15, 0.6))
        running.send_signal(signal.SIGKILL)
        running.wait()
        found = files(work)
        assert all(found[name] in (spoiled[name], repaired[name]) for name in spoiled)
        assert fix(work, "--write") == 0
        assert files(work) == repaired


def test_an_interrupted_run_is_told_and_finished(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _begin(folder)
    before = files(folder)
    assert fix(folder) == 1
    assert "An earlier run was interrupted" in capsys.readouterr().out
    assert files(folder) == before
    assert fix(folder, "--write") == 0
    assert not [name for name in files(folder) if name.startswith(".")]


def _begin(folder: Path) -> None:
    """A run that stopped once all was written and nothing was in its place."""
    config = folder / "config.json"
    stage(config, config.read_bytes().replace(b"44", b"50"))
    old = journal._facts(config)
    run = new_run(folder)
    backup(config, run / config.name)
    step = {"name": config.name, "goes": False, "old": old, "kept": str((run / config.name).relative_to(folder))}
    (folder / journal.JOURNAL).write_text(json.dumps([step]))


def test_whoever_changes_a_file_meanwhile_has_the_last_word(folder: Path) -> None:
    _begin(folder)
    each(says(vocab_size=44, note="mine"))(folder)
    assert fix(folder, "--write") == 0
    assert json.loads((folder / "config.json").read_text())["note"] == "mine"


@pytest.mark.parametrize(
    "text", ["", "{}", "[3]", '[{"name": "../x", "goes": true, "old": null, "kept": null}]', "\udce4"]
)
def test_a_list_of_another_form_is_not_followed(folder: Path, text: str) -> None:
    (folder.parent / "x").write_text("mine")
    (folder / journal.JOURNAL).write_bytes(text.encode(errors="surrogateescape"))
    assert fix(folder, "--write") == 0
    assert (folder.parent / "x").read_text() == "mine"
    assert not (folder / journal.JOURNAL).exists()


def test_nothing_is_written_where_there_is_no_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 5_000))
    with pytest.raises(Unrepaired, match="bytes, but only 5,000 are free"):
        fix(folder, "--write")
    assert files(folder) == before


def test_a_disk_that_fails_leaves_all_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, sync, times = files(folder), os.fsync, iter(range(2))

    def failing(handle: int) -> None:
        if next(times, None) is None:
            raise OSError(28, "No space left on device")
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(HfcountError, match="is not repaired: No space left on device"):
            fix(folder, "--write")
    assert files(folder) == before
    assert fix(folder, "--write") == 0


def test_two_runs_do_not_meet(folder: Path) -> None:
    before = files(folder)
    with journal._alone(folder), pytest.raises(Unrepaired, match="another fix is running"):
        fix(folder, "--write")
    assert files(folder) == before


def test_a_weight_file_that_changed_meanwhile_is_left(tmp_path: Path) -> None:
    path = sound(tmp_path / "m", shards=1) / ONE
    with pytest.raises(Unrepaired, match="was changed while fix ran"):
        stage(path, NewHeader(b"{}      ", b"{}      "))
    assert not staged(path).exists()


@pytest.mark.parametrize("calls", [("O_TMPFILE",), ("copy_file_range",), ("O_TMPFILE", "copy_file_range")])
def test_other_systems(folder: Path, monkeypatch: pytest.MonkeyPatch, calls: tuple[str, ...], tmp_path: Path) -> None:
    """Without files that have no name, and without copying within the kernel."""
    usual = shutil.copytree(folder, tmp_path / "usual")
    assert fix(usual, "--write") == 0
    for name in calls:
        monkeypatch.delattr(os, name, raising=False)
    assert fix(folder, "--write") == 0
    assert files(folder) == files(usual)


def test_a_filesystem_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    before = files(folder)
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "link", refuse)
    assert fix(folder, "--write") == 0
    assert kept(folder)[INDEX] == before[INDEX]
    assert kept(folder)[f"{SECOND}.header"] == header(before[SECOND])


@pytest.mark.parametrize(("more", "size"), [(16, 116), (0, 100), (-8, 100)])
def test_room_is_needed_for_the_copy_and_what_the_header_grows_by(more: int, size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(bytes(100))
    assert needed(path, NewHeader(bytes(24), bytes(24 + more))) == size
